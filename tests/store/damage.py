"""A database with something of everything in it, and every way to damage what it says: for the tests of the doctor and
of the next start."""

from __future__ import annotations

import hashlib
import sqlite3
from dataclasses import dataclass
from pathlib import Path

from milk_tui.core.attachments import Attachment, Kind
from milk_tui.core.exchanges import ExchangeKind, Happened
from milk_tui.core.grants import Grant
from milk_tui.core.helper_signals import Signal
from milk_tui.core.lifecycle import EdgeKind
from milk_tui.core.records import (
    Brick,
    BrickKind,
    ContextMode,
    ErrorKind,
    Layer,
    LegError,
    LegStatus,
    PerceptionEntry,
    Producer,
    Receipt,
    Role,
    Segment,
    Session,
    TurnStatus,
)
from milk_tui.core.tags import TagKind
from milk_tui.store import (
    Store,
    attachments,
    bricks,
    captures,
    exchanges,
    file_changes,
    grants,
    helper_runs,
    legs,
    notes,
    percept_changes,
    percept_edges,
    perception,
    percepts,
    receipts,
    remotes,
    session_imports,
    tool_calls,
    turns,
    vectors,
)
from milk_tui.store.file_changes import FileChange
from tests.store.makers import end_leg, make_leg, make_session, make_turn


@dataclass(frozen=True)
class Damage:
    """``sql`` does it, ``what`` is how the doctor names it; ``stays``: no mending is safe, a person is told what to
    do."""

    what: str
    sql: str
    stays: bool = False


def fill(store: Store, directory: str) -> Session:
    """Two sessions: one in which everything happened, and another."""
    other = make_session(store, f"{directory}/other")
    end_leg(store, make_leg(store, make_turn(store, other)), "elsewhere")
    session = make_session(store, directory, title="the real one")
    first = make_leg(store, make_turn(store, session, "why is it\nso slow?"))
    store.write_sync(lambda db: _said(db, session, first.id))
    end_leg(store, first, "because\nof that", thinking="well")
    store.write_sync(lambda db: (percepts.make_live(db, first.id), captures.settle(db, first.id)))
    second = make_leg(store, make_turn(store, session, "and now?"), Role.ESCALATION, escalated=True)
    broken = LegError(kind=ErrorKind.CUT, message="the connection broke")
    end_leg(store, second, "half", LegStatus.FAILED, error=broken)
    store.write_sync(lambda db: _remembered(db, session, first.id, second.id))
    store.write_sync(
        lambda db: [turns.finish(db, turn.id, TurnStatus.DONE) for turn in turns.queued(db.conn, other.id)]
    )
    store.write_sync(lambda db: db.execute("update turns set status = 'done' where status = 'running'"))
    store.write_sync(lambda db: _helped(db, session))
    return session


def _said(db, session: Session, leg_id: int) -> None:
    """What belongs to a leg that runs."""
    percepts.stage(db, leg_id=leg_id, producer=Producer.PRIMARY, content="The queue retries five times")
    captures.stage(db, leg_id, TagKind.NEED, "make it fast")
    call = tool_calls.start(db, leg_id, call_id="c1", name="read_file", arguments="{}")
    tool_calls.finish(db, call.id, "ok", "text")
    segments = tuple(
        Segment(name=name, text=f"text of {name}", stable=True, included=True, why="asked")
        for name in ("identity", "facts", "brief")
    )
    receipts.save(
        db,
        Receipt(
            leg_id=leg_id,
            turn_id=legs.get(db.conn, leg_id).turn_id,
            role=Role.PRIMARY,
            agent_name="qwen",
            mode=ContextMode.FIRST,
            segments=segments,
            sent_ms=5,
        ),
    )
    db.execute("insert into private_calls (tool_id, arguments) values (?, '{}')", (call.id,))
    change = FileChange(
        session_id=session.id, leg_id=leg_id, path="a.py", verb="edit", before=b"1", after=b"2", at_ms=5
    )
    file_changes.add(db, change)


