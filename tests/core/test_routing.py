"""Which agent a turn goes to (``semantics.md`` §8)."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from milk_tui.core import routing
from milk_tui.core.errors import ConfigError
from milk_tui.core.records import Role, RouteDecision, Session
from milk_tui.core.routing import Explicit, RouteState, decide, hard_rules, waiting_after
from tests.core import session_makers as make

P, E = Role.PRIMARY, Role.ESCALATION


def state(prompt: str = "fix the bug", **changes) -> RouteState:
    fields = {"primary": "qwen", "escalation": "claude", "rules": hard_rules("qwen", "claude")} | changes
    return RouteState(prompt=prompt, **fields)


def session(**changes) -> Session:
    return Session(
        id="s",
        directory="/d",
        title="",
        created_ms=0,
        updated_ms=0,
        primary=make.QWEN,
        escalation=make.CLAUDE,
        **changes,
    )


# order


@pytest.mark.parametrize(
    ("changes", "role", "rule"),
    [
        ({}, P, "primary"),
        ({"prompt": "please escalate"}, E, "hard"),
        ({"sticky": E, "prompt": "stay local"}, E, "sticky"),
        ({"waiting": E, "sticky": P}, E, "waiting"),
        ({"pinned": P, "waiting": E, "sticky": E, "prompt": "please escalate"}, P, "pin"),
        ({"pinned": E}, E, "pin"),
        ({"explicit": Explicit(role=E), "pinned": P}, E, "explicit"),
        ({"explicit": Explicit(role=P), "pinned": E, "waiting": E, "sticky": E}, P, "explicit"),
    ],
)
def test_the_first_rule_that_speaks_wins(changes: dict, role: Role, rule: str):
    decision = decide(state(**changes))

    assert (decision.role, decision.rule) == (role, rule)
    assert decision.reason


def test_an_explicit_escalation_is_for_one_turn_and_has_the_persons_reason():
    decision = decide(state(explicit=Explicit(role=E, reason="needs\na \x1b[1mdesign")))

    assert decision.one_turn and decision.reason == "needs a design"
    assert decide(state(explicit=Explicit(role=E))).reason == "you asked for it, for this turn"


def test_no_other_rule_is_for_one_turn():
    for changes in ({}, {"pinned": E}, {"waiting": E}, {"sticky": E}, {"prompt": "please escalate"}):
        assert not decide(state(**changes)).one_turn


# hard rules


@pytest.mark.parametrize(
    ("prompt", "role", "rule"),
    [
        ("Please escalate.", E, "hard"),
        ("ask Claude\nwhat it thinks", E, "hard"),
        ("please  ESCALATE this", E, "hard"),
        ("don't escalate this", P, "hard"),
        ("don’t escalate this", P, "hard"),
        ("do not ask claude", P, "hard"),
        ("keep it local, please escalate nothing", P, "hard"),
        ("ask qwen", P, "hard"),
        ("task claudette about it", P, "primary"),
        ("ask claudette", P, "primary"),
        ("fix the privilege escalation in auth.py", P, "primary"),
        ("the de-escalated path", P, "primary"),
        ("is this a hard question?", P, "primary"),
        ("x", P, "primary"),
    ],
)
def test_hard_rules_match_whole_words_and_local_wins(prompt: str, role: Role, rule: str):
    decision = decide(state(prompt))

    assert (decision.role, decision.rule) == (role, rule)


def test_a_hard_rule_says_what_it_saw():
    decision = decide(state("Could you ask  Claude about it"))

    assert decision.reason == "the prompt says “ask Claude”"
    assert [(p.name, p.value, p.detail) for p in decision.parts] == [("ask claude", 1.0, "ask Claude")]


def test_lists_extend_or_replace_the_built_in_ones():
    extended = hard_rules("qwen", "claude", escalate=["security review"], local=["rename"])
    replaced = hard_rules("qwen", "claude", escalate=["security review"], extend=False)

    assert decide(state("do a Security  Review", rules=extended)).role is E
    assert decide(state("rename it after the security review", rules=extended)).role is P
    assert decide(state("please escalate", rules=extended)).role is E
    assert decide(state("please escalate", rules=replaced)).role is P
    assert decide(state("security review", rules=replaced)).role is E


def test_a_phrase_in_slashes_is_a_regular_expression():
    rules = hard_rules("qwen", "claude", escalate=[r"/\bCVE-\d+/"])

    assert decide(state("what about cve-2024-1?", rules=rules)).role is E


def test_a_broken_regular_expression_is_named():
    with pytest.raises(ConfigError, match=r"/\(/"):
        hard_rules("qwen", "claude", escalate=["/(/"])


def test_names_and_phrases_are_never_taken_for_patterns():
    rules = hard_rules("c++", "gpt-4.1", escalate=["a.c", "  "])

    assert decide(state("ask gpt-4.1 now", rules=rules, escalation="gpt-4.1")).role is E
    assert decide(state("ask gpt-401 now", rules=rules)).rule == "primary"
    assert decide(state("abc", rules=rules)).rule == "primary"
    assert decide(state("ask c++", rules=rules, primary="c++")).rule == "hard"


def test_without_an_escalation_agent_phrases_about_it_mean_nothing():
    rules = hard_rules("qwen", None)

    assert decide(state("ask  about it", rules=rules, escalation=None)).rule == "primary"


def test_only_the_beginning_of_a_prompt_is_read_for_wishes():
    assert decide(state("x " * routing.SCANNED_CHARS + "please escalate")).rule == "primary"


# fall-back


def test_one_agent_down_the_other_takes_over_with_a_visible_reason():
    decision = decide(state(explicit=Explicit(role=E), down={E: "connection refused"}))

    assert (decision.role, decision.rule) == (P, "fall-back")
    assert decision.reason == "claude is down (connection refused): qwen answers instead"
    assert decide(state(down={P: "no server"})).role is E


def test_a_fall_back_never_sticks():
    decision = decide(state(down={P: "no server"}))

    assert routing.after_answer(session(), decision, E, "Done.").sticky is None


def test_without_an_escalation_agent_everything_is_the_primarys():
    decision = decide(state(explicit=Explicit(role=E), escalation=None))

    assert (decision.role, decision.rule) == (P, "fall-back")
    assert decision.reason == "no deeper agent is configured: qwen answers instead"


@pytest.mark.parametrize("escalation", ["claude", None])
def test_when_nobody_can_work_the_prompt_is_kept(escalation: str | None):
    now = state(escalation=escalation, down={P: "no server", E: "no key"})

    assert now.nobody
    decision = decide(now)
    assert decision.rule == "fall-back" and decision.reason.endswith(": the prompt is kept")
    assert "no server" in decision.reason


def test_somebody_can_work_when_one_can():
    assert not state(down={E: "x"}).nobody
    assert not state(escalation=None).nobody


def test_an_agent_that_breaks_down_is_replaced_when_the_other_can_work():
    decision = routing.fall_back(state(), E, "cut\nstream")

    assert decision is not None and decision.role is P
    assert decision.reason == "claude failed (cut stream): qwen answers instead"
    assert routing.fall_back(state(down={P: "x"}), E, "cut") is None


# self-escalation


@pytest.mark.parametrize("via", ["tool", "tag"])
def test_the_primary_escalates_itself_with_its_reason(via: str):
    decision = routing.self_escalation(state(), P, "needs a <milk:need:q>x</milk:need:q>design", via)

    assert decision is not None
    assert (decision.role, decision.rule, decision.reason) == (E, "self-escalation", "needs a design")
    assert decision.parts[0].detail == f"by {via}" and not decision.one_turn


def test_a_self_escalation_without_a_reason_says_so():
    decision = routing.self_escalation(state(), P, " ", "tag")

    assert decision is not None and decision.reason == "qwen gave no reason"


def test_only_the_primary_escalates_and_once_a_turn():
    assert routing.self_escalation(state(), E, "r", "tool") is None
    assert routing.self_escalation(state(), P, "r", "tool", escalated_already=True) is None


@pytest.mark.parametrize(
    ("changes", "why"),
    [({"down": {E: "no key"}}, "claude is down (no key)"), ({"escalation": None}, "no deeper agent is configured")],
)
def test_a_self_escalation_to_nobody_stays_with_the_primary_visibly(changes: dict, why: str):
    decision = routing.self_escalation(state(**changes), P, "r", "tool")

    assert decision is not None
    assert (decision.role, decision.rule) == (P, "fall-back")
    assert decision.reason == f"qwen wanted to escalate, but {why}"


# waiting and sticky


@pytest.mark.parametrize(
    ("answer", "waits"),
    [
        ("Which one?", True),
        ("Which one?\n\n  \n", True),
        ("Shall I?\r\n", True),
        ("**Which one?**", True),
        ("_Which one?_  ", True),
        ("どれですか？", True),
        ("Done. Which one? Never mind.", False),
        ("Which one?\nI took the first.", False),
        ("```\nwhat?\n```", False),
        ("Is it `a?`", False),
        ("", False),
        ("\n \n", False),
        ("Done.", False),
    ],
)
def test_waiting_when_the_last_line_with_something_on_it_ends_in_a_question_mark(answer: str, waits: bool):
    assert waiting_after(answer) is waits


def _decision(rule: str, *, one_turn: bool = False) -> RouteDecision:
    return RouteDecision(role=E, rule=rule, reason="r", one_turn=one_turn)


@pytest.mark.parametrize(
    ("rule", "sticks"),
    [
        ("hard", True),
        ("self-escalation", True),
        ("signals", True),
        ("classifier", True),
        ("explicit", False),
        ("pin", False),
        ("waiting", False),
        ("fall-back", False),
    ],
)
def test_only_an_escalation_by_router_or_primary_sticks(rule: str, sticks: bool):
    after = routing.after_answer(session(), _decision(rule), E, "Done.")

    assert after.sticky is (E if sticks else None)


def test_a_one_turn_escalation_never_sticks_but_waits_when_it_asks():
    after = routing.after_answer(session(), _decision("explicit", one_turn=True), E, "Which one?")

    assert (after.sticky, after.waiting) == (None, E)
    answered = routing.after_answer(after, _decision("waiting"), E, "Then it is done.")
    assert (answered.sticky, answered.waiting) == (None, None)


def test_a_sticky_session_stays_sticky_while_the_escalation_answers():
    after = routing.after_answer(session(sticky=E), _decision("sticky"), E, "Done.")

    assert after.sticky is E


def test_a_primarys_leg_changes_neither():
    now = session(sticky=E, waiting=E)

    assert routing.after_answer(now, _decision("explicit"), P, "Which one?") == now


def test_handing_back_ends_waiting_sticky_and_a_pin_on_the_escalation_agent():
    after = routing.handed_back(session(sticky=E, waiting=E, pinned_agent=E))

    assert (after.sticky, after.waiting, after.pinned_agent) == (None, None, None)
    assert routing.handed_back(replace(after, pinned_agent=P)).pinned_agent is P
