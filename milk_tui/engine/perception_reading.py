"""Reading the perception of a session: for a leg, and for people (``semantics.md`` §5)."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence

from milk_tui.core import perception as rules
from milk_tui.core.perception_view import (
    Dispute,
    EntryView,
    LayerView,
    PerceptionView,
    chars,
    expired,
    unreasoned,
)
from milk_tui.core.records import Layer, PerceptionEntry
from milk_tui.store import perception, perception_disputes, perception_slices


def for_leg(conn: sqlite3.Connection, session_id: str, turn_id: int) -> dict[Layer, tuple[PerceptionEntry, ...]]:
    """What an agent is given of each layer in that turn: accepted, and not expired."""
    turns = perception.recent_turns(conn, session_id, before=turn_id)
    return {
        layer: tuple(
            entry
            for entry in perception.current(conn, session_id, layer)
            if not entry.proposed and not expired(entry, turns)
        )
        for layer in Layer
    }


def view(conn: sqlite3.Connection, session_id: str, at_turn: int | None = None) -> PerceptionView:
    """What people look at, now or as of the end of a turn."""
    before = None if at_turn is None else at_turn + 1
    turns = perception.recent_turns(conn, session_id, before=before)
    slice_name = perception_slices.of_session(conn, session_id, **({} if at_turn is None else {"at_turn": at_turn}))
    kept = perception_disputes.waiting(conn, session_id, slice_name=slice_name) if at_turn is None else {}
    return PerceptionView(
        slice=slice_name,
        layers=tuple(
            _layer(
                layer, perception.current(conn, session_id, layer, slice_name=slice_name, at_turn=at_turn), turns, kept
            )
            for layer in Layer
        ),
        at_turn=at_turn,
        newest_turn=perception.last_turn(conn, session_id),
        slices=tuple(perception_slices.of_directory(conn, session_id)),
    )


def _layer(
    layer: Layer,
    entries: Sequence[PerceptionEntry],
    turns: Sequence[int],
    kept: Mapping[tuple[Layer, str], Dispute],
) -> LayerView:
    views = [
        EntryView(
            entry=entry,
            expired=expired(entry, turns),
            unreasoned=unreasoned(entry),
            dispute=None if entry.proposed else kept.get((layer, entry.key)),
        )
        for entry in entries
    ]
    holds = tuple(each for each in views if not each.entry.proposed)
    return LayerView(
        layer=layer,
        entries=holds,
        proposals=tuple(each for each in views if each.entry.proposed),
        chars=chars([each.entry for each in holds if not each.expired]),
        budget=rules.BUDGET[layer],
    )
