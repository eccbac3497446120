"""One line of Markdown and the text that it shows: written so that nothing in a fact is markup, read without it.

Reading understands what people write in lists (code, emphasis, links, escapes, comments); it is no renderer. Every
function takes time in proportion to the text.
"""

from __future__ import annotations

import re
from collections import deque

_SPECIAL = re.compile(r"([\\*_~\[\]<>&])")
_INSIDE_WORD = re.compile(r"(?<=[^\W_])\\_(?=[^\W_])")
_BLOCK_START = re.compile(r"(\d{0,9})([#+\-=>|:]|(?<=\d)[.)])")
_RUN = re.compile(r"`+")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_ENTITIES = {"&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&nbsp;": " ", "&#39;": "'"}
_ENTITY = re.compile("|".join(_ENTITIES))
_COMMENT = re.compile(r"<!--.{0,4000}?-->")
_IMAGE_OR_LINK = re.compile(r"!?\[([^\[\]]{0,400})\]\(\s{0,4}([^()\s]{0,800})(?:\s{1,4}\"[^\"]{0,200}\")?\s{0,4}\)")
_AUTOLINK = re.compile(r"<((?:https?://|mailto:)[^\s<>]{1,800})>")
_BREAK = re.compile(r"<br\s{0,4}/?>", re.IGNORECASE)
_LOCAL = re.compile(r"(?![a-z][a-z0-9+.-]*:)", re.IGNORECASE)
_OPENS = re.compile(r"(?<![\w*])\*(?=[^\s*])|(?<![\w_])_(?=[^\s_])")
_CLOSES = {"*": re.compile(r"(?<=[^\s*])\*(?![\w*])"), "_": re.compile(r"(?<=[^\s_])_(?![\w_])")}
_HOLD = "\ue000"
"""With a number after it: stands for code or an escaped character while the rest is read."""
_HELD = re.compile(f"{_HOLD}(\\d+){_HOLD}")


def escaped(text: str) -> str:
    """The text as Markdown that shows exactly it, in one line of a list. Code in backticks stays code."""
    line = "".join(part if code else _escaped(part) for part, code in _spans(text))
    found = _BLOCK_START.match(line)
    return f"{found[1]}\\{line[found.end(1) :]}" if found else line


def _escaped(text: str) -> str:
    return _INSIDE_WORD.sub("_", _SPECIAL.sub(r"\\\1", text)).replace("`", "\\`")


def plain(line: str) -> str:
    """What the line shows: emphasis off, links as text with their address, comments gone, code as it is."""
    held: list[str] = []

    def hold(text: str) -> str:
        held.append(text)
        return f"{_HOLD}{len(held) - 1}{_HOLD}"

    parts = _spans(line.replace(_HOLD, ""))
    text = "".join(hold(part) if code else _ESCAPED.sub(lambda found: hold(found[1]), part) for part, code in parts)
    text = _COMMENT.sub("", text)
    text = _AUTOLINK.sub(r"\1", text)
    text = _IMAGE_OR_LINK.sub(_link, text)
    text = _BREAK.sub(" ", text)
    text = _ENTITY.sub(lambda found: _ENTITIES[found.group()], text)
    for mark in ("***", "**", "__", "~~"):
        if text.count(mark) % 2 == 0:
            text = text.replace(mark, "")
    text = _without_single(text)
    return _HELD.sub(lambda found: held[int(found[1])], text)


def _link(found: re.Match[str]) -> str:
    """A link to another file says nothing outside of its folder; an address does."""
    text, address = found[1].strip(), found[2]
    if not address or address == text or _LOCAL.match(address):
        return text or address
    return f"{text} ({address})" if text else address


def _without_single(text: str) -> str:
    """Without the pairs of single marks around words."""
    kept: list[str] = []
    position = 0
    never_closed: set[str] = set()
    for found in _OPENS.finditer(text):
        mark = found.group()
        if found.start() < position or mark in never_closed:
            continue
        end = _CLOSES[mark].search(text, found.end())
        if end is None:
            never_closed.add(mark)
            continue
        kept.append(text[position : found.start()] + text[found.end() : end.start()])
        position = end.end()
    return "".join(kept) + text[position:]


def _spans(text: str) -> list[tuple[str, bool]]:
    """The text in pieces, each with whether it is code in backticks, its ticks included."""
    runs = [(found.start(), found.end()) for found in _RUN.finditer(text)]
    closing: dict[int, deque[int]] = {}
    for index, (start, end) in enumerate(runs):
        closing.setdefault(end - start, deque()).append(index)
    pieces: list[tuple[str, bool]] = []
    position = index = 0
    while index < len(runs):
        start, end = runs[index]
        same = closing[end - start]
        while same and same[0] <= index:
            same.popleft()
        escaped_tick = start > 0 and _backslashes(text, start) % 2 == 1
        if not same or escaped_tick:
            index += 1
            continue
        close = same[0]
        pieces += [(text[position:start], False), (text[start : runs[close][1]], True)]
        position = runs[close][1]
        index = close + 1
    return [piece for piece in (*pieces, (text[position:], False)) if piece[0]]


def _backslashes(text: str, before: int) -> int:
    count = 0
    while before - count > 0 and text[before - count - 1] == "\\":
        count += 1
    return count
