"""A key that a program prints: asked for once, kept in memory, never said."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from milk_tui.agents import key_command
from milk_tui.agents.key_command import KeyCommandError, KeyedHost
from milk_tui.core.records import ErrorKind
from milk_tui.modelhost.protocol import CompleteRequest, Done, Failed, HostEvent

KEY = "sk-" + "canary-key-0123456789"


class Recorder:
    """In place of the model host: keeps the keys of the requests."""

    def __init__(self, *answers: HostEvent) -> None:
        self.keys: list[str] = []
        self.answers = list(answers)

    async def complete(self, request: CompleteRequest) -> AsyncIterator[HostEvent]:
        self.keys.append(request.api_key)
        yield self.answers.pop(0) if self.answers else Done()


def printing(code: str) -> tuple[str, ...]:
    return (sys.executable, "-c", code)


async def events(host: KeyedHost) -> list[HostEvent]:
    return [event async for event in host.complete(CompleteRequest(model="m/x", messages=(), api_key_env="UNUSED"))]


async def test_the_program_is_asked_once_and_its_key_goes_with_each_request(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    recorder = Recorder()
    host = KeyedHost(recorder, printing(f"open({str(runs)!r}, 'a').write('x'); print({KEY!r})"))
    assert [await events(host) for _ in range(2)] == [[Done()], [Done()]]
    assert (recorder.keys, runs.read_text()) == ([KEY, KEY], "x")


async def test_a_key_that_is_refused_is_asked_for_anew_the_next_time(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    recorder = Recorder(Failed(kind=ErrorKind.AUTH, message="no"))
    host = KeyedHost(recorder, printing(f"open({str(runs)!r}, 'a').write('x'); print({KEY!r})"))
    await events(host)
    await events(host)
    assert runs.read_text() == "xx"


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (("no-such-program-here",), "no program"),
        (printing("raise SystemExit(4)"), "status 4"),
        (printing("pass"), "printed nothing"),
        (printing(f"print('the key is', {KEY!r})"), "is no key"),
        (printing(f"print({KEY!r} * 900)"), "is no key"),
    ],
)
async def test_a_program_that_gives_no_key_is_an_error_that_never_says_what_it_printed(
    command: tuple[str, ...], said: str
) -> None:
    with pytest.raises(KeyCommandError) as raised:
        await key_command.ask(command)
    assert said in str(raised.value)
    assert KEY not in str(raised.value)
    recorder = Recorder()
    (failed,) = await events(KeyedHost(recorder, command))
    assert isinstance(failed, Failed)
    assert (failed.kind, recorder.keys) == (ErrorKind.AUTH, [])


async def test_a_program_that_waits_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(key_command, "SECONDS", 0.3)
    with pytest.raises(KeyCommandError, match="within"):
        await key_command.ask(printing("import time; time.sleep(60)"))
