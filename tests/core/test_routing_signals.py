"""What a prompt's words and shape say about where it belongs (``semantics.md`` §8)."""

from __future__ import annotations

import pytest

from milk_tui.core.errors import ConfigError
from milk_tui.core.records import Role
from milk_tui.core.routing import RouteState, decide, hard_rules
from milk_tui.core.routing_signals import THRESHOLD, score, signals

LISTS = signals()
P, E = Role.PRIMARY, Role.ESCALATION


def total(prompt: str) -> float:
    return score(prompt, LISTS).total


def names(prompt: str) -> list[str]:
    return [part.name for part in score(prompt, LISTS).parts]


def state(prompt: str, **changes) -> RouteState:
    fields = {"primary": "qwen", "escalation": "claude", "rules": hard_rules("qwen", "claude"), "signals": LISTS}
    return RouteState(prompt=prompt, **{**fields, **changes})


def test_a_strong_signal_escalates_and_says_what_it_saw():
    decision = decide(state("Is there a deadlock in the worker?"))

    assert (decision.role, decision.rule) == (E, "signals")
    part = next(p for p in decision.parts if p.name == "concurrency")
    assert (part.value, part.detail) == (3.0, "deadlock")
    assert "add up to" in decision.reason


def test_signals_that_speak_for_the_primary_decide_too():
    decision = decide(state("rename a to b"))

    assert (decision.role, decision.rule) == (P, "signals")
    assert decision.parts[0].value < 0


def test_too_little_on_either_side_leaves_it_to_the_primary_with_the_parts_kept():
    decision = decide(state("look at app/models.py"))

    assert (decision.role, decision.rule) == (P, "primary")
    assert [part.name for part in decision.parts] == ["path"]


@pytest.mark.parametrize(
    "prompt", ["a designated reader", "disprovement", "reproved", "see docs/design/the.md", "interlock"]
)
def test_words_are_matched_whole(prompt: str):
    assert total(prompt) <= 0


def test_each_further_word_of_a_group_counts_half_and_at_most_two_do():
    one = total("a deadlock")
    two = total("a deadlock, a livelock")
    four = total("a deadlock, a livelock, a data race, thread-safe")

    assert two == one + 1.5
    assert four == one + 3.0


def test_what_is_quoted_or_pasted_is_material_and_no_wish():
    assert total("change “race condition” to “racing condition”") <= 0
    assert total("fix this line\n```python\ndeadlock = redesign_architecture()  # prove it\n```") < THRESHOLD
    log = "\n".join(f"src/a{i}.py:{i}: possible deadlock" for i in range(30))
    assert total(f"how many lines are these?\n{log}") < 0


@pytest.mark.parametrize(
    "prompt",
    ["make it thread-safe", "Prove it.", "why does it deadlock?", "design a sharding scheme", "split the monolith"],
)
def test_short_does_not_mean_easy(prompt: str):
    assert decide(state(prompt)).role is E


def test_long_does_not_mean_hard():
    table = "\n".join(f"row {i}, {i * 3}, {i * 7}" for i in range(800))

    assert decide(state(f"add a column with the sum to this table:\n{table}")).role is P


def test_many_files_and_many_wishes_speak_for_an_escalation():
    assert "paths" in names("adapt a/b.py, a/c.py, d/e.go, f/g.ts and h/i.rs")
    assert names("one file: src/app.py") == ["path"]
    wishes = "\n".join(f"- it can do thing number {i}" for i in range(9))
    assert next(p.value for p in score(f"Please:\n{wishes}", LISTS).parts if p.name == "list of wishes") == 4.0


def test_a_symptom_without_its_cure_weighs_more_than_one_with_it():
    assert total("the export fails on Mondays") > total("the export fails on Mondays, add a check")


def test_own_signals_are_added_outweigh_or_replace_the_built_in_ones():
    added = signals({"wobble factor": 3})
    removed = signals({"deadlock*": 0})
    replaced = signals({"wobble factor": 3}, extend=False)

    assert score("the wobble  factor", added).total >= 3
    assert "concurrency" not in [p.name for p in score("a deadlock", removed).parts]
    assert score("a deadlock", replaced).total == 0
    assert [p.name for p in score("the Wobble Factor", replaced).parts] == ["wobble factor"]


def test_an_own_local_phrase_counts_wherever_it_stands():
    lists = signals({"just for fun": -5}, extend=False)

    assert score("redesign it, but just for fun", lists).total == -5


def test_an_own_signal_may_be_a_regular_expression():
    assert score("about CVE-2024-1", signals({r"/CVE-\d+/": 4}, extend=False)).total == 4
    with pytest.raises(ConfigError, match="no regular expression"):
        signals({"/(/": 1})


def test_the_threshold_is_the_persons():
    assert decide(state("a deadlock", signals=signals(threshold=10))).rule == "primary"


def test_without_an_escalation_agent_signals_decide_nothing():
    decision = decide(state("redesign the architecture", escalation=None))

    assert (decision.role, decision.rule, decision.parts) == (P, "primary", ())


def test_rules_before_win_over_signals():
    assert decide(state("stay local: redesign the architecture")).rule == "hard"
    assert decide(state("redesign the architecture", pinned=P)).rule == "pin"


def test_a_repeated_prompt_goes_up_unless_a_rule_before_speaks():
    assert decide(state("print the totals", repeated=True)).rule == "repeat"
    assert decide(state("print the totals", repeated=True)).role is E
    assert decide(state("stay local and print the totals", repeated=True)).rule == "hard"
    assert decide(state("print the totals", repeated=True, escalation=None)).role is P


@pytest.mark.parametrize(("said", "role"), [(E, E), (P, P)])
def test_the_classifier_is_heard_only_where_no_rule_has_spoken(said: Role, role: Role):
    decision = decide(state("look at it", classified=said))

    assert (decision.role, decision.rule) == (role, "classifier")
    assert decide(state("rename it", classified=E)).rule == "signals"


def test_hostile_prompts_take_no_time_worth_mentioning():
    for prompt in ("a" * 1_000_000, "- " * 400_000, "“" * 300_000, "a/b." * 250_000, "what " * 200_000, "\n" * 500_000):
        assert decide(state(prompt)).reason
