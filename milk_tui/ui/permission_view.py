"""A permission request, or a question, in lines: pure functions from the request to what the dialog draws."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len

from milk_tui.core.permissions import PermissionRequest, Scope
from milk_tui.core.text import one_line
from milk_tui.core.visible import visible
from milk_tui.ui import format as f
from milk_tui.ui.paint import Line, Piece

if TYPE_CHECKING:
    from pygments.token import _TokenType

LONGEST_CODE = 20_000
"""Characters of a body that get colours; what is longer is plain."""
_TAB = "    "
_LOOKS = (
    ("Comment", "dim"),
    ("Keyword", "heading"),
    ("Name.Builtin", "helper"),
    ("Name.Variable", "warning"),
    ("Literal.String", "good"),
    ("String", "good"),
    ("Literal.Number", "warning"),
    ("Name.Tag", "helper"),
    ("Name.Attribute", "helper"),
)


def heading(request: PermissionRequest, position: int, number: int) -> Line:
    """Who asks, for the dialog's frame; with several the place in the line."""
    role = str(request.role)
    verb = "has a question" if request.questions else "asks"
    line: Line = ((f"{f.ROLE_MARKS[role]} {one_line(request.agent_name, 40)}", role), (f" {verb}", "strong"))
    return (*line, (f" · {position} of {number}", "dim")) if number > 1 else line


def content(request: PermissionRequest, width: int, question: int = 0) -> list[Line]:
    """Everything that is asked about, wrapped to the width: tool and directory, body, all arguments."""
    if request.questions:
        asked = request.questions[question]
        head = f"{asked.header} · " if asked.header else ""
        of = f"question {question + 1} of {len(request.questions)} · " if len(request.questions) > 1 else ""
        lines: list[Line] = [((f"{of}{head}".rstrip(" ·"), "dim"),)] if of or head else []
        return [*lines, *(((row, "strong"),) for row in f.wrap(asked.text, width) or [""])]
    lines = [((row, "strong"),) for row in f.wrap(request.title, width)]
    where = f" · in {f.directory(request.directory)}" if request.directory else ""
    lines += wrapped(((visible(one_line(request.tool, 80)), "heading"), (visible(where), "dim")), width)
    body = request.body.strip("\n")
    if body:
        for line in coloured(body, request.language):
            lines += wrapped(line, width)
    shown = arguments(request)
    if shown:
        lines.append((("arguments", "dim"),))
        for line in coloured(shown, "json"):
            lines += wrapped(line, width)
    return lines


def arguments(request: PermissionRequest) -> str:
    """All arguments as readable JSON, nothing of them hidden; empty when the body is all there is."""
    try:
        value = json.loads(request.arguments) if request.arguments.strip() else {}
    except (ValueError, RecursionError):
        return visible(request.arguments)
    if value in ({}, None) or (isinstance(value, dict) and list(value.values()) == [request.body]):
        return ""
    return visible(json.dumps(value, ensure_ascii=False, indent=2))


def coverage(request: PermissionRequest, *, wide: bool) -> Line:
    """What an answer that lasts would cover."""
    if Scope.SESSION not in request.scopes and Scope.ALWAYS not in request.scopes:
        return (("asked every time", "dim"),)
    covered = f"every {request.pattern}" if wide and request.pattern else "exactly this"
    where = f", in {f.directory(request.directory)}" if request.directory else ""
    return (
        ("s and a cover ", "dim"),
        (visible(covered), "warning" if wide else "strong"),
        (visible(where), "dim"),
    )


def wrapped(line: Line, width: int) -> list[Line]:
    """The line in rows of at most ``width`` cells, cut anywhere: nothing of it is left out."""
    rows: list[list[Piece]] = [[]]
    left = max(2, width)
    for text, look in line:
        part = ""
        for character in text.replace("\t", _TAB):
            cells = cell_len(character)
            if cells > left:
                rows[-1].append((part, look))
                rows.append([])
                part, left = "", max(2, width)
            part += character
            left -= cells
        if part:
            rows[-1].append((part, look))
    return [tuple(row) for row in rows]


def coloured(text: str, language: str) -> list[Line]:
    """The lines of a text with the looks of its language; plain when the language is unknown or the text long."""
    if language == "diff":
        return [((line, _diff_look(line)),) for line in text.split("\n")]
    if not language or len(text) > LONGEST_CODE:
        return [((line, ""),) for line in text.split("\n")]
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        lexer = get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return [((line, ""),) for line in text.split("\n")]
    return _lines((value, _look(kind)) for kind, value in lexer.get_tokens(text))


def _lines(pieces: Iterable[Piece]) -> list[Line]:
    rows: list[list[Piece]] = [[]]
    for text, look in pieces:
        first, *others = text.split("\n")
        rows[-1].append((first, look))
        rows += [[(other, look)] for other in others]
    return [tuple(row) for row in rows]


def _diff_look(line: str) -> str:
    if line.startswith(("+++", "---", "@@")):
        return "heading" if line.startswith("@@") else "dim"
    return {"+": "good", "-": "error"}.get(line[:1], "")


def _look(kind: _TokenType) -> str:
    name = ".".join(kind)
    return next((look for prefix, look in _LOOKS if name.startswith(prefix)), "")


def status(asked: Sequence[PermissionRequest]) -> Line:
    """That somebody waits for the person, for the prompt's frame; empty when nobody does."""
    if not asked:
        return ()
    first = asked[0]
    role = str(first.role)
    verb = "has a question" if first.questions else "asks"
    more = f" · {len(asked) - 1} more" if len(asked) > 1 else ""
    title = first.questions[0].text if first.questions else first.title
    return (
        (f"{f.ROLE_MARKS[role]} {one_line(first.agent_name, 30)} {verb}", role),
        (f": {one_line(title, 60)}{more}", "warning"),
        (" · F6 answers", "dim"),
    )
