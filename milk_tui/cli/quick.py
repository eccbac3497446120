"""Calls that somebody waits for, without the command line's machinery, which takes a tenth of the time to the first
frame: the screen's, by a person, and the hook's, by a runtime at every prompt and tool call.

What is not told apart here at once is ``cli.root``'s, errors and help too.
"""

from __future__ import annotations

import gc
import io
import os
import sys
from pathlib import Path
from typing import NoReturn

_FILES = ("--config", "--database")
_NAMES = ("--session", "--primary", "--escalation")
_WORDS = ("--new", "--continue", "--plain")
_COMPLETES = "_MILK_TUI_COMPLETE"
"""How ``click`` is asked for completions."""


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


def screen(arguments: list[str]) -> dict[str, str] | None:
    """The options of a call for the screen, each at most once, those without a value with an empty one; ``None`` for
    every other call, and where a shell asks how a line could go on."""
    if _COMPLETES in os.environ:
        return None
    options: dict[str, str] = {}
    rest = list(arguments)
    while rest:
        name = rest.pop(0)
        if name in options:
            return None
        if name in _WORDS:
            options[name] = ""
        elif name in (*_FILES, *_NAMES) and rest and rest[0] and not rest[0].startswith("-"):
            options[name] = rest.pop(0)
        else:
            return None
    return options if len({"--new", "--continue", "--session"} & options.keys()) < 2 else None


def prepare() -> None:
    """Have nothing that is printed fail by its characters, and no warning come with a traceback."""
    from milk_tui import safe_log

    safe_log.say_warnings_safely()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def open_screen(options: dict[str, str]) -> int:
    """Run the screen until the person leaves it; the exit code."""
    from milk_tui.cli import screen as the_screen
    from milk_tui.engine.launch import Launch

    def file(name: str) -> Path | None:
        return Path(options[name]) if name in options else None

    prepare()
    launch = Launch(
        directory=Path.cwd(),
        session=options.get("--session"),
        new="--new" in options,
        primary=options.get("--primary"),
        escalation=options.get("--escalation"),
        config_path=file("--config"),
        database=file("--database"),
    )
    return the_screen.open_screen(launch, plain="--plain" in options)


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
