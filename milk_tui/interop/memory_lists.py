"""Facts in Markdown that people and other programs write: lists, CLAUDE.md, MEMORY.md, AGENTS.md.

Each item of a list is a fact, each paragraph too where the whole file is memory (``prose``). The heading above is its
subject. An item or a line that only introduces others ("Tests:") is no fact and is said before each of them. Left out,
and counted: code, tables, tasks that are not done, what is struck through, bare links to other files. The time is in
proportion to the text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from msgspec import Struct, field

from milk_tui.interop.markdown import plain

SUBJECT_CHARS = 80
ITEM_CHARS = 10_000
"""Of an item as it is written; what is so long is no fact."""
_LABEL_CHARS = 60
_DEEPEST = 8
"""Lists within lists."""

CODE, TABLE, TASK = "code block", "table row", "open task"
GONE, LINK, PROSE = "struck-through item", "link to another file", "paragraph outside of a list"

_FENCE = re.compile(r"\s{0,12}(?:[-*+]\s{1,4}|\d{1,9}[.)]\s{1,4})?(`{3,}|~{3,})")
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(\S.*))?\Z")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-{2,})[ \t]*\Z")
_RULE = re.compile(r" {0,3}(?:(?:\* ?){3,}|(?:- ?){3,}|(?:_ ?){3,})\Z")
_ITEM = re.compile(r"( *)([-*+•]|\d{1,9}[.)]) +(\S.*)\Z")
_TASK = re.compile(r"\[([ xX])\] +")
_STRUCK = re.compile(r"~~\S.*~~(?: *(?:→|\*\().*)?\Z")
_IMPORT = re.compile(r"@[~\w./-]+\Z")
_LINK_ALONE = re.compile(r"@\S+\Z|\[[^\[\]]{0,400}\]\((?![a-z][a-z0-9+.-]*:)[^()\s]{0,800}\)\Z")
_FOOT = re.compile(r" *\*\([^()]{0,200}#[0-9a-f]{6}\)\*\Z")
"""What ``memory_export`` writes behind a fact."""
_FRONT = re.compile(r"(name|title|description)\s*:\s*(\S.*)\Z")


class Draft(Struct, frozen=True):
    """A fact as it stands in the file, from line ``line`` on."""

    line: int
    text: str
    subject: str = ""


class Listed(Struct, frozen=True, kw_only=True):
    """What a file holds; ``left_out`` counts what is no fact, by kind."""

    drafts: tuple[Draft, ...]
    left_out: dict[str, int]


class _Block(Struct):
    """An item, or a paragraph (``indent`` -1), as its lines are read."""

    line: int
    indent: int
    subject: str
    parts: list[str]
    under: _Block | None = None
    items: int = 0
    """How many items follow under it."""
    chars: int = 0

    def add(self, part: str) -> None:
        if self.chars <= ITEM_CHARS:
            self.parts.append(part)
            self.chars += len(part) + 1

    @property
    def introduces(self) -> bool:
        text = " ".join(self.parts).rstrip()
        if text.endswith((":", "：")):
            return True
        return self.items > 0 and self.indent >= 0 and len(text) <= _LABEL_CHARS and not text.endswith((".", "!", "?"))

    @property
    def label(self) -> str:
        """What is said before each item under it."""
        above = self.under.label if self.under else ""
        own = plain(" ".join(self.parts)).strip().rstrip(":：").rstrip() if self.introduces else ""
        return f"{above}{own}: " if own else above


class _State(Struct):
    """Where the reading stands: the heading, the blocks that may go on, those that are read."""

    subject: str
    blocks: list[_Block] = field(default_factory=list)
    stack: list[_Block] = field(default_factory=list)
    after_blank: bool = True

    def begin(self, line: int, indent: int, text: str) -> None:
        while self.stack and (self.stack[-1].indent >= indent or len(self.stack) > _DEEPEST):
            self.stack.pop()
        under = self.stack[-1] if self.stack else None
        if under is not None:
            under.items += 1
        block = _Block(line, indent, self.subject, [], under)
        block.add(text)
        self.blocks.append(block)
        self.stack.append(block)

    def text(self, line: int, indent: int, text: str) -> None:
        """A line that begins nothing: it goes on with what is open, or begins a paragraph."""
        if self.stack and (not self.after_blank or indent > self.stack[-1].indent >= 0):
            self.stack[-1].add(text)
        else:
            self.stack.clear()
            self.begin(line, -1, text)

    def heading(self, text: str) -> None:
        self.subject = text
        self.stack.clear()


def parse(text: str, *, prose: bool = False) -> Listed:
    """The facts of a Markdown text. ``prose``: paragraphs are facts too."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").expandtabs(4).split("\n")
    left_out: Counter[str] = Counter()
    subject, start = _front_matter(lines)
    state = _State(subject)
    for number, line in _without_code(lines, start, state, left_out):
        _take(state, number, line, left_out)
    drafts = [draft for block in state.blocks if (draft := _draft(block, prose, left_out)) is not None]
    return Listed(drafts=tuple(drafts), left_out=dict(left_out))


