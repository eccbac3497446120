"""What the door of memory does with the labelled cases: every one must be contained (``recall.md``, "Safety")."""

from __future__ import annotations

from typing import Any

from tests.bench import Options
from tests.support.memory_door import bring, cases, contained


def run(options: Options) -> dict[str, Any]:
    """``contained`` is the share; ``open`` names the cases that were not."""
    chosen = cases()[:: 5 if options.quick else 1]
    outcomes = [(case, bring(case)) for case in chosen]
    missed = [
        {"id": case["id"], "expect": case["expect"], "got": outcome.what, "problems": outcome.problems}
        for case, outcome in outcomes
        if not contained(case, outcome)
    ]
    return {"cases": len(chosen), "contained": round(1 - len(missed) / len(chosen), 4), "open": missed, "samples": []}
