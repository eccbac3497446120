"""The client survives its host: slow, dead, hung, talking rubbish (``quality.md``, model host row)."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from milk_tui.core.records import ErrorKind, Message
from milk_tui.modelhost.client import HostState, Limits, ModelHost, ModelHostError
from milk_tui.modelhost.protocol import CompleteRequest, Delta, Done, Failed, HostEvent
from tests.modelhost.helpers import gone, text_of
from tests.support.polling import until

SCRIPTED = [sys.executable, "-m", "tests.support.scripted_host"]
STEADY = Limits(backoff_s=(0.01,), restarts=2)
WATCHFUL = Limits(ping_s=0.3, idle_ping_s=0.3, backoff_s=(0.01,), restarts=0)

Make = Callable[..., ModelHost]


@pytest.fixture
async def make(tmp_path: Path) -> AsyncIterator[Make]:
    """Makes hosts that are closed after the test."""

    hosts: list[ModelHost] = []

    def one(command: list[str] = SCRIPTED, limits: Limits = STEADY, **more: object) -> ModelHost:
        host = ModelHost(tmp_path / "logs" / "host.log", command, limits=limits, **more)  # type: ignore[arg-type]
        hosts.append(host)
        return host

    yield one
    for host in hosts:
        await host.aclose()


def ask(prompt: str) -> CompleteRequest:
    return CompleteRequest(model="openai/x", messages=(Message(role="user", content=prompt),))


async def answer(host: ModelHost, prompt: str) -> list[HostEvent]:
    return [event async for event in host.complete(ask(prompt))]


def failed(events: list[HostEvent]) -> Failed:
    last = events[-1]
    assert isinstance(last, Failed), events
    assert not any(isinstance(event, Done | Failed) for event in events[:-1])
    return last


def program(source: str) -> list[str]:
    return [sys.executable, "-c", source]


def log_of(host: ModelHost, tmp_path: Path) -> str:
    return (tmp_path / "logs" / "host.log").read_text("utf-8")


async def test_a_request_before_the_start_starts_the_host_and_waits_for_it(make: Make) -> None:
    seen: list[HostState] = []
    host = make(on_state=lambda state, detail: seen.append(state))
    assert host.state is HostState.STOPPED and host.pid is None
    events = await answer(host, "SCN:say hello")
    assert text_of(events) == "hello" and isinstance(events[-1], Done)
    assert seen == [HostState.STARTING, HostState.READY]


async def test_starting_twice_is_starting_once(make: Make) -> None:
    host = make()
    await host.start()
    await host.start()
    await until(lambda: host.state is HostState.READY)
    pid = host.pid
    await host.start()
    assert host.pid == pid


async def test_requests_run_side_by_side_and_keep_their_answers(make: Make) -> None:
    host = make()
    texts = [f"answer number {n}" for n in range(8)]
    answers = await asyncio.gather(*(answer(host, f"SCN:chunk 1 SCN:say {text}") for text in texts))
    assert [text_of(events) for events in answers] == texts


async def test_an_answer_of_one_line_of_a_megabyte_arrives_whole(make: Make) -> None:
    assert len(text_of(await answer(make(), "SCN:huge 1000000"))) == 1_000_000


async def test_a_prompt_of_megabytes_arrives_whole(make: Make, tmp_path: Path) -> None:
    record = tmp_path / "record"
    host = make([*SCRIPTED, "--record", str(record)])
    await answer(host, "x" * 3_000_000)
    assert "x" * 3_000_000 in record.read_text("utf-8")


async def test_leaving_the_answer_stops_the_request(make: Make) -> None:
    host = make()
    async with contextlib.aclosing(host.complete(ask("SCN:say a SCN:stall"))) as events:
        assert isinstance(await anext(aiter(events)), Delta)
    assert text_of(await answer(host, "SCN:say next")) == "next"


async def test_cancelling_the_task_stops_the_request(make: Make) -> None:
    host = make()
    task = asyncio.create_task(answer(host, "SCN:stall"))
    await until(lambda: host.state is HostState.READY)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert text_of(await answer(host, "SCN:say next")) == "next"


async def test_a_host_that_dies_fails_the_running_request_and_is_started_again(make: Make) -> None:
    seen: list[HostState] = []
    host = make(on_state=lambda state, detail: seen.append(state))
    events = await answer(host, "SCN:say part SCN:host die")
    assert text_of(events) == "part"
    assert failed(events).kind is ErrorKind.HOST_DIED and failed(events).hint
    assert text_of(await answer(host, "SCN:say next")) == "next"
    assert seen == [HostState.STARTING, HostState.READY, HostState.RESTARTING, HostState.READY]


async def test_a_host_that_hangs_is_killed_and_started_again(make: Make) -> None:
    host = make(limits=replace(WATCHFUL, restarts=5))
    await answer(host, "hello")
    pid = host.pid
    assert pid is not None
    error = failed(await answer(host, "SCN:say part SCN:host hang"))
    assert error.kind is ErrorKind.HOST_DIED and "did not answer" in error.message
    assert text_of(await answer(host, "SCN:say next")) == "next"
    await until(lambda: gone(pid))


async def test_an_idle_host_that_hangs_is_found(make: Make) -> None:
    hang = 'import sys; print(\'{"ev":"state","state":"ready"}\', flush=True); import time; time.sleep(60)'
    host = make(program(hang), WATCHFUL)
    await host.start()
    await until(lambda: host.state is HostState.FAILED)


async def test_lines_that_are_no_answers_are_skipped_and_logged_without_their_content(
    make: Make, tmp_path: Path
) -> None:
    host = make()
    events = await answer(host, "SCN:say a SCN:host rubbish SCN:say b")
    assert text_of(events) == "ab" and isinstance(events[-1], Done)
    log = log_of(host, tmp_path)
    assert "is no answer" in log and "no answer at all" not in log


async def test_a_host_that_never_says_a_word_is_given_up(make: Make) -> None:
    host = make(program("import time; time.sleep(600)"), replace(WATCHFUL, start_s=0.5))
    error = failed(await answer(host, "hello"))
    assert error.kind is ErrorKind.HOST_DIED and "did not answer" in error.message


async def test_a_host_that_prints_nothing_but_rubbish_is_given_up(make: Make) -> None:
    host = make(program("while True: print('rubbish ' * 100)"))
    error = failed(await answer(host, "hello"))
    assert error.kind is ErrorKind.HOST_DIED
    await until(lambda: host.state is HostState.FAILED)
    assert "rubbish" in host.detail


async def test_a_host_that_keeps_dying_is_given_up_with_a_hint_until_it_is_started_again(
    make: Make, tmp_path: Path
) -> None:
    counter = tmp_path / "starts"
    host = make(program(f"open({str(counter)!r}, 'a').write('x')"))
    await host.start()
    await until(lambda: host.state is HostState.FAILED)
    assert len(counter.read_text()) == 1 + STEADY.restarts
    assert "host.log" in host.detail
    error = failed(await answer(host, "hello"))
    assert error.kind is ErrorKind.HOST_DIED and "host.log" in error.hint
    assert len(counter.read_text()) == 1 + STEADY.restarts
    await host.start()
    await until(lambda: host.state is HostState.FAILED)
    assert len(counter.read_text()) == 2 * (1 + STEADY.restarts)


async def test_deaths_that_lie_back_further_than_the_window_are_forgiven(make: Make, tmp_path: Path) -> None:
    counter = tmp_path / "starts"
    limits = Limits(restarts=0, window_s=0.05, backoff_s=(0.0,))
    host = make(program(f"open({str(counter)!r}, 'a').write('x'); raise SystemExit(1)"), limits)
    await host.start()
    await until(lambda: host.state is HostState.FAILED)
    starts = len(counter.read_text())

    async def asked_again() -> bool:
        await answer(host, "hello")
        return len(counter.read_text()) > starts

    deadline = asyncio.get_running_loop().time() + 10
    while not await asked_again():
        assert asyncio.get_running_loop().time() < deadline


async def test_a_program_that_is_not_there_is_a_failure_with_a_reason(make: Make) -> None:
    host = make(["/nowhere/milk-host"])
    error = failed(await answer(host, "hello"))
    assert error.kind is ErrorKind.HOST_DIED
    assert "could not be started" in host.detail


async def test_a_log_that_can_t_be_written_is_a_failure_with_a_reason(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    host = ModelHost(tmp_path / "file" / "host.log", SCRIPTED, limits=STEADY)
    error = failed(await answer(host, "hello"))
    assert error.kind is ErrorKind.HOST_DIED and "could not be started" in host.detail
    await host.aclose()


async def test_a_library_that_is_missing_is_said_and_a_new_start_tries_again(make: Make, tmp_path: Path) -> None:
    (tmp_path / "litellm.py").write_text("raise ImportError('half installed \\x1b[31m')")
    host = make([sys.executable, "-m", "milk_tui.modelhost"], env={"PYTHONPATH": f"{tmp_path}:{Path.cwd()}"})
    error = failed(await answer(host, "hello"))
    assert error.kind is ErrorKind.INTERNAL and "half installed" in error.message
    assert host.state is HostState.FAILED and "litellm can't be imported" in host.detail
    pid = host.pid
    await host.start()
    await until(lambda: host.state is HostState.FAILED and host.pid not in (pid, None))


async def test_closing_ends_the_process_and_running_requests(make: Make) -> None:
    host = make()
    task = asyncio.create_task(answer(host, "SCN:say part SCN:stall"))
    await until(lambda: host.state is HostState.READY)
    pid = host.pid
    assert pid is not None
    await host.aclose()
    assert failed(await task).kind is ErrorKind.HOST_DIED
    assert gone(pid) and host.state is HostState.STOPPED
    assert failed(await answer(host, "hello")).kind is ErrorKind.HOST_DIED


async def test_closing_ends_what_the_host_started_and_a_host_that_won_t_leave(make: Make, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    stubborn = (
        "import subprocess, sys, time, os\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        f"open({str(pids)!r}, 'w').write(f'{{os.getpid()}} {{child.pid}}')\n"
        'print(\'{"ev":"state","state":"ready"}\', flush=True)\n'
        "time.sleep(600)\n"
    )
    host = make(program(stubborn), Limits(close_s=0.1, idle_ping_s=60))
    await host.start()
    await until(lambda: host.state is HostState.READY)
    await host.aclose()
    await until(lambda: all(gone(int(pid)) for pid in pids.read_text().split()))


async def test_a_callback_that_fails_does_not_hurt_the_host(make: Make) -> None:
    seen: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: seen.append(context["exception"]))

    def bad(state: HostState, detail: str) -> None:
        raise ValueError(state)

    assert text_of(await answer(make(on_state=bad), "SCN:say hello")) == "hello"
    assert any(isinstance(error, ValueError) for error in seen)


async def test_questions_are_answered_or_refused_with_a_kind(make: Make) -> None:
    host = make()
    counted = await host.count("openai/x", "eight ch")
    assert (counted.tokens, counted.estimated) == (2, True)
    assert await host.models("scripted") == ("scripted/one", "scripted/two")
    assert (await host.info("openai/x")).window_tokens is None
    with pytest.raises(ModelHostError) as caught:
        await host.models("openai", api_base="http://127.0.0.1:9/v1")
    assert caught.value.kind is ErrorKind.UNREACHABLE


async def test_a_question_to_a_host_that_dies_is_refused(make: Make) -> None:
    host = make(program("import sys; sys.stdin.readline(); raise SystemExit(1)"))
    with pytest.raises(ModelHostError) as caught:
        await host.count("m", "text")
    assert caught.value.kind is ErrorKind.HOST_DIED


async def test_the_log_is_the_owner_s_alone_and_is_put_aside_when_it_is_large(make: Make, tmp_path: Path) -> None:
    log = tmp_path / "logs" / "host.log"
    log.parent.mkdir()
    log.write_bytes(b"old line\n" * 200_000)
    await answer(make(), "SCN:err 500")
    assert log.stat().st_size < 10_000
    assert (tmp_path / "logs" / "host.log.1").stat().st_size == 1_800_000
    assert log.stat().st_mode & 0o077 == 0


async def test_the_models_of_a_provider_come_with_window_and_price(make: Make) -> None:
    host = make()
    made, other = await host.known(["openai", "nobody"])
    assert (made.name, made.provider, made.window_tokens) == ("openai/gpt-made", "openai", 128_000)
    assert (made.input_usd, made.output_usd, made.tools) == (2.5e-06, 1e-05, True)
    assert (other.name, other.window_tokens, other.input_usd) == ("openai/gpt-other", None, None)
