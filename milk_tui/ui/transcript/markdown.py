"""Markdown blocks as rows.

Headings, paragraphs, nested lists, quotes, tables, code, rules; HTML is shown as text, images as their description.
Nothing is fetched and nothing is executed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from milk_tui.ui.transcript.code import CodeLine, code_rows, label_row, language_of
from milk_tui.ui.transcript.colours import Colours
from milk_tui.ui.transcript.inline import Inline
from milk_tui.ui.transcript.palette import Palette
from milk_tui.ui.transcript.rows import NOWHERE, Piece, Row, extent, visible, wrap
from milk_tui.ui.transcript.splitter import IN_LIST, ListInfo, parser
from milk_tui.ui.transcript.table import Cell, table_rows

if TYPE_CHECKING:
    from markdown_it.token import Token

PROSE = 112
"""Running text is not set wider than this, in cells: longer lines are hard to read."""
_BULLETS = "•◦▪"


@dataclass(slots=True)
class Paper:
    """What rows are made for: the styles, the width in cells, and the colours of code."""

    palette: Palette
    width: int
    colours: Colours = field(default_factory=Colours)


@dataclass(slots=True)
class _Margin:
    """What stands left of a container's rows: once ``first``, then ``rest``; both ``cells`` wide."""

    first: list[Piece]
    rest: list[Piece]
    cells: int
    used: bool = False


def markdown_rows(
    paper: Paper,
    source: str,
    env: dict[str, Any],
    *,
    item_of: ListInfo | None = None,
    number: int = 0,
    growing: bool = False,
    head: str = "",
    columns: Sequence[int] = (),
) -> list[Row]:
    """The rows of one block's source. ``item_of`` and ``number`` say which item of which list it is.

    ``growing`` is true for the block that is still streamed: its code is not coloured yet. ``head`` makes the source
    more rows of a table, ``columns`` says how wide that table's columns want to be.
    """
    if head:
        return _more_rows(paper, source, env, head, columns)
    env[IN_LIST] = item_of is not None
    tokens = parser(True).parse(source, env)
    page = _Page(paper, source, env, growing, columns)
    if item_of is not None and tokens and tokens[0].type.endswith("list_open"):
        page.items(tokens, 0, _close(tokens, 0), item_of, number)
    else:
        page.blocks(tokens, 0, len(tokens), tight=False)
    return page.rows or [Row([], paper.palette("text"), 0, 0)]


def _more_rows(paper: Paper, source: str, env: dict[str, Any], head: str, columns: Sequence[int]) -> list[Row]:
    """Rows of a table whose head is drawn elsewhere."""
    shift = len(head) + 1
    env[IN_LIST] = False
    page = _Page(paper, f"{head}\n{source}", env, False, columns)
    page.blocks(tokens := parser(True).parse(f"{head}\n{source}", env), 0, len(tokens), tight=False)
    rows = [row for row in page.rows if any(x >= shift for _, _, x in row.pieces) or row.start >= shift]
    for row in rows:
        row.pieces = [(text, style, x - shift if x >= 0 else x) for text, style, x in row.pieces]
        row.start, row.end = max(row.start - shift, 0), max(row.end - shift, 0)
    return rows or [Row([], paper.palette("text"), 0, 0)]


