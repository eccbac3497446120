"""What counts as harm where a text comes out: on the terminal, in a page, in what an agent is given."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from wcwidth import wcwidth

OURS = re.compile(
    rb"\x1b\[[0-9;:]*m"  # colours
    rb"|\x1b\[[0-9;]*[HABCDGJKX]"  # the cursor, erasing
    rb"|\x1b\[\?(?:25|7|1000|1002|1003|1004|1006|1015|1016|1049|2004|2026|2048)[hl]"  # modes of a full screen
    rb"|\x1b\[\?(?:2026|2048)\$p|\x1b\[[>=<?][0-9;]*u|\x1b\[\?u"  # questions and keys
    rb"|\x1b\[>4;?\d?m|\x1b\[c|\x1b\[6n|\x1b\[16t|\x1b\[14t|\x1b\[18t"
    rb"|\x1b\[2[23];[0-2]t"  # the title's stack
    rb"|\x1b\]2;(?P<title>[^\x00-\x1f\x7f]*)\x07"
    rb"|\x1b\]1[01];\?(?:\x07|\x1b\\)"
    rb"|\x1b\]22;(?:default|pointer|text|grab|[a-z-]{1,20})\x07"  # the mouse pointer's shape
    rb"|\x1b\]8;(?:id=[0-9-]+)?;(?P<link>[!-~]*)(?:\x07|\x1b\\)"
    rb"|\x1b[78=>]|\x1b\(B"
    rb"|\x1b_Ga=q[^\x1b]*\x1b\\"  # does it know pictures
)
"""Every sequence that the screen may write, and nothing else."""

_WHOLE = re.compile(
    rb"\x1b(?:\[[^\x1b\x07]*?[@-~]|[\]P_^X][^\x1b\x07]*(?:\x07|\x1b.)|\(.|[^\[\]P_^X(\x1b])", re.DOTALL
)
"""A sequence of any kind of which nothing is still to come."""

_unseen = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\ufe00-\ufe0f\U000e0000-\U000e01ef]"
)
_SHAPING_KEPT = "\u200c\u200d"


def unseen(text: str, *, kept: str = "") -> set[str]:
    """Characters of the text that no screen may show and no reader sees; ``kept`` are allowed here."""
    return {f"U+{ord(c):04X}" for c in _unseen.findall(text) if c not in kept}


def in_words(text: str) -> set[str]:
    """``unseen`` for text that we don't draw: tabs, joiners and one selector stay where they shape what is read."""
    return unseen(text, kept="\t\u200c\u200d" + "".join(map(chr, (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)))))


def cells(text: str) -> int:
    """The cells that the text takes in a terminal, every character by itself; -1 for one that none shows."""
    if text.isascii() and text.isprintable():
        return len(text)
    sizes = [wcwidth(character) for character in text]
    return -1 if -1 in sizes else sum(sizes)


class Output:
    """Reads what was written to a terminal, in pieces, and keeps what must not be there."""

    def __init__(self) -> None:
        self.titles: list[str] = []
        self.links: list[str] = []
        self.harm: list[str] = []
        self._rest = b""

    def feed(self, data: bytes) -> None:
        data = self._rest + data
        at = 0
        while (start := data.find(b"\x1b", at)) >= 0:
            self._text(data[at:start])
            found = OURS.match(data, start)
            if found is None:
                if len(data) - start < 4096 and not _WHOLE.match(data, start):
                    self._rest = data[start:]
                    return
                self.harm.append(repr(data[start : start + 40]))
                at = start + 1
                continue
            if (title := found["title"]) is not None:
                self.titles.append(title.decode("utf-8", "replace"))
            if found["link"]:
                self.links.append(found["link"].decode("ascii"))
            at = found.end()
        cut = len(data)
        while cut > at and cut > len(data) - 4 and data[cut - 1] & 0xC0 == 0x80:
            cut -= 1
        if cut > at and data[cut - 1] >= 0xC0:
            cut -= 1
        else:
            cut = len(data)
        self._text(data[at:cut])
        self._rest = data[cut:]

    def _text(self, data: bytes) -> None:
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            self.harm.append(f"no UTF-8: {data[:40]!r}")
            return
        if bad := unseen(text.replace("\r", "").replace("\n", "")):
            self.harm.append(f"{sorted(bad)} in {text[:60]!r}")


class Page(HTMLParser):
    """Reads a page as a browser's parser does and keeps what could run, load or lead somewhere."""

    KNOWN = frozenset(
        {
            *("html", "head", "meta", "title", "style", "body", "header", "main", "article", "details", "summary"),
            *("h1", "h2", "h3", "h4", "h5", "h6", "p", "small", "div", "pre", "code", "span", "br", "hr", "blockquote"),
            *("ul", "ol", "li", "b", "em", "strong", "s", "a", "table", "thead", "tbody", "tr", "th", "td"),
        }
    )
    ATTRIBUTES = frozenset(
        {
            *("class", "id", "lang", "charset", "http-equiv", "content", "name"),
            *("rel", "target", "href", "start", "style", "align", "title"),
        }
    )

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.harm: list[str] = []
        self.open: list[str] = []
        self.styles = 0
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in self.KNOWN:
            self.harm.append(f"<{tag}>")
        self.styles += tag == "style"
        for name, value in attrs:
            value = value or ""
            if name not in self.ATTRIBUTES or (name == "style" and not re.fullmatch(r"text-align:\s?\w+", value)):
                self.harm.append(f"{tag} {name}={value[:40]}")
            if name == "href" and not value.startswith(("http://", "https://", "mailto:", "#")):
                self.harm.append(f"{tag} {name}={value[:40]}")
        if tag not in ("meta", "br", "hr"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self.open:
            while self.open.pop() != tag:
                pass

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "style":
            if "@import" in data or "url(" in data:
                self.harm.append("a style that loads")
        else:
            self.text.append(data)

    def handle_comment(self, data: str) -> None:
        self.harm.append(f"comment {data[:40]!r}")


def page(text: str) -> Page:
    read = Page()
    read.feed(text)
    read.close()
    return read
