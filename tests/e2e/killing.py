"""The program killed −9 in the middle of its work, and what must hold after each next start (``quality.md``, "Nothing
lost").

A turn streams, calls tools, asks for permission, is told a note of the recall helper, and hands over to an agent that
does the same again; another prompt and a draft may wait, and leaving consolidates the facts. ``PHASES`` are the parts
of that which a kill is aimed at; how far into one it falls is drawn from a seed.
"""

from __future__ import annotations

import random
import re
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field

from milk_tui.cli import database_checks
from milk_tui.core.records import Leg, LegStatus, Role, Turn, TurnStatus
from milk_tui.store import legs, sessions, turns
from tests.e2e.conftest import Place
from tests.e2e.looking import PLACEHOLDER, conversation, leave, plain, prompt
from tests.support.terminal import Terminal

LOST_S = 0.5
"""Seconds of streamed or typed text that a kill may take."""
WORDS = 30
RUNS = "ran.txt"
"""Each command that was allowed adds a line."""
ANSWER_AFTER_S = 0.6
"""Seconds between a question's appearance and its answer: a key at once would count as meant for the prompt."""


def job(number: int) -> str:
    """A prompt whose turn has a tool round, a permission, a tag, a hand-over and a second leg that does the same."""
    return (
        f"job {number:03} about the wombat{number} ledger{number} of invoices{number}"
        f" SCN:delay 0.02 SCN:count {WORDS} a{number}x"
        f'SCN:tool record_memory {{"fact": "tool of {number}"}} SCN:tool set_need {{"need": "need of {number}"}}'
        f'SCN:tool run_command {{"command": "echo {number} >> {RUNS}"}}'
        f"SCN:then SCN:delay 0.02 SCN:tag percept tag of {number} SCN:count {WORDS} b{number}x"
        f'SCN:tool escalate {{"reason": "depth for {number}"}}SCN:then SCN:say finished'
    )


def short_job(number: int) -> str:
    """A prompt that waits behind another."""
    return f"job {number:03} SCN:count 3 c{number}x SCN:say finished"


def record(number: int) -> tuple[str, str]:
    """The name and the text of a decision that the prompt of that number runs into."""
    return (
        f"2026-01-{number % 28 + 1:02}-wombat{number}.md",
        f"# The wombat{number} ledger{number} keeps invoices{number} whole\n\nDate: 2026-01-{number % 28 + 1:02}\n\n"
        f"Invoices{number} of the wombat{number} are never split: the ledger{number} lost one in a split.\n",
    )


def words_of(number: int, text: str) -> list[str]:
    return re.findall(rf"[abc]{number}x\d+", text)


def whole_answer(number: int, *, short: bool = False) -> list[str]:
    if short:
        return [f"c{number}x{at}" for at in range(1, 4)]
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
    question: bool = False
    """An agent asks for permission."""
    noted: bool = False
    """The helper has said that it has something."""

    @property
    def leg(self) -> int:
        return len(self.words) - 1

    @property
    def said(self) -> int:
        """Words of the last leg."""
        return self.words[-1] if self.words else 0

    @property
    def phase(self) -> str:
        """In words of ``PHASES``, where the turn was."""
        if not self.asked:
            return "sent"
        if self.question:
            return "permission"
        if self.leg == 0:
            if self.said == 0:
                return "first word"
            if self.said < WORDS:
                return "stream"
            if self.said == WORDS:
                return "tools"
            return "second stream" if self.said < 2 * WORDS else "hand-over"
        return "escalated" if self.ended < 2 else "ending"


@dataclass
class Watch:
    """A turn as the screen showed it, until its end or until the program was killed."""

    number: int
    sights: list[Sight] = field(default_factory=lambda: [Sight()])
    killed_at: float | None = None
    stall_s: float = 0.0
    """The longest that the machine let this process wait meanwhile."""
    short: bool = False
    answered: int = 0
    """Questions that were answered with yes."""
    shown_since: float | None = None
    """When the question that waits came up."""

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
        question = "y allow once" in screen.text
        noted = self.last.noted or "◌" in screen.text
        self.sights.append(Sight(time.monotonic(), words, bool(parts), ended, question, noted))

    def answer(self, screen: Terminal) -> None:
        """Allow what an agent asks for, once it has been on the screen for a moment."""
        if not self.last.question:
            self.shown_since = None
        elif self.shown_since is None:
            self.shown_since = time.monotonic()
        elif time.monotonic() - self.shown_since > ANSWER_AFTER_S:
            screen.press("y")
            self.answered += 1
            self.shown_since = None

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


