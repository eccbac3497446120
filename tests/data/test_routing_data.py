"""The labelled prompts of ``tests/data/routing`` keep their own rules, and the router does better than simple ones."""

from __future__ import annotations

import json
from pathlib import Path

from milk_tui.core.records import Role
from tests.bench import Options
from tests.bench.routing import SEEN, UNSEEN, prompts, run

FOLDER = Path(__file__).parent / "routing"


def test_there_are_enough_prompts_of_different_kinds_each_once_with_an_agent():
    rows = [row for half in (SEEN, UNSEEN) for row in prompts(half)]

    assert len(rows) >= 120 and len({row["prompt"] for row in rows}) == len(rows)
    assert {row["agent"] for row in rows} == {role.value for role in Role}
    assert len({row["kind"] for row in rows}) >= 15
    for half in (SEEN, UNSEEN):
        of_half = [row["agent"] for row in prompts(half)]
        assert 0.35 < of_half.count("escalation") / len(of_half) < 0.65


def test_the_readme_counts_them_right():
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    for half in (SEEN, UNSEEN):
        assert f"| `{half}.jsonl` | {len(prompts(half))} |" in readme


def test_the_rules_do_better_than_always_the_primary_and_than_length():
    result = json.loads(json.dumps(run(Options(quick=True, runs=1))))

    for half in (SEEN, UNSEEN):
        assert result[f"{half}_right"] > max(result[f"{half}_primary_only"], result[f"{half}_length_only"])
        assert result[f"{half}_primary_right"] >= 0.95, "an easy prompt must hardly ever be escalated"
