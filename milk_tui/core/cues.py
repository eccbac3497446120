"""Words that say that something changed, and what they name as the old (``recall.md``, "Writing a fact", 4).

English in full; the common wordings of German, French, Spanish, Russian and Chinese.
"""

from __future__ import annotations

import re
from enum import StrEnum

from msgspec import Struct

from milk_tui.core.cue_patterns import WORDINGS

_CODE = re.compile(r"`[^`]{1,200}`(?=.)")


class CueKind(StrEnum):
    FROM = "from"
    """Something went from the old to the new."""
    REPLACED = "replaced"
    DROPPED = "dropped"
    """The old is gone; what took its place need not be said."""
    RENAMED = "renamed"
    NO_LONGER = "no longer"
    """What follows held and doesn't any more."""
    BECAME = "became"
    """There is a new state; the old one need not be named."""
    NOW = "now"


class Cue(Struct, frozen=True):
    """``spans`` are the positions of the cue's own words, ``old`` that of what it names as the old."""

    kind: CueKind
    label: str
    spans: tuple[tuple[int, int], ...]
    old: tuple[int, int] | None = None


def find(text: str) -> list[Cue]:
    """The cues of a text: those that name the old first, then by their place. Each pattern counts once."""
    found: list[Cue] = []
    text = _CODE.sub(lambda code: " " * len(code.group()), text)
    folded = text.casefold()
    for wording in WORDINGS:
        if wording.needs and not any(word in folded for word in wording.needs):
            continue
        match = wording.pattern.search(text)
        if match is None:
            continue
        groups = match.groupdict()
        parts = [name for name in ("a", "b", "c") if groups.get(name)]
        spans = tuple(match.span(name) for name in parts)
        old = _trimmed(text, match.span("old")) if groups.get("old") else None
        label = " ".join(" … ".join(groups[name] for name in parts).split()).casefold().strip(" ,:")
        found.append(Cue(CueKind(wording.kind), label, spans, old))
    return sorted(found, key=lambda cue: (cue.old is None, cue.spans[0] if cue.spans else (0, 0)))


def _trimmed(text: str, span: tuple[int, int]) -> tuple[int, int]:
    """Without a full stop or a closing quote at its end."""
    start, end = span
    return start, start + max(1, len(text[start:end].rstrip(".\"'”’»")))