@dataclass(frozen=True)
class Phase:
    """Where a kill is aimed at: ``begun`` says from what sight on, ``span_s`` how much later it may fall."""

    name: str
    span_s: float
    begun: Callable[[Sight], bool] = lambda sight: True


IN_TURN = (
    Phase("sent", 0.15),
    Phase("first word", 0.2, lambda s: s.asked),
    Phase("stream", 0.6, lambda s: s.said > 0),
    Phase("tools", 0.15, lambda s: s.said >= WORDS),
    Phase("note", 0.2, lambda s: s.noted),
    Phase("permission", ANSWER_AFTER_S, lambda s: s.question),
    Phase("command", 0.25, lambda s: s.said >= WORDS),
    Phase("second stream", 0.6, lambda s: s.said > WORDS),
    Phase("hand-over", 0.15, lambda s: s.ended > 0 or s.said >= 2 * WORDS),
    Phase("escalated", 2.5, lambda s: s.leg > 0),
    Phase("ending", 0.15, lambda s: s.ended > 1 or (s.leg > 0 and s.said >= 2 * WORDS)),
)
BESIDE = ("start", "draft", "queue", "consolidation")
PHASES = (*(phase.name for phase in IN_TURN), *BESIDE)


@dataclass
class Story:
    """Everything that was done to one database, and what must hold for it."""

    place: Place
    rng: random.Random
    watched: list[Watch] = field(default_factory=list)
    lost: dict[int, float] = field(default_factory=dict)
    """Seconds of text that the kill of a turn took."""
    hit: Counter[str] = field(default_factory=Counter)
    """Kills by where they fell."""
    aimed: Counter[str] = field(default_factory=Counter)

    def start(self) -> Terminal:
        """The next start; whatever the one before left running has ended by itself."""
        self.place.wait_alone()
        return self.place.open(cols=120, rows=80)

    def ready(self, screen: Terminal) -> None:
        """Wait for the session, and for the end of a prompt that it takes up again because nothing was sent for it; an
        escalation that sticks is handed back, so that each turn begins with the primary."""
        screen.wait_for(lambda text: "to ● fast" in text or "to ◆ deep" in text, 60)
        again = self._resumed()

        def idle(_: str) -> bool:
            if again is not None:
                again.look(screen)
                again.answer(screen)
            return not self._ask("select 1 from turns where status in ('pending', 'running')")

        screen.wait_for(idle, 60)
        sticks = "select 1 from sessions where sticky is not null or waiting is not null"
        if self._ask(sticks):
            screen.wait_for("to ◆ deep")
            screen.press("ctrl+l")
            screen.wait_for(lambda _: not self._ask(sticks))
        screen.wait_for("to ● fast")

    def _resumed(self) -> Watch | None:
        """The turn that the program takes up again by itself: its end is seen, so it is as one that was not killed."""
        if not self.watched:
            return None
        with closing(self._database()) as conn:
            row = conn.execute("select prompt from turns where status = 'pending' order by id limit 1").fetchone()
        if row is None:
            return None
        watch = next(w for w in self.watched if w.number == int(row[0][4:7]))
        watch.killed_at = None
        return watch

    def _database(self) -> sqlite3.Connection:
        return sqlite3.connect(f"file:{self.place.database}?mode=ro", uri=True)

    def _ask(self, sql: str) -> bool:
        """Whether the database has such a row now; the screen may be a moment behind it."""
        with closing(self._database()) as conn:
            return conn.execute(sql).fetchone() is not None

    def send(self, screen: Terminal, *, short: bool = False) -> Watch:
        watch = Watch(len(self.watched) + 1, short=short)
        self.watched.append(watch)
        if not short:
            self._decide(watch.number)
        screen.paste((short_job if short else job)(watch.number))
        screen.wait_for(lambda _: plain(prompt(screen)).endswith("finished"))
        screen.press("enter")
        return watch

    def _decide(self, number: int) -> None:
        folder = self.place.project / "memory"
        folder.mkdir(exist_ok=True)
        name, text = record(number)
        (folder / name).write_text(text)

    def watch(self, screen: Terminal, watch: Watch, until: Callable[[], bool]) -> None:
        """Look at the turn, and allow what is asked, until then."""

        def seen(_: str) -> bool:
            watch.look(screen)
            watch.answer(screen)
            return until()

        screen.wait_for(seen, 60)

    def finish(self, screen: Terminal, watch: Watch) -> None:
        """Watch the turn to its end."""
        self.watch(screen, watch, lambda: watch.last.ended == 2)

    def kill_in_turn(self, screen: Terminal, phase: Phase) -> None:
        """Send a prompt and kill the program in that part of its turn."""
        watch = self.send(screen)
        allowed = phase.name == "command"
        with Stalls() as stalls:
            if phase.name != "sent":
                over = lambda: watch.last.ended == 2  # noqa: E731
                begun = (lambda: watch.answered > 0) if allowed else (lambda: phase.begun(watch.last))
                self.watch(screen, watch, lambda: begun() or over())
            self._kill(screen, watch, phase.span_s)
        watch.stall_s = stalls.worst
        self.aimed[phase.name] += 1
        self.hit[phase.name if phase.name in ("note", "command") else watch.last.phase] += 1

    def _kill(self, screen: Terminal, watch: Watch | None, span_s: float) -> None:
        until = time.monotonic() + self.rng.uniform(0, span_s)
        while time.monotonic() < until:
            screen.pump(0.02)
            if watch is not None:
                watch.look(screen)
                watch.answer(screen)
        killed = time.monotonic()
        screen.kill()
        for each in self.watched:
            if each.last.ended < (1 if each.short else 2) and each.killed_at is None and each is watch:
                each.killed_at = killed
        if watch is not None:
            watch.killed_at = killed
        screen.wait_exit()

    def kill_at(self, where: str) -> None:
        """Start, and kill at one of ``PHASES``; what holds after the kill before is checked first."""
        if where == "start":
            with self.start() as screen:
                self._kill(screen, None, 1.5)
            self._count(where)
            return
        with self.start() as screen:
            self.ready(screen)
            self.check(screen)
            match where:
                case "draft":
                    self._kill_typing(screen)
                case "queue":
                    self._kill_queued(screen)
                case "consolidation":
                    self.finish(screen, self.send(screen))
                    screen.press("ctrl+q")
                    self._kill(screen, None, 0.3)
                case _:
                    self.kill_in_turn(screen, next(phase for phase in IN_TURN if phase.name == where))
                    return
        self._count(where)

    def _count(self, where: str) -> None:
        self.aimed[where] += 1
        self.hit[where] += 1

    def _kill_typing(self, screen: Terminal) -> None:
        """Type on and on, and kill; the next start has what was typed until half a second before."""
        typed: list[tuple[float, str]] = []
        until = time.monotonic() + self.rng.uniform(0.6, 1.6)
        with Stalls() as stalls:
            while time.monotonic() < until:
                word = f"w{len(typed)} "
                screen.send(word)
                typed.append((time.monotonic(), word))
                screen.settle(0.03, 0.03)
            killed = time.monotonic()
            screen.kill()
        screen.wait_exit()
        kept_from = killed - LOST_S - 0.25 - 4 * stalls.worst
        sure = "".join(word for at, word in typed if at < kept_from).strip()
        with closing(self._database()) as conn:
            (draft,) = conn.execute("select draft from sessions").fetchone()
        assert draft.startswith(sure), f"{sure!r} was typed and is lost: {draft!r} was kept"
        assert "".join(word for _, word in typed).startswith(draft)
        with self.start() as again:
            self.ready(again)
            again.wait_for(lambda _: prompt(again) == draft.strip())
            again.press("ctrl+c")
            again.wait_for(PLACEHOLDER)
            leave(again)

    def _kill_queued(self, screen: Terminal) -> None:
        """Another prompt waits behind the one that runs."""
        first = self.send(screen)
        self.watch(screen, first, lambda: first.last.said > 0)
        second = self.send(screen, short=True)
        stored = f"select 1 from turns where prompt like 'job {second.number:03}%'"
        self.watch(screen, first, lambda: self._ask(stored))
        second.sights.append(Sight(time.monotonic(), (), asked=True))
        with Stalls() as stalls:
            self._kill(screen, first, 0.5)
        first.stall_s = stalls.worst

    def check(self, screen: Terminal) -> None:
        """What must hold after every start."""
        self.check_database()
        with self.place.store() as store:
            (row,) = store.read_sync(sessions.rows)
            there = store.read_sync(lambda conn: [turns.get(conn, turn.id) for turn in turns.index(conn, row.id)])
            made = {turn.id: store.read_sync(lambda conn, id_=turn.id: legs.of_turn(conn, id_)) for turn in there}
            draft = store.read_sync(lambda conn: sessions.get(conn, row.id)).draft
        by_number = {int(turn.prompt[4:7]): turn for turn in there}
        assert len(by_number) == len(there), "a prompt is there twice"
        for watch in self.watched:
            turn = by_number.get(watch.number)
            assert turn or not watch.last.asked, f"prompt {watch.number} was shown and is lost"
            if turn is not None:
                self._check_turn(watch, turn, made[turn.id])
        if there:
            assert not draft or not there[-1].prompt.startswith(draft.strip()), "what was sent is a draft too"
        if draft:  # a prompt that was killed on its way is offered again
            screen.press("ctrl+c")
            screen.wait_for(PLACEHOLDER)
        if there and there[-1].status is TurnStatus.INTERRUPTED:
            screen.wait_for(lambda _: "/retry" in conversation(screen), 10)
        self._check_requests()
        self._check_runs()

    def check_database(self) -> None:
        """What ``milk-tui doctor --database`` looks at; and that what was given was given once."""
        wrong = [check for check in database_checks.database(self.place.database) if check.state != "ok"]
        assert not wrong, wrong
        with closing(self._database()) as conn:
            acked = conn.execute("select count(*) from legs where (status = 'done') <> (acked_ms is not null)")
            assert acked.fetchone() == (0,)
            delivered = conn.execute(
                "select turn_id, delivered_leg from bricks"
                " where kind = 'escalation_brief' and delivered_leg is not null"
            ).fetchall()
            for column in zip(*delivered, strict=True):
                assert len(set(column)) == len(column), f"a brief was delivered twice: {delivered}"
            given = conn.execute(
                "select segments.text from (select leg_id, text from segments join segment_texts using (hash)"
                " where name = 'notes' and included) as segments"
            ).fetchall()
            named = Counter(name for (text,) in given for name in re.findall(r"wombat\d+\.md", text))
            twice = [name for name, times in named.items() if times > 1]
            assert not twice, f"a note was delivered twice: {twice}"

    def _check_turn(self, watch: Watch, turn: Turn, made: list[Leg]) -> None:
        assert turn.prompt == (short_job if watch.short else job)(watch.number)
        assert turn.status is not TurnStatus.RUNNING
        assert [leg.role for leg in made] == [Role.PRIMARY, Role.ESCALATION][: len(made)], turn.route
        whole = whole_answer(watch.number, short=watch.short)
        for at, leg in enumerate(made):
            words = words_of(watch.number, leg.text)
            assert words == whole[: len(words)], "the text is not as it came"
            expected = [LegStatus.DONE] if watch.killed_at is None else [LegStatus.DONE, LegStatus.INTERRUPTED]
            assert leg.status in expected, (watch.number, leg.status)
            assert len(words) == len(whole) or leg.status is LegStatus.INTERRUPTED
            assert leg.status is LegStatus.DONE or at >= watch.last.ended, f"leg {at} of {watch.number} had ended"
        kept = [len(words_of(watch.number, leg.text)) for leg in made] + [0, 0]
        lost = max((watch.lost_s(at, kept[at]) for at in range(len(watch.last.words))), default=0.0)
        self.lost[watch.number] = lost
        assert lost <= LOST_S + 0.25 + 4 * watch.stall_s, (
            f"{lost:.2f} s of job {watch.number} are lost: {watch.last}, kept {kept}"
        )

    def _check_requests(self) -> None:
        """No prompt was sent to an agent twice."""
        asked = [body for body in self.place.requests() if body["messages"][-1]["role"] == "user"]
        firsts = Counter((body["model"], body["messages"][-1]["content"].rpartition("job ")[2][:3]) for body in asked)
        assert [sent for sent, times in firsts.items() if times > 1] == []

    def _check_runs(self) -> None:
        """No command ran that was not allowed, and none twice for one yes."""
        file = self.place.project / RUNS
        ran = Counter(map(int, file.read_text().split())) if file.exists() else Counter()
        for watch in self.watched:
            assert ran[watch.number] <= watch.answered, f"job {watch.number} ran {ran[watch.number]} commands"

    def end(self) -> None:
        """One more turn, whole; then all must hold."""
        with self.start() as screen:
            self.ready(screen)
            self.check(screen)
            self.finish(screen, self.send(screen))
            leave(screen)
        self.place.wait_alone()
        self.check_database()
        asked = self.place.run("doctor", "--database")
        assert asked.code == 0 and "whole" in asked.out, asked.out

    def figures(self) -> str:
        lost = sorted(self.lost.values()) or [0.0]
        where = ", ".join(f"{name} {self.hit[name]}" for name in PHASES if self.hit[name])
        return f"text lost: median {lost[len(lost) // 2]:.2f} s, most {lost[-1]:.2f} s; fell in: {where}"


def tell(place: Place, seed: int, kills: int) -> Story:
    """So many kills at seeded points of one story; every phase is aimed at as often as the others."""
    rng = random.Random(seed)
    story = Story(place, rng)
    wanted = [PHASES[at % len(PHASES)] for at in range(kills)]
    rng.shuffle(wanted)
    with story.start() as screen:
        story.ready(screen)
        story.finish(screen, story.send(screen))
        leave(screen)
    for where in wanted:
        story.kill_at(where)
    story.end()
    return story
