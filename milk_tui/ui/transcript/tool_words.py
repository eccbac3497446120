"""A tool call in a line: its main argument, and what came of it. Works on what is stored, whoever's tool it is."""

from __future__ import annotations

import re

from milk_tui.core.records import ToolStatus
from milk_tui.core.tool_calls import arguments_of
from milk_tui.ui.transcript.parts import tool_note, tool_summary

_MAIN = ("command", "pattern", "path", "file_path", "filePath", "query", "url", "question", "fact", "need", "reason")
"""Arguments that say most, the first that a call has; names of other programs' tools among them."""
_BESIDE = {"pattern": ("path", "glob"), "path": ("to",)}
_REPLACED = (("old_text", "new_text"), ("old_string", "new_string"), ("oldString", "newString"), ("oldText", "newText"))
_LONGEST = 200_000
_EXIT = re.compile(r"\[(exit code -?\d+|ended by signal \d+|stopped: [^\]]{1,120})[^\]]*\]\s*\Z")
_COUNTS = re.compile(r"(?:created|wrote|edited|deleted|moved) [^\n]{0,300}?: (\+[\d,]+ −[\d,]+)(?:\n|\Z)")
_DIFF = re.compile(r"^(?:--- |diff --git )[^\n]*\n(?:[^\n]*\n){0,4}?(?:\+\+\+ [^\n]*\n)?@@ ", re.MULTILINE)
_LINES = re.compile(r"\[[^\]\n]*?, (?:its first )?([\d,]+) lines?(?:, here ([\d,]+)–([\d,]+))?")


def main_argument(arguments: str) -> str:
    """What the call is about: a command, a path with what it moves to, a pattern with where it is looked for."""
    values = (arguments_of(arguments) if len(arguments) <= _LONGEST else None) or {}
    name = next((key for key in _MAIN if isinstance(values.get(key), str) and values[key].strip()), "")
    if not name:
        return tool_summary(arguments)
    words = [f'"{values[name]}"' if name == "pattern" else values[name]]
    words += [values[key] for key in _BESIDE.get(name, ()) if isinstance(values.get(key), str) and values[key]]
    return " → ".join(words) if name == "path" else " ".join(words)


def outcome(name: str, result: str, status: ToolStatus) -> str:
    """What came of it, in two or three words."""
    if status is ToolStatus.RUNNING:
        return "running …"
    if found := _EXIT.search(result[-300:]):
        return found[1].replace("exit code", "exit")
    if status is not ToolStatus.OK:
        return tool_note(result, status)
    if found := _COUNTS.match(result):
        return found[1]
    if found := _LINES.match(result):
        return f"lines {found[2]}–{found[3]} of {found[1]}" if found[2] else _lines(found[1])
    if name == "grep" and result:
        number = sum(not line.startswith("[") for line in result.split("\n"))
        return "no matches" if result == "Nothing found." else "1 match" if number == 1 else f"{number:,} matches"
    return tool_note(result, status)


def _lines(number: str) -> str:
    return "1 line" if number == "1" else f"{number} lines"


def edit_diff(arguments: str) -> str:
    """The unified diff of an edit, from its arguments, for programs whose results don't have it; empty for any other
    call."""
    values = (arguments_of(arguments) if len(arguments) <= _LONGEST else None) or {}
    edits = values.get("edits")
    found: list[str] = []
    for edit in edits if isinstance(edits, list) else [values]:
        pair = _old_and_new(edit) if isinstance(edit, dict) else None
        if pair is not None:
            found.append(_unified(main_argument(arguments), *pair))
    return "\n".join(found)


def _old_and_new(edit: dict[str, object]) -> tuple[str, str] | None:
    for names in _REPLACED:
        old, new = (edit.get(name) for name in names)
        if isinstance(old, str) and isinstance(new, str):
            return old, new
    return None


def _unified(name: str, old: str, new: str) -> str:
    import difflib

    lines = difflib.unified_diff(old.split("\n"), new.split("\n"), f"a/{name}", f"b/{name}", lineterm="")
    return "\n".join(lines)


def split_diff(result: str) -> tuple[str, str]:
    """What is said before a unified diff, and the diff; an empty diff when there is none."""
    found = _DIFF.search(result)
    if found is None:
        return result, ""
    return result[: found.start()].rstrip("\n"), result[found.start() :]
