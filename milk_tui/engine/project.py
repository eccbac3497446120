"""The directory's own instruction file for agents (``semantics.md`` §4): AGENTS.md or CLAUDE.md, the nearest one."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from milk_tui.core.secret_scan import masked
from milk_tui.engine.gather import Project

NAMES = ("AGENTS.md", "CLAUDE.md")
MAX_BYTES = 16_384


def read(directory: Path) -> Project:
    """The file of the directory or the nearest folder above it, up to the repository's top or the home folder.

    Its first ``MAX_BYTES`` bytes, without secrets; an empty project when there is none or it can't be read. Never opens
    anything but a regular file.
    """
    home = Path.home()
    for folder in (directory, *directory.parents):
        for name in NAMES:
            text = _text(folder / name)
            if text.strip():
                return Project(name, masked(text))
        if (folder / ".git").exists() or folder == home:
            break
    return Project()


def _text(path: Path) -> str:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return ""
    with os.fdopen(fd, "rb") as file:
        try:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                return ""
            return file.read(MAX_BYTES).decode(errors="ignore")
        except OSError:
            return ""
