"""The perception of a session as people look at it, with what each entry lacks (``semantics.md`` §5)."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from milk_tui.core import perception
from milk_tui.core.perception import Item
from milk_tui.core.records import Layer, PerceptionEntry

EXPIRES_AFTER = 12
"""Turns after which an untouched working entry falls out of the prompt."""
HARNESS = "milk"
"""The writer of what the program itself notes: recent tool results, touched files, copies of a fresh start."""
PERSON = "user"
FILE = "file"
"""The writer of what was changed in the file beside the code."""
SLICE = "slice"
"""The frame's key that names the slice."""
_DECISIONS = "deci"


class Dispute(Struct, frozen=True, kw_only=True):
    """What stood in an entry when the file had another value: the file's holds, this one is kept for a swap."""

    id: int
    entry: PerceptionEntry
    at_ms: int


class EntryView(Struct, frozen=True, kw_only=True):
    """An entry with what is worth saying about it."""

    entry: PerceptionEntry
    expired: bool = False
    """Untouched for so long that no agent is given it any more."""
    unreasoned: tuple[str, ...] = ()
    """Decisions in it that have no reason."""
    dispute: Dispute | None = None

    @property
    def items(self) -> tuple[Item, ...]:
        return perception.items(self.entry)

    @property
    def blocked(self) -> tuple[Item, ...]:
        """The lines that wait for something."""
        return tuple(item for item in self.items if item.blocker)


class LayerView(Struct, frozen=True, kw_only=True):
    """One layer: what holds, what is proposed, what it costs."""

    layer: Layer
    entries: tuple[EntryView, ...]
    proposals: tuple[EntryView, ...]
    chars: int
    """Characters of what an agent is given, without the block's label."""
    budget: int

    @property
    def tokens_estimated(self) -> int:
        return -(-self.chars // 4)

    @property
    def over(self) -> int:
        """Characters over the budget; the agent is asked to tidy."""
        return max(0, self.chars - self.budget)


class SliceInfo(Struct, frozen=True, kw_only=True):
    """A slice of the directory: the open one, or an archived one that can be opened again."""

    name: str
    open: bool
    entries: int
    opened_ms: int
    updated_ms: int


class PerceptionView(Struct, frozen=True, kw_only=True):
    """What the agents of a session believe, now or as of a turn."""

    slice: str
    layers: tuple[LayerView, ...]
    at_turn: int | None = None
    """The turn as of whose end this is; ``None``: now."""
    newest_turn: int = 0
    slices: tuple[SliceInfo, ...] = ()

    def layer(self, layer: Layer) -> LayerView:
        return next(view for view in self.layers if view.layer is layer)

    @property
    def disputes(self) -> tuple[Dispute, ...]:
        return tuple(e.dispute for view in self.layers for e in view.entries if e.dispute)


class Version(Struct, frozen=True, kw_only=True):
    """What a turn changed in the perception: a stop of the time slider."""

    turn_id: int
    at_ms: int
    changes: int
    writers: tuple[str, ...]


def is_decision(entry: PerceptionEntry) -> bool:
    return entry.layer is Layer.FRAME and entry.key.startswith(_DECISIONS)


def unreasoned(entry: PerceptionEntry) -> tuple[str, ...]:
    """The decisions of an entry that say no reason; a reason of the whole list counts for each."""
    if not is_decision(entry) or entry.reason:
        return ()
    return tuple(item.text for item in perception.items(entry) if not item.reason)


def expired(entry: PerceptionEntry, turns: Sequence[int]) -> bool:
    """Whether no agent is given it any more. ``turns``: the session's newest turns before the one that asks, newest
    first, at least ``EXPIRES_AFTER`` of them where there are so many."""
    if entry.layer is not Layer.WORKING or len(turns) < EXPIRES_AFTER:
        return False
    return (entry.turn_id or 0) < turns[EXPIRES_AFTER - 1]


def chars(entries: Sequence[PerceptionEntry]) -> int:
    """What the entries take in a prompt, without the block's label."""
    return len(perception.render(entries))
