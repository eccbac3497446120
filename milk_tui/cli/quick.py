"""The hook's plain call without the command line's machinery: a runtime waits for it at every prompt and tool call."""

from __future__ import annotations

import sys
from pathlib import Path

_FILES = ("--config", "--database")


def ran(arguments: list[str]) -> bool:
    """True when the arguments were the plain call ``[--config FILE] [--database FILE] hook [--as NAME]`` with something
    on standard input, and it is done; everything else is left to ``cli.root``."""
    files: dict[str, Path] = {}
    rest = list(arguments)
    while len(rest) > 1 and rest[0] in _FILES and not rest[1].startswith("-"):
        files[rest[0]] = Path(rest[1])
        rest = rest[2:]
    match rest:
        case ["hook"]:
            named = ""
        case ["hook", "--as", name] if not name.startswith("-"):
            named = name
        case _:
            return False
    if sys.stdin is None or sys.stdin.isatty():
        return False
    from milk_tui.interop import hook

    asked = hook.Asked(named=named, config=files.get("--config"), database=files.get("--database"))
    say(hook.answer(sys.stdin.buffer, asked))
    return True


def say(line: str) -> None:
    """To a reader that may have gone."""
    try:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()
    except OSError:
        sys.stdout = None
