"""Recall by shared words. Nothing that a prompt holds makes it fail; at worst it finds less.

Up to ``SCAN`` percepts all are ranked; of more, the text index names the candidates and those of most weight
fill up.
"""

from __future__ import annotations

import sqlite3

from milk_tui.core import percepts as rules
from milk_tui.core.records import Percept, Role
from milk_tui.store import percept_lists
from milk_tui.store.fts import any_of

_HEX = frozenset("0123456789abcdef")
SCAN = 150
CANDIDATES = 100


def for_leg(
    conn: sqlite3.Connection,
    *,
    role: Role,
    session_id: str,
    prompt: str,
    max_items: int = rules.MAX_ITEMS,
    max_bytes: int = rules.MAX_BYTES,
    exclude_pinned: bool = True,
) -> list[Percept]:
    """What that agent is given with the prompt, best first, within the item and byte budgets
    (``semantics.md`` §2).

    An empty prompt means most weight first, then newest. Pinned facts have a budget of their own
    (``pinned_for``).
    """
    ranked = rules.rank(_candidates(conn, role, session_id, prompt, exclude_pinned), prompt)
    return rules.pack(ranked, max_items=max_items, max_bytes=max_bytes)


def pinned_for(
    conn: sqlite3.Connection, role: Role, session_id: str, *, max_bytes: int = rules.PINNED_BYTES
) -> list[Percept]:
    """The pinned facts that the agent is always given, as far as they fit."""
    pinned = percept_lists.visible(conn, role, session_id, pinned=True)
    return rules.pack(pinned, max_items=len(pinned), max_bytes=max_bytes)


def search(conn: sqlite3.Connection, text: str, *, session_id: str | None = None, limit: int = 50) -> list[Percept]:
    """For a person who filters or searches: all but the forgotten facts that the session can see (``None``:
    those of every session), best first. A text without words lists by weight.

    A fact is also found by the beginning of its id, of a word, and by any part of its text.
    """
    text = text.strip()
    if not text:
        return percept_lists.browse(conn, session_id, limit=limit)
    found: dict[str, Percept] = {}
    digits = text.removeprefix("#").lower()
    if digits and set(digits) <= _HEX:
        found |= _by_id(percept_lists.browse(conn, session_id, id_beginning=digits, limit=limit))
    seqs = percept_lists.matching(conn, any_of(text, typing=True), session_id, limit=limit)
    found |= _by_id(percept_lists.browse(conn, session_id, seqs=seqs, limit=limit))
    if len(found) < limit:
        found |= _by_id(percept_lists.browse(conn, session_id, part=text, limit=limit))
    return list(found.values())[:limit]


def _candidates(
    conn: sqlite3.Connection, role: Role, session_id: str, prompt: str, exclude_pinned: bool
) -> list[Percept]:
    pinned = False if exclude_pinned else None
    heaviest = percept_lists.visible(conn, role, session_id, pinned=pinned, limit=SCAN + 1)
    if len(heaviest) <= SCAN:
        return heaviest
    seqs = percept_lists.matching(conn, any_of(prompt), session_id, limit=CANDIDATES)
    matching = percept_lists.visible(conn, role, session_id, pinned=pinned, seqs=seqs)
    return list((_by_id(matching) | _by_id(heaviest[:SCAN])).values())


def _by_id(percepts: list[Percept]) -> dict[str, Percept]:
    return {percept.id: percept for percept in percepts}
