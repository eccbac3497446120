"""``precision`` of automatic retirement, ``recall`` of updates with suspects counted, ``retired_protected`` and
``updates_lost``, over labelled pairs in two halves (``recall.md``, "Writing a fact").

The rules were written with the seen half only. ``--set half=seen`` measures that one alone; ``--set rows=yes`` lists
its wrong decisions, never those of the unseen half.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from time import perf_counter

from milk_tui.core.currency import Candidate, Decision, Kind, decide, take_replaced
from milk_tui.core.percepts import normalise
from milk_tui.core.records import BIRTH_WEIGHT, PINNED_WEIGHT, Consumer, Percept, PerceptScope, PerceptStatus, Producer
from tests.bench import Options

_DATA = Path(__file__).parents[1] / "data" / "memory"
_SEEN, _UNSEEN = "seen", "unseen"
_DAY = 86_400_000


def _old(row: dict[str, object]) -> Percept:
    producer = Producer(str(row["old_producer"]))
    return Percept(
        id=f"old-{row['id']}",
        content=normalise(str(row["old"])),
        producer=producer,
        agent_name="",
        consumer=Consumer.ALL,
        scope=PerceptScope.SESSION,
        weight=PINNED_WEIGHT if row["pinned"] else BIRTH_WEIGHT[producer],
        pinned=bool(row["pinned"]),
        status=PerceptStatus.LIVE,
        created_ms=_DAY,
        updated_ms=_DAY,
        confirmed_ms=_DAY,
    )


def _decision(row: dict[str, object]) -> Decision:
    content, replaces = take_replaced(normalise(str(row["new"])))
    new = Candidate(content=content, producer=Producer(str(row["new_producer"])), replaces=replaces)
    return decide(new, [_old(row)])


def _figures(half: str, *, show: bool) -> dict[str, object]:
    rows = [json.loads(line) for line in (_DATA / f"currency_{half}.jsonl").read_text().splitlines() if line.strip()]
    table: Counter[tuple[str, str]] = Counter()
    retired = right = protected = lost = 0
    start = perf_counter()
    decided = [_decision(row) for row in rows]
    seconds = perf_counter() - start
    for row, decision in zip(rows, decided, strict=True):
        label = row["label"]
        table[label, decision.kind.value] += 1
        if decision.kind is Kind.SUPERSEDE:
            retired += 1
            right += label == "supersede"
            by_person = row["new_producer"] == "user"
            protected += not by_person and (row["pinned"] or row["old_producer"] == "user")
        lost += label == "supersede" and decision.kind is Kind.CONFIRM
        if show and label != decision.kind.value:
            print(f"{row['id']} {label} → {decision.kind.value} ({decision.why}) | {row['old']} | {row['new']}")
    updates = sum(count for (label, _), count in table.items() if label == "supersede")
    found = table["supersede", "supersede"] + table["supersede", "suspect"]
    return {
        "pairs": len(rows),
        "precision": round(right / retired, 3) if retired else None,
        "recall": round(found / updates, 3) if updates else None,
        "retired_protected": protected,
        "updates_lost": lost,
        "correct": round(sum(count for (label, kind), count in table.items() if label == kind) / len(rows), 3),
        "ms_each": round(seconds * 1000 / len(rows), 2),
        "confusion": {f"{label} → {kind}": count for (label, kind), count in sorted(table.items())},
    }


def run(options: Options) -> dict[str, object]:
    halves = [options.extra["half"]] if "half" in options.extra else [_SEEN, _UNSEEN]
    show = options.extra.get("rows") == "yes"
    figures = {half: _figures(half, show=show and half == _SEEN) for half in halves}
    main = figures.get(_UNSEEN) or figures[_SEEN]
    return {
        **{name: main[name] for name in ("precision", "recall", "retired_protected", "updates_lost")},
        **figures,
        "samples": {},
    }
