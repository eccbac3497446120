"""A part of the program killed alone, at seeded random points of a turn: the model host, a child agent, the embedded
server. The screen lives and takes keys, what came is kept, the failure is said with a way on, and the session goes on.

``MILK_TUI_KILL_SEED``: which points (1).
"""

from __future__ import annotations

import json
import os
import random
import re
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from milk_tui.cli import database_checks
from milk_tui.config import Config
from milk_tui.core.records import LegStatus, TurnStatus
from milk_tui.embedded.cancel import CancelToken
from milk_tui.embedded.catalogue import MODELS
from milk_tui.embedded.weights import obtain_weights
from milk_tui.engine.embedding import embedded_settings
from milk_tui.store import legs, sessions, turns
from tests.e2e.conftest import Place
from tests.e2e.looking import PLACEHOLDER, conversation, leave, plain, prompt, wait_in
from tests.support.fake_acp import FAKE_ACP
from tests.support.fake_claude import FAKE_CLAUDE
from tests.support.terminal import Terminal

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

SEED = int(os.environ.get("MILK_TUI_KILL_SEED", "1"))
WORDS = 40
Recorded = Callable[[str, object], None]


Part = Callable[[list[str]], bool]
"""Says by its command whether a process is the one to kill."""


def pids(place: Place, part: Part) -> list[int]:
    """Processes of this home that are that part, oldest first."""
    root, found = os.fsencode(place.root), []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            command = (entry / "cmdline").read_bytes()
            mine = root in command or root in (entry / "environ").read_bytes()
        except OSError:
            continue
        if mine and part(command.decode(errors="replace").split("\0")):
            found.append(int(entry.name))
    return sorted(found)


def job(number: int, more: str = "") -> str:
    return f"job {number:02} SCN:delay 0.02 SCN:count {WORDS} a{number}x {more}SCN:count {WORDS} b{number}x"


def words(number: int, text: str) -> list[str]:
    return re.findall(rf"[ab]{number}x\d+", text)


def stays_alive(screen: Terminal, number: int) -> None:
    """A key that is pressed now is on the screen."""
    screen.send(f"still{number}")
    screen.wait_for(lambda _: f"still{number}" in prompt(screen), 10)
    screen.press("ctrl+c")
    screen.wait_for(PLACEHOLDER)


def kill_in_job(place: Place, screen: Terminal, rng: random.Random, number: int, parts: tuple[Part, ...]) -> None:
    """Kill the part somewhere in a turn; look at what the person sees, and at what is stored."""
    screen.paste(job(number))
    screen.press("enter")
    screen.wait_for(
        lambda _: words(number, plain(conversation(screen)).rpartition(f"b{number}x ")[2]) or _streams(screen, number)
    )
    until = time.monotonic() + rng.uniform(0, 1.4)
    while time.monotonic() < until:
        screen.pump(0.02)
    seen = set(words(number, _answer(screen, number)))
    targets = pids(place, parts[number % len(parts)])
    assert targets, place.processes()
    for pid in targets:
        os.kill(pid, signal.SIGKILL)
    stays_alive(screen, number)
    (leg,) = _ended(place, screen, number)
    kept = words(number, leg.text)
    assert kept == [f"{part}{number}x{at}" for part in "ab" for at in range(1, WORDS + 1)][: len(kept)]
    assert seen <= set(kept), f"shown and lost: {seen - set(kept)}"
    if leg.status is LegStatus.DONE:  # the answer was whole before the kill
        assert len(kept) == 2 * WORDS
    else:
        assert leg.status is LegStatus.FAILED and leg.error is not None
        screen.wait_for(lambda _: "✗" in conversation(screen) and "/retry" in conversation(screen))
    goes_on(screen, number)


def goes_on(screen: Terminal, number: int) -> None:
    screen.paste(f"next {number} SCN:say it goes \\x6fn {number}")
    screen.press("enter")
    wait_in(screen, "conversation", f"it goes on {number}", deadline_s=60)


def _streams(screen: Terminal, number: int) -> bool:
    return bool(words(number, _answer(screen, number)))


def _answer(screen: Terminal, number: int) -> str:
    return plain(conversation(screen)).rpartition(f"job {number:02} ")[2]


def _ended(place: Place, screen: Terminal, number: int) -> list:
    """The legs of that job, once its turn has ended."""

    def found() -> list:
        with place.store() as store:
            (row,) = store.read_sync(sessions.rows)
            index = store.read_sync(lambda conn: turns.index(conn, row.id))
            turn = store.read_sync(lambda conn: turns.get(conn, index[-1].id))
            assert turn.prompt.startswith(f"job {number:02}")
            return store.read_sync(lambda conn: legs.of_turn(conn, turn.id)) if turn.status.value not in OPEN else []

    screen.wait_for(lambda _: found(), 60)
    return found()


OPEN = ("pending", "running")


