"""A memory with everything that can be in one, and the files that are made of it."""

from __future__ import annotations

import io
from typing import Any

from milk_tui.core.archive import ArchivedFact, unmarked
from milk_tui.core.lifecycle import EdgeKind
from milk_tui.core.records import Consumer, Percept, PerceptScope, Producer, Role, Session
from milk_tui.interop import memory_export, memory_files, memory_import, memory_restore
from milk_tui.interop.memory_files import Format, Parsed
from milk_tui.interop.memory_import import Report
from milk_tui.interop.memory_lines import read
from milk_tui.store import (
    Store,
    consolidation,
    percept_archive,
    percept_changes,
    percept_edges,
    percept_lists,
    percept_uses,
    percepts,
)
from tests.store.makers import answered, make_leg, make_session, make_turn

NOW = 1_777_723_200_000


def add(store: Store, content: str, session: Session | None = None, **more: Any) -> Percept:
    more = {"session_id": session.id if session else None, **more}
    return store.write_sync(lambda db: percepts.add(db, content=content, **more)).percept


def rich(store: Store) -> dict[str, Percept]:
    """Facts in every state with every kind of history, by a name for each."""
    shop, blog = make_session(store, "/work/shop", title="Double “charge”"), make_session(store, "/work/blog")
    leg = make_leg(store, make_turn(store, shop, "why does it charge twice?"), Role.PRIMARY)

    def stage(db):
        fact = percepts.stage(
            db, leg_id=leg.id, producer=Producer.PRIMARY, content="retries live in the queue", subject="retries"
        ).percept
        percepts.make_live(db, leg.id, note="from an interrupted answer")
        return fact

    facts = {
        "agents": store.write_sync(stage),
        "pinned": add(store, "deploys happen on *Tuesdays*", shop, pinned=True, consumer=Consumer.ESCALATION),
        "global": add(store, "the port is 8412", scope=PerceptScope.GLOBAL),
        "old": add(store, "we use Postgres", shop),
        "new": add(store, "we use ScyllaDB", shop),
        "doubted": add(store, "the worker runs at night", shop, producer=Producer.ESCALATION),
        "doubting": add(store, "the worker runs at noon", shop),
        "removed": add(store, "nobody needs this", blog),
        "faded": add(store, "the build is slow", blog, producer=Producer.SYSTEM),
        "merged": add(store, "Retries are in the queue", shop),
        "edited": add(store, "teh typo", blog),
        "held": add(store, "remember to obey", blog),
        "unicode": add(store, "数据库使用 SQLite — naïve 🦆 `code` <b>x</b>", blog),
        "secret": add(store, "the key is AKIAIOSFODNN7EXAMPLE", blog, allow_secret=True),
    }

    def live(db):
        percept_changes.supersede(db, facts["old"].id, facts["new"].id)
        percept_changes.suspect(db, facts["doubting"].id, facts["doubted"].id, actor=Producer.USER)
        percept_changes.merge(db, facts["agents"].id, facts["merged"].id)
        percepts.forget(db, facts["removed"].id)
        percepts.edit(db, facts["edited"].id, "the typo")
        percepts.set_weight(db, facts["faded"].id, 210)
        percepts.set_weight(db, facts["unicode"].id, 310)
        percepts.undo(db, facts["unicode"].id)
        percepts.confirm(
            db, percept_lists.many(db.conn, [facts["global"].id])[facts["global"].id], producer=Producer.PRIMARY
        )
        percept_uses.record(db, [facts["agents"].id, facts["global"].id], turn_id=leg.turn_id, actor="primary")
        percept_edges.link(db, facts["pinned"].id, facts["global"].id, EdgeKind.EXTENDS)
        db.execute("update percepts set status = 'quarantined' where id = ?", (facts["held"].id,))

    store.write_sync(live)
    answered(store, blog, "go on", "done")
    ended = store.read_sync(lambda conn: consolidation.Ended(session_id=blog.id, last_turn_id=10**6))
    store.write_sync(lambda db: consolidation.consolidate(db, ended))
    return facts


def exported(store: Store, **more: Any) -> bytes:
    out = io.BytesIO()
    store.read_sync(lambda conn: memory_export.jsonl(conn, out, **{"everything": True, **more}))
    return out.getvalue()


def parsed(store: Store, data: bytes | str, name: str = "backup.jsonl", form: Format | None = None) -> Parsed:
    data = data.encode(errors="surrogatepass") if isinstance(data, str) else data
    columns = store.read_sync(percept_archive.undo_columns)
    return memory_files.parse(io.BufferedReader(io.BytesIO(data)), name, form, columns=columns)


def restore(store: Store, data: bytes | str) -> Report:
    file = parsed(store, data, form=Format.JSONL)
    return store.write_sync(lambda db: memory_restore.restore(db, file.exported, file.name, now=NOW))


def take(store: Store, data: bytes | str, name: str, session: Session | None = None, **more: Any) -> Report:
    """Import, to a session or for all."""
    file = memory_import.prepare(parsed(store, data, name, **more))
    scope = PerceptScope.SESSION if session else PerceptScope.GLOBAL
    return store.write_sync(
        lambda db: memory_import.take(db, file, session_id=session.id if session else None, scope=scope, now=NOW)
    )


def facts_of(store: Store, data: bytes, *, originals: bool = False) -> list[ArchivedFact]:
    """The facts of an export without their marks; ``originals``: as the file that they came from had them."""
    columns = store.read_sync(percept_archive.undo_columns)
    found = read(io.BufferedReader(io.BytesIO(data)), "export", columns=columns).facts
    return [unmarked(fact) if originals else fact for _, fact in found]
