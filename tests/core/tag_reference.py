"""The rules of ``tags`` and ``markdown_code`` once more: the whole text at once, line by line, slow and plain.

The tests compare the stream with it. It shares nothing with the product but the figures of the document.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

KINDS = ("percept", "need", "escalate", "frame", "working", "invariant")
GONE = "\0"
"""Stands where a tag was taken out: backticks on its two sides are two runs."""

Captured = tuple[str, str, bool]
"""Kind, body, refused."""


def intercept(text: str, nonce: str, foreign: tuple[str, ...]) -> tuple[str, list[Captured]]:
    """What is shown, and what is captured."""
    seen = ""
    captures: list[Captured] = []
    at = 0
    while at < len(text):
        header = _open_header(text, at, (nonce, *foreign))
        if header is None or in_code(seen):
            seen += text[at]
            at += 1
            continue
        kind, own, body_at = header
        close = _first_close(text, body_at, kind)
        if close is not None and close.start() - body_at <= 4096:
            if close["nonce"] == own == nonce:
                captures += _capture(kind, text[body_at : close.start()])
            at = close.end()
            seen += GONE
        elif len(text) - body_at > 4096:
            seen += text[at]
            at += 1
        else:
            break
    return seen.replace(GONE, ""), captures


def _open_header(text: str, at: int, nonces: tuple[str, ...]) -> tuple[str, str, int] | None:
    for kind in KINDS:
        for nonce in nonces:
            header = f"<milk:{kind}:{nonce}>"
            if text.startswith(header, at):
                return kind, nonce, at + len(header)
    return None


def _first_close(text: str, at: int, kind: str) -> re.Match[str] | None:
    for close in re.compile(rf"</milk:{kind}(:(?P<nonce>[^<>\s]*))?>").finditer(text, at):
        if len(close.group()) <= 64:
            return close
    return None


def _capture(kind: str, body: str) -> list[Captured]:
    body = body.strip()
    if kind == "need":
        body = " ".join(body.split())
        body = body if len(body) <= 280 else body[:279].rstrip() + "…"
    return [(kind, body, kind == "percept" and len(body) > 2000)] if body else []


@dataclass
class _Fence:
    tick: str
    size: int
    base: int
    quoted: bool


class _Reader:
    def __init__(self) -> None:
        self.fence: _Fence | None = None
        self.span = 0
        self.indent = 0

    def line(self, line: str, *, complete: bool) -> None:
        plain = line.replace(GONE, "")
        if self.fence is not None:
            lead = _match(r"[ \t>]*", plain)
            if not (self.fence.quoted and ">" not in lead and len(lead) <= 256):
                if complete and self._closes(self.fence, plain):
                    self.fence = None
                return
            self.fence = None
        lead = _match(r"[ \t>+*\-0-9.)#]*", plain)
        rest = line
        for _ in lead:
            rest = rest.lstrip(GONE)[1:]
        rest = rest.lstrip(GONE)
        base = self._enter(lead, rest[:1] or "\n") if len(lead) <= 256 else None
        run = _match("`{3,}|~{3,}", rest)
        if base is None or not run or _width(lead) > base + 3:
            self._runs(rest)
            return
        after = rest[len(run) :]
        if run[0] == "`" and "`" in after:
            self._runs(rest)
        elif not complete and run[0] == "`":
            self.span = self.span or len(run)
        elif run[0] == "`" and self.span == len(run) and not after.strip(" \t"):
            self.span = 0
        else:
            self.fence = _Fence(run[0], len(run), base, ">" in lead)
            self.span = 0

    def _closes(self, fence: _Fence, line: str) -> bool:
        lead = _match(r"[ \t>]*", line)
        run = _match(re.escape(fence.tick) + "*", line[len(lead) :])
        return (
            len(lead) <= 256
            and len(run) >= fence.size
            and not line[len(lead) + len(run) :].strip(" \t")
            and _width(lead) <= fence.base + 3
            and (fence.quoted or ">" not in lead)
        )

    def _enter(self, lead: str, following: str) -> int | None:
        line = lead + following
        end = 0
        quoted = listed = False
        while True:
            rest = line[end:].lstrip(" \t")
            if rest.startswith(">"):
                mark, quoted = ">", True
            elif mark := _match(r"([-+*]|[0-9]{1,9}[.)])(?=[ \t\n])", rest):
                listed = True
            else:
                break
            end = len(line) - len(rest) + len(mark)
        text_at = len(line) - len(rest)
        inner, column = _width(line[:end]), _width(line[:text_at])
        if listed:
            self.span = 0
            base = inner + 1
            self.indent = base if rest[0] == "\n" or column - base > 3 else column
        elif rest[0] == "\n":
            self.span = 0
            return None
        else:
            if _match(r"#{1,6}[ \t\n]", rest):
                self.span = 0
            self.indent = base = min(self.indent, column)
            if quoted:
                base = max(inner + 1, base)
        return base if text_at == len(lead) else None

    def _runs(self, text: str) -> None:
        at = 0
        while at < len(text):
            run = _match("`+", text[at:])
            if text[at] == "\\" and not self.span:
                at += 2 if text[at + 1 : at + 2] in ("`", "\\") else 1
            elif run:
                if self.span in (0, len(run)):
                    self.span = len(run) - self.span
                at += len(run)
            else:
                at += 1


def in_code(seen: str) -> bool:
    """Whether a tag right behind what has been seen stands in Markdown code."""
    reader = _Reader()
    *lines, last = (seen + "<").split("\n")
    for line in lines:
        reader.line(line, complete=True)
    reader.line(last, complete=False)
    return reader.fence is not None or reader.span > 0


def _match(pattern: str, text: str) -> str:
    found = re.match(pattern, text)
    return found.group() if found else ""


def _width(text: str) -> int:
    return len(text.expandtabs(4))
