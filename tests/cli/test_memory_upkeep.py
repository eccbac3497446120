"""``milk-tui memory consolidate``: the end of a session from the shell, or only what it would do."""

from __future__ import annotations

from pathlib import Path

import pytest

from milk_tui.core.records import Producer, Session
from milk_tui.store import Store, percepts
from tests.cli.conftest import Milk, Ran
from tests.cli.test_memory import learned


def consolidate(milk: Milk, *arguments: str) -> Ran:
    ran = milk("memory", "consolidate", *arguments)
    assert ran.code == 0, ran.err
    return ran


def facts(milk: Milk, *arguments: str) -> list[tuple[str, int, str]]:
    return [(f["content"], f["weight"], f["scope"]) for f in milk("memory", "list", "--json", *arguments).json]


def add(home: Path, session: Session, content: str, weight: int) -> str:
    store = Store.open(home / "data" / "milk.db")

    def write(db):
        fact = percepts.add(db, content=content, producer=Producer.SYSTEM, session_id=session.id).percept
        percepts.set_weight(db, fact.id, weight)
        return fact.short_id

    short_id = store.write_sync(write)
    store.close()
    return short_id


def test_it_does_once_what_the_end_of_the_session_does(milk: Milk, stored: Session) -> None:
    fact = learned(milk, "tests", "run", "with", "pytest")
    ran = consolidate(milk)
    assert facts(milk) == [("tests run with pytest", 800, "global")]
    assert fact in ran.out
    assert "0.90 → 0.80" in ran.out
    assert "promoted" in ran.out
    assert "1 fact changed: 0 faded, 1 became global." in ran.err
    again = consolidate(milk)
    assert again.out == ""
    assert "Nothing to do: nothing was answered in “Double charge” since" in again.err
    assert facts(milk) == [("tests run with pytest", 800, "global")]


def test_a_dry_run_says_the_same_with_the_reasons_and_changes_nothing(milk: Milk, stored: Session) -> None:
    fact = learned(milk, "tests", "run", "with", "pytest")
    said = consolidate(milk, "--dry-run")
    assert "a session passed" in said.out
    assert "1 fact would change" in said.err
    assert facts(milk) == [("tests run with pytest", 900, "session")]
    assert [e["kind"] for e in milk("memory", "show", fact, "--json").json["events"]] == ["added"]
    assert consolidate(milk).out == said.out


def test_a_faded_fact_is_among_the_forgotten_with_its_reason_and_comes_back(milk: Milk, home, stored) -> None:
    fact = add(home, stored, "the build is slow", 250)
    ran = consolidate(milk)
    assert "forgotten" in ran.out
    assert facts(milk) == []
    assert facts(milk, "--forgotten") == [("the build is slow", 150, "session")]
    assert "can be restored for 30 days" in milk("memory", "show", fact).out
    milk("memory", "restore", fact)
    assert facts(milk) == [("the build is slow", 400, "session")]


def test_as_json_each_step_is_an_object(milk: Milk, stored: Session) -> None:
    learned(milk, "tests run with pytest")
    said = consolidate(milk, "--dry-run", "--json").json
    assert (said["session"], said["due"], said["purged"]) == (stored.id, True, 0)
    assert [(row["step"], row["before"], row["after"]) for row in said["changes"]] == [
        ("decayed", 900, 800),
        ("promoted", 800, 800),
    ]
    consolidate(milk)
    assert consolidate(milk, "--json").json == {"session": stored.id, "due": False, "changes": [], "purged": 0}


def test_another_session_is_named(milk: Milk, stored: Session, monkeypatch, tmp_path: Path) -> None:
    learned(milk, "tests run with pytest")
    monkeypatch.chdir(tmp_path)
    assert milk("memory", "consolidate").code == 1
    assert "became global" in consolidate(milk, "--session", "double charge").err


def test_what_faded_long_ago_is_deleted_only_when_it_is_asked_for(milk: Milk, home, stored: Session) -> None:
    fact = add(home, stored, "the build is slow", 250)
    consolidate(milk)
    store = Store.open(home / "data" / "milk.db")
    store.write_sync(lambda db: db.execute("update percept_events set at_ms = at_ms - 31 * 86400000"))
    store.close()
    assert "1 fact that faded long ago would be deleted." in consolidate(milk, "--purge", "--dry-run").err
    assert milk("memory", "show", fact).code == 0
    assert "1 fact that faded long ago deleted." in consolidate(milk, "--purge").err
    assert milk("memory", "show", fact).code == 1


@pytest.mark.parametrize("arguments", [["--session", "nobody"], ["--session", "\x1b[2J"]])
def test_an_unknown_session_is_said_in_one_line(milk: Milk, stored: Session, arguments: list[str]) -> None:
    ran = milk("memory", "consolidate", *arguments)
    assert ran.code == 1
    assert len(ran.err.splitlines()) == 1
