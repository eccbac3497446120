"""Sessions of other programs in the database: whole, once, and left alone where somebody went on with them."""

from __future__ import annotations

from pathlib import Path

from milk_tui.core.records import BrickKind, LegStatus, PerceptStatus, Role, ToolStatus
from milk_tui.engine.session_export import conversation
from milk_tui.interop import foreign_milk, session_import
from milk_tui.interop.foreign import ForeignSession
from milk_tui.store import bricks, percept_lists, session_trash, sessions
from tests.interop import foreign_samples as samples
from tests.store.makers import answered

NONCES = {Role.PRIMARY: "aaaaaa", Role.ESCALATION: "bbbbbb"}
MORE = (
    {"role": "user", "agent": "primary", "content": "and then?", "timestamp": "2026-05-02T10:00:00Z"},
    {"role": "assistant", "agent": "primary", "content": "Then it works.", "timestamp": "2026-05-02T10:00:01Z"},
)


def plans(store, root: Path):
    found = [each for each in foreign_milk.sessions(root) if isinstance(each, ForeignSession)]
    return store.read_sync(lambda conn: [session_import.plan(conn, each) for each in found])


def take(store, root: Path) -> str:
    (plan,) = plans(store, root)
    return store.write_sync(
        lambda db: session_import.take(db, plan, directory="/here", nonces=NONCES, now=2_000_000_000_000)
    )


def test_a_session_is_here_with_its_turns_calls_agents_and_need(store, tmp_path: Path) -> None:
    session_id = take(store, samples.milk(tmp_path / "m"))
    session = store.read_sync(lambda conn: sessions.get(conn, session_id))
    assert (session.title, session.directory, session.revision) == ("checkout", "/home/u/shop", 2)
    assert session.escalation is not None
    assert [session.primary.name, session.escalation.name] == ["local", "claude"]
    assert session.updated_ms == 1_777_630_260_000
    first, second = conversation(store, session_id)
    ((leg, (tool,)),) = first.legs
    assert (first.turn.prompt, leg.text, leg.status) == ("why twice?", "It retries.", LegStatus.DONE)
    assert (tool.name, tool.result, tool.status) == ("read_file", "print(1)", ToolStatus.OK)
    ((leg, _),) = second.legs
    assert (leg.role, leg.thinking) == (Role.ESCALATION, "hm")
    need = store.read_sync(lambda conn: bricks.newest(conn, session_id, BrickKind.NEED))
    assert need.text == "stop double charges"


def test_the_same_session_again_changes_nothing(store, tmp_path: Path) -> None:
    root = samples.milk(tmp_path / "m")
    session_id = take(store, root)
    (again,) = plans(store, root)
    assert (again.new_turns, again.session_id, again.why) == (0, session_id, "it is here already")


def test_what_was_said_since_is_added(store, tmp_path: Path) -> None:
    session_id = take(store, samples.milk(tmp_path / "m"))
    assert take(store, samples.milk(tmp_path / "m", more=MORE)) == session_id
    assert [each.turn.prompt for each in conversation(store, session_id)] == ["why twice?", "design it", "and then?"]


def test_one_that_somebody_went_on_with_here_is_left_as_it_is(store, tmp_path: Path) -> None:
    session_id = take(store, samples.milk(tmp_path / "m"))
    session = store.read_sync(lambda conn: sessions.get(conn, session_id))
    answered(store, session, "my own", "answer")
    (plan,) = plans(store, samples.milk(tmp_path / "m", more=MORE))
    assert (plan.new_turns, plan.why) == (0, "somebody went on with it here")


def test_one_that_was_deleted_here_does_not_come_back(store, tmp_path: Path) -> None:
    root = samples.milk(tmp_path / "m")
    session_id = take(store, root)
    store.write_sync(lambda db: session_trash.delete(db, session_id))
    (plan,) = plans(store, root)
    assert (plan.new_turns, plan.why) == (0, "you deleted it here")


def test_facts_come_along_and_are_tainted(store, tmp_path: Path) -> None:
    root = samples.milk(tmp_path / "m")
    session_id = take(store, root)
    file = root / "memory" / f"{samples.MILK_ID}.json"
    report = store.write_sync(lambda db: session_import.take_memory(db, file, session_id=session_id, now=2))
    assert report.new == 1
    (fact,) = store.read_sync(lambda conn: percept_lists.select(conn, "p.session_id = ?", (session_id,)))
    assert (fact.content, fact.tainted, fact.status) == ("retries live in the queue", True, PerceptStatus.LIVE)


def test_the_words_of_an_imported_session_are_found(store, tmp_path: Path) -> None:
    take(store, samples.milk(tmp_path / "m"))
    rows = store.read_sync(
        lambda conn: conn.execute("select rowid from messages_fts where messages_fts match 'idempotency'").fetchall()
    )
    assert len(rows) == 1
