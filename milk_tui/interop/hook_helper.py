"""The recall helper for a session outside the screen: begun at a prompt, in a process that the hook does not wait for.

What it finds waits as a note and is handed over at a later boundary (``semantics.md`` §6).
"""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from milk_tui.interop.hook_payload import PROMPT, Boundary

if TYPE_CHECKING:
    from milk_tui.config import Config
    from milk_tui.interop.hook import Asked

_GUARD = "MILK_TUI_HELPER"
"""Set for what a helper runs: it starts no other."""


def wanted(config: Config, boundary: Boundary) -> bool:
    """True at a prompt where the person wants the helper; by itself it is there where decisions are recorded."""
    helper = config.helper
    if helper.enabled is False or boundary.event != PROMPT or boundary.subagent or os.environ.get(_GUARD):
        return False
    if not boundary.prompt.strip():
        return False
    allowed = [Path(folder).expanduser() for folder in helper.directories]
    if allowed and not any(boundary.directory.is_relative_to(folder) for folder in allowed):
        return False
    return helper.enabled is True or _has_records(boundary.directory / helper.records)


def begin(boundary: Boundary, asked: Asked) -> None:
    """Start it and leave it alone; where it can't be started there is no note."""
    import subprocess

    files = (("--config", asked.config), ("--database", asked.database))
    options = [word for name, file in files if file is not None for word in (name, str(file.absolute()))]
    run = ["helper", "run", "-", "--for", boundary.remote_id, "--directory", str(boundary.directory), "--again"]
    with contextlib.suppress(OSError):
        started = subprocess.Popen(
            [sys.executable, "-P", "-m", "milk_tui", *options, *run],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=boundary.directory,
            start_new_session=True,
        )
        assert started.stdin is not None
        started.stdin.write(boundary.prompt.encode(errors="replace"))
        started.stdin.close()


def _has_records(folder: Path) -> bool:
    try:
        return any(entry.suffix.lower() == ".md" for entry in folder.iterdir())
    except OSError:
        return False
