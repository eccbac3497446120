"""Two hands on one perception: the file beside the code and ours, since they were last the same (``semantics.md`` §5).

Key by key: changed only in the file, the file's value holds; changed only here, ours; changed on both sides, the file's
value holds and ours is kept for a swap.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from milk_tui.core.perception import same
from milk_tui.core.perception_view import FILE
from milk_tui.core.records import Layer, PerceptionEntry

Key = tuple[Layer, str]


class Merge(Struct, frozen=True, kw_only=True):
    """What the file changes here."""

    taken: tuple[PerceptionEntry, ...] = ()
    """By its writer the file's; an empty value: it was removed there."""
    overruled: tuple[PerceptionEntry, ...] = ()
    """Ours, of keys that were changed on both sides."""


def merge(base: Iterable[PerceptionEntry], theirs: Iterable[PerceptionEntry], ours: Iterable[PerceptionEntry]) -> Merge:
    """``base``: what both sides said when they were last the same; empty when they never were."""
    before, file, here = by_key(base), by_key(theirs), by_key(ours)
    taken: list[PerceptionEntry] = []
    overruled: list[PerceptionEntry] = []
    for key in dict.fromkeys((*file, *before)):
        there, was, mine = file.get(key), before.get(key), here.get(key)
        if same(there, was) or same(there, mine):
            continue
        if there is not None:
            taken.append(replace(there, writer=FILE))
        elif mine is not None:
            taken.append(replace(mine, value="", reason="", blocker="", stale="", writer=FILE))
        if mine is not None and not same(mine, was):
            overruled.append(mine)
    return Merge(taken=tuple(taken), overruled=tuple(overruled))


def by_key(entries: Iterable[PerceptionEntry]) -> dict[Key, PerceptionEntry]:
    """What holds, by layer and key."""
    return {(entry.layer, entry.key): entry for entry in entries if entry.value and not entry.proposed}
