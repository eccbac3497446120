"""An agent that goes in circles, or works without anything to see (``semantics.md`` §8, "Loop detection").

Four kinds: the same piece of text again and again, the same tool calls with the same results, answers that are all
but the same, and silence. Each is first warned of, and stopped when it goes on. What repeats by its nature does not
count: rows of a table, numbers in code, rules, short list items; a repeated piece must hold words.

A watch is fed raw deltas and typed events of one leg. Nothing here takes time that grows with the answer.
"""

from __future__ import annotations

import difflib
import re
from collections import deque
from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct, json

from milk_tui.core.text import one_line

CHUNK_TIMES, CALL_TIMES, ANSWER_TIMES = 5, 3, 3
"""How often something comes until it is warned of."""
STOP_AFTER = {"chunk": 12, "call": 5}
"""How often until the agent is stopped."""
ALIKE = 0.85
SHORTEST_UNIT, LONGEST_UNIT = 12, 600
"""Characters of a piece of text that may count as repeated."""
FEWEST_WORDS = 3
SHORTEST_ANSWER, COMPARED_CHARS = 80, 4_000
THINKING_CHARS = 60_000
"""Characters of reasoning with nothing to see, until that is said."""
LONGEST_CYCLE = 3
"""Calls that may take turns and still be one circle."""

_LOOK_EVERY = 160
_TAIL = LONGEST_UNIT * STOP_AFTER["chunk"] + 200
_PROBE = 24
_WORD = re.compile(r"[^\W\d_]{3,}")
_CODE_FACTOR = 3


class LoopKind(StrEnum):
    CHUNK = "chunk"
    CALL = "call"
    ANSWERS = "answers"
    SILENCE = "silence"


class Finding(Struct, frozen=True, kw_only=True):
    """One circle. ``stop``: it must be interrupted."""

    kind: LoopKind
    times: int
    what: str
    """What repeats, on one line."""
    stop: bool = False

    @property
    def line(self) -> str:
        """For the person: a half sentence about the agent."""
        match self.kind:
            case LoopKind.CHUNK:
                return f"says the same {self.times} times: “{one_line(self.what, 80)}”"
            case LoopKind.CALL:
                return f"made the same call {self.times} times with the same result: {one_line(self.what, 120)}"
            case LoopKind.ANSWERS:
                return f"gave nearly the same answer {self.times} times"
            case LoopKind.SILENCE:
                return f"has worked without anything to see: {self.what}"


class LoopWatch:
    """Watches one leg. Each way of asking gives a finding once for a warning, and once when it must stop."""

    def __init__(self) -> None:
        self._tail = ""
        self._fresh: list[str] = []
        self._fresh_chars = 0
        self._thinking_tail = ""
        self._thinking_fresh: list[str] = []
        self._thinking_chars = 0
        self._said: set[tuple[LoopKind, bool]] = set()
        self._calls: deque[tuple[str, str]] = deque(maxlen=LONGEST_CYCLE * STOP_AFTER["call"])
        self._open: dict[str, str] = {}
        self._block: list[str] = []
        self._block_chars = 0
        self._blocks: deque[str] = deque(maxlen=ANSWER_TIMES)
        self._hidden = 0
        self._fences = 0

    def text(self, delta: str) -> Finding | None:
        """A piece of the answer."""
        self._hidden = 0
        if self._block_chars < COMPARED_CHARS:
            self._block.append(delta)
            self._block_chars += len(delta)
        self._fresh.append(delta)
        self._fresh_chars += len(delta)
        if self._fresh_chars < _LOOK_EVERY:
            return None
        new = "".join(self._fresh)
        self._fresh.clear()
        self._fresh_chars = 0
        self._fences += new.count("```") + new.count("~~~")
        self._tail = (self._tail + new)[-_TAIL:]
        return self._repeated(self._tail, in_code=self._fences % 2 == 1)

    def thinking(self, delta: str) -> Finding | None:
        """A piece of the reasoning: it may repeat itself, and it is nothing to see."""
        self._hidden += len(delta)
        self._thinking_fresh.append(delta)
        self._thinking_chars += len(delta)
        if self._thinking_chars < _LOOK_EVERY:
            return None
        self._thinking_tail = (self._thinking_tail + "".join(self._thinking_fresh))[-_TAIL:]
        self._thinking_fresh.clear()
        self._thinking_chars = 0
        if self._hidden >= THINKING_CHARS:
            return self._silence(f"{self._hidden:,} characters of reasoning", stop=self._hidden >= 4 * THINKING_CHARS)
        return self._repeated(self._thinking_tail, in_code=False)

    def call(self, call_id: str, name: str, arguments: str) -> Finding | None:
        """A tool is called; also the end of a block of text, which may be like those before."""
        self._hidden = 0
        self._open[call_id] = f"{name} {_same_form(arguments)}"
        said = "".join(self._block).strip()
        self._block.clear()
        self._block_chars = 0
        if said:
            self._blocks.append(said)
        return self._once(LoopKind.ANSWERS, len(self._blocks), said, stop=False) if alike(self._blocks) else None

    def result(self, call_id: str, content: str) -> Finding | None:
        """What a call brought: only the same call with the same result is a circle."""
        made = self._open.pop(call_id, None)
        if made is None:
            return None
        self._calls.append((made, content))
        calls = list(self._calls)
        for period in range(1, LONGEST_CYCLE + 1):
            times = _rounds(calls, period)
            if times >= CALL_TIMES:
                what = " → ".join(call for call, _ in calls[-period:])
                return self._once(LoopKind.CALL, times, what, stop=times >= STOP_AFTER["call"])
        return None

    def visible(self) -> None:
        """Something else could be seen."""
        self._hidden = 0

    def quiet(self, seconds: float, limit: float) -> Finding | None:
        """Nothing was seen for so long."""
        if not limit or seconds < limit:
            return None
        return self._silence(f"{seconds:,.0f} s", stop=False)

    def rewound(self) -> None:
        """The runtime took back the current block."""
        self._tail = ""
        self._fresh.clear()
        self._fresh_chars = 0
        self._block.clear()
        self._block_chars = 0

    def _silence(self, what: str, *, stop: bool) -> Finding | None:
        return self._once(LoopKind.SILENCE, 1, what, stop=stop)

    def _repeated(self, tail: str, *, in_code: bool) -> Finding | None:
        found = repeated_unit(tail)
        if found is None:
            return None
        unit, times = found
        needed = CHUNK_TIMES * (_CODE_FACTOR if in_code or _tabular(unit) else 1)
        if times < needed or not _says_something(unit):
            return None
        stop = times >= STOP_AFTER["chunk"] * (2 if in_code or _tabular(unit) else 1)
        return self._once(LoopKind.CHUNK, times, unit.strip(), stop=stop)

    def _once(self, kind: LoopKind, times: int, what: str, *, stop: bool) -> Finding | None:
        if (kind, stop) in self._said or (kind, True) in self._said:
            return None
        self._said.add((kind, stop))
        return Finding(kind=kind, times=times, what=one_line(what, 400), stop=stop)


