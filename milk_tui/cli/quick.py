"""The hook's plain call without the command line's machinery: a runtime waits for it at every prompt and tool call."""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path
from typing import NoReturn

_FILES = ("--config", "--database")


def plain(arguments: list[str]) -> tuple[dict[str, Path], str] | None:
    """Files and name of the call ``[--config FILE] [--database FILE] hook [--as NAME]`` with something on standard
    input; ``None`` for everything else, which is ``cli.root``'s."""
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
            return None
    if sys.stdin is None or sys.stdin.isatty():
        return None
    return files, named


def hook(files: dict[str, Path], named: str) -> NoReturn:
    """Answer and leave at once: collecting garbage and tidying up would take as long as the answer does."""
    gc.disable()
    from milk_tui.interop import hook as answers

    asked = answers.Asked(named=named, config=files.get("--config"), database=files.get("--database"))
    say(answers.answer(sys.stdin.buffer, asked))
    sys.stderr.flush()
    os._exit(0)


def is_hook(arguments: list[str]) -> bool:
    """True when a runtime calls, however wrongly: a failure of ours, 2 above all, would stop the person's prompt."""
    others = {"install", "uninstall", "status", "-h", "--help"}
    return "hook" in arguments and not others & set(arguments) and not (sys.stdin is None or sys.stdin.isatty())


def say(line: str) -> None:
    """To a reader that may have gone."""
    try:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
