"""Facts that came from a file beside those that are known: which say the same, and which may contradict them.

What is in a file retires nothing (``recall.md``, "Safety"): a conflict is shown to the person, and only a fact that the
person has approved may take another's place. Done in small transactions, so that other programs write in between.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from msgspec import Struct

from milk_tui.core.records import PerceptStatus
from milk_tui.engine import admission
from milk_tui.store import percept_lists
from milk_tui.store.clock import now_ms

if TYPE_CHECKING:
    from sqlite_utils import Database

    from milk_tui.core.records import Percept
    from milk_tui.store import Store
    from milk_tui.store.percepts import Change

AT_ONCE = 25
"""Facts of one transaction: a few tenths of a second."""
MOST = 1_000
"""Facts of one import that are compared at once; the others are when they are approved."""


_GONE = (PerceptStatus.SUPERSEDED, PerceptStatus.FORGOTTEN)


class Compared(Struct, frozen=True, kw_only=True):
    """How many of the facts say the same as a known one, or may contradict one; ``left`` were not compared."""

    same: int = 0
    doubted: int = 0
    left: int = 0


def with_known(store: Store, ids: Sequence[str]) -> Compared:
    """Compare facts that were just imported. Blocks, about 15 ms each."""

    def one(db: Database, id_: str) -> list[Change]:
        fact = percept_lists.many(db.conn, [id_]).get(id_)
        return admission.weigh(db, fact, now=now_ms()) if fact is not None and fact.holds else []

    seen = Counter(what for what, _ in _each(store, ids[:MOST], one))
    return Compared(same=seen["merged"], doubted=seen["suspected"], left=max(0, len(ids) - MOST))


def approve(store: Store, ids: Sequence[str]) -> list[tuple[str, Percept]]:
    """The person vouches for these; what happened, in order. One in whose place another of them has come is left out.
    Raises MilkError for one about which nothing is to be decided; those of the transactions before are approved."""
    gone: set[str] = set()
    waiting = set(ids)

    def one(db: Database, id_: str) -> list[Change]:
        waiting.discard(id_)
        if id_ in gone:
            return []
        changes = admission.approve(db, id_, waiting=waiting, now=now_ms())
        gone.update(change.percept.id for change in changes if change.percept.status in _GONE)
        return changes

    return _each(store, ids, one)


def _each(store: Store, ids: Sequence[str], do: Callable[[Database, str], list[Change]]) -> list[tuple[str, Percept]]:
    done: list[tuple[str, Percept]] = []
    waiting = iter(ids)
    while some := list(islice(waiting, AT_ONCE)):

        def write(db: Database, some: Sequence[str] = some) -> list[Change]:
            return [change for id_ in some for change in do(db, id_)]

        done += [(change.what, change.percept) for change in store.write_sync(write)]
    return done
