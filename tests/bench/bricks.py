"""Rebuilding a summary brick after one more turn, at 10,000 turns / at 100 turns (``semantics.md`` §3)."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from typing import Any

from milk_tui.core import bricks
from milk_tui.core.digest import TurnDigest, digest
from milk_tui.core.records import (
    ContextMode,
    Leg,
    LegStatus,
    Role,
    ToolCall,
    ToolStatus,
    Turn,
    TurnStatus,
)
from tests.bench import Options

SMALL, LARGE = 100, 10_000
_TOOLS = ("read_file", "grep", "run_command")

Record = tuple[Turn, Leg, list[ToolCall]]


def run(options: Options) -> dict[str, Any]:
    runs = options.runs or (11 if options.quick else 51)
    large = [_record(n, calls=n % 4, answer=200 + 37 * (n % 23)) for n in range(1, LARGE + 1)]
    tiny = [_record(n, calls=n % 2, answer=4) for n in range(1, LARGE + 1)]
    small_ms, large_ms = _side_by_side(large[-SMALL:], large, runs)
    _, tiny_ms = _side_by_side(tiny[-SMALL:], tiny, runs)
    return {
        "ratio": statistics.median(large_ms) / statistics.median(small_ms),
        "ms": statistics.median(large_ms),
        "tiny_turns_ms": statistics.median(tiny_ms),
        "samples": {"small_ms": small_ms, "large_ms": large_ms, "tiny_ms": tiny_ms},
    }


def _side_by_side(small: list[Record], large: list[Record], runs: int) -> tuple[list[float], list[float]]:
    """Milliseconds of each rebuild, the two sides taking turns."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(runs):
        for side, records in zip(times, (small, large), strict=True):
            start = time.perf_counter()
            _rebuild(records)
            side.append((time.perf_counter() - start) * 1_000)
    return times


def _rebuild(records: list[Record]) -> None:
    """What happens after a leg: read back as far as the budget reaches, render, make the next version."""
    rendering = bricks.full(_newest_first(records), "qwen", total=len(records))
    last = digest(*records[-1])
    bricks.rebuilt(None, last, rendering, now_ms=0)


def _newest_first(records: list[Record]) -> Iterator[TurnDigest]:
    return (digest(*record) for record in reversed(records))


def _record(number: int, *, calls: int, answer: int) -> Record:
    turn = Turn(
        id=number,
        session_id="s",
        created_ms=0,
        prompt=f"Look at module {number} and say what is wrong with it.",
        status=TurnStatus.DONE,
    )
    leg = Leg(
        id=number,
        turn_id=number,
        session_id="s",
        role=Role.PRIMARY,
        agent_name="qwen",
        model="m",
        mode=ContextMode.CONTINUATION,
        status=LegStatus.DONE,
        started_ms=0,
        text=("It leaks. " * (answer // 10 + 1))[:answer],
    )
    made = [
        ToolCall(
            id=number * 10 + n,
            leg_id=number,
            call_id=f"c{n}",
            name=_TOOLS[(number + n) % 3],
            arguments=f'{{"path": "src/module_{number}_{n}.py"}}',
            status=ToolStatus.FAILED if (number + n) % 9 == 0 else ToolStatus.OK,
            result=f"line {n}\n" * (20 + number % 150),
        )
        for n in range(calls)
    ]
    return turn, leg, made
