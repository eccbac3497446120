"""Reading percepts: by id, for the screen, and for an agent (through the one view that applies the consumer
filter).
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from milk_tui.core.errors import MilkError
from milk_tui.core.readers import Reader
from milk_tui.core.records import Consumer, Percept, PerceptScope, PerceptStatus, Producer
from milk_tui.store.rows import id_list, like, tuples

COLUMNS = ", ".join(f"p.{column}" for column in Percept.__struct_fields__ if column != "aside")
"""Of the table or the view under the name ``p``, in the order of the record."""

_REACH = "(p.scope = 'global' or p.session_id = ?)"
_OPEN = "p.status in ('staged', 'live', 'suspect')"
_OF_SESSION = f"p.session_id = ? and p.scope = 'session' and {_OPEN}"
_OF_ALL = f"p.scope = 'global' and {_OPEN}"
_BEST = "p.weight desc, p.confirmed_ms desc, p.seq desc"
"""Conditions and order as the two partial indexes have them, so that a list reads no more than it shows."""

_REFERENCE = re.compile(r"#?([0-9a-fA-F][0-9a-fA-F-]{3,35})\Z")
_GROUP_LIMIT = 500


class Groups(Struct, frozen=True, kw_only=True):
    """The percepts of a session's sidebar, each group best first; the totals count what the limit left out
    too.
    """

    pinned: tuple[Percept, ...]
    session: tuple[Percept, ...]
    shared: tuple[Percept, ...]
    """Those of scope ``global``."""
    pinned_total: int
    session_total: int
    shared_total: int


_ENUMERATED: tuple[tuple[str, dict[Any, Any]], ...] = (
    ("producer", {member.value: member for member in Producer}),
    ("consumer", {member.value: member for member in Consumer}),
    ("scope", {member.value: member for member in PerceptScope}),
    ("status", {member.value: member for member in PerceptStatus}),
    ("pinned", {0: False, 1: True}),
    ("tainted", {0: False, 1: True}),
)


def to_percept(row: sqlite3.Row) -> Percept:
    return _made(dict(row))


def _made(values: dict[str, Any]) -> Percept:
    for column, members in _ENUMERATED:
        values[column] = members[values[column]]
    return Percept(**values)


def _best(percept: Percept) -> tuple[int, int]:
    return -percept.weight, -percept.confirmed_ms


def select(conn: sqlite3.Connection, where: str, parameters: Iterable[object] = ()) -> list[Percept]:
    """The percepts of ``percepts p`` for a condition; ``where`` is SQL of this package, never a text from
    outside.
    """
    rows = conn.execute(f"select {COLUMNS} from percepts p where {where}", tuple(parameters))
    return [to_percept(row) for row in rows]


def get(conn: sqlite3.Connection, reference: str) -> Percept | None:
    """By whole id, or by its beginning of at least four digits with or without ``#``.

    Raises MilkError when several begin so.
    """
    match = _REFERENCE.match(reference.strip())
    if match is None:
        return None
    beginning = match[1].lower()
    found = select(conn, "p.id >= ? and p.id < ? order by p.id limit 2", (beginning, beginning + "g"))
    if len(found) > 1 and found[0].id != beginning:
        raise MilkError(f"#{beginning} is the beginning of several facts' ids.", "Give more of the id.")
    return found[0] if found else None


def many(conn: sqlite3.Connection, ids: Iterable[str]) -> dict[str, Percept]:
    """Those of the percepts that are there, by id."""
    found = select(conn, "p.id in (select value from json_each(?))", (id_list(ids),))
    return {percept.id: percept for percept in found}


def groups(conn: sqlite3.Connection, session_id: str, *, limit: int = _GROUP_LIMIT) -> Groups:
    """For the sidebar: the staged, live and suspect ones that the session can see."""

    def group(pinned: int, *scopes: str) -> tuple[tuple[Percept, ...], int]:
        found: list[Percept] = []
        total = 0
        for scope in scopes:
            where = f"{scope} and p.pinned = ?"
            parameters = (session_id, pinned) if scope is _OF_SESSION else (pinned,)
            total += conn.execute(f"select count(*) from percepts p where {where}", parameters).fetchone()[0]
            found += select(conn, f"{where} order by {_BEST} limit ?", (*parameters, limit))
        return tuple(sorted(found, key=_best)[:limit]), total

    pinned, pinned_total = group(1, _OF_SESSION, _OF_ALL)
    session, session_total = group(0, _OF_SESSION)
    shared, shared_total = group(0, _OF_ALL)
    return Groups(
        pinned=pinned,
        session=session,
        shared=shared,
        pinned_total=pinned_total,
        session_total=session_total,
        shared_total=shared_total,
    )


def forgotten(conn: sqlite3.Connection, session_id: str, *, limit: int = _GROUP_LIMIT) -> list[Percept]:
    """What can be restored in the session, the last forgotten first."""
    where = f"p.status = 'forgotten' and {_REACH} order by p.updated_ms desc limit ?"
    return select(conn, where, (session_id, limit))


def of_leg(conn: sqlite3.Connection, leg_id: int, *, staged: bool = False) -> list[Percept]:
    """What was captured during a leg, in order; ``staged``: only what is not live yet."""
    condition = " and p.status = 'staged'" if staged else ""
    return select(conn, f"p.leg_id = ?{condition} order by p.seq", (leg_id,))


def visible(
    conn: sqlite3.Connection,
    role: Reader,
    session_id: str,
    *,
    pinned: bool | None = None,
    seqs: Iterable[int] | None = None,
    limit: int | None = None,
) -> list[Percept]:
    """What that agent may be given in that session, best weight first: the only way from a percept to an
    agent.

    Session percepts belong to their session, global ones to all. ``seqs`` restricts to row numbers of the
    text index.
    """
    most = -1 if limit is None else limit
    if seqs is not None:
        return _visible(conn, role, _REACH, [session_id], pinned, seqs, most)
    found: list[Percept] = []
    for each in (True, False) if pinned is None else (pinned,):
        found += _visible(conn, role, _OF_SESSION, [session_id], each, None, most)
        found += _visible(conn, role, _OF_ALL, [], each, None, most)
    found.sort(key=_best)
    return found if limit is None else found[:limit]


def _visible(
    conn: sqlite3.Connection,
    role: Reader,
    scope: str,
    parameters: list[object],
    pinned: bool | None,
    seqs: Iterable[int] | None,
    limit: int,
) -> list[Percept]:
    conditions = ["p.reader = ?", scope]
    values = [role, *parameters]
    if pinned is not None:
        conditions.append("p.pinned = ?")
        values.append(pinned)
    if seqs is not None:
        conditions.append("p.seq in (select value from json_each(?))")
        values.append(id_list(seqs))
    rows = conn.execute(
        f"select {COLUMNS} from percepts_visible p where {' and '.join(conditions)} order by {_BEST} limit ?",
        (*values, limit),
    )
    return [to_percept(row) for row in rows]


def readable(
    conn: sqlite3.Connection, role: Reader | None, session_id: str | None, seqs: Iterable[int]
) -> dict[int, Percept]:
    """By row number, those that the agent could be given in the session, superseded ones included: for recall, which
    looks for those and gives what replaced them.

    ``role`` ``None`` is the person, ``session_id`` ``None`` every session.
    """
    conditions = ["p.seq in (select value from json_each(?))"]
    values: list[object] = [id_list(seqs)]
    if session_id is not None:
        conditions.append(_REACH)
        values.append(session_id)
    if role is None:
        source = "percepts"
        conditions.append("p.status in ('live', 'suspect', 'superseded')")
    else:
        source = "percepts_readable"
        conditions.append("p.reader = ?")
        values.append(role)
    rows = conn.execute(f"select p.seq as seq, {COLUMNS} from {source} p where {' and '.join(conditions)}", values)
    return {row["seq"]: _numbered(row) for row in rows}


def by_seq(conn: sqlite3.Connection, seqs: Iterable[int]) -> dict[int, Percept]:
    """By row number, whatever became of them and whoever they are for: only to say why one is not given."""
    rows = conn.execute(
        f"select p.seq as seq, {COLUMNS} from percepts p where p.seq in (select value from json_each(?))",
        (id_list(seqs),),
    )
    return {row["seq"]: _numbered(row) for row in rows}


def seqs_of(conn: sqlite3.Connection, ids: Iterable[str]) -> dict[str, int]:
    """The row numbers of those ids that are there."""
    rows = tuples(conn, "select id, seq from percepts where id in (select value from json_each(?))", (id_list(ids),))
    return dict(rows)


def last_seq(conn: sqlite3.Connection) -> int:
    """The highest row number: about how many there are."""
    return int(conn.execute("select max(seq) from percepts").fetchone()[0] or 0)


def doubted(conn: sqlite3.Connection, ids: Iterable[str]) -> list[tuple[str, str]]:
    """Pairs of facts that contradict each other, of which one is among ``ids``."""
    listed = id_list(ids)
    return tuples(
        conn,
        "select source, target from percept_edges where kind = 'contradicts' and (source in"
        " (select value from json_each(?)) or target in (select value from json_each(?))) order by id",
        (listed, listed),
    )


def _numbered(row: sqlite3.Row) -> Percept:
    values = dict(row)
    del values["seq"]
    return _made(values)


def count_visible(conn: sqlite3.Connection, role: Reader, session_id: str) -> int:
    row = conn.execute(
        "select count(*) from percepts_visible where reader = ? and (scope = 'global' or session_id = ?)",
        (role, session_id),
    ).fetchone()
    return int(row[0])


def browse(
    conn: sqlite3.Connection,
    session_id: str | None,
    *,
    id_beginning: str | None = None,
    part: str | None = None,
    seqs: Iterable[int] | None = None,
    limit: int = _GROUP_LIMIT,
) -> list[Percept]:
    """For a person: all but the forgotten ones that the session can see (``None``: of every session).

    ``id_beginning`` and ``part`` (of the text, ASCII letters in either case) narrow it; best weight first.
    ``seqs`` are row numbers of the text index, and give the order.
    """
    conditions = ["p.status <> 'forgotten'"]
    parameters: list[object] = []
    order = "p.weight desc, p.confirmed_ms desc, p.seq desc"
    if session_id is not None:
        conditions.append(_REACH)
        parameters.append(session_id)
    if id_beginning is not None:
        conditions.append("p.id >= ? and p.id < ?")
        parameters += [id_beginning, id_beginning + "g"]
    if part is not None:
        conditions.append("p.content like ? escape '\\'")
        parameters.append(like(part))
    if seqs is not None:
        listed = id_list(seqs)
        conditions.append("p.seq in (select value from json_each(?))")
        order = "(select key from json_each(?) where value = p.seq)"
        parameters += [listed, listed]
    where = f"{' and '.join(conditions)} order by {order} limit ?"
    return select(conn, where, (*parameters, limit))


def matching(conn: sqlite3.Connection, query: str, session_id: str | None, *, limit: int = _GROUP_LIMIT) -> list[int]:
    """Row numbers of the best matches of a text index query (``store/fts.py``) in reach of the session, best
    first; none when the query is empty or the index can't be asked."""
    if not query:
        return []
    try:
        rows = conn.execute(
            "select f.rowid from percepts_fts f join percepts p on p.seq = f.rowid"
            " where percepts_fts match ?1 and (?2 is null or p.scope = 'global' or p.session_id = ?2)"
            " order by f.rank limit ?3",
            (query, session_id, limit),
        ).fetchall()
    except sqlite3.DatabaseError:
        return []
    return [row[0] for row in rows]
