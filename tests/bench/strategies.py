"""Which way of carrying a long session keeps what is true, and what does it cost (the source document's experiment)?

Three scripted sessions of 156 turns each run through six strategies. Reported for each: tokens sent (characters / 4)
over the requests that open a turn; the share of them that is an identical prefix of the request before; the share of
asked facts whose current value stands in what would be sent; the share of reversed facts whose old value still stands
there; the largest request in characters; seconds a turn to put the request together and to keep the turn; and how many
questions the embedded ``small`` model answers right from it at the end of each session, where it is given at most
``CHARS_THAT_FIT`` characters, the newest.

``--quick``: the first script alone. ``--set model=no``: without what needs the model; ``--set threads=1``: threads of
the model's server; ``--set answers=FILE``: keep its answers, so that a run that was stopped goes on. ``--set
plot=PATH`` writes the figures as an SVG; ``plot=yes`` as ``screenshots/strategies.svg``.

The agent in the scripts keeps the perception as the protocol asks, but for one fact in each script that it writes down
nowhere. A real model may forget more.
"""

from __future__ import annotations

import contextlib
import re
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.bench import Options
from tests.bench._scripts import PROBES, SCRIPTS, TURNS, Fact, Script
from tests.bench._small_model import CHARS_THAT_FIT, SmallModel, small_model
from tests.bench._strategies import (
    FullHistory,
    ModelSummary,
    Perception,
    Retrieval,
    RollingSummary,
    SlidingWindow,
    Strategy,
)
from tests.bench._strategies_plot import draw

PLOT = Path(__file__).parents[2] / "screenshots" / "strategies.svg"
ANSWER = (
    "You answer questions about a project from the text that you are given. What was said later holds. Answer with a"
    " few words, without an explanation."
)
COLUMNS = (
    "tokens_sent",
    "cacheable_share",
    "planted_facts_present_when_needed",
    "stale_facts_present_when_asked",
    "largest_request",
    "seconds_per_turn",
    "answers_right",
)


@dataclass
class Tally:
    """Sums over the scripts for one strategy."""

    chars: int = 0
    same: int = 0
    largest: int = 0
    seconds: float = 0.0
    turns: int = 0
    asked: int = 0
    present: int = 0
    reversed: int = 0
    stale: int = 0
    answered: int = 0
    right: int = 0
    answers: list[dict[str, str]] = field(default_factory=list)

    def figures(self) -> dict[str, float | str | None]:
        return {
            "tokens_sent": self.chars // 4,
            "cacheable_share": round(self.same / self.chars, 3),
            "planted_facts_present_when_needed": round(self.present / self.asked, 3),
            "stale_facts_present_when_asked": round(self.stale / self.reversed, 3),
            "largest_request": self.largest,
            "seconds_per_turn": round(self.seconds / self.turns, 4),
            "answers_right": round(self.right / self.answered, 3) if self.answered else None,
        }


def run(options: Options) -> dict[str, Any]:
    scripts = SCRIPTS[:1] if options.quick else SCRIPTS
    tallies: dict[str, Tally] = {}
    wanted = options.extra.get("model", "yes") != "no"
    with small_model(options.extra) if wanted else contextlib.nullcontext(None) as model:
        for script in scripts:
            for make in _strategies(model):
                strategy = make()
                tally = tallies.setdefault(strategy.name, Tally())
                with contextlib.closing(strategy):
                    _live(script, strategy, tally)
                    if model is not None:
                        _answer(script, strategy, tally, model)
                print(f"{script.name}: {strategy.name} {tally.figures()}", file=sys.stderr, flush=True)
    figures = {name: tally.figures() for name, tally in tallies.items()}
    where = options.extra.get("plot", "")
    if where:
        draw(figures, PLOT if where == "yes" else Path(where))
    return {
        "scripts": len(scripts),
        "turns": TURNS * len(scripts),
        "questions": len([f for script in scripts for f in script.facts]) if model is not None else 0,
        "strategies": figures,
        "table": "\n" + table(figures),
        "samples": {name: tally.answers for name, tally in tallies.items()},
    }


def _strategies(model: SmallModel | None) -> Iterator[Callable[[], Strategy]]:
    yield FullHistory
    yield SlidingWindow
    yield RollingSummary
    if model is not None:
        yield lambda: ModelSummary(model=model)
    yield Retrieval
    yield Perception


def _live(script: Script, strategy: Strategy, tally: Tally) -> None:
    """The session, turn by turn, with every fact asked for after the turns that ``PROBES`` names."""
    before = ""
    for turn in script.turns():
        begun = time.perf_counter()
        request = "\n".join(strategy.request(turn.prompt))
        strategy.live(turn)
        tally.seconds += time.perf_counter() - begun
        tally.turns += 1
        tally.chars += len(request)
        tally.same += _same(before, request)
        tally.largest = max(tally.largest, len(request))
        before = request
        if turn.number in PROBES:
            for fact in script.facts:
                _probe(fact, turn.number, strategy, tally)


def _same(before: str, now: str) -> int:
    """Characters that both begin with."""
    low, high = 0, min(len(before), len(now))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if before[:middle] == now[:middle] else (low, middle - 1)
    return low


def _probe(fact: Fact, turn: int, strategy: Strategy, tally: Tally) -> None:
    holds = fact.holds(turn)
    if holds is None:
        return
    given = _context(strategy, fact.question)
    tally.asked += 1
    tally.present += _stands(holds.value, given)
    if old := fact.stale(turn):
        tally.reversed += 1
        tally.stale += any(_stands(value, given) for value in old)


def _context(strategy: Strategy, question: str) -> str:
    """What would be sent for the question, without the fixed instructions and the question itself."""
    _, *rest = strategy.request(question)
    return "\n".join(rest).removesuffix(question)


def _stands(value: str, text: str) -> bool:
    return re.search(rf"(?i)\b{re.escape(value)}\b", text) is not None


def _answer(script: Script, strategy: Strategy, tally: Tally, model: SmallModel) -> None:
    for fact in script.facts:
        holds = fact.holds(TURNS)
        if holds is None:
            continue
        given = _context(strategy, fact.question)[-CHARS_THAT_FIT:]
        said = model.ask(ANSWER, f"{given}\n\nQuestion: {fact.question}", max_tokens=16)
        right = _stands(holds.value, said) and not any(_stands(old, said) for old in fact.stale(TURNS))
        tally.answered += 1
        tally.right += right
        tally.answers.append({"question": fact.question, "answer": said, "right": holds.value})


def table(figures: dict[str, dict[str, Any]]) -> str:
    """The figures as a Markdown table, a row for each strategy."""
    heads = ["strategy", *(name.replace("_", " ") for name in COLUMNS)]
    rows = [[name, *(_cell(column, values[column]) for column in COLUMNS)] for name, values in figures.items()]
    lines = [heads, ["---", *("---:" for _ in COLUMNS)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(column: str, value: Any) -> str:
    if value is None:
        return "not measured"
    if column in ("tokens_sent", "largest_request"):
        return f"{value:,}"
    if column == "seconds_per_turn":
        return f"{value:.3f}"
    return f"{100 * value:.0f} %"