def _remembered(db, session: Session, first: int, second: int) -> None:
    """Facts, bricks, perception, what agents know of each other."""
    old = percepts.add(db, content="The cache is Redis 6", session_id=session.id, now=10).percept
    new = percepts.add(db, content="The cache is Redis 7", session_id=session.id, now=20).percept
    percept_changes.supersede(db, old.id, new.id, now=30)
    gone = percepts.add(db, content="Nothing of this holds", session_id=session.id).percept
    percepts.forget(db, gone.id)
    shared = percepts.add(db, content="Deploys are on Tuesdays", pinned=True).percept
    percept_edges.link(db, shared.id, new.id, EdgeKind.EXTENDS)
    seqs = [row[0] for row in db.execute("select seq from percepts where status = 'live' order by seq")]
    vectors.put(db, "mini", [(fact, b"\0\0" * 8) for fact in vectors.texts(db.conn, seqs)])
    db.execute(
        "insert into percept_imports (percept_id, at_ms, file, original) values (?, 1, 'old.jsonl', '{}')", (shared.id,)
    )
    turn = legs.get(db.conn, second).turn_id
    for number in (1, 2):
        brick = Brick(kind=BrickKind.BRIEF, text="look", version=number, turn_id=turn, updated_ms=5)
        bricks.save(db, session.id, brick)
    db.execute("update bricks set delivered_leg = ? where version = 2", (second,))
    entries = [
        PerceptionEntry(layer=Layer.WORKING, key="now", value="slow"),
        PerceptionEntry(layer=Layer.INVARIANT, key="money", value="in cents"),
    ]
    perception.append(db, session.id, entries)
    for at in (1, 2):
        happened = Happened(
            event_id=f"e{at}",
            ts_ms=at,
            kind=ExchangeKind.HANDBACK,
            session_id=session.id,
            label="shop",
            speaker="qwen",
            listener="claude",
            takeaway="said",
        )
        exchanges.append(db, happened)
    remotes.seen(db, session_id=session.id, agent_name="qwen", remote_id="r1", revision=1)
    waits = Attachment(kind=Kind.COMMAND, name="ls", text="a.py")
    attachments.add(db, session.id, waits, turn_id=turn)
    grants.add(
        db,
        Grant(
            id=0,
            agent_name="qwen",
            tool="run_command",
            arguments="{}",
            pattern="",
            directory="/",
            session_id=None,
            title="run",
            created_ms=1,
        ),
    )
    session_imports.remember(db, "elia", "7", session.id, 1, updated_ms=9)
    db.execute(
        "insert into consolidations (session_id, last_turn_id, at_ms) values (?, ?, 5)",
        (session.id, legs.get(db.conn, first).turn_id),
    )
    db.execute(
        "insert into outside_runtimes (client, remote_id, directory, updated_ms) values ('claude-code', 'x', '/', 1)"
    )
    db.execute(
        "insert into decision_records (directory, name, stamp, hash, status, replaces, indexed_ms, title, body)"
        """ values ('/', 'a.md', '1', ?, 'live', '[[],false,""]', 1, 'Retries in the worker', 'Because of that')""",
        (hashlib.sha256(b"a").hexdigest(),),
    )


def _helped(db, session: Session) -> None:
    """Runs of the helper, a note that was delivered and one that waits, a lease and a signal behind it."""
    signal = Signal(name="session.turn-started", session_id=session.id, directory="/", at_ms=1)
    asked = helper_runs.Begin(
        signal=signal,
        profile_id="recall",
        profile_hash="h",
        runtime="lexical",
        model="",
        holder="somebody",
        lease_ms=10**14,
        max_concurrency=9,
    )
    for waits in (False, True):
        run = helper_runs.begin(db, asked, alive=lambda _: True, now=10)
        assert run is not None
        helper_runs.end(db, run, "note", now=20)
        notes.add(
            db.conn, session.id, "It was tried before.", cites=(notes.Cite("record", "a.md", "/"),), now=20, run_id=run
        )
        if not waits:
            took = notes.take(db.conn, session.id, notes.TURN_STARTED, receiver="qwen", role="primary", by="me", now=30)
            assert len(took) == 1
    assert helper_runs.begin(db, asked, alive=lambda _: True, now=40)
    helper_runs.wait(db, signal)


_FIRST_LEG = "(select min(id) from legs where session_id = (select id from sessions where title <> ''))"
_OTHER_LEG = "(select id from legs where session_id = (select id from sessions where title = '') limit 1)"
_OTHER = "(select id from sessions where title = '')"

