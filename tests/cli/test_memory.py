"""``milk-tui memory``: the facts from the shell, by the same rules as in the screen."""

from __future__ import annotations

import pytest

from milk_tui.core.records import Session
from tests.cli.conftest import Milk

SECRET = "the key is AKIAIOSFODNN7EXAMPLE"


def learned(milk: Milk, *arguments: str) -> str:
    ran = milk("memory", "learn", *arguments)
    assert ran.code == 0, ran.err
    return ran.out.split()[0]


def test_a_fact_is_of_the_newest_session_of_this_folder(milk: Milk, stored: Session) -> None:
    learned(milk, "tests", "run", "with", "pytest")
    (fact,) = milk("memory", "list", "--json").json
    assert (fact["content"], fact["scope"], fact["session_id"]) == (
        "tests run with pytest",
        "session",
        stored.id,
    )
    assert (fact["producer"], fact["weight"]) == ("user", 900)


def test_a_fact_is_of_all_sessions_when_there_is_none_or_when_it_is_said(milk: Milk, request) -> None:
    learned(milk, "first")
    request.getfixturevalue("stored")
    learned(milk, "--global", "second")
    assert {fact["scope"] for fact in milk("memory", "list", "--json").json} == {"global"}


def test_pinned_facts_come_first_and_are_marked(milk: Milk) -> None:
    learned(milk, "plain")
    pinned = learned(milk, "--pin", "important")
    lines = milk("memory", "list").out.splitlines()
    assert lines[1].startswith(pinned)
    assert "★" in lines[1]
    assert "★" not in lines[2]


def test_pin_and_unpin_change_the_weight_and_back(milk: Milk) -> None:
    fact = learned(milk, "plain")
    milk("memory", "pin", fact)
    assert milk("memory", "list", "--json").json[0]["weight"] == 1000
    milk("memory", "unpin", fact)
    assert milk("memory", "list", "--json").json[0]["weight"] == 900


def test_a_forgotten_fact_is_out_of_the_list_and_comes_back(milk: Milk) -> None:
    fact = learned(milk, "we use Postgres")
    milk("memory", "forget", fact)
    assert milk("memory", "list", "--json").json == []
    assert milk("memory", "list", "--forgotten", "--json").json[0]["content"] == "we use Postgres"
    milk("memory", "restore", fact)
    assert [f["content"] for f in milk("memory", "list", "--json").json] == ["we use Postgres"]


def test_a_repeated_fact_is_confirmed_not_stored_again(milk: Milk) -> None:
    first = learned(milk, "once only")
    assert learned(milk, "once   only") == first
    assert len(milk("memory", "list", "--json").json) == 1


def test_show_says_where_a_fact_is_from_and_what_happened_to_it(milk: Milk) -> None:
    fact = learned(milk, "plain")
    milk("memory", "pin", fact)
    shown = milk("memory", "show", fact)
    assert "from       user" in shown.out
    assert "0.90 → 1.00" in shown.out
    assert [e["kind"] for e in milk("memory", "show", fact, "--json").json["events"]] == ["added", "pinned"]


def test_all_lists_the_facts_of_every_session(milk: Milk, request, monkeypatch, tmp_path) -> None:
    request.getfixturevalue("stored")
    learned(milk, "of a session")
    learned(milk, "--global", "of all")
    monkeypatch.chdir(tmp_path)
    assert [fact["content"] for fact in milk("memory", "list", "--json").json] == ["of all"]
    everything = milk("memory", "list", "--all", "--json").json
    assert {fact["content"] for fact in everything} == {"of a session", "of all"}


def test_a_secret_is_refused_unless_it_is_said_to_be_wanted(milk: Milk) -> None:
    ran = milk("memory", "learn", SECRET)
    assert ran.code == 1
    assert "--allow-secret" in ran.err
    assert "AKIA" not in ran.err
    assert learned(milk, "--allow-secret", SECRET)


@pytest.mark.parametrize("text", ["", " \t ", "x" * 2_001, "<milk:percept:abc123>x</milk:percept:abc123>"])
def test_what_can_not_be_a_fact_is_refused_with_the_reason(milk: Milk, text: str) -> None:
    ran = milk("memory", "learn", text)
    assert (ran.code, ran.err.startswith("milk-tui: Not stored: ")) == (1, True)


def test_escapes_never_reach_the_terminal(milk: Milk) -> None:
    fact = learned(milk, "a\x1b[2J\u202eb")
    for command in (("list",), ("show", fact), ("search", "--words-only", "ab")):
        out = milk("memory", *command).out
        assert "\x1b" not in out
        assert "\u202e" not in out


@pytest.mark.parametrize("command", ["show", "pin", "unpin", "forget", "restore"])
@pytest.mark.parametrize("reference", ["#000000", "zzz", "' or 1=1 --", "\x1b[2J"])
def test_an_unknown_id_is_said_in_one_line(milk: Milk, command: str, reference: str) -> None:
    ran = milk("memory", command, reference)
    assert ran.code == 1
    assert ran.err.startswith("milk-tui: There is no fact")
    assert len(ran.err.splitlines()) == 1


def test_a_fact_that_updates_another_replaces_it_from_the_shell_too(milk: Milk) -> None:
    learned(milk, "The API port is 8412.")
    said = milk("memory", "learn", "The API port is now 9000.").out
    assert "no longer holds: The API port is 8412." in said
    assert "8412" not in milk("memory", "list").out
