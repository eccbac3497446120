"""``milk-tui sessions``: what a person sees of what was said."""

from __future__ import annotations

from pathlib import Path

import pytest

from milk_tui.core.records import Session, TurnStatus
from milk_tui.store import Store, sessions, turns
from tests.cli.conftest import Milk


def test_a_folder_without_sessions_says_so(milk: Milk) -> None:
    assert milk("sessions", "list", "--json").json == []
    assert "No sessions" in milk("sessions", "list").err


def test_the_list_names_sessions_and_their_agents(milk: Milk, stored: Session) -> None:
    row = milk("sessions", "list").out.splitlines()[1]
    assert row.startswith(stored.id[:8])
    assert "qwen · claude" in row
    assert row.endswith("Double charge  question 3")
    (listed,) = milk("sessions", "list", "--json").json
    assert (listed["id"], listed["turns"]) == (stored.id, 3)


def test_a_session_in_which_nothing_was_asked_is_left_out(milk: Milk, stored: Session, home: Path) -> None:
    store = Store.open(home / "data" / "milk.db")
    store.write_sync(lambda db: sessions.create(db, directory=stored.directory, primary=stored.primary))
    store.close()
    assert [row["id"] for row in milk("sessions", "list", "--json").json] == [stored.id]


def test_the_list_has_name_last_prompt_turns_agents_and_when(milk: Milk, stored: Session) -> None:
    head, row = milk("sessions", "list").out.splitlines()
    assert head.split() == ["id", "turns", "used", "agents", "cost", "title", "last", "prompt"]
    assert stored.title in row and stored.id[:8] in row


def test_sessions_are_found_by_what_was_said_in_them(milk: Milk, stored: Session) -> None:
    (row,) = milk("sessions", "list", "--search", "answer", "--json").json
    assert row["id"] == stored.id
    ran = milk("sessions", "list", "--search", "nobodysaidthis")
    assert (ran.out, ran.code) == ("", 0)
    assert "in which that was said" in ran.err


def test_sessions_of_other_folders_are_listed_when_asked_for(
    milk: Milk, stored: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert milk("sessions", "list", "--json").json == []
    assert stored.directory in milk("sessions", "list", "--all").out


@pytest.mark.parametrize("name", [None, "double charge", "id"])
def test_a_session_is_read_by_title_by_id_or_as_the_newest(milk: Milk, stored: Session, name: str | None) -> None:
    name = stored.id[:6] if name == "id" else name
    ran = milk("sessions", "show", *([name] if name else []))
    assert [line for line in ran.out.splitlines() if line.startswith(("question", "answer"))] == [
        "question 1",
        "answer 1 red",
        "question 2",
        "answer 2 red",
        "question 3",
        "answer 3 red",
    ]
    assert "◆ claude" in ran.out
    assert "needs a design" in ran.out


def test_the_last_turns_alone_can_be_shown(milk: Milk, stored: Session) -> None:
    assert [item["turn"]["prompt"] for item in milk("sessions", "show", "--last", "1", "--json").json["turns"]] == [
        "question 3"
    ]


def test_json_has_no_nonce(milk: Milk, stored: Session) -> None:
    out = milk("sessions", "show", "--json").out
    assert "aaa111" not in out
    assert "bbb222" not in out


def test_a_new_title_is_the_name_from_then_on(milk: Milk, stored: Session) -> None:
    assert milk("sessions", "rename", "Double charge", "  Charged\ntwice ").code == 0
    assert milk("sessions", "show", "charged twice").code == 0
    assert milk("sessions", "rename", "charged twice", " \n").code == 2


def test_deleting_asks_first_and_takes_everything_of_the_session(milk: Milk, stored: Session) -> None:
    assert milk("sessions", "delete", stored.id[:8], answers="n\n").code == 130
    assert len(milk("sessions", "list", "--json").json) == 1
    assert milk("sessions", "delete", stored.id[:8], answers="y\n").code == 0
    assert milk("sessions", "list", "--json").json == []
    assert milk("doctor", "--json").json["ok"] is True


def test_a_session_that_another_program_works_on_is_not_deleted(milk: Milk, stored: Session, home: Path) -> None:
    other = Store.open(home / "data" / "milk.db")
    turn = other.write_sync(lambda db: turns.add(db, stored.id, "running", owner=other.owner_id))
    ran = milk("sessions", "delete", stored.id[:8], "--yes")
    assert (ran.code, "Another program" in ran.err) == (1, True)
    other.write_sync(lambda db: turns.finish(db, turn.id, TurnStatus.DONE))
    other.close()
    assert milk("sessions", "delete", stored.id[:8], "--yes").code == 0


@pytest.mark.parametrize("command", ["show", "delete"])
def test_an_unknown_name_says_where_to_look(milk: Milk, stored: Session, command: str) -> None:
    ran = milk("sessions", command, "nothing like it")
    assert ran.code == 1
    assert "sessions list" in ran.err
