"""Routing against labelled prompts (``tests/data/routing``): ``right`` for the rules, on the half that they were
written with and on the half that they were not; beside it what "always the primary" and "length alone" would get.

``length`` is the bound that is best on the first half. No agent is asked: classifier off, empty session.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from pathlib import Path
from statistics import median
from time import process_time

from milk_tui.core.records import Role
from milk_tui.core.routing import RouteState, decide, hard_rules
from milk_tui.core.routing_signals import signals
from tests.bench import Options

FOLDER = Path(__file__).parents[1] / "data" / "routing"
SEEN, UNSEEN = "seen", "unseen"


def prompts(half: str) -> list[dict[str, str]]:
    lines = (FOLDER / f"{half}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def routed(prompt: str) -> Role:
    state = RouteState(
        prompt=prompt,
        primary="qwen",
        escalation="claude",
        rules=hard_rules("qwen", "claude"),
        signals=signals(),
    )
    return decide(state).role


def share(right: int, of: int) -> float:
    return round(right / of, 3)


def by_length(prompt: str, bound: int) -> Role:
    return Role.ESCALATION if len(prompt) >= bound else Role.PRIMARY


def run(options: Options) -> dict[str, object]:
    halves = {half: prompts(half) for half in (SEEN, UNSEEN)}
    bounds = sorted({len(row["prompt"]) for row in halves[SEEN]})
    bound = max(bounds, key=lambda b: sum(by_length(r["prompt"], b) == r["agent"] for r in halves[SEEN]))
    result: dict[str, object] = {"prompts": sum(len(rows) for rows in halves.values())}
    wrong: list[str] = []
    kinds: dict[str, Counter[bool]] = defaultdict(Counter)
    for half, rows in halves.items():
        right = 0
        for row in rows:
            hit = routed(row["prompt"]) == row["agent"]
            right += hit
            kinds[row["kind"]][hit] += 1
            if not hit:
                wrong.append(f"{half}: {row['agent']} expected: {row['prompt'][:70]!r}")
        name = half.replace("-", "_")
        result[f"{name}_right"] = share(right, len(rows))
        result[f"{name}_primary_only"] = share(sum(r["agent"] == Role.PRIMARY for r in rows), len(rows))
        result[f"{name}_length_only"] = share(sum(by_length(r["prompt"], bound) == r["agent"] for r in rows), len(rows))
        for role in Role:
            of_role = [r for r in rows if r["agent"] == role]
            result[f"{name}_{role}_right"] = share(sum(routed(r["prompt"]) == role for r in of_role), len(of_role))
    long = ("the quick brown fox, why does it drift between replicas? src/a.py\n" * 400)[:20_000]
    times = []
    for _ in range(options.runs or 5):
        start = process_time()
        routed(long)
        times.append((process_time() - start) * 1000)
    result["ms_for_20_kB"] = round(median(times), 2)
    result["by_kind"] = {kind: share(seen[True], seen.total()) for kind, seen in kinds.items()}
    if options.extra.get("wrong"):
        result["wrong"] = [line for line in wrong if options.extra["wrong"] in line]
    return result