class _Page:
    def __init__(
        self, paper: Paper, source: str, env: dict[str, Any], growing: bool, columns: Sequence[int] = ()
    ) -> None:
        self.rows: list[Row] = []
        self._env = env
        self._paper = paper
        self._palette = paper.palette
        self._source = source
        self._growing = growing
        self._columns = columns
        self._starts = list(accumulate((len(line) + 1 for line in source.split("\n")), initial=0))
        self._ground: tuple[str, ...] = ("text",)
        self._margins: list[_Margin] = []
        self._at = 0
        self._depth = 0

    def blocks(self, tokens: Sequence[Token], start: int, end: int, *, tight: bool) -> None:
        index, first = start, True
        while index < end:
            token = tokens[index]
            close = _close(tokens, index) if token.nesting == 1 else index
            if not first and not tight:
                self._emit([])
            first = False
            self._block(tokens, index, close)
            index = close + 1

    def items(self, tokens: Sequence[Token], start: int, end: int, info: ListInfo, number: int) -> None:
        self._depth += 1
        index = start + 1
        while index < end:
            close = _close(tokens, index)
            if index > start + 1 and info.loose:
                self._emit([])
            marker = self._marker(tokens, index, info, number)
            rest: list[Piece] = [(" " * len(marker), self._palette("text"), NOWHERE)]
            first: list[Piece] = [(marker, self._palette("text", "marker"), NOWHERE)]
            self._margins.append(_Margin(first, rest, len(marker)))
            if close == index + 1:
                self._emit([])
            self.blocks(tokens, index + 1, close, tight=not info.loose)
            self._margins.pop()
            number += 1
            index = close + 1
        self._depth -= 1

    def _block(self, tokens: Sequence[Token], index: int, close: int) -> None:
        token = tokens[index]
        match token.type:
            case "paragraph_open":
                self._inline(tokens[index + 1], ())
            case "heading_open":
                self._inline(tokens[index + 1], (f"h{min(int(token.tag[1]), 4)}",))
            case "bullet_list_open" | "ordered_list_open":
                ordered = token.type == "ordered_list_open"
                first = int(token.attrs.get("start", 1)) if ordered else 1
                loose = any(
                    t.type == "paragraph_open" and t.level == token.level + 2 and not t.hidden
                    for t in tokens[index:close]
                )
                self.items(tokens, index, close, ListInfo(ordered, first, loose), 0)
            case "blockquote_open":
                bar: list[Piece] = [("▎ ", self._palette("text", "bar"), NOWHERE)]
                outer, self._ground = self._ground, (*self._ground, "muted")
                self._margins.append(_Margin(bar, bar, 2))
                self.blocks(tokens, index + 1, close, tight=False)
                self._margins.pop()
                self._ground = outer
            case "fence" | "code_block":
                self._code(token)
            case "table_open":
                self._table(tokens, index, close)
            case "hr":
                self._emit([("─" * self._width(), self._palette("text", "bar"), NOWHERE)])
            case "html_block":
                self._html(token)
            case _:
                if token.content:
                    self._lines(token.content, self._at)

    def _inline(self, token: Token, names: tuple[str, ...]) -> None:
        if token.map:
            self._at = max(self._at, self._starts[token.map[0]])
        inline = Inline(self._palette, (*self._ground, *names), self._source, self._at, self._env)
        for line in inline.run(token.children or []):
            for part in wrap(line, self._width()):
                self._emit(part)
        self._at = max(self._at, inline.at)

    def _marker(self, tokens: Sequence[Token], index: int, info: ListInfo, number: int) -> str:
        """The item's mark; a task's box is taken out of its text."""
        if info.ordered:
            return f"{info.start + number}. ".rjust(4)
        inline = tokens[index + 2] if index + 2 < len(tokens) else None
        children = inline.children if inline is not None and inline.type == "inline" else None
        if children and children[0].type == "text" and children[0].content[:4] in ("[ ] ", "[x] ", "[X] "):
            done = children[0].content[1] != " "
            children[0].content = children[0].content[4:]
            return " ☑ " if done else " ☐ "
        return f" {_BULLETS[min(self._depth, len(_BULLETS)) - 1]} "

    def _code(self, token: Token) -> None:
        lines = self._code_lines(token)
        language = language_of(token.info)
        colours = None
        if language and not self._growing:
            colours = self._paper.colours.lines(language, "\n".join(text for text, _ in lines))
        if language and lines:
            self._place(label_row(self._palette, language, lines[0][1], self._width(prose=False)))
        for row in code_rows(self._palette, lines, self._width(prose=False), colours):
            self._place(row)

    def _code_lines(self, token: Token) -> list[CodeLine]:
        """The lines of the code with their places, whatever stands before them in the source."""
        contents = token.content.removesuffix("\n").split("\n") if token.content else []
        number = (token.map[0] if token.map else 0) + (token.type == "fence")
        lines: list[CodeLine] = []
        for content in contents:
            start = self._starts[min(number, len(self._starts) - 1)]
            end = self._source.find("\n", start)
            raw = self._source[start : end if end >= 0 else len(self._source)]
            # tabs before code may have become spaces
            shift = len(raw) - len(content) if raw.endswith(content.lstrip(" ")) else 0
            lines.append((content, max(start + shift, 0)))
            number += 1
        return lines

    def _table(self, tokens: Sequence[Token], start: int, end: int) -> None:
        table: list[list[Cell]] = []
        for index in range(start, end):
            token = tokens[index]
            if token.type == "tr_open":
                table.append([])
                if token.map:
                    self._at = max(self._at, self._starts[token.map[0]])
            elif token.type in ("th_open", "td_open"):
                names = ("table-head",) if token.type == "th_open" else ()
                inline = Inline(self._palette, (*self._ground, *names), self._source, self._at, self._env)
                lines = inline.run(tokens[index + 1].children or [])
                self._at = inline.at
                align = str(token.attrs.get("style", "")).removeprefix("text-align:") or "left"
                table[-1].append(Cell(lines, align))
        for row in table_rows(self._palette, table, self._width(prose=False), self._columns):
            self._place(row)

    def _html(self, token: Token) -> None:
        start = self._starts[token.map[0]] if token.map else self._at
        self._lines(token.content.removesuffix("\n"), start, "html")

    def _lines(self, text: str, at: int, *names: str) -> None:
        style = self._palette(*self._ground, *names)
        for line in text.split("\n"):
            found = self._source.find(line, at)
            at = found if found >= 0 else at
            for part in wrap(visible(line, style, at), self._width()):
                self._emit(part)
            at += len(line)
        self._at = max(self._at, at)

    def _width(self, *, prose: bool = True) -> int:
        width = self._paper.width - sum(margin.cells for margin in self._shown_margins())
        return max(min(width, PROSE) if prose else width, 4)

    def _shown_margins(self) -> list[_Margin]:
        """The outer margins that leave half of the width to the text; deeper ones are not drawn."""
        shown: list[_Margin] = []
        room = self._paper.width // 2
        for margin in self._margins:
            room -= margin.cells
            if room < 0:
                break
            shown.append(margin)
        return shown

    def _emit(self, pieces: list[Piece]) -> None:
        begin, end = extent(pieces, self._at)
        self._at = max(self._at, end)
        self.rows.append(Row([*self._left(bool(pieces)), *pieces], self._palette("text"), begin, end))

    def _place(self, row: Row) -> None:
        """A row that was made elsewhere, moved behind the margins."""
        row.pieces = [*self._left(True), *row.pieces]
        self._at = max(self._at, row.end)
        self.rows.append(row)

    def _left(self, content: bool) -> list[Piece]:
        pieces: list[Piece] = []
        for margin in self._shown_margins():
            use_first = not margin.used and content
            pieces += margin.first if use_first else margin.rest
            margin.used = margin.used or content
        return pieces


def _close(tokens: Sequence[Token], index: int) -> int:
    level = tokens[index].level
    for at in range(index + 1, len(tokens)):
        if tokens[at].level == level and tokens[at].nesting == -1:
            return at
    return len(tokens) - 1
