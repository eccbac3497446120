"""Inline Markdown as pieces that know where they stand in the source.

The parser gives no places for inline tokens, so the source is walked along with them: each token's own characters
are found at or behind the place of the one before.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from rich.style import Style

from milk_tui.core.text import clean
from milk_tui.ui.transcript.palette import Palette
from milk_tui.ui.transcript.rows import NOWHERE, Piece, visible

if TYPE_CHECKING:
    from markdown_it.token import Token

_BARE_LINK = re.compile(r"https?://[^\s<>\"'`]+[^\s<>\"'`.,;:!?)\]}]")
_LOOKS_LIKE_LINK = re.compile(r"(?:https?://|www\.)\S+|\b[\w-]+(?:\.[\w-]+)*\.(?:com|org|net|io|dev|edu|gov)\b", re.I)
_SPACES = re.compile(r"( +)")
_BREAK = re.compile(r"<br\s*/?>", re.I)


def place_links(text: str, style: Style, x: int, link: Style) -> list[Piece]:
    """Text in which bare web addresses are links."""
    if "://" not in text:
        return visible(text, style, x)
    pieces: list[Piece] = []
    done = 0
    for found in _BARE_LINK.finditer(text):
        pieces += visible(text[done : found.start()], style, x + done)
        pieces += visible(found.group(), style + link + Style(link=found.group()), x + found.start())
        done = found.end()
    return pieces + visible(text[done:], style, x + done)


class Inline:
    """The children of one inline token, laid out as lines (a hard break ends one)."""

    def __init__(self, palette: Palette, names: tuple[str, ...], source: str, at: int, env: Mapping[str, Any]) -> None:
        self.lines: list[list[Piece]] = [[]]
        self.at = at
        self._palette = palette
        self._ground = names
        self._names = list(names)
        self._source = source
        self._references: Mapping[str, Any] = env.get("references", {})
        self._links: list[tuple[str, int, int]] = []

    def run(self, children: list[Token]) -> list[list[Piece]]:
        for token in children:
            self._token(token)
        return self.lines

    def _token(self, token: Token) -> None:
        match token.type:
            case "text":
                self._text(token.content)
            case "code_inline":
                self._code(token)
            case "softbreak":
                self._line_end(hard=False)
            case "hardbreak":
                self._line_end(hard=True)
            case "strong_open" | "em_open" | "s_open":
                name = {"strong_open": "strong", "em_open": "emphasis", "s_open": "strike"}[token.type]
                self._names.append(name)
                self._skip(token.markup)
            case "strong_close" | "em_close" | "s_close":
                self._names.pop()
                self._skip(token.markup)
            case "link_open":
                self._skip("<" if token.markup == "autolink" else "[")
                self._names.append("link")
                href = str(token.attrs.get("href", ""))
                self._links.append((href, len(self.lines) - 1, len(self.lines[-1])))
            case "link_close":
                self._names.pop()
                self._warn_of(*self._links.pop())
                self._skip_target(autolink=token.markup == "autolink")
            case "image":
                self._image(token)
            case "text_special":
                at = self._find(token.markup or token.content)
                shown = at + len(token.markup) - len(token.content) if token.info == "escape" else at
                self._add(visible(_harmless(token.content), self._style(), shown))
                self.at = at + len(token.markup or token.content)
            case "html_inline":
                self._html(token.content)
            case _:
                self._text(token.content)

    def _style(self, *names: str) -> Style:
        style = self._palette(*self._names, *names)
        return style + Style(link=self._links[-1][0]) if self._links and self._links[-1][0] else style

    def _text(self, content: str) -> None:
        content = _harmless(content)
        if not content:
            return
        at = self._find(content)
        if self._links:
            self._add(visible(content, self._style(), at))
        else:
            self._add(place_links(content, self._style(), at, self._palette("link")))
        self.at = at + len(content)

    def _code(self, token: Token) -> None:
        self._skip(token.markup)
        style = self._style("code")
        content = token.content
        at = self._find(content)
        if at <= self.at + 1 and self._source.startswith(content, at):
            self._add(visible(content, style, at))
            self.at = at + len(content)
        else:
            # code that runs over a line end has a space there, the source has a line end and perhaps a prefix
            for part in _SPACES.split(content):
                at = self.at if part.isspace() else self._find(part)
                self._add(visible(part, style, at))
                self.at = at if part.isspace() else at + len(part)
        self.at = self._after(token.markup)

    def _html(self, content: str) -> None:
        if _BREAK.fullmatch(content):
            self.at = self._find(content) + len(content)
            self.lines.append([])
            return
        for index, line in enumerate(content.split("\n")):
            if index:
                self._line_end(hard=False)
            at = self._find(line)
            self._add(visible(line, self._style("html"), at))
            self.at = at + len(line)

    def _image(self, token: Token) -> None:
        style = self._style("link") + Style(link=str(token.attrs.get("src", "")) or None)
        at = self._find("![")
        self._add([("[image", style, NOWHERE)])
        self.at = at + 2
        if token.content:
            inner = self._find(token.content)
            self._add([(": ", style, NOWHERE), *visible(token.content.replace("\n", " "), style, inner)])
            self.at = inner + len(token.content)
        self._add([("]", style, NOWHERE)])
        self._skip_target(autolink=False)

    def _line_end(self, *, hard: bool) -> None:
        at = self._source.find("\n", self.at)
        at = self.at if at < 0 else at
        if hard:
            self.lines.append([])
        else:
            self._add([(" ", self._palette(*self._ground), at)])
        self.at = at + 1

    def _warn_of(self, href: str, line: int, first: int) -> None:
        """A text that looks like one address and leads to another says where it leads."""
        if line != len(self.lines) - 1:
            return
        shown = "".join(text for text, _, _ in self.lines[line][first:])
        if not _LOOKS_LIKE_LINK.search(shown):
            return
        host = _host(href)
        if host and host not in shown.casefold():
            self._add([(f" ({host})", self._palette(*self._ground, "target"), NOWHERE)])

    def _skip_target(self, *, autolink: bool) -> None:
        rest = self._source[self.at : self.at + 2]
        if autolink:
            self._skip(">")
        elif rest == "](":
            self.at = self._closing_parenthesis(self.at + 2)
        elif rest == "][" and (end := self._source.find("]", self.at + 2)) >= 0 and self._is_label(self.at + 2, end):
            self.at = end + 1
        else:
            self._skip("]")

    def _is_label(self, start: int, end: int) -> bool:
        from markdown_it.common.utils import normalizeReference

        label = self._source[start:end]
        return not label.strip() or normalizeReference(label) in self._references

    def _closing_parenthesis(self, at: int) -> int:
        depth = 1
        source = self._source
        while at < len(source) and depth:
            character = source[at]
            if character == "\\":
                at += 1
            depth += (character == "(") - (character == ")")
            at += 1
        return at

    def _skip(self, markup: str) -> None:
        if markup and self._source.startswith(markup, self.at):
            self.at += len(markup)

    def _after(self, markup: str) -> int:
        end = self._source.find(markup, self.at)
        return end + len(markup) if end >= 0 else self.at

    def _find(self, text: str) -> int:
        at = self._source.find(text, self.at)
        return at if at >= 0 else self.at

    def _add(self, pieces: list[Piece]) -> None:
        line = self.lines[-1]
        for piece in pieces:
            if line and piece[2] >= 0:
                text, style, x = line[-1]
                if style is piece[1] and x >= 0 and x + len(text) == piece[2]:
                    line[-1] = (text + piece[0], style, x)
                    continue
            line.append(piece)


def _harmless(text: str) -> str:
    """An entity or a percent code may stand for what was not in the source: a direction control, a line end."""
    return clean(text).replace("\n", " ")


def _host(href: str) -> str:
    try:
        return (urlsplit(href).hostname or "").casefold()
    except ValueError:
        return ""
