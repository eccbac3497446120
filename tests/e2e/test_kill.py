"""Killed at any moment, nothing is lost (``quality.md``, "Nothing lost"): the real program, a turn that streams, calls
tools and hands over, SIGKILL at seeded random points, and the next start after each.

``MILK_TUI_KILLS``: how many points (20). ``MILK_TUI_KILL_SEED``: which ones (1).
"""

from __future__ import annotations

import os
import random
import re
import sqlite3
import threading
import time
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field

import pytest

from milk_tui.core.records import Leg, LegStatus, Role, Turn, TurnStatus
from milk_tui.store import legs, sessions, turns
from tests.e2e.conftest import Place
from tests.e2e.looking import conversation, leave, plain, prompt, wait_in
from tests.support.terminal import Terminal

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

KILLS = int(os.environ.get("MILK_TUI_KILLS", "20"))
SEED = int(os.environ.get("MILK_TUI_KILL_SEED", "1"))
LOST_S = 0.5
"""Seconds of streamed text that a kill may take."""
WORDS = 40


def job(number: int) -> str:
    """A prompt whose turn has a tool round, a tag, a hand-over and a second leg that does the same again."""
    return (
        f"job {number:03} SCN:delay 0.02 SCN:count {WORDS} a{number}x"
        f'SCN:tool record_memory {{"fact": "tool of {number}"}} SCN:tool set_need {{"need": "need of {number}"}}'
        f"SCN:then SCN:delay 0.02 SCN:tag percept tag of {number} SCN:count {WORDS} b{number}x"
        f'SCN:tool escalate {{"reason": "depth for {number}"}}SCN:then SCN:say finished'
    )


def words_of(number: int, text: str) -> list[str]:
    return re.findall(rf"[ab]{number}x\d+", text)


def whole_answer(number: int) -> list[str]:
    return [f"{part}{number}x{at}" for part in "ab" for at in range(1, WORDS + 1)]


@dataclass(frozen=True)
class Sight:
    """What of a turn was on the screen at a time."""

    at: float = 0.0
    words: tuple[int, ...] = ()
    """Of each leg."""
    asked: bool = False
    ended: int = 0
    """Legs whose end was shown."""


@dataclass
class Watch:
    """A turn as the screen showed it, until its end or until the program was killed."""

    number: int
    sights: list[Sight] = field(default_factory=lambda: [Sight()])
    killed_at: float | None = None
    stall_s: float = 0.0
    """The longest that the machine let this process wait meanwhile."""

    @property
    def last(self) -> Sight:
        return self.sights[-1]

    def look(self, screen: Terminal) -> None:
        if not screen.whole:
            return
        shown = plain(conversation(screen))
        at = shown.rfind(f"job {self.number:03} ")
        parts = shown[at:].split("◆ escalated to deep") if at >= 0 else []
        ended = len(parts) - 1 + (" out" in parts[-1]) if parts else 0
        words = tuple(len(words_of(self.number, part)) for part in parts)
        self.sights.append(Sight(time.monotonic(), words, bool(parts), ended))

    def lost_s(self, leg: int, kept: int) -> float:
        """How old the oldest word was that was shown of a leg and is gone; 0 when all are there."""
        if self.killed_at is None:
            return 0.0
        gone = (s.at for s in self.sights if leg < len(s.words) and s.words[leg] > kept)
        return self.killed_at - next(gone, self.killed_at)


class Stalls:
    """How long this machine lets a process wait: by how much it was late to wake a thread that asked for 5 ms."""

    def __enter__(self) -> Stalls:
        self.worst = 0.0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        before = time.monotonic()
        while not self._stop.wait(0.005):
            now = time.monotonic()
            self.worst = max(self.worst, now - before - 0.005)
            before = now


