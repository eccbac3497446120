"""What the program itself notes in the working set: recent tool results and touched files (``semantics.md`` §5)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePosixPath
from typing import Any

from msgspec.structs import replace

from milk_tui.core import perception
from milk_tui.core.cuts import plain
from milk_tui.core.records import PerceptionEntry, ToolCall, ToolStatus
from milk_tui.core.text import one_line
from milk_tui.core.tool_calls import arguments_of

RESULTS = "recent-tool-results"
TOUCHED = "touched"
MOST_RESULTS = 8
MOST_FILES = 40
RESULT_CHARS = 100
"""Characters of one result's line."""
_CALL_CHARS = 56

MEMORY_TOOLS = frozenset(
    {
        "recall",
        "get_memory",
        "list_memory",
        "record_memory",
        "forget_memory",
        "set_need",
        "update_perception",
        "escalate",
        "read_my_memory",
        "save_my_memory",
    }
)
"""Calls that are no work on the task: they have other places."""

_FILE_ARGUMENTS = ("path", "file_path", "filepath", "file", "filename", "notebook_path", "target_file")
_FILE_LISTS = ("paths", "files")
_FIRST = ("command", "cmd", "pattern", "query", *_FILE_ARGUMENTS)
_TELLING = re.compile(
    r"\b\d+ (?:failed|passed|errors?|failures?|tests?|matches)\b|^(?:error|fatal|E  )|\b\w*Error\b|Exception\b", re.I
)


def is_memory(name: str) -> bool:
    """Whether a call is one of our own, under the name that a runtime of its own gives it too."""
    return name.removeprefix("mcp__milk__") in MEMORY_TOOLS


def results(before: str, calls: Iterable[ToolCall]) -> str:
    """The lines of the newest results, the newest last; ``before``: those that stood there."""
    lines = [*before.splitlines(), *(result_line(call) for call in calls if _counts(call))]
    return "\n".join(lines[-MOST_RESULTS:])


def touched(before: str, calls: Iterable[ToolCall], directory: str) -> str:
    """The files that calls worked on, the one touched last being the last; ``before``: those that stood there."""
    paths = dict.fromkeys(before.splitlines())
    for call in calls:
        if _counts(call) and call.status is ToolStatus.OK:
            for path in files_of(call, directory):
                paths.pop(path, None)
                paths[path] = None
    return "\n".join(list(paths)[-MOST_FILES:])


def fitted(entries: Sequence[PerceptionEntry], budget: int) -> list[PerceptionEntry]:
    """The entries within ``budget`` characters as far as leaving out the oldest results makes them fit."""
    kept = list(entries)
    at = next((index for index, entry in enumerate(kept) if entry.key == RESULTS), None)
    while at is not None and len(perception.render(kept)) > budget:
        _, newline, rest = kept[at].value.partition("\n")
        if not newline:
            break
        kept[at] = replace(kept[at], value=rest)
    return kept


def result_line(call: ToolCall) -> str:
    """A call and what it brought, on one line: ``bash pytest -q → 1 failed, 3 passed``."""
    said = call_words(call)
    return one_line(f"{said} → {outcome(call)}", RESULT_CHARS)


def call_words(call: ToolCall) -> str:
    """The call as people say it: its name and its first argument."""
    arguments = arguments_of(call.arguments) or {}
    first = next((str(arguments[name]) for name in _FIRST if arguments.get(name)), "")
    if not first:
        first = next((str(value) for value in arguments.values() if isinstance(value, str) and value), "")
    return one_line(plain(f"{call.name} {first[:400]}"), _CALL_CHARS)


def outcome(call: ToolCall) -> str:
    """The telling line of a result: the one with counts or an error, else the first one."""
    match call.status:
        case ToolStatus.DENIED:
            return "denied by the person"
        case ToolStatus.CANCELLED | ToolStatus.RUNNING:
            return "stopped"
        case _:
            pass
    lines = [line.strip() for line in plain(call.result[:20_000]).splitlines() if line.strip()]
    told = [line for line in lines if _TELLING.search(line)]
    line = told[-1] if told else lines[0] if lines else "nothing"
    more = f" ({len(lines):,} lines)" if not told and len(lines) > 1 else ""
    failed = "failed: " if call.status is ToolStatus.FAILED else ""
    return f"{failed}{one_line(line, 80)}{more}"


def files_of(call: ToolCall, directory: str) -> Iterator[str]:
    """The files that a call names, relative to the directory where they are in it."""
    arguments = arguments_of(call.arguments) or {}
    named: list[Any] = [arguments.get(name) for name in _FILE_ARGUMENTS]
    for name in _FILE_LISTS:
        listed = arguments.get(name)
        named += listed if isinstance(listed, Sequence) and not isinstance(listed, str) else []
    for value in named:
        if isinstance(value, str) and (path := _relative(value, directory)):
            yield path


def _relative(value: str, directory: str) -> str:
    path = one_line(plain(value), 200)
    if not path or path in (".", "/", directory):
        return ""
    pure = PurePosixPath(path)
    if directory and pure.is_relative_to(directory):
        pure = pure.relative_to(directory)
    return str(pure)


def _counts(call: ToolCall) -> bool:
    return not is_memory(call.name) and call.status is not ToolStatus.RUNNING
