"""Writing the prompt in the person's own editor."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from pathlib import Path

from milk_tui.core.errors import MilkError


class EditorError(MilkError):
    """The editor did not run, or ended with an error; the prompt is as it was."""


def command() -> list[str]:
    """``$VISUAL``, else ``$EDITOR``, else ``vi``, as a command. Raises EditorError for one that can't be
    read."""
    wanted = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    try:
        parts = shlex.split(wanted)
    except ValueError as error:
        raise EditorError(f"$EDITOR can't be read: {wanted!r}.", str(error)) from error
    if not parts:
        raise EditorError("$EDITOR is blank.", "Set it to the editor's command.")
    return parts


def edit(text: str, terminal: int | None = None) -> str:
    """Let the person edit the text; blocks until the editor ends. The file is private and removed
    afterwards.

    ``terminal``: the descriptor that the editor writes to. Raises EditorError.
    """
    parts = command()
    with tempfile.TemporaryDirectory(prefix="milk-tui-") as folder:
        path = Path(folder) / "prompt.md"
        path.touch(0o600)
        path.write_text(text, encoding="utf-8")
        try:
            ended = subprocess.run([*parts, str(path)], stdout=terminal, stderr=terminal, check=False)
        except OSError as error:
            raise EditorError(
                f"{parts[0]} can't be run: {error.strerror}.", "Set $EDITOR to an editor that is installed."
            ) from error
        if ended.returncode:
            raise EditorError(f"{parts[0]} ended with an error ({ended.returncode}).", "The prompt is as it was.")
        try:
            return path.read_text(encoding="utf-8", errors="replace").rstrip("\n")
        except OSError as error:
            raise EditorError(f"{parts[0]} left no file.", "The prompt is as it was.") from error
