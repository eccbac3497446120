"""``milk-tui route``: explains without asking anybody."""

from __future__ import annotations

from milk_tui.core.records import Session
from tests.cli.conftest import Milk

AGENTS = ("--primary", "openai/fast", "--escalation", "openai/deep")


def test_it_says_agent_rule_and_the_parts_of_the_score(milk: Milk):
    ran = milk(*AGENTS, "route", "redesign the queue so that two workers never deadlock")

    assert ran.code == 0
    assert ran.out.startswith("escalation · deep\nsignals: ")
    assert "concurrency" in ran.out and "deadlock" in ran.out and "sum +" in ran.out


def test_json_has_the_decision_with_its_parts(milk: Milk):
    told = milk(*AGENTS, "route", "rename a to b", "--json").json

    assert (told["agent"], told["decision"]["role"], told["decision"]["rule"]) == ("fast", "primary", "signals")
    assert told["score"] == sum(part["value"] for part in told["decision"]["parts"]) < 0
    assert told["session"] is None and told["classifier_would_be_asked"] is False


def test_the_sessions_state_counts(milk: Milk, stored: Session):
    told = milk(*AGENTS, "route", "question 3", "--json").json

    assert told["session"] == stored.id
    assert told["decision"]["role"] == "primary"


def test_without_an_escalation_agent_it_says_so_by_who_works(milk: Milk):
    ran = milk("--primary", "openai/fast", "route", "redesign everything")

    assert ran.code == 0 and ran.out.startswith("primary · fast\n")


def test_an_empty_prompt_is_wrong_usage(milk: Milk):
    ran = milk(*AGENTS, "route", "  ")

    assert ran.code == 2 and "empty" in ran.err


def test_escapes_in_a_prompt_do_no_harm(milk: Milk):
    ran = milk(*AGENTS, "route", "a \x1b[31mdeadlock\x1b[0m, redesign it")

    assert "\x1b" not in ran.out
