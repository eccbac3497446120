"""Where Markdown code is in a text that arrives in pieces (``semantics.md`` §1: nothing counts inside code).

CommonMark where it can be told without looking ahead, and what models write where it can't:

- A run of backticks opens a span that ends at the next run of the same length. An unmatched one ends with
  its paragraph: at a blank line, a fence, a list item or a heading. A backslash takes the meaning of one
  backtick.
- Three or more backticks (no further backtick on that line) or tildes at the start of a line open a fence;
  its close has at least as many, and nothing but blanks after them. Quote and list markers may stand before
  it, and it may be indented by up to 3 columns from the text of the list item it is in, else from the
  margin.
- A fence in a quote ends with the quote. A fence in a list item ends only with its close, and the close may
  be indented less: models forget the indentation far more often than the close.
- A bare run at the start of a line that matches a span opened in mid-line closes it ("code: ```py", "…",
  "```").
- What stands before text in a line is looked at up to ``LEAD_CHARS``; a longer lead is text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

LEAD_CHARS = 256
"""Characters at the start of a line in which markers are looked for."""

_lead = re.compile(rf"[ \t>+*\-0-9.)#]{{0,{LEAD_CHARS + 1}}}").match
_fenced_lead = re.compile(rf"[ \t>]{{0,{LEAD_CHARS + 1}}}").match
_markers = re.compile(r"(?:[ \t]*(?:>|(?:[-+*]|[0-9]{1,9}[.)])(?=[ \t\n])))*").match
_heading = re.compile(r"#{1,6}[ \t\n]").match
_blanks = re.compile(r"[ \t]*").match
_run = {"`": re.compile("`+").match, "~": re.compile("~+").match}

_SIMPLE_SPAN = r"`[^`\n]+`(?=[^`])"
_OTHERS = r"`|\\|<(?=m|\Z)"  # with each branch beginning with a literal the search is a scan for a set
_in_text = re.compile(rf"{_SIMPLE_SPAN}|{_OTHERS}|\n").search
_at_margin = re.compile(rf"{_SIMPLE_SPAN}|{_OTHERS}|\n(?=[ \t]*(?:[<>~`+*\-0-9]|\Z))").search
_in_span = re.compile(r"[`\n]").search
_fence_may_end = {tick: re.compile(rf"\n(?=[ \t]*(?:{tick}|\Z))").search for tick in "`~"}
_plain_item = re.compile(r"(?:[-*+]|[0-9]{1,9}[.)]) {1,4}(?=[A-Za-z\[]|\*\*)").match
_LEADING = frozenset(" \t>+*-0123456789.)#`~<")


@dataclass(frozen=True, slots=True)
class _Fence:
    tick: str
    size: int
    base: int
    """The column from which the close may be indented."""
    quoted: bool

    def closed_by(self, size: int, lead: str) -> bool:
        return size >= self.size and _column(lead) <= self.base + 3 and (self.quoted or ">" not in lead)


class CodeScanner:
    """Finds, piece by piece, each ``<m`` (or ``<`` at the end of a piece) that is outside code.

    Linear in the text, bounded in memory, and the same for every way of cutting the text.
    """

    __slots__ = (
        "_bare",
        "_closing",
        "_escaped",
        "_fence",
        "_indent",
        "_kept_lead",
        "_lead",
        "_maybe",
        "_outer",
        "_run",
        "_span",
        "_tick",
    )

    def __init__(self) -> None:
        self._lead: str | None = ""  # the line so far, while it is only markers and blanks
        self._kept_lead: str | None = None
        self._run = 0  # length of the run of ticks that the text so far ends in
        self._tick = "`"
        self._span = 0  # length of the run that opened the span we are in
        self._maybe: _Fence | None = None  # the fence that this line opens unless another backtick follows
        self._bare = True
        self._fence: _Fence | None = None
        self._closing = False
        self._escaped = False
        self._indent = 0  # column of the text of the list item we are in
        self._outer = 0  # the same when this line began

    def find(self, text: str, at: int) -> int:
        """Read on from ``at``, the first unread index; the index of the next candidate, or ``len(text)``.

        A candidate itself counts as read. Go on behind it for text, or call ``tag_removed`` and go on behind
        the tag.
        """
        end = len(text)
        self._kept_lead = None
        while at < end:
            if self._run:
                at = self._pass_run(text, at)
            elif self._lead is not None:
                at = self._pass_lead(text, at, self._lead)
            elif self._fence is not None:
                at = self._pass_fenced(text, at)
            elif self._span or self._maybe:
                at = self._pass_span(text, at)
            elif self._escaped:
                self._escaped = False
                at += text[at] in "`\\"
            else:
                found = (_in_text if self._indent else _at_margin)(text, at)
                if found is None:
                    return end
                if found.start() != at:
                    self._kept_lead = None
                at = found.end()
                match found.group():
                    case "<":
                        return found.start()
                    case "\n":
                        if item := _plain_item(text, at):
                            self._indent = item.end() - at
                            at = item.end()
                        elif at == end or text[at] in _LEADING:
                            self._new_line()
                        elif text[at] != "\n":
                            self._indent = 0
                    case "\\":
                        self._escaped = True
                    case "`":
                        self._run, self._tick = 1, "`"
        return end

    def tag_removed(self) -> None:
        """The candidate found last began a tag that is taken out: to Markdown it was never there."""
        self._lead = self._kept_lead

    def _new_line(self) -> None:
        self._lead = ""
        self._outer = self._indent

    def _pass_lead(self, text: str, at: int, before: str) -> int:
        found = (_lead if self._fence is None else _fenced_lead)(text, at)
        assert found is not None
        lead, at = before + found.group(), found.end()
        if len(lead) > LEAD_CHARS:
            self._lead = None
            return at
        self._lead = lead
        if at == len(text):
            return at
        char = text[at]
        if self._fence is not None:
            if self._fence.quoted and ">" not in lead:
                self._fence = None
            elif char == self._fence.tick:
                self._run, self._tick = 1, char
                at += 1
            else:
                self._lead = None
            return at
        if char in "`~":
            self._run, self._tick = 1, char
            return at + 1
        self._enter_line(lead, char)
        self._lead = None
        if char == "<" and not self._span:
            self._kept_lead = lead
        return at

    def _pass_run(self, text: str, at: int) -> int:
        if found := _run[self._tick](text, at):
            self._run += len(found.group())
            at = found.end()
            if at == len(text):
                return at
        size, lead = self._run, self._lead
        self._run = 0
        self._lead = None
        if self._fence is not None:
            self._closing = self._fence.closed_by(size, lead or "")
        elif lead is None or not self._opens_fence(size, lead):
            self._end_run_in_text(size)
        return at

    def _opens_fence(self, size: int, lead: str) -> bool:
        """Take a run at the start of a line; false when it is an ordinary run of backticks."""
        base = self._enter_line(lead, self._tick)
        if size < 3 or base is None or _column(lead) - base > 3:
            return self._tick == "~"
        fence = _Fence(self._tick, size, base, ">" in lead)
        if self._tick == "~":
            self._fence = fence
            self._span = 0
        else:
            self._maybe = fence
            self._bare = True
        return True

    def _end_run_in_text(self, size: int) -> None:
        if self._maybe is not None:  # no fence then, but a run that closed a span or began one
            self._span = 0 if self._span == self._maybe.size else self._span or self._maybe.size
            self._maybe = None
        if self._span == size:
            self._span = 0
        elif not self._span:
            self._span = size

    def _pass_span(self, text: str, at: int) -> int:
        found = _in_span(text, at)
        stop = found.start() if found else len(text)
        if self._maybe is not None and text[at:stop].strip(" \t"):
            self._bare = False
        if found is None:
            return stop
        if found.group() == "`":
            self._run, self._tick = 1, "`"
        else:
            if self._maybe is not None:
                if self._span != self._maybe.size or not self._bare:
                    self._fence = self._maybe
                self._span = 0
                self._maybe = None
            self._new_line()
        return found.end()

    def _pass_fenced(self, text: str, at: int) -> int:
        if self._closing:
            blanks = _blanks(text, at)
            assert blanks is not None
            at = blanks.end()
            if at == len(text):
                return at
            self._closing = False
            if text[at] == "\n":
                self._fence = None
        if self._fence is None or self._fence.quoted:
            line_end = text.find("\n", at)
        elif found := _fence_may_end[self._fence.tick](text, at):
            line_end = found.start()
        else:
            line_end = -1
        if line_end < 0:
            return len(text)
        self._new_line()
        return line_end + 1

    def _enter_line(self, lead: str, char: str) -> int | None:
        """Take in what a line begins with, ``char`` being the first character behind its lead.

        Returns the column from which a fence at ``char`` may be indented, ``None`` when none can be there.
        """
        if not lead:
            self._indent = self._outer if char == "\n" else 0
            self._span = 0 if char == "\n" else self._span
            return 0
        line = lead + char
        found = _markers(line)
        assert found is not None
        marks = found.group()
        blanks = _blanks(line, found.end())
        assert blanks is not None
        inner, text_column = _column(marks), _column(line[: blanks.end()])
        base = self._outer if not marks else inner + 1
        if marks.strip(" \t>"):
            self._span = 0
            self._indent = base if line[blanks.end()] == "\n" or text_column > base + 3 else text_column
        elif line[blanks.end()] == "\n":
            self._span = 0
            self._indent = self._outer
        else:
            if _heading(line, blanks.end()):
                self._span = 0
            self._indent = min(self._outer, text_column)
            base = max(base, self._indent) if marks else self._indent
        return base if blanks.end() == len(lead) else None


def _column(lead: str) -> int:
    return len(lead.expandtabs(4))
