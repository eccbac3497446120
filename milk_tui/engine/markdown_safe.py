"""Somebody's Markdown inside a Markdown file of ours: it reads the same, and does nothing where the file is shown.

Viewers run HTML and fetch pictures, and a text could close our fences or speak as somebody else (``quality.md``,
"hostile text"). Code stays as it is, character by character.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_RUN = re.compile(r"`+")
_HTML = re.compile(r"(?<!\\)<(?=[A-Za-z/!?])")
_PICTURE = re.compile(r"(?<!\\)!(?=\[)")
_DEEP = re.compile(
    r"^((?:[ \t]*(?:>|[-*+](?=[ \t])|\d{1,9}[.)](?=[ \t]))){6})([ \t]*)(?=>|[-*+][ \t]|\d{1,9}[.)][ \t])"
)
_INDENT = re.compile(r"^[ \t]{13,}")
_SPEAKER = re.compile(r"^(\s{0,3})(?=#{1,6}\s+(?:you\b|[●◆▸]))")
_TARGET = re.compile(
    r"(?<!\\)\](?=\(\s*<?\s*(?!https?://|mailto:|#|[\w./-]{0,400}[\s)>#?]|[\w./-]{0,400}$))", re.IGNORECASE
)
_DEFINITION = re.compile(
    r"^(\s{0,3})\[(?=[^\]]{1,999}\]:\s*<?\s*(?!https?://|mailto:|#|[\w./-]{0,400}(?:\s|$)))", re.IGNORECASE
)


def harmless(text: str) -> str:
    """The Markdown without HTML, pictures, addresses of other kinds than web and mail, and headings that look like
    ours; a fence that is left open is closed. What nests deeper than six levels is flattened: from some depth on
    readers take all that follows for a part of it."""
    if not re.search(r"[<!\]`~#\t ]", text):
        return text
    lines = text.split("\n")
    code: set[int] = set()
    open_fence = ""
    for token in _markdown().parse(text):
        if token.type in ("fence", "code_block") and token.map:
            code.update(range(token.map[0], token.map[1]))
            open_fence = "" if token.type == "code_block" or _is_closed(token, lines) else token.markup
    kept = [line if number in code else _outside_code(line) for number, line in enumerate(lines)]
    if open_fence and len(lines) - 1 in code:
        kept.append(open_fence)
    return "\n".join(kept)


def in_a_line(text: str) -> str:
    """The same for a text on one line among words of ours: no code, and it begins nothing."""
    return re.sub(r"(?<!\\)([`#>|])", r"\\\1", _tamed(text))


def _is_closed(token: Token, lines: list[str]) -> bool:
    assert token.map is not None
    first, last = token.map[0], min(token.map[1], len(lines)) - 1
    end = lines[last].lstrip(" >\t").rstrip()
    return last > first and end.startswith(token.markup) and not end.strip(token.markup[0])


def _outside_code(line: str) -> str:
    parts: list[str] = []
    done = 0
    for start, end in _spans(line):
        parts += [_tamed(line[done:start]), line[start:end]]
        done = end
    line = "".join([*parts, _tamed(line[done:])])
    line = _INDENT.sub(" " * 12, _DEEP.sub(r"\1\2\\", line))
    return _SPEAKER.sub(r"\1\\", _DEFINITION.sub(r"\1\\[", line))


def _spans(line: str) -> Iterator[tuple[int, int]]:
    """Where code spans begin and end: a run of backticks opens one that the next run of the same length closes."""
    runs = [found.span() for found in _RUN.finditer(line)]
    next_of: dict[int, int] = {}
    closing: list[int | None] = [None] * len(runs)
    for number in range(len(runs) - 1, -1, -1):
        start, end = runs[number]
        closing[number] = next_of.get(end - start)
        next_of[end - start] = number
    number = 0
    while number < len(runs):
        closed = closing[number]
        if closed is not None:
            yield runs[number][0], runs[closed][1]
            number = closed
        number += 1


def _tamed(text: str) -> str:
    return _TARGET.sub(r"\\]", _PICTURE.sub(r"\\!", _HTML.sub(r"\\<", text)))


@lru_cache(maxsize=1)
def _markdown() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark").disable(["inline", "html_block"])
