"""Several programs on one database at once: two that write everything mixed, two screens, a hook and an MCP server, all
on one session's memory. Nothing is lost, nothing is locked, and each screen shows what the others did, by being told
that the file changed and not by asking again and again.

2 × 1,000 writes; with ``--deep`` 2 × 5,000.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from milk_tui.store import Store, agents, percept_lists, percepts, sessions, turns
from tests.e2e.conftest import ROOT, Place, program
from tests.e2e.looking import facts, leave, plain
from tests.support.mcp_client import McpClient
from tests.support.mixed_writes import SHARED
from tests.support.terminal import Terminal

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

ATTEMPTS = 12
"""Facts whose way to the screens is watched, with nothing else going on and under load."""
MOST_OUTSIDE = 6
"""An agent outside may store no flood."""


class Screens:
    """Two screens on one session, and the time that a fact of another program takes to both."""

    def __init__(self, place: Place, store: Store, screens: tuple[Terminal, ...], session_id: str) -> None:
        self._place = place
        self._store = store
        self._screens = screens
        self._session_id = session_id
        self._number = 0

    def show(self) -> float:
        """Seconds from the commit of a pinned fact until both show it; it makes room for the next one then."""
        self._number += 1
        words = f"marker {self._number} for both"
        made = self._store.write_sync(
            lambda db: percepts.add(db, content=words, session_id=self._session_id, pinned=True)
        ).percept
        committed = time.monotonic()
        self._wait(lambda screen: words in plain(facts(screen)))
        took = time.monotonic() - committed
        self._store.write_sync(lambda db: percepts.forget(db, made.id))
        return took

    def _wait(self, holds: Callable[[Terminal], bool]) -> None:
        until = time.monotonic() + 60
        while not all(holds(screen) for screen in self._screens):
            assert time.monotonic() < until, "\n".join(screen.text for screen in self._screens)
            for screen in self._screens:
                screen.pump(0.02)


def wakeups(pid: int) -> int:
    """How often the process's threads have been woken so far."""
    total = 0
    for status in Path(f"/proc/{pid}/task").glob("*/status"):
        lines = dict(line.split(":", 1) for line in status.read_text().splitlines() if ":" in line)
        total += int(lines["voluntary_ctxt_switches"])
    return total


def writer(place: Place, session_id: str, name: str, count: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.support.mixed_writes", str(place.database), session_id, name, str(count)]
    with (place.root / f"{name}.json").open("w") as told, (place.root / f"{name}.err").open("w") as errors:
        return subprocess.Popen(command, stdout=told, stderr=errors, text=True, cwd=ROOT)


def hook(place: Place, number: int) -> Any:
    """What a prompt in Claude Code is given."""
    payload = {
        "hook_event_name": "UserPromptSubmit",
        "session_id": f"outside {number}",
        "cwd": str(place.project),
        "prompt": "which fact of one and two?",
    }
    done = subprocess.run(
        [*program(), "hook", "--as", "deep"],
        input=json.dumps(payload),
        capture_output=True,
        text=True,
        env=place.environment(),
        cwd=place.project,
        timeout=120,
        check=True,
    )
    assert not done.stderr, done.stderr
    return json.loads(done.stdout)


def p95(times: list[float]) -> float:
    return sorted(times)[int(len(times) * 0.95) - 1]


@pytest.mark.timeout(1800)
def test_all_at_once_lose_nothing_and_see_each_other(
    place: Place, deep: bool, record_property: Callable[[str, object], None]
) -> None:
    count = 5_000 if deep else 1_000
    record_property("tried", 2 * count)
    with place.open(rows=60) as one:
        one.wait_for("to ● fast")
        with place.open(rows=60) as two, place.store() as store:
            two.wait_for("to ● fast")
            (row,) = store.read_sync(sessions.rows)
            look = Screens(place, store, (one, two), row.id)
            quiet = [look.show() for _ in range(ATTEMPTS)]
            see_that_nothing_is_polled(one)
            with McpClient(["--as", "deep"], env=place.environment(), cwd=place.project, name="claude-code") as other:
                other.hello()
                writers = [writer(place, row.id, name, count) for name in ("one", "two")]
                busy, calls = [], 0
                while any(each.poll() is None for each in writers):
                    busy.append(look.show())
                    calls += 1
                    if calls <= MOST_OUTSIDE:
                        said, ok = other.call("record_memory", fact=f"outside fact {calls}")
                    else:
                        said, ok = other.call("recall", query=f"what is fact {calls}?")
                    assert ok, said
                    assert isinstance(hook(place, calls), dict)
            errors = [(place.root / f"{name}.err").read_text() for name in ("one", "two")]
            assert [each.returncode for each in writers] == [0, 0], errors
            told = [json.loads((place.root / f"{name}.json").read_text()) for name in ("one", "two")]
            assert hook(place, 0), "facts that are pinned are given"
            check(store, row.id, told, min(calls, MOST_OUTSIDE))
            quiet += [look.show() for _ in range(ATTEMPTS)]
            leave(two)
        figures = f"p95 to both screens {p95(quiet):.2f} s, {p95(busy):.2f} s under load ({len(busy)} facts)"
        record_property("figures", figures)
        print(figures)
        leave(one)
    place.wait_alone()
    looked = place.run("doctor", "--database")
    assert looked.code == 0 and "whole" in looked.out, looked.out


def see_that_nothing_is_polled(screen: Terminal) -> None:
    """A thread that asks again and again is woken again and again; one that is told by the kernel sleeps."""
    watched = [Path(f"/proc/{screen.pid}/fd/{entry.name}") for entry in Path(f"/proc/{screen.pid}/fd").iterdir()]
    assert any(str(each.readlink()) == "anon_inode:inotify" for each in watched if each.is_symlink())
    screen.settle(1.0, 10)
    before, began = wakeups(screen.pid), time.monotonic()
    screen.settle(3.0, 3.0)
    assert (wakeups(screen.pid) - before) / (time.monotonic() - began) < 100


def check(store: Store, session_id: str, told: list[dict[str, Any]], calls: int) -> None:
    """Everything that was written is there, as it was written last."""
    for each in told:
        wanted = {id_: tuple(fact) for id_, fact in each["facts"].items()}
        found = store.read_sync(lambda conn, wanted=wanted: percept_lists.many(conn, wanted))
        assert {id_: (fact.content, fact.pinned, fact.status) for id_, fact in found.items()} == wanted
    asked = [turn_id for each in told for turn_id in each["turns"]]
    index = store.read_sync(lambda conn: turns.index(conn, session_id))
    assert sorted(asked) == [turn.id for turn in index]
    assert store.read_sync(lambda conn: sessions.get(conn, session_id)).revision == len(asked)

    def done(kind: str) -> int:
        return sum(each["done"][kind] for each in told)

    assert store.read_sync(lambda conn: agents.revision(conn, SHARED)) == done("exchange")
    counted = {
        "perception_entries": done("perception"),
        "notes": done("note"),
        "bricks": done("brick"),
    }
    for table, count in counted.items():
        got = store.read_sync(
            lambda conn, table=table: conn.execute(
                f"select count(*) from {table} where session_id = ?", (session_id,)
            ).fetchone()[0]
        )
        assert got == count, table
    assert done("claimed") == done("note"), "every note was taken once"
    learned = store.read_sync(
        lambda conn: conn.execute("select count(*) from percepts where content like 'outside fact %'").fetchone()[0]
    )
    assert learned == calls
