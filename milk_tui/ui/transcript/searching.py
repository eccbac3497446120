"""Words in an entry: which block shows them, and where in it."""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple

from milk_tui.ui.transcript.compose import folds_around
from milk_tui.ui.transcript.document import Document
from milk_tui.ui.transcript.parts import Key, Markdown, Part, Prompt, Thinking, Tool

_STEPS = 2_000
"""Steps of work in which an entry's text is cut into blocks at the longest: some MB of text."""


class Match(NamedTuple):
    """``start`` and ``end`` are characters of the block's source."""

    block: int
    start: int
    end: int


def match_in(
    document: Document, key: Key, words: str, number: int, *, thinking: bool = False, tool: Hashable = None
) -> Match | None:
    """The ``number``-th place of the words in what was said in an entry whose body is there, else the last one before
    it; ``None`` when no block shows them (Markdown may have cut them in two).

    ``thinking`` looks in what was thought instead, ``tool`` in a call: what is folded there is opened.
    """
    index = document.entries.index(key)
    layout = document.layout(index)
    if thinking:
        document.unfold(key, (("thinking", 0),))
    elif tool is not None:
        document.unfold(key, folds_around(layout.parts, tool))
    for _ in range(_STEPS):
        if document.layout(index).complete or not document.work():
            break
    layout = document.layout(index)
    meant = {n for n, part in enumerate(layout.parts) if _is_meant(part, thinking, tool)}
    wanted = words.casefold()
    last: Match | None = None
    inside = tool is None
    for block_number, block in enumerate(layout.blocks):
        if tool is not None and block.role == "tool":  # calls in a row are blocks of one part
            inside = block.fold == ("tool", tool)
            continue
        if not inside or block.part not in meant:
            continue
        source = block.source
        folded = source.casefold()
        if len(folded) != len(source):
            folded = source.lower() if len(source.lower()) == len(source) else source
        at = folded.find(wanted)
        while at >= 0 and wanted:
            last = Match(block_number, at, at + len(wanted))
            if number == 0:
                return last
            number -= 1
            at = folded.find(wanted, at + len(wanted))
    return last


def _is_meant(part: Part, thinking: bool, tool: Hashable) -> bool:
    match part:
        case Thinking():
            return thinking
        case Tool():
            return tool is not None
        case Prompt() | Markdown():
            return not thinking and tool is None
        case _:
            return False
