"""What legs were given once and for all, from their receipts, to stay in their agent's thread (``semantics.md`` §4)."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterable

from milk_tui.store.rows import id_list

ONCE = ("notes", "digest")
"""Segments that are delivered once and no later state could bring again."""


def once(conn: sqlite3.Connection, leg_ids: Iterable[int]) -> dict[int, str]:
    """By leg, those segments as they were sent; a leg that had none is absent."""
    rows = conn.execute(
        "select leg_id, text from segments join segment_texts using (hash)"
        " where leg_id in (select value from json_each(?)) and included and name in (select value from json_each(?))"
        " order by leg_id, position",
        (id_list(leg_ids), id_list(ONCE)),
    )
    found: dict[int, list[str]] = defaultdict(list)
    for row in rows:
        found[row["leg_id"]].append(row["text"])
    return {leg_id: "\n\n".join(texts) for leg_id, texts in found.items()}
