"""What the person does with the sessions of the database beside the one on the screen."""

from __future__ import annotations

from pathlib import Path

import pytest

from milk_tui.core.errors import MilkError
from milk_tui.core.records import Role, TurnStatus
from milk_tui.engine.session_shelf import PREVIEW_CHARS, SessionShelf
from milk_tui.store import sessions, turns
from tests.store import makers
from tests.store.makers import make_leg, make_session, make_turn


def answered(store, session, prompt: str, text: str, role: Role = Role.PRIMARY):
    leg = makers.answered(store, session, prompt, text, role)
    store.write_sync(lambda db: turns.finish(db, leg.turn_id, TurnStatus.DONE))
    return leg


@pytest.fixture
def shelf(store) -> SessionShelf:
    return SessionShelf(store, lambda _: False)


async def test_a_glimpse_is_the_end_of_the_conversation(store, session, shelf) -> None:
    for number in range(8):
        answered(store, session, f"question {number}", "x" * 5_000 if number == 7 else f"answer {number}")
    seen = await shelf.glimpse(session.id)
    assert [(each.who, each.text) for each in seen][:2] == [("", "question 2"), ("qwen", "answer 2")]
    assert len(seen[-1].text) <= PREVIEW_CHARS + 2


async def test_words_are_found_in_prompts_and_answers_of_the_directory(store, session, shelf) -> None:
    answered(store, session, "why twice?", "the idempotency key is missing")
    other = make_session(store, directory="/elsewhere")
    answered(store, other, "idempotency?", "yes")
    assert [hit.session_id for hit in await shelf.search("idempotency", directory=session.directory)] == [session.id]
    assert {hit.session_id for hit in await shelf.search("idempotency")} == {session.id, other.id}
    assert await shelf.search('" AND (') == []


async def test_a_deleted_session_is_not_found_and_comes_back(store, session, shelf) -> None:
    answered(store, session, "why twice?", "idempotency")
    await shelf.delete(session.id)
    assert await shelf.search("idempotency") == []
    assert await shelf.undelete() == session.id
    assert len(await shelf.search("idempotency")) == 1
    assert await shelf.undelete() is None


async def test_a_session_in_which_somebody_works_is_not_deleted(store, session) -> None:
    with pytest.raises(MilkError, match="open here"):
        await SessionShelf(store, lambda _: True).delete(session.id)
    make_leg(store, make_turn(store, session))
    with pytest.raises(MilkError, match="works in this session"):
        await SessionShelf(store, lambda _: False).delete(session.id)


async def test_a_fork_is_a_session_of_its_own(store, session, shelf) -> None:
    leg = answered(store, session, "one", "answer")
    answered(store, session, "two", "answer")
    copy = await shelf.fork(session.id, last_turn=leg.turn_id)
    assert (copy.title, copy.nonces == session.nonces) == ("untitled (fork)", False)
    assert len(store.read_sync(lambda conn: turns.index(conn, copy.id))) == 1


async def test_an_export_never_replaces_a_file(store, session, shelf, tmp_path: Path) -> None:
    answered(store, session, "one", "answer")
    (tmp_path / "a.html").write_text("mine")
    written = await shelf.export(session.id, "a.html", tmp_path)
    assert written.name == "a-2.html"
    assert "answer" in written.read_text()
    assert (tmp_path / "a.html").read_text() == "mine"


@pytest.mark.parametrize("name", ["a.pdf", "nowhere/a.md"])
async def test_an_export_that_cant_be_written_says_why(store, session, shelf, tmp_path: Path, name: str) -> None:
    with pytest.raises(MilkError):
        await shelf.export(session.id, name, tmp_path)


async def test_a_blank_title_is_refused(store, session, shelf) -> None:
    with pytest.raises(MilkError):
        await shelf.rename(session.id, " \n")
    assert await shelf.rename(session.id, "a\x1b[31m b") == "a b"
    assert store.read_sync(lambda conn: sessions.get(conn, session.id)).title == "a b"
