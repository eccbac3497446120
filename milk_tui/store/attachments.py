"""What came with a prompt, kept with its turn; a command's output waits for the next prompt."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterable
from typing import TYPE_CHECKING

from milk_tui.core.attachments import MOST, Attachment, Kind
from milk_tui.store.clock import now_ms
from milk_tui.store.rows import id_list, storable

if TYPE_CHECKING:
    from sqlite_utils import Database


def add(
    db: Database,
    session_id: str,
    attached: Attachment,
    *,
    turn_id: int | None,
    shown_turn_id: int | None = None,
    now: int | None = None,
) -> int:
    """Keep one; its id. ``turn_id``: the turn that it is given with, ``None`` for the next prompt;
    ``shown_turn_id``: the entry of the conversation that shows it when that is another."""
    cursor = db.execute(
        "insert into attachments (session_id, turn_id, shown_turn_id, kind, name, mime, note, created_ms, chars, ok,"
        " text, data) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            session_id,
            turn_id,
            shown_turn_id,
            attached.kind,
            storable(attached.name),
            attached.mime,
            storable(attached.note),
            now_ms() if now is None else now,
            len(attached.text),
            attached.ok,
            storable(attached.text),
            attached.data,
        ),
    )
    return cursor.lastrowid or 0


def take_waiting(db: Database, session_id: str, turn_id: int) -> int:
    """Give the newest ``MOST`` of what waits to this turn; how many."""
    return db.execute(
        "update attachments set turn_id = ? where id in (select id from attachments where session_id = ?"
        " and turn_id is null order by id desc limit ?)",
        (turn_id, session_id, MOST),
    ).rowcount


def of_turns(
    conn: sqlite3.Connection, turn_ids: Iterable[int], *, data: bool = True
) -> dict[int, tuple[Attachment, ...]]:
    """By turn, what it was given, in order; a turn without any is absent. ``data``: with the images' bytes."""
    return _by_turn(conn, turn_ids, "turn_id", data=data)


def shown(conn: sqlite3.Connection, turn_ids: Iterable[int]) -> dict[int, tuple[Attachment, ...]]:
    """By turn, what its entry in the conversation shows: what was attached to it, or the output of its command."""
    ids = list(turn_ids)
    own = _by_turn(conn, ids, "turn_id", data=False, only="and shown_turn_id is null")
    return own | _by_turn(conn, ids, "shown_turn_id", data=False)


def images(conn: sqlite3.Connection, session_id: str) -> dict[int, bytes]:
    """The bytes of a session's images, by the ids of the attachments."""
    rows = conn.execute("select id, data from attachments where session_id = ? and data is not null", (session_id,))
    return dict(tuple(row) for row in rows)


def _by_turn(
    conn: sqlite3.Connection, turn_ids: Iterable[int], column: str, *, data: bool, only: str = ""
) -> dict[int, tuple[Attachment, ...]]:
    columns = f"id, {column} as of_turn, kind, name, mime, note, created_ms, ok, text, {'data' if data else 'null'}"
    rows = conn.execute(
        f"select {columns} from attachments where {column} in (select value from json_each(?)) {only} order by id",
        (id_list(turn_ids),),
    )
    found: dict[int, list[Attachment]] = defaultdict(list)
    for id_, turn_id, kind, name, mime, note, created_ms, ok, text, bytes_ in rows:
        found[turn_id].append(
            Attachment(
                id=id_,
                kind=Kind(kind),
                name=name,
                mime=mime,
                note=note,
                created_ms=created_ms,
                ok=bool(ok),
                text=text,
                data=bytes_,
            )
        )
    return {turn_id: tuple(each) for turn_id, each in found.items()}
