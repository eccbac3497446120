"""Running the desktop's own clipboard programs: bounded in time, and believed only when they give the text back."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress

from milk_tui.core.text import one_line
from milk_tui.ui.clipboard_ways import Program

WRITE_S = 3.0
READ_S = 1.0
AGAIN_S = 0.05
"""Seconds between two looks at the clipboard."""
READ_BACK_BYTES = 4_000_000
"""Longer texts are not read back; the exit code has to do."""
_KEPT = (
    *("PATH", "HOME", "USER", "LOGNAME", "LANG", "TMPDIR", "TERM", "TMUX", "TMUX_PANE", "TMUX_TMPDIR"),
    *("DISPLAY", "XAUTHORITY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET", "DBUS_SESSION_BUS_ADDRESS", "WSL_INTEROP"),
    *("WSL_DISTRO_NAME", "WSLENV"),
)
"""What such a program needs to know; keys of providers it does not."""


class NotCopiedError(Exception):
    """The program did not take the text; the message says why, in a few words."""


def copy(program: Program, text: str, environ: Mapping[str, str] = os.environ) -> bool:
    """Hand ``text`` to the program; True when it gave the same text back, False when it only said that all is well.
    Blocks for at most ``WRITE_S + 2 * READ_S`` seconds. Raises NotCopiedError.

    Such a program may say that all is well a moment before the clipboard is its own, so that it is asked again."""
    names = _environment(program, environ)
    data = text.encode(program.encoding, "replace")
    _run(program.write, data, names, WRITE_S)
    if not program.read or len(data) > READ_BACK_BYTES or not _is_here(program.read[0], names):
        return False
    deadline = time.monotonic() + READ_S
    while True:
        try:
            if read(program, environ) == text:
                return True
            why = f"{program.name} says all is well, but the clipboard holds something else"
        except NotCopiedError as error:
            why = str(error)
        if time.monotonic() > deadline:
            raise NotCopiedError(why)
        time.sleep(AGAIN_S)


def read(program: Program, environ: Mapping[str, str] = os.environ) -> str:
    """What the clipboard holds. Raises NotCopiedError."""
    found = _run(program.read, None, _environment(program, environ), READ_S)
    return found.decode(program.encoding, "replace")


def _environment(program: Program, environ: Mapping[str, str]) -> dict[str, str]:
    kept = {name: value for name, value in environ.items() if name in _KEPT or name.startswith(("LC_", "XDG_"))}
    return {**kept, **program.environment}


def _is_here(name: str, environ: Mapping[str, str]) -> bool:
    import shutil

    return shutil.which(name, path=environ.get("PATH")) is not None


def _run(command: Sequence[str], given: bytes | None, environ: Mapping[str, str], seconds: float) -> bytes:
    """Run it; what it printed, when it was asked to read.

    A clipboard program leaves a process behind that serves the text and keeps its streams open: what is written goes to
    no pipe, else this would wait for that process. It has a session of its own, or it would end with the terminal.
    """
    reading = given is None
    with tempfile.TemporaryFile() as complaints, tempfile.TemporaryFile() as source:
        source.write(given or b"")
        source.seek(0)
        try:
            process = subprocess.Popen(
                list(command),
                stdin=subprocess.DEVNULL if reading else source,
                stdout=subprocess.PIPE if reading else subprocess.DEVNULL,
                stderr=complaints,
                env=dict(environ),
                start_new_session=True,
            )
        except OSError as error:
            raise NotCopiedError(f"{command[0]}: {error.strerror}") from error
        try:
            out, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            raise NotCopiedError(f"{command[0]} did not end within {seconds:g} s") from None
        if process.returncode:
            complaints.seek(0)
            said = one_line(complaints.read(2000).decode("utf-8", "replace"), 120)
            raise NotCopiedError(f"{command[0]}: {said or f'exit code {process.returncode}'}")
        return out or b""