DAMAGES: tuple[Damage, ...] = (
    # sessions and turns
    Damage("a prompt waits in a turn that has begun", "update turns set queued = 1"),
    Damage("a prompt waits though an agent has worked on it", "update turns set status = 'pending'"),
    Damage("the size beside a prompt is not its size", "update turns set prompt_chars = 99"),
    Damage("the lines beside a prompt are not its lines", "update turns set prompt_lines = 99"),
    Damage("a session's revision is not the number of its turns", "update sessions set revision = 77"),
    Damage("a session has no primary agent", f"delete from session_agents where session_id = {_OTHER}", stays=True),
    Damage("an agent of a session is not known by name", "update session_agents set name = 'x' where role = 'primary'"),
    Damage("more turns were imported than are there", "update session_imports set turns = 9", stays=True),
    Damage("something attached belongs to a turn of another session", f"update attachments set session_id = {_OTHER}"),
    # legs
    Damage("a leg ended without a time of its end", "update legs set ended_ms = null"),
    Damage("a leg ended before it began", "update legs set ended_ms = started_ms - 5"),
    Damage("a tool call ended before it began", "update tool_calls set ended_ms = started_ms - 5"),
    Damage(
        "a leg runs and has an end",
        "update turns set status = 'running'; update legs set status = 'running', acked_ms = null where id ="
        " (select max(id) from legs)",
    ),
    Damage("a leg works on a turn of another session", f"update legs set session_id = {_OTHER}", stays=True),
    Damage(
        "a leg runs in a turn that has ended", "update legs set status = 'running', ended_ms = null, acked_ms = null"
    ),
    Damage(
        "a leg runs behind the next one of its turn",
        "update turns set status = 'running'; update legs set status = 'running', ended_ms = null, acked_ms = null"
        f" where id = {_FIRST_LEG};"
        f" update legs set turn_id = (select turn_id from legs where id = {_FIRST_LEG}) where id > {_FIRST_LEG}",
    ),
    Damage("a leg was acknowledged without being done", "update legs set status = 'failed'"),
    Damage("a tool call runs in a leg that has ended", "update tool_calls set status = 'running', ended_ms = null"),
    Damage("a tool call ended without a time of its end", "update tool_calls set ended_ms = null"),
    Damage("the number of calls beside a leg is not theirs", "update legs set tools = 7"),
    Damage(
        "something that an agent said beside its answer waits for a leg that has ended",
        "update captures set status = 'staged'",
    ),
    Damage("the size beside a text is not its size", "update legs set text_chars = 99"),
    Damage("the lines beside a text are not its lines", "update legs set text_lines = 99"),
    Damage("the size beside thinking is not its size", "update legs set thinking_chars = 99"),
    Damage("pieces of what a leg was given are missing", "delete from segments where position = 1", stays=True),
    Damage("is not the one that its name stands for", "update segment_texts set text = text || '!'", stays=True),
    Damage("a changed file belongs to a leg of another session", f"update file_changes set leg_id = {_OTHER_LEG}"),
    Damage(
        "a permission was kept twice",
        "insert into grants (agent_name, tool, arguments, pattern, directory, title, created_ms)"
        " select agent_name, tool, arguments, pattern, directory, title, created_ms from grants",
    ),
    # bricks and perception
    Damage("versions of a brick are missing", "delete from bricks where version = 1", stays=True),
    Damage(
        "two briefs were given to one leg",
        "update bricks set delivered_leg = (select max(delivered_leg) from bricks)",
        stays=True,
    ),
    Damage(
        "a brief was given to a leg that is not of its session",
        f"update bricks set delivered_leg = {_OTHER_LEG} where version = 2",
        stays=True,
    ),
    Damage(
        "an entry of a working set belongs to no session",
        "update perception_entries set session_id = null where layer = 'working'",
        stays=True,
    ),
    Damage("an invariant stands in a slice", "update perception_entries set slice = 'x' where layer = 'invariant'"),
    # facts
    Damage("a fact waits for a leg that has ended", "update percepts set status = 'staged' where leg_id is not null"),
    Damage("a superseded fact names no successor", "update percepts set superseded_by = null"),
    Damage("a fact that holds names a successor", "update percepts set status = 'live' where status = 'superseded'"),
    Damage(
        "facts replace each other in a circle",
        "update percepts set status = 'superseded', superseded_by ="
        " (select id from percepts where content like '%Redis 6') where content like '%Redis 7'",
        stays=True,
    ),
    Damage("a fact's hash is not that of its text", "update percepts set hash = 'x'"),
    Damage(
        "a fact was learned in a leg of another turn", f"update percepts set leg_id = {_OTHER_LEG}, scope = 'global'"
    ),
    Damage(
        "a session's fact was learned in another session's leg",
        f"update percepts set leg_id = {_OTHER_LEG}, turn_id = (select turn_id from legs where id = {_OTHER_LEG})"
        " where scope = 'session'",
        stays=True,
    ),
    Damage(
        "a fact speaks of itself",
        "insert into percept_edges (source, target, kind, created_ms) select id, id, 'extends', 1 from percepts",
    ),
    Damage(
        "a forgotten fact can still be found by its meaning",
        "insert into percept_vectors (seq, model, vector) select seq, 'mini', zeroblob(16) from percepts"
        " where status = 'forgotten'",
    ),
    Damage(
        "a vector is not one of its model",
        "update percept_vectors set vector = zeroblob(7) where id = (select min(id) from percept_vectors)",
    ),
    Damage(
        "a period ended with a turn that its session has not",
        "update consolidations set last_turn_id = 999",
        stays=True,
    ),
    # agents
    Damage("an agent's memory is newer than its revision", "update agents set revision = 1 where name = 'claude'"),
    Damage("an entry of an agent's memory could be written twice", "delete from exchange_events where event_id = 'e1'"),
    Damage("is not the number of what it was told of", "update agents set revision = revision + 5", stays=True),
    Damage("an agent has seen more of its memory than there is", "update remote_sessions set last_seen = 99"),
    Damage("a leg was given more of an agent's memory than there is", "update legs set revision_at_delivery = 99"),
    # notes and runs
    Damage("a note was delivered and nobody knows when", "update notes set ended_ms = null"),
    Damage("a note ended and nobody knows when", "update notes set status = 'expired', ended_ms = null"),
    Damage("a note waits though it has ended", "update notes set ended_ms = 5"),
    Damage(
        "a note is carried by nobody", "update notes set status = 'claimed', ended_ms = null where claimed_ms is null"
    ),
    Damage("a note was delivered that nobody had taken", "update notes set claimed_ms = null", stays=True),
    Damage("a note of a run was kept twice", "update notes set run_id = (select min(run_id) from notes)"),
    Damage("a note is of a run that made none", "update helper_runs set status = 'quiet' where status = 'note'"),
    Damage("a run of the helper ended without a time of its end", "update helper_runs set ended_ms = null"),
    Damage("a conversation is leased to a run that does not run", "update helper_leases set run_id = 1"),
    # records that do not read
    Damage("why a turn went its way can't be read", "update turns set route = '{'"),
    Damage("a leg's error can't be read", "update legs set error = '[]'"),
    Damage("what a runtime was told can't be read", "update remote_sessions set told = ''"),
    Damage("what a runtime was given can't be read", "update remote_sessions set markers = 'x'"),
    Damage("how a change is undone can't be read", "update percept_events set undo = '1' where undo is not null"),
    Damage("what a file said can't be read", "update percept_imports set original = ''"),
    Damage("who took part in an exchange can't be read", "update exchanges set peers = 'qwen'"),
    Damage("what a client was told can't be read", "update outside_runtimes set told = '[1]'"),
    Damage("a signal that waits can't be read", "update helper_pending set payload = '{}'"),
    Damage("what a note names can't be read", "update notes set cites = 'a.md'"),
    Damage("what a decision replaces can't be read", "update decision_records set replaces = '{}'"),
    # rows that refer to nothing
    Damage("of percept_edges refer", "update percept_edges set target = 'x'"),
    Damage("of percepts refer", "update percepts set leg_id = 999 where leg_id is not null"),
    Damage("of tool_calls refer", "update tool_calls set leg_id = 999", stays=True),
    # text indexes
    Damage("percepts_fts is damaged", "update percepts_fts_data set block = zeroblob(7) where id > 100"),
    Damage("percepts_fts is damaged", "insert into percepts_fts (percepts_fts) values ('delete-all')"),
    Damage("percepts_trigram is damaged", "insert into percepts_trigram (percepts_trigram) values ('delete-all')"),
    Damage(
        "decision_records_fts is damaged",
        "insert into decision_records_fts (decision_records_fts) values ('delete-all')",
    ),
    Damage("messages_fts lacks", "insert into messages_fts (messages_fts) values ('delete-all')"),
    Damage("messages_fts knows too many", "insert into messages_fts (rowid, text) values (9998, 'of no turn')"),
)


def damage(path: Path, *how: Damage) -> None:
    """As a program of nobody would: no foreign keys."""
    conn = sqlite3.connect(path, isolation_level=None)
    try:
        for each in how:
            conn.executescript(f"{each.sql};")
    finally:
        conn.close()