def repeated_unit(tail: str) -> tuple[str, int] | None:
    """The piece that the end of a text repeats without anything between, and how often; ``None`` when none."""
    if len(tail) < _PROBE * 2:
        return None
    probe = tail[-_PROBE:]
    before = tail.rfind(probe, max(0, len(tail) - _PROBE - LONGEST_UNIT), len(tail) - 1)
    if before < 0:
        return None
    period = len(tail) - _PROBE - before
    if period < SHORTEST_UNIT:
        period *= -(-SHORTEST_UNIT // period)
    unit = tail[-period:]
    times, end = 0, len(tail)
    while end >= period and tail[end - period : end] == unit:
        times += 1
        end -= period
    return (unit, times) if times > 1 else None


def alike(answers: Sequence[str]) -> bool:
    """True when the last three answers are all but the same; short ones say too little."""
    last = [" ".join(answer.split())[:COMPARED_CHARS] for answer in list(answers)[-ANSWER_TIMES:]]
    if len(last) < ANSWER_TIMES or min(len(answer) for answer in last) < SHORTEST_ANSWER:
        return False
    newest = last[-1].split()
    for other in last[:-1]:
        words = other.split()
        if not ALIKE * len(newest) <= len(words) * 1.0 <= len(newest) / ALIKE:
            return False
        matcher = difflib.SequenceMatcher(None, words, newest, autojunk=False)
        if matcher.quick_ratio() < ALIKE or matcher.ratio() < ALIKE:
            return False
    return True


def brief(finding: Finding, agent: str, prompt: str) -> str:
    """What the escalation agent is told: what happened, and what was asked."""
    return one_line(f"{agent} was stopped because it {finding.line}. The task: {prompt}", 1_000)


def _rounds(calls: Sequence[tuple[str, str]], period: int) -> int:
    """How often the last ``period`` calls, each with its result, have come without another between."""
    last = calls[-period:]
    if len(last) < period or (period > 1 and len(set(last)) == 1):
        return 0
    times = 0
    end = len(calls)
    while end >= period and calls[end - period : end] == last:
        times += 1
        end -= period
    return times


def _same_form(arguments: str) -> str:
    """Arguments without what their writing may differ in."""
    try:
        return json.encode(json.decode(arguments or "{}"), order="deterministic").decode()
    except (ValueError, RecursionError):
        return " ".join(arguments.split())


def _says_something(unit: str) -> bool:
    return len({word.casefold() for word in _WORD.findall(unit)}) >= FEWEST_WORDS


def _tabular(unit: str) -> bool:
    """True for rows of a table."""
    return unit.count("|") >= 2 or unit.count("\t") >= 2
