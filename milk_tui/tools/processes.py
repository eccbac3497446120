"""Programs that tools start: in a group of their own, with few variables, and none of them left behind."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import signal
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

USUAL = (
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TMPDIR",
    "TEMP",
    "TMP",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
    "JAVA_HOME",
    "GOPATH",
    "GOROOT",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "NVM_DIR",
    "PYENV_ROOT",
)
"""Variables that a command is given where they are set; every other one, keys and tokens among them, stays here."""

QUIET = {
    "TERM": "dumb",
    "NO_COLOR": "1",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_EDITOR": "false",
    "EDITOR": "false",
    "VISUAL": "false",
    "DEBIAN_FRONTEND": "noninteractive",
    "PIP_NO_INPUT": "1",
    "PYTHONUNBUFFERED": "1",
}
"""Nobody sits at a terminal: no colours, no pager, no editor, no question for a password."""
MARK = "MILK_TUI_STARTED_BY"
"""Every program that a command starts has it, so that those that left the group are found again."""
GRACE_S = 2.0
_LEASHED = 'exec 3<&0; (read _ <&3; kill -9 0) >/dev/null 2>&1 & exec 3<&-; exec "$@" </dev/null'
"""The watcher reads until our end of the pipe closes, then ends its group; the program takes the shell's place."""


def environment(more: Sequence[str] = (), environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """The variables of a command. ``more``: names that the person allows beside the usual ones."""
    environ = os.environ if environ is None else environ
    kept = {name: value for name, value in environ.items() if name in USUAL or name.startswith("LC_") or name in more}
    return {**kept, **QUIET, **{name: environ[name] for name in more if name in environ}}


@dataclass(slots=True)
class Started:
    """A program in a session and group of its own. ``mark`` is in the environment of all that it starts."""

    process: asyncio.subprocess.Process
    mark: str
    leash: int | None = None
    """Our end of the pipe that its watcher reads; the group ends when it closes, however this program ends."""

    def let_go(self) -> None:
        """Close the pipes of a program that has ended: what it started elsewhere may still hold them."""
        if self.leash is not None:
            os.close(self.leash)
            self.leash = None
        transport = getattr(self.process, "_transport", None)
        if transport is not None:
            transport.close()


async def start(
    command: Sequence[str],
    *,
    directory: Path,
    env: Mapping[str, str],
    stdin: int | None = None,
    stderr: int = asyncio.subprocess.STDOUT,
) -> Started:
    """Start a program. Without ``stdin`` it has none, and a watcher in its group ends it when this program is gone.
    Raises OSError."""
    mark = secrets.token_hex(8)
    reader, leash = os.pipe() if stdin is None else (None, None)
    if reader is not None:
        command = ("/bin/sh", "-c", _LEASHED, "sh", *command)
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            cwd=directory,
            env={**env, MARK: mark},
            stdin=stdin if reader is None else reader,
            stdout=asyncio.subprocess.PIPE,
            stderr=stderr,
            start_new_session=True,
            limit=1 << 16,
        )
    except BaseException:
        if leash is not None:
            os.close(leash)
        raise
    finally:
        if reader is not None:
            os.close(reader)
    return Started(process, mark, leash)


async def end(started: Started, *, grace_s: float = GRACE_S) -> None:
    """End the program, its group and what it started beside it; the polite way first when it still runs."""
    process = started.process
    if process.returncode is None:
        _signal(process.pid, signal.SIGTERM)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(grace_s):
                await exited(process)
    _signal(process.pid, signal.SIGKILL)
    await asyncio.to_thread(_end_strays, started.mark)
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(grace_s):
            await exited(process)


async def exited(process: asyncio.subprocess.Process) -> None:
    """Returns when the program itself has ended. ``Process.wait`` may wait for those that hold its output, too."""
    pause = 0.005
    while process.returncode is None:
        await asyncio.sleep(pause)
        pause = min(pause * 1.5, 0.1)


def _signal(group: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def _end_strays(mark: str) -> None:
    """End programs with the mark that left their group, where the system lets us see who has it."""
    if not sys.platform.startswith("linux"):
        return
    wanted = f"{MARK}={mark}".encode()
    for _ in range(3):
        found = [pid for pid in _pids() if _has(pid, wanted)]
        if not found:
            return
        for pid in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)


def _pids() -> list[int]:
    with contextlib.suppress(OSError):
        return [int(entry.name) for entry in os.scandir("/proc") if entry.name.isdigit()]
    return []


def _has(pid: int, wanted: bytes) -> bool:
    try:
        return wanted in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return False
