"""``milk-tui memory search`` and ``why``: the engine of the screen, from the shell."""

from __future__ import annotations

from pathlib import Path

import pytest

from milk_tui.core.records import Session
from milk_tui.store import Store
from tests.cli.conftest import Milk


def learned(milk: Milk, *arguments: str) -> str:
    ran = milk("memory", "learn", *arguments)
    assert ran.code == 0, ran.err
    return ran.out.split()[0]


def search(milk: Milk, *arguments: str):
    return milk("memory", "search", "--words-only", *arguments)


def test_search_finds_by_words_best_first_with_scores(milk: Milk) -> None:
    learned(milk, "tests run with pytest")
    learned(milk, "the database is SQLite")
    (found,) = search(milk, "which", "database", "--json").json
    assert found["percept"]["content"] == "the database is SQLite"
    assert found["score"] > 0
    assert [part["name"] for part in found["parts"]] == ["words", "meaning", "weight", "confirmed"]
    head, row = search(milk, "which", "database").out.splitlines()
    assert head.split() == ["score", "id", "scope", "fact"]
    assert row.startswith(f"{found['score']:.2f} ") and row.endswith("the database is SQLite")


def test_search_that_finds_nothing_says_so(milk: Milk) -> None:
    ran = search(milk, "nothing")
    assert (ran.code, ran.out, ran.err) == (0, "", "No facts.\n")


@pytest.mark.slow
def test_search_finds_by_meaning_where_that_is_installed(milk: Milk) -> None:
    pytest.importorskip("onnxruntime")
    learned(milk, "Error text must meet a contrast ratio of 4.5 to 1.")
    learned(milk, "The importer runs at night.")
    hits = milk("memory", "search", "readable", "colours", "for", "warnings", "--json").json
    assert hits[0]["percept"]["content"].startswith("Error text")


def test_why_says_what_each_agent_would_be_given_and_what_not(milk: Milk, stored: Session) -> None:
    learned(milk, "the database is SQLite")
    learned(milk, "--pin", "the database is backed up")
    explained = milk("memory", "why", "which database?", "--words-only", "--json").json
    assert [each["role"] for each in explained] == ["primary", "escalation"]
    reasons = {item["percept"]["content"]: item["reason"] for item in explained[0]["items"]}
    assert reasons == {"the database is SQLite": "given", "the database is backed up": "pinned"}


@pytest.mark.parametrize("named", ["name", "role"])
def test_why_can_be_asked_for_one_agent(milk: Milk, stored: Session, named: str) -> None:
    learned(milk, "the database is SQLite")
    agent = stored.escalation.name if named == "name" else "escalation"
    out = milk("memory", "why", "which database?", "--words-only", "--for", agent.upper()).out
    assert out.startswith(f"{stored.escalation.name} (escalation) would be given 1 fact · fts\n")
    assert "looked for: database" in out
    assert "✓" in out and "given · words 1.00" in out
    assert stored.primary.name not in out.split("\n")[0]


def test_why_wants_an_agent_of_the_session(milk: Milk, stored: Session) -> None:
    ran = milk("memory", "why", "x", "--words-only", "--for", "nobody")
    assert ran.code == 1
    assert f"There are: {stored.primary.name}" in ran.err


def test_why_explains_what_is_for_all_where_there_is_no_session(milk: Milk) -> None:
    learned(milk, "--global", "the database is SQLite")
    (explained,) = milk("memory", "why", "which database?", "--words-only", "--json").json
    assert [item["reason"] for item in explained["items"]] == ["given"]


def test_no_text_of_a_fact_reaches_the_terminal_raw(milk: Milk, stored: Session) -> None:
    learned(milk, "ab\x1b[2J\u202ecd queue")
    for command in ("search", "why"):
        out = milk("memory", command, "--words-only", "queue \x1b[31m\u202e").out
        assert "queue" in out and "\x1b" not in out and "\u202e" not in out


def test_a_damaged_index_is_made_anew_by_the_command_that_meets_it(milk: Milk, home: Path) -> None:
    learned(milk, "the database is SQLite")
    (file,) = home.rglob("*.db")
    store = Store.open(file)
    store.write_sync(lambda db: db.execute("update percepts_fts_data set block = x'00' where id > 1"))
    store.close()
    ran = search(milk, "database")
    assert "the database is SQLite" in ran.out
    assert "made anew" in ran.err
    assert search(milk, "database").err == ""


def test_a_wrong_model_file_is_named_by_its_hash_and_words_still_find(milk: Milk, home: Path, tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    learned(milk, "the database is SQLite")
    wrong = tmp_path / "model.onnx"
    wrong.write_bytes(b"not a model")
    config = tmp_path / "config.toml"
    config.write_text(f'[memory]\nmodel_path = "{wrong}"\n')
    config.chmod(0o600)
    ran = milk("--config", str(config), "memory", "search", "database")
    assert "the database is SQLite" in ran.out
    assert "SHA-256 is" in ran.err and "by words alone" in ran.err
