"""``milk-tui sessions export|import|fork|delete|undelete``, as a person runs them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from milk_tui.core.records import Session
from tests.cli.conftest import Milk
from tests.interop import foreign_samples as samples


@pytest.mark.parametrize("form", ["md", "html", "json"])
def test_a_session_is_written_to_the_file_that_its_name_asks_for(milk: Milk, stored: Session, form: str) -> None:
    ran = milk("sessions", "export", "--to", f"out.{form}")
    text = Path(f"out.{form}").read_text()
    assert (ran.code, ran.out) == (0, "")
    assert "answer 1" in text
    assert ("<html" in text, text.startswith("{")) == (form == "html", form == "json")
    assert Path(f"out.{form}").stat().st_mode & 0o777 == 0o600


def test_a_file_that_is_there_is_kept_unless_it_may_be_replaced(milk: Milk, stored: Session) -> None:
    Path("a.md").write_text("mine")
    ran = milk("sessions", "export", "--to", "a.md")
    assert ran.code == 1
    assert "--force" in ran.err
    assert Path("a.md").read_text() == "mine"
    assert milk("sessions", "export", "--to", "a.md", "--force").code == 0


def test_without_a_name_the_file_is_named_by_the_title(milk: Milk, stored: Session) -> None:
    milk("sessions", "export", "--format", "html")
    assert Path("double-charge.html").exists()


def test_standard_output_has_the_session_alone(milk: Milk, stored: Session) -> None:
    assert json.loads(milk("sessions", "export", "--to", "-", "--format", "json").out)["milk_tui_session"] == 1


def test_an_import_is_shown_first_and_done_when_it_may_be(milk: Milk, tmp_path: Path) -> None:
    root = str(samples.milk(tmp_path / ".milk"))
    shown = milk("sessions", "import", root, "--dry-run")
    assert "checkout" in shown.out and "2 turns" in shown.out
    assert milk("sessions", "list", "--all", "--json").json == []
    asked = milk("sessions", "import", root)
    assert asked.code == 1 and "--yes" in asked.err
    done = milk("sessions", "import", root, "--yes")
    assert done.code == 0 and "2 facts with them" in done.err
    (row,) = milk("sessions", "list", "--all", "--json").json
    assert (row["title"], row["turns"], row["agents"]) == ("checkout", 2, "local · claude")
    again = milk("sessions", "import", root, "--yes")
    assert "it is here already" in again.err


def test_an_import_says_as_json_what_it_would_do(milk: Milk, tmp_path: Path) -> None:
    file = str(samples.chatgpt(tmp_path / "conversations.json"))
    told = milk("sessions", "import", file, "--dry-run", "--json").json
    assert [(each["source"], each["new_turns"]) for each in told["sessions"]] == [("chatgpt", 1)]
    assert [each["where"] for each in told["unreadable"]] == ["conversations.json, conversation 2"]


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ([], 2, "--from"),
        (["--from", "emacs"], 2, "claude-code"),
        (["--from", "chatgpt"], 2, "name the exported file"),
        (["nowhere.json"], 1, "no such file"),
        (["notes.txt"], 1, "--from"),
    ],
)
def test_what_cant_be_imported_is_said(milk: Milk, arguments: list[str], code: int, said: str) -> None:
    Path("notes.txt").write_text("hello")
    ran = milk("sessions", "import", *arguments)
    assert ran.code == code
    assert said in ran.err


def test_a_fork_has_the_turns_up_to_the_one_named(milk: Milk, stored: Session) -> None:
    turn = milk("sessions", "show", "--json").json["turns"][0]["turn"]["id"]
    assert milk("sessions", "fork", stored.id[:8], "--at", str(turn), "--title", "other way").code == 0
    assert [each["turn"]["prompt"] for each in milk("sessions", "show", "other way", "--json").json["turns"]] == [
        "question 1"
    ]
    assert milk("sessions", "fork", stored.id[:8], "--at", "999").code == 1


def test_a_deleted_session_is_brought_back_by_its_name(milk: Milk, stored: Session) -> None:
    ran = milk("sessions", "delete", stored.id[:8], "--yes")
    assert "undelete" in ran.out
    assert milk("sessions", "list", "--json").json == []
    assert [row["id"] for row in milk("sessions", "undelete", "--json").json] == [stored.id]
    assert milk("sessions", "undelete", "nobody").code == 1
    assert milk("sessions", "undelete", stored.id[:8]).code == 0
    assert [row["id"] for row in milk("sessions", "list", "--json").json] == [stored.id]


def test_what_is_deleted_for_good_is_gone(milk: Milk, stored: Session) -> None:
    milk("sessions", "delete", stored.id[:8], "--for-good", "--yes")
    assert milk("sessions", "undelete", "--json").json == []
