"""Writing into the perception: one door for agents, harness, person and file (``semantics.md`` §5).

Entries merge by key, an empty value removes. ``slice:`` in the frame says which slice is open: another name archives
the frame, which is found again under its name, and empties the working set. A session that has written stays at its
slice, whatever others open.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import TYPE_CHECKING

from msgspec.structs import replace

from milk_tui.core.perception import normal, same
from milk_tui.core.perception_gather import gathered
from milk_tui.core.perception_view import SLICE
from milk_tui.core.records import Layer, PerceptionEntry
from milk_tui.core.text import one_line
from milk_tui.store import perception, perception_slices

if TYPE_CHECKING:
    from sqlite_utils import Database

SLICE_CHARS = 80


def write(
    db: Database,
    session_id: str,
    entries: Iterable[PerceptionEntry],
    *,
    now: int,
    as_of: int | None = None,
    adding: Container[str] = (),
) -> list[PerceptionEntry]:
    """Keep the entries in their order; what changed, removals included, as listeners are told it.

    ``as_of``: the turn from whose end on they count, by default the newest one of the session; ``adding``: keys of the
    frame that are added to (``core/perception_gather.py``).
    """
    at = perception.last_turn(db.conn, session_id) if as_of is None else as_of
    told: dict[tuple[Layer, str, bool], PerceptionEntry] = {}
    if not perception_slices.stands(db.conn, session_id):
        here = perception_slices.of_session(db.conn, session_id)
        perception_slices.open_one(db, session_id, here, as_of=0, now=now)
    for raw in entries:
        entry = replace(normal(raw), updated_ms=raw.updated_ms or now)
        if entry.layer is Layer.FRAME and entry.key in adding and entry.value:
            entry = _gathered(db, session_id, entry)
        opens = entry.layer is Layer.FRAME and entry.key == SLICE and not entry.proposed
        made = open_slice(db, session_id, entry, now=now, as_of=at) if opens else _one(db, session_id, entry, at, now)
        told.update(((each.layer, each.key, each.proposed), each) for each in made)
    return list(told.values())


def open_slice(db: Database, session_id: str, entry: PerceptionEntry, *, now: int, as_of: int) -> list[PerceptionEntry]:
    """The slice that ``entry`` names is open from now on. The first name goes to what was written before it."""
    name = one_line(entry.value, SLICE_CHARS)
    entry = replace(entry, value=name, reason="", blocker="", stale="")
    before = perception_slices.of_session(db.conn, session_id)
    if name == before:
        return _one(db, session_id, entry, as_of, now) if name else []
    if before == "" and perception_slices.give_name(db, session_id, name):
        perception_slices.open_one(db, session_id, name, as_of=as_of, now=now)
        return _one(db, session_id, entry, as_of, now)
    left = perception.current(db.conn, session_id, Layer.FRAME)
    working = [
        replace(each, value="", updated_ms=now) for each in perception.current(db.conn, session_id, Layer.WORKING)
    ]
    perception.append(db, session_id, working, as_of=as_of, now=now)
    perception_slices.open_one(db, session_id, name, as_of=as_of, now=now)
    if name:
        _one(db, session_id, entry, as_of, now)
    there = perception.current(db.conn, session_id, Layer.FRAME)
    keys = {each.key for each in there}
    return [*(replace(each, value="") for each in left if each.key not in keys), *there, *working]


def _gathered(db: Database, session_id: str, entry: PerceptionEntry) -> PerceptionEntry:
    there = perception.current(db.conn, session_id, Layer.FRAME)
    before = next((each for each in there if each.key == entry.key), None)
    return entry if before is None else gathered(before, entry)


def _one(db: Database, session_id: str, entry: PerceptionEntry, as_of: int, now: int) -> list[PerceptionEntry]:
    """Keep one entry, unless it says what is there. Working entries are kept again: they have been touched."""
    there = perception.current(db.conn, session_id, entry.layer)
    before = next((each for each in there if (each.key, each.proposed) == (entry.key, entry.proposed)), None)
    if before is None and not entry.value:
        return []
    if before is not None and entry.layer is not Layer.WORKING and same(before, entry):
        return []
    holds = next((each for each in there if each.key == entry.key and not each.proposed), None)
    if entry.proposed and holds is not None and same(holds, entry):
        return []
    perception.append(db, session_id, [entry], as_of=as_of, now=now)
    return [entry]
