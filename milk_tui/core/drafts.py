"""Segments in the making, and fitting them under a cap in the order that the rules give (``semantics.md``
§4).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct
from msgspec.structs import replace

Shrink = Callable[[int], str]
"""``limit -> text``: a shorter rendering of at most ``limit`` characters, or nothing at all."""

LEAST_CHARS = 160
"""A block is not worth less than this: it is left out instead."""


class Draft(Struct, frozen=True, kw_only=True):
    """A segment in the making; empty text means that it is left out because of ``why``."""

    name: str
    text: str = ""
    stable: bool = False
    why: str = ""
    shrink: Shrink | None = None
    shrunk_from: int | None = None


def within(draft: Draft, limit: int, why: str) -> Draft:
    """The draft with at most ``limit`` characters."""
    if len(draft.text) <= limit or draft.shrink is None:
        return draft
    text = draft.shrink(max(0, limit)) if limit >= LEAST_CHARS else ""
    before = draft.shrunk_from or len(draft.text)
    what = f"shortened: {why}" if text else f"left out: {why}"
    return replace(draft, text=text, why=f"{draft.why}; {what}", shrunk_from=before)


def fit(drafts: Sequence[Draft], order: Sequence[str], limit: int) -> list[Draft]:
    """The drafts with at most ``limit`` characters in all: those named in ``order`` shrink, the first one
    first, each as far as needed before the next one is touched. Others never do.
    """
    result = list(drafts)
    why = f"over the cap of {limit:,} characters"
    for name in order:
        excess = sum(len(d.text) for d in result) - limit
        if excess <= 0:
            break
        for index, draft in enumerate(result):
            if draft.name == name:
                result[index] = within(draft, len(draft.text) - excess, why)
    return result


def left_out(draft: Draft, why: str) -> Draft:
    """The segment without its text, because of ``why``."""
    return Draft(name=draft.name, stable=draft.stable, why=why)


def stable(draft: Draft) -> Draft:
    """The segment as part of the stable prefix: nothing shrinks it any more."""
    return replace(draft, stable=True, shrink=None)


def counted(what: str, given: int, missed: int) -> str:
    """``what`` with how many items are given, and how many did not fit; zeros are not spoken of."""
    text = f"{what}: {given}" if given else what
    return f"{text}, {missed} more did not fit" if missed else text