@dataclass
class Story:
    """Everything that was done to one database, and what must hold for it."""

    place: Place
    watched: list[Watch] = field(default_factory=list)
    lost: dict[int, float] = field(default_factory=dict)
    """Seconds of text that the kill of a turn took."""

    def start(self) -> Terminal:
        """The next start; whatever the one before left running has ended by itself."""
        self.place.wait_alone()
        return self.place.open(cols=110, rows=80)

    def ready(self, screen: Terminal) -> None:
        """Wait for the session, and for the end of a prompt that it takes up again because nothing was sent for it; an
        escalation that sticks is handed back, so that each turn begins with the primary."""
        screen.wait_for(lambda text: "to ● fast" in text or "to ◆ deep" in text, 60)
        screen.wait_for(lambda _: not self._ask("select 1 from turns where status in ('pending', 'running')"), 60)
        sticks = "select 1 from sessions where sticky is not null or waiting is not null"
        if self._ask(sticks):
            screen.wait_for("to ◆ deep")
            screen.press("ctrl+l")
            screen.wait_for(lambda _: not self._ask(sticks))
        screen.wait_for("to ● fast")

    def _ask(self, sql: str) -> bool:
        """Whether the database has such a row now; the screen may be a moment behind it."""
        with closing(sqlite3.connect(f"file:{self.place.database}?mode=ro", uri=True)) as conn:
            return conn.execute(sql).fetchone() is not None

    def send(self, screen: Terminal) -> Watch:
        watch = Watch(len(self.watched) + 1)
        self.watched.append(watch)
        screen.paste(job(watch.number))
        screen.wait_for(lambda _: plain(prompt(screen)).endswith("finished"))
        screen.press("enter")
        return watch

    def finish(self, screen: Terminal, watch: Watch) -> float:
        """Watch the turn to its end; the seconds it took."""
        began = time.monotonic()

        def ended(_: str) -> bool:
            watch.look(screen)
            return watch.last.ended == 2

        screen.wait_for(ended, 60)
        return time.monotonic() - began

    def kill(self, screen: Terminal, watch: Watch, after_s: float) -> None:
        until = time.monotonic() + after_s
        with Stalls() as stalls:
            while time.monotonic() < until:
                screen.pump(0.02)
                watch.look(screen)
            watch.killed_at = time.monotonic()
            screen.kill()
        watch.stall_s = stalls.worst
        screen.wait_exit()

    def check(self) -> None:
        """What must hold after every start."""
        acked = self._check_database()
        with self.place.store() as store:
            (row,) = store.read_sync(sessions.rows)
            there = store.read_sync(lambda conn: [turns.get(conn, turn.id) for turn in turns.index(conn, row.id)])
            made = {turn.id: store.read_sync(lambda conn, id_=turn.id: legs.of_turn(conn, id_)) for turn in there}
        by_number = {int(turn.prompt[4:7]): turn for turn in there}
        assert len(by_number) == len(there), "a prompt is there twice"
        for watch in self.watched:
            turn = by_number.get(watch.number)
            assert turn or not watch.last.asked, f"prompt {watch.number} was shown and is lost"
            if turn is not None:
                self._check_turn(watch, turn, made[turn.id], acked)
        self._check_requests()

    def _check_database(self) -> dict[int, bool]:
        """Whether each leg acknowledged what it was given, by id."""
        with closing(sqlite3.connect(f"file:{self.place.database}?mode=ro", uri=True)) as conn:
            assert conn.execute("pragma integrity_check").fetchall() == [("ok",)]
            assert conn.execute("pragma foreign_key_check").fetchall() == []
            for table, left in (("percepts", "staged"), ("captures", "staged"), ("tool_calls", "running")):
                assert conn.execute(f"select count(*) from {table} where status = ?", (left,)).fetchone() == (0,)
            delivered = conn.execute(
                "select turn_id, delivered_leg from bricks"
                " where kind = 'escalation_brief' and delivered_leg is not null"
            ).fetchall()
            for column in zip(*delivered, strict=True):
                assert len(set(column)) == len(column), f"a brief was delivered twice: {delivered}"
            return {id_: bool(done) for id_, done in conn.execute("select id, acked_ms is not null from legs")}

    def _check_turn(self, watch: Watch, turn: Turn, made: list[Leg], acked: dict[int, bool]) -> None:
        assert turn.prompt == job(watch.number)
        assert turn.status is not TurnStatus.RUNNING
        assert [leg.role for leg in made] == [Role.PRIMARY, Role.ESCALATION][: len(made)], turn.route
        for at, leg in enumerate(made):
            words = words_of(watch.number, leg.text)
            assert words == whole_answer(watch.number)[: len(words)], "the text is not as it came"
            expected = [LegStatus.DONE] if watch.killed_at is None else [LegStatus.DONE, LegStatus.INTERRUPTED]
            assert leg.status in expected
            assert acked[leg.id] is (leg.status is LegStatus.DONE)
            assert len(words) == 2 * WORDS or leg.status is LegStatus.INTERRUPTED
            assert leg.status is LegStatus.DONE or at >= watch.last.ended, f"leg {at} of {watch.number} had ended"
        kept = [len(words_of(watch.number, leg.text)) for leg in made] + [0, 0]
        lost = max((watch.lost_s(at, kept[at]) for at in range(len(watch.last.words))), default=0.0)
        self.lost[watch.number] = lost
        assert lost <= LOST_S + 0.25 + 4 * watch.stall_s, f"{lost:.2f} s of job {watch.number} are lost"

    def _check_requests(self) -> None:
        """No prompt was sent to an agent twice."""
        asked = [body for body in self.place.requests() if body["messages"][-1]["role"] == "user"]
        firsts = Counter((body["model"], body["messages"][-1]["content"].rpartition("job ")[2][:3]) for body in asked)
        assert [sent for sent, times in firsts.items() if times > 1] == []