def _front_matter(lines: list[str]) -> tuple[str, int]:
    """The subject that a header of ``key: value`` lines names, and the first line after it."""
    if lines[0].strip().removeprefix("\ufeff") != "---":
        return "", 0
    named: dict[str, str] = {}
    for index, line in enumerate(lines[1:200], start=1):
        if line.strip() in ("---", "..."):
            subject = named.get("description") or named.get("title") or named.get("name") or ""
            return subject[:SUBJECT_CHARS].strip("\"' "), index + 1
        if found := _FRONT.match(line.strip()):
            named[found[1]] = found[2]
    return "", 0


def _without_code(lines: list[str], start: int, state: _State, left_out: Counter[str]) -> Iterator[tuple[int, str]]:
    """The lines with their numbers, without code in fences and without comments."""
    fence = ""
    in_comment = False
    for number, line in enumerate(lines[start:], start=start + 1):
        if fence:
            closing = line.strip()
            if set(closing) == {fence[0]} and len(closing) >= len(fence):
                fence = ""
        elif in_comment:
            in_comment = "-->" not in line
        elif found := _FENCE.match(line):
            fence = found[1]
            left_out[CODE] += 1
            state.after_blank = True
        elif line.lstrip().startswith("<!--") and "-->" not in line:
            in_comment = True
        else:
            yield number, line


def _take(state: _State, number: int, line: str, left_out: Counter[str]) -> None:
    bare = line.strip()
    if bare.startswith(">"):
        bare = line = bare.lstrip("> ")
    indent = len(line) - len(line.lstrip())
    paragraph = bool(state.stack) and not state.after_blank and state.stack[-1].indent < 0
    if not bare:
        state.after_blank = True
        return
    if found := _HEADING.match(line):
        state.heading(plain((found[2] or "").rstrip("# ")).strip()[:SUBJECT_CHARS])
    elif paragraph and _UNDERLINE.match(line):
        title = state.blocks.pop()
        state.heading(plain(" ".join(title.parts)).strip()[:SUBJECT_CHARS])
    elif _RULE.match(line):
        state.stack.clear()
    elif bare.startswith("|") or _IMPORT.match(bare):
        left_out[TABLE if bare[0] == "|" else LINK] += 1
        state.stack.clear()
    elif found := _ITEM.match(line):
        state.begin(number, len(found[1]), found[3].strip())
    elif indent >= 4 and state.after_blank and not (state.stack and state.stack[-1].indent >= 0):
        left_out[CODE] += 1
        return
    else:
        state.text(number, indent, bare)
    state.after_blank = False


def _draft(block: _Block, prose: bool, left_out: Counter[str]) -> Draft | None:
    raw = _FOOT.sub("", " ".join(block.parts))
    if block.introduces:
        return None
    if task := _TASK.match(raw):
        if task[1] == " ":
            left_out[TASK] += 1
            return None
        raw = raw[task.end() :]
    for kind, pattern in ((GONE, _STRUCK), (LINK, _LINK_ALONE)):
        if pattern.match(raw):
            left_out[kind] += 1
            return None
    text = plain(raw).strip()
    if block.indent < 0 and not prose:
        left_out[PROSE] += bool(text)
        return None
    label = block.under.label if block.under else ""
    return Draft(block.line, f"{label}{text}", block.subject) if text else None