def whole(place: Place) -> None:
    assert [check for check in database_checks.database(place.database) if check.state != "ok"] == []


def tell(place: Place, parts: tuple[Part, ...], points: int, record: Recorded) -> None:
    record("seed", SEED)
    record("tried", points)
    rng = random.Random(SEED)
    with place.open(rows=60) as screen:
        screen.wait_for("to ● ")
        for number in range(points):
            kill_in_job(place, screen, rng, number, parts)
        leave(screen)
    place.wait_alone()
    whole(place)


def test_the_model_host_alone(place: Place, deep: bool, record_property: Recorded) -> None:
    tell(place, (lambda command: "tests.support.scripted_host" in command,), 40 if deep else 4, record_property)


@pytest.mark.parametrize(("kind", "file"), [("claude-cli", FAKE_CLAUDE), ("acp", FAKE_ACP)])
def test_a_child_agent_alone(place: Place, deep: bool, record_property: Recorded, kind: str, file: str) -> None:
    """The agent's own process, and every second time the keeper between it and the screen."""
    kept = place.root / "agent"
    kept.mkdir()
    command = json.dumps([sys.executable, file, "--home", str(kept)])
    place.write_config(f'[agents.own]\nprovider = "{kind}"\ncommand = {command}\nrole = "primary"\n')
    own = replace(place, agents=("--primary", "own", "--escalation", "openai/deep"))

    def agent(command: list[str]) -> bool:
        return command[1:2] == [file]

    def keeper(command: list[str]) -> bool:
        return file in command[2:]

    tell(own, (agent, keeper), 24 if deep else 4, record_property)


@pytest.mark.embedded
@pytest.mark.timeout(900)
def test_the_embedded_server_alone(place: Place, deep: bool, record_property: Recorded) -> None:
    """The real one, while it answers; the next prompt starts it anew."""
    pytest.importorskip("xllamacpp", reason="the embedded runtime has no wheel for this platform", exc_type=ImportError)
    settings = replace(embedded_settings(Config(), may_fetch=True), publisher=False)
    obtain_weights(MODELS["tiny"], settings, lambda progress: None, CancelToken())
    points = 8 if deep else 2
    record_property("seed", SEED)
    record_property("tried", points)
    rng = random.Random(SEED)
    real = replace(place, scripted=False, agents=("--primary", "embedded:tiny"))
    with (
        TemporaryDirectory(prefix="milk-") as runtime,
        real.open(rows=60, MILK_TUI_MODELS=str(settings.models_dir), MILK_TUI_RUNTIME=runtime) as screen,
    ):
        screen.wait_for("to ● ", 120)
        for number in range(points):
            kill_server(place, screen, rng, number, runtime)
        leave(screen)
    place.wait_alone(60)
    whole(place)


def _command(entry: Path) -> bytes:
    try:
        return entry.read_bytes()
    except OSError:
        return b""


def kill_server(place: Place, screen: Terminal, rng: random.Random, number: int, runtime: str) -> None:
    """Kill it while a long answer comes, then ask something else."""

    before = 0

    def last() -> int:
        return int(place.read(lambda conn: conn.execute("select coalesce(max(id), 0) from turns").fetchone()[0]))

    def newest() -> tuple[TurnStatus, str, str]:
        """The turn that was asked for last: its status, the text of its last leg, the error that is kept with it."""
        if last() <= before:
            return TurnStatus.PENDING, "", ""
        turn = place.read(lambda conn: turns.get(conn, last()))
        made = place.read(lambda conn: legs.of_turn(conn, turn.id))
        return turn.status, made[-1].text if made else "", str(made[-1].error) if made else ""

    before = last()
    screen.paste(f"Tell a long story about {number + 3} ships and a lighthouse.")
    screen.press("enter")
    screen.wait_for(lambda _: newest()[1], 180)
    until = time.monotonic() + rng.uniform(0, 0.4)
    while time.monotonic() < until:
        screen.pump(0.02)
    shown = newest()[1]
    (server,) = [
        int(entry.parent.name)
        for entry in Path("/proc").glob("[0-9]*/cmdline")
        if b"milk_tui.embedded.server" in (command := _command(entry)) and os.fsencode(runtime) in command
    ]
    os.kill(server, signal.SIGKILL)
    stays_alive(screen, number)
    screen.wait_for(lambda _: newest()[0] in (TurnStatus.DONE, TurnStatus.FAILED), 120)
    status, text, error = newest()
    assert text.startswith(shown)
    if status is TurnStatus.FAILED:
        assert error
        screen.wait_for(lambda _: "✗" in conversation(screen) and "/retry" in conversation(screen))
    before = last()
    screen.paste(f"Say hello to number {number}.")
    screen.press("enter")
    screen.wait_for(lambda _: f"number {number}." in plain(conversation(screen)))
    screen.wait_for(lambda _: newest()[0] is TurnStatus.DONE and newest()[1].strip(), 180)
