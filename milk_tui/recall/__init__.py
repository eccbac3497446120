"""Finding facts for a prompt: one entry point for contexts, tools, the browser's filter, the helper and the command
line (``recall.md``).

``for_leg`` is what an agent is given, ``why`` explains it, ``search`` and ``find`` are for a person. With a
``Semantic`` they find by meaning too; without one, or while it loads, by words. None of them raises for what a text or
an index holds.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from milk_tui.core import percepts as rules
from milk_tui.core.readers import Reader
from milk_tui.core.records import Percept, Role
from milk_tui.recall import finding, judging, lexical, turn_finding
from milk_tui.recall.explain import Explanation, Judged, Reason
from milk_tui.recall.finding import Hit
from milk_tui.recall.turn_finding import TurnHit
from milk_tui.store import percept_lists

if TYPE_CHECKING:
    from sqlite_utils import Database

    from milk_tui.recall.semantic import Phase, Semantic, SemanticState
else:

    def __getattr__(name: str) -> object:
        """What finds by meaning is imported with its first use: a hook or a server for others finds by words."""
        if name not in ("Phase", "Semantic", "SemanticState"):
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from milk_tui.recall import semantic

        return getattr(semantic, name)


__all__ = [
    "Explanation",
    "Hit",
    "Judged",
    "Phase",
    "Reason",
    "Semantic",
    "SemanticState",
    "TurnHit",
    "damaged",
    "find",
    "for_leg",
    "pinned_for",
    "repair",
    "search",
    "turns",
    "why",
]


def for_leg(
    conn: sqlite3.Connection,
    *,
    role: Reader,
    session_id: str,
    prompt: str,
    max_items: int = rules.MAX_ITEMS,
    max_bytes: int = rules.MAX_BYTES,
    exclude_pinned: bool = True,
    told: Iterable[str] = (),
    semantic: Semantic | None = None,
) -> list[Percept]:
    """What that agent is given with the prompt, best first, within the item and byte budgets (``semantics.md`` §2).

    Nothing when no fact has enough to do with it; the weightiest facts for a blank prompt. ``told``: ids that it was
    given before and still knows. Pinned facts have a budget of their own (``pinned_for``). An ``aside`` says what a
    fact replaced, when that was what the prompt asked for.
    """
    request = judging.Request(
        prompt=prompt,
        role=role,
        session_id=session_id,
        max_items=max_items,
        max_bytes=max_bytes,
        exclude_pinned=exclude_pinned,
        told=frozenset(told),
    )
    return judging.judge(conn, request, semantic).given


def why(
    conn: sqlite3.Connection,
    prompt: str,
    *,
    role: Role | None = None,
    session_id: str | None = None,
    max_items: int = rules.MAX_ITEMS,
    max_bytes: int = rules.MAX_BYTES,
    told: Iterable[str] = (),
    semantic: Semantic | None = None,
) -> Explanation:
    """What ``for_leg`` gives that agent and why, and why not the others, those that it may not see included.

    ``role`` ``None``: as if both agents' facts were for one; ``session_id`` ``None``: those of every session.
    """
    request = judging.Request(
        prompt=prompt,
        role=role,
        session_id=session_id,
        max_items=max_items,
        max_bytes=max_bytes,
        told=frozenset(told),
    )
    return judging.explain(conn, judging.judge(conn, request, semantic), semantic)


def find(
    conn: sqlite3.Connection,
    text: str,
    *,
    session_id: str | None = None,
    limit: int = 50,
    semantic: Semantic | None = None,
) -> list[Hit]:
    """For a person who filters or searches, with scores: all but the forgotten facts that the session can see
    (``None``: those of every session), best first. A text without words lists by weight."""
    return finding.find(conn, text, session_id=session_id, limit=limit, semantic=semantic)


def search(
    conn: sqlite3.Connection,
    text: str,
    *,
    session_id: str | None = None,
    limit: int = 50,
    semantic: Semantic | None = None,
) -> list[Percept]:
    """``find`` without the scores."""
    return [hit.percept for hit in find(conn, text, session_id=session_id, limit=limit, semantic=semantic)]


def turns(
    conn: sqlite3.Connection,
    text: str,
    *,
    session_id: str | None = None,
    limit: int = 20,
    semantic: Semantic | None = None,
) -> list[TurnHit]:
    """Where it was said: the turns that have most to do with the text, best first (``None``: of every session)."""
    return turn_finding.find(conn, text, session_id=session_id, limit=limit, semantic=semantic)


def pinned_for(
    conn: sqlite3.Connection, role: Reader, session_id: str, *, max_bytes: int = rules.PINNED_BYTES
) -> list[Percept]:
    """The pinned facts that the agent is always given, as far as they fit."""
    pinned = percept_lists.visible(conn, role, session_id, pinned=True)
    return rules.pack(pinned, max_items=len(pinned), max_bytes=max_bytes)


def damaged(path: Path) -> bool:
    """True when a recall met a damaged text index of that database: ``repair`` it in the writer."""
    return lexical.damaged(path)


def repair(db: Database, path: Path) -> None:
    """Make the text indexes anew from the tables."""
    from milk_tui.store import integrity

    integrity.rebuild_indexes(db)
    lexical.mended(path)
