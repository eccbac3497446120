"""Highlighting code in small steps, so that no step holds up the keys.

Lexing runs over the whole code (a string may span lines), a bounded number of characters at a time; the lines that
are done can be shown meanwhile. Sizes, not clocks, bound a step: 1,000 characters take about 1 ms.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pygments.lexer import Lexer

MAX_CODE = 120_000
"""Longer code stays plain, in characters."""
MAX_LINE = 2_000
AT_ONCE = 4_000
"""Characters that may be lexed between two repaints, while rows are being made."""
STEP = 5_000
_KEPT = 400_000

Spans = list[tuple[int, str]]
"""One line: lengths and the palette's names for them ("" for plain)."""


class Colours:
    """The coloured lines of the code that is on the screen, bounded by characters."""

    def __init__(self) -> None:
        self._jobs: OrderedDict[tuple[str, str], _Job] = OrderedDict()
        self._waiting: dict[tuple[str, str], None] = {}
        self._chars = 0
        self._allowance = 0

    @property
    def busy(self) -> bool:
        """True while code waits for ``work``."""
        return bool(self._waiting)

    def refill(self) -> None:
        """Allows another ``AT_ONCE`` characters to be lexed by ``lines``."""
        self._allowance = AT_ONCE

    def lines(self, language: str, code: str) -> list[Spans] | None:
        """The coloured lines so far; ``None`` when this code stays plain. The rest follows through ``work``."""
        if not language or len(code) > MAX_CODE or not code:
            return None
        key = (language, code)
        job = self._jobs.get(key)
        if job is None:
            job = self._add(key)
        else:
            self._jobs.move_to_end(key)
        if not job.done and len(code) <= self._allowance and lexer_is_loaded(language):
            self._allowance -= len(code)
            job.step(len(code))
        if job.done:
            self._waiting.pop(key, None)
        else:
            self._waiting.setdefault(key)
        return job.lines if job.known else None

    def work(self) -> str | None:
        """One step on the newest code that waits; returns that code when more of it has colours now."""
        if not self._waiting:
            return None
        key = next(reversed(self._waiting))
        job = self._jobs.get(key)
        if job is None:
            del self._waiting[key]
            return None
        job.step(STEP)
        if job.done:
            del self._waiting[key]
        return key[1]

    def clear(self) -> None:
        self._jobs.clear()
        self._waiting.clear()
        self._chars = 0

    def _add(self, key: tuple[str, str]) -> _Job:
        job = self._jobs[key] = _Job(*key)
        self._chars += len(key[1])
        while self._chars > _KEPT and len(self._jobs) > 1:
            old, _ = self._jobs.popitem(last=False)
            self._waiting.pop(old, None)
            self._chars -= len(old[1])
        return job


class _Job:
    """One piece of code on its way to coloured lines."""

    def __init__(self, language: str, code: str) -> None:
        self.lines: list[Spans] = []
        self.done = False
        self.known = True
        self._language = language
        self._code = code
        self._tokens: Iterator[tuple[Any, str]] | None = None
        self._line: Spans = []

    def step(self, chars: int) -> None:
        if self._tokens is None:
            found = lexer(self._language)
            if found is None:
                self.known, self.done = False, True
                return
            self._tokens = ((kind, text) for _, kind, text in found.get_tokens_unprocessed(self._code))
        while chars > 0:
            token = next(self._tokens, None)
            if token is None:
                self.lines.append(self._line)
                self.done = True
                return
            name = name_of(token[0])
            first, *rest = token[1].split("\n")
            if first:
                self._line.append((len(first), name))
            for text in rest:
                self.lines.append(self._line)
                self._line = [(len(text), name)] if text else []
            chars -= len(token[1]) + 1


_loaded: set[str] = set()


def lexer_is_loaded(language: str) -> bool:
    return language in _loaded


@lru_cache(64)
def lexer(language: str) -> Lexer | None:
    """The lexer for the name behind a fence; ``None`` for a name that is not known."""
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    _loaded.add(language)
    try:
        return get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None


@lru_cache(512)
def name_of(kind: Any) -> str:
    """The palette's name for a kind of token."""
    from pygments.token import Token

    names = {
        Token.Comment: "comment",
        Token.Comment.Preproc: "operator",
        Token.Keyword: "keyword",
        Token.Keyword.Constant: "number",
        Token.Keyword.Type: "builtin",
        Token.Name.Function: "name",
        Token.Name.Class: "name",
        Token.Name.Decorator: "name",
        Token.Name.Tag: "keyword",
        Token.Name.Attribute: "name",
        Token.Name.Builtin: "builtin",
        Token.Name.Exception: "builtin",
        Token.Name.Namespace: "name",
        Token.Name.Label: "name",
        Token.Literal.String: "string",
        Token.Literal.Number: "number",
        Token.Literal.Date: "number",
        Token.Operator: "operator",
        Token.Operator.Word: "keyword",
        Token.Generic.Inserted: "inserted",
        Token.Generic.Deleted: "deleted",
        Token.Generic.Heading: "keyword",
        Token.Generic.Subheading: "keyword",
        Token.Generic.Prompt: "comment",
    }
    while kind is not Token and kind is not None:
        if kind in names:
            return names[kind]
        kind = kind.parent
    return ""
