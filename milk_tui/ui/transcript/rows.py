"""Rows of text with their way back to the source.

A *piece* is ``(text, style, x)``: drawn text and the place of its first character in the block's source, or
``NOWHERE`` for what the source doesn't have (indents, bars, borders). Selection, copying and the place that is kept
while the width changes all go through ``x``, never through painted cells.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from rich.cells import cell_len, get_character_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

Piece = tuple[str, Style, int]
NOWHERE = -1
TAB = 4

_UNEVEN = re.compile("[\t\u200d\ufe0e\ufe0f]")
_MAY_NOT_BEGIN = frozenset("、。，．・：；？！）］｝〉》」』】〕〗ー々ぁぃぅぇぉっゃゅょァィゥェォッャュョ,.!?:;)]}%…")
_MAY_NOT_END = frozenset("（［｛〈《「『【〔〖([{")


class Row:
    """One row of a block. ``start`` and ``end`` are the part of the source that it shows."""

    __slots__ = ("_strip", "end", "fill", "pieces", "start")

    def __init__(self, pieces: Sequence[Piece], fill: Style, start: int, end: int) -> None:
        self.pieces = pieces
        self.fill = fill
        self.start = start
        self.end = end
        self._strip: Strip | None = None

    @property
    def text(self) -> str:
        return "".join([piece[0] for piece in self.pieces])

    def strip(self, width: int) -> Strip:
        """The row as it is painted, exactly ``width`` cells."""
        if self._strip is None or self._strip.cell_length != width:
            segments = [Segment(text, style) for text, style, _ in self.pieces if text]
            self._strip = _fit(segments, width, self.fill)
        return self._strip

    def selected(self, width: int, span: tuple[int, int], mark: Style) -> Strip:
        """The row with the characters of ``span`` (source offsets, end -1: all) marked."""
        first, last = span
        segments: list[Segment] = []
        for text, style, x in self.pieces:
            if x < 0:
                segments.append(Segment(text, style))
                continue
            a = min(max(first - x, 0), len(text))
            b = len(text) if last < 0 else min(max(last - x, 0), len(text))
            if a >= b:
                segments.append(Segment(text, style))
                continue
            for part, marked in ((text[:a], style), (text[a:b], style + mark), (text[b:], style)):
                if part:
                    segments.append(Segment(part, marked))
        return _fit(segments, width, self.fill)

    def aimed(self, width: int, key: int) -> Strip:
        """The row for finding what the mouse points at, not for painting: every cell carries ``offset`` (source
        offset, key), both cells of a wide character the same."""
        segments: list[Segment] = []
        behind = self._behind if any(x >= 0 for _, _, x in self.pieces) else self.start
        for index, (text, style, x) in enumerate(self.pieces):
            if x >= 0 and text.isascii():
                segments.append(Segment(text, style + _offset(x, key)))
            elif x >= 0:
                for at, character in enumerate(text, x):
                    segments += [Segment(" ", style + _offset(at, key))] * get_character_cell_size(character)
            else:
                target = next((p[2] for p in self.pieces[index + 1 :] if p[2] >= 0), behind)
                segments += [Segment(" ", style + _offset(target, key))] * cells(text)
        missing = width - sum(cells(text) for text, _, _ in self.pieces)
        segments += [Segment(" ", self.fill + _offset(behind, key))] * max(missing, 0)
        return Strip(segments).adjust_cell_length(width, self.fill)

    @property
    def _behind(self) -> int:
        """Where a click to the right of the text belongs: its last character, so that the next row stays out."""
        return max(self.start, self.end - 1)


def _offset(x: int, key: int) -> Style:
    return Style.from_meta({"offset": (x, key)})


def _fit(segments: list[Segment], width: int, fill: Style) -> Strip:
    cells = sum([cell_len(text) for text, _, _ in segments])
    if cells < width:
        segments.append(Segment(" " * (width - cells), fill))
        return Strip(segments, width)
    strip = Strip(segments, cells)
    return strip if cells == width else strip.adjust_cell_length(width, fill)


def cells(text: str) -> int:
    """Cells that the text takes, every character by itself (what all terminals agree on)."""
    if text.isascii():
        return len(text)
    size = get_character_cell_size
    return sum([size(character) for character in text])


def visible(text: str, style: Style, x: int, column: int = 0) -> list[Piece]:
    """A piece of a source line that begins at ``column``, as pieces that take the same cells in every terminal.

    Tabs become spaces up to the next stop; variation selectors and joiners, on whose width terminals disagree, are
    left out of what is drawn (not of what is copied).
    """
    if (text.isascii() and "\t" not in text) or not _UNEVEN.search(text):
        return [(text, style, x)] if text else []
    pieces: list[Piece] = []
    done = 0
    for found in _UNEVEN.finditer(text):
        at = found.start()
        if at > done:
            pieces.append((text[done:at], style, x + done))
            column += cells(text[done:at])
        if found.group() == "\t":
            stop = TAB - column % TAB
            pieces.append((" ", style, x + at))
            if stop > 1:
                pieces.append((" " * (stop - 1), style, NOWHERE))
            column += stop
        done = at + 1
    if done < len(text):
        pieces.append((text[done:], style, x + done))
    return pieces


def wrap(pieces: Sequence[Piece], width: int, hang: int | None = None) -> list[list[Piece]]:
    """The pieces in rows of at most ``width`` cells, broken at spaces and between wide characters.

    ``hang`` is the width of the rows after the first one when it differs.
    """
    text = "".join([piece[0] for piece in pieces])
    narrow = _is_narrow(text)
    if (len(text) if narrow else cells(text)) <= width:
        return [list(pieces)]
    breaks = (_break_narrow if narrow else _break_wide)(text, max(width, 2), max(hang or width, 2))
    return [_cut(pieces, first, last) for first, last in breaks]


def _is_narrow(text: str) -> bool:
    return text.isascii() or all(get_character_cell_size(character) == 1 for character in set(text))


def _break_narrow(text: str, width: int, hang: int) -> list[tuple[int, int]]:
    breaks = []
    position, length = 0, len(text)
    while length - position > width:
        limit = position + width
        cut = text.rfind(" ", position, limit + 1)
        if cut <= position or text[position:cut].isspace():
            breaks.append((position, limit))
            position = limit
        else:
            end = cut
            while text[end - 1] == " ":
                end -= 1
            breaks.append((position, end))
            position = cut + 1
        while position < length and text[position] == " ":
            position += 1
        width = hang
    if position < length:
        breaks.append((position, length))
    return breaks


def _break_wide(text: str, width: int, hang: int) -> list[tuple[int, int]]:
    sizes = {character: get_character_cell_size(character) for character in set(text)}
    breaks = []
    begin = column = index = 0
    end = following = 0
    length = len(text)
    before = ""
    while index < length:
        character = text[index]
        size = sizes[character]
        if character == " ":
            if before != " ":
                end = index
            following = index + 1
        elif (
            index > begin
            and size
            and before != " "
            and (size == 2 or sizes.get(before) == 2)
            and character not in _MAY_NOT_BEGIN
            and before not in _MAY_NOT_END
        ):
            end = following = index
        if column + size > width and character != " ":
            if following <= begin or end <= begin:
                end = following = index
            breaks.append((begin, end))
            while following < length and text[following] == " ":
                following += 1
            begin = index = following
            column, width, before = 0, hang, ""
            end = following = begin
            continue
        column += size
        before = character if size or before == " " else before
        index += 1
    while length > begin and text[length - 1] == " ":
        length -= 1
    if begin < length:
        breaks.append((begin, length))
    return breaks or [(0, 0)]


def _cut(pieces: Iterable[Piece], first: int, last: int) -> list[Piece]:
    row: list[Piece] = []
    position = 0
    for text, style, x in pieces:
        after = position + len(text)
        if after > first:
            a, b = max(first - position, 0), min(last - position, len(text))
            if b > a:
                row.append((text[a:b], style, x + a if x >= 0 else x))
        position = after
        if position >= last:
            break
    return row


def clip(pieces: Sequence[Piece], width: int, mark: str = "…") -> list[Piece]:
    """The pieces cut to ``width`` cells; a cut is marked."""
    if sum(cells(text) for text, _, _ in pieces) <= width:
        return list(pieces)
    room = width - cells(mark)
    row: list[Piece] = []
    for text, style, x in pieces:
        size = cells(text)
        if size <= room:
            row.append((text, style, x))
            room -= size
            continue
        taken = 0
        while taken < len(text) and get_character_cell_size(text[taken]) <= room:
            room -= get_character_cell_size(text[taken])
            taken += 1
        if taken:
            row.append((text[:taken], style, x))
        row.append((mark, style, NOWHERE))
        break
    return row


def extent(pieces: Sequence[Piece], default: int) -> tuple[int, int]:
    """The part of the source that the pieces show."""
    places = [(x, x + len(text)) for text, _, x in pieces if x >= 0]
    if not places:
        return default, default
    return places[0][0], places[-1][1]