def test_nothing_is_lost_or_done_twice_wherever_it_is_killed(place: Place) -> None:
    rng = random.Random(SEED)
    story = Story(place)
    with story.start() as screen:
        story.ready(screen)
        took = story.finish(screen, story.send(screen))
        leave(screen)
    for point in range(KILLS):
        if point % 5 == 4:  # killed while it starts and recovers
            with story.start() as screen:
                screen.settle(rng.uniform(0.1, 1.5), deadline_s=rng.uniform(0.1, 1.5))
                screen.kill()
                screen.wait_exit()
        with story.start() as screen:
            story.ready(screen)
            story.check()
            story.kill(screen, story.send(screen), rng.uniform(0, took * 1.05))
    with story.start() as screen:
        story.ready(screen)
        story.check()
        story.finish(screen, story.send(screen))
        leave(screen)
    story.check()
    place.wait_alone()
    lost = sorted(story.lost.values())
    print(
        f"{KILLS} kills in turns of {took:.1f} s; text lost: median {lost[len(lost) // 2]:.2f} s, most {lost[-1]:.2f} s"
    )


def test_what_came_is_shown_and_marked_and_the_session_goes_on(place: Place) -> None:
    with place.open() as screen:
        screen.wait_for("to ● fast")
        screen.paste("job 001 SCN:tag percept Ports are odd SCN:say half an an\\x73wer. SCN:stall")
        screen.press("enter")
        wait_in(screen, "conversation", "half an answer.")
        wait_in(screen, "percepts", "Ports are odd")
        with place.store() as store:
            screen.wait_for(lambda _: "half an answer." in store.read_sync(lambda conn: legs.get(conn, 1)).text)
        screen.kill()
        screen.wait_exit()
    place.wait_alone()
    with place.open() as screen:
        shown = plain(wait_in(screen, "conversation", "half an answer.", "interrupted"))
        assert "/retry" in shown
        wait_in(screen, "percepts", "Ports are odd")
        screen.send("SCN:say and it goes o\\x6e")
        screen.press("enter")
        wait_in(screen, "conversation", "and it goes on", " out")
        leave(screen)
    sent = str(place.requests()[-1]["messages"])
    assert "half an answer." in sent
    assert "Ports are odd" in sent
