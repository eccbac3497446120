"""Programs that tools start: in a group of their own, with few variables, and none of them left behind."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import shutil
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
SWEEP_S = 3.0
"""What the keeper may take beyond that to end what the program left behind."""
KEEPER = Path(__file__).parents[1] / "agents" / "keeper.py"
"""Run as a file of its own: it stands between this program and what it starts, adopts what leaves its group, whatever
its environment, and ends all of it with the program, or when our end of the pipe closes."""


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
    """Our end of the pipe that its keeper reads; all of it ends when it closes, however this program ends."""

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
    """Start a program. Without ``stdin`` it has none, and a keeper ends it, with all that it started, when it is
    through or this program is gone. Raises OSError."""
    mark = secrets.token_hex(8)
    reader, leash = os.pipe() if stdin is None else (None, None)
    if reader is not None:
        command = (sys.executable, "-I", "-S", str(KEEPER), str(reader), str(GRACE_S), *command)
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            cwd=directory,
            env={**env, MARK: mark},
            stdin=asyncio.subprocess.DEVNULL if stdin is None else stdin,
            stdout=asyncio.subprocess.PIPE,
            stderr=stderr,
            start_new_session=True,
            pass_fds=() if reader is None else (reader,),
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


def kept(command: Sequence[str], env: Mapping[str, str], directory: str = "") -> tuple[str, ...]:
    """The command under a keeper that ends all that it starts, for a program that somebody else starts for us.

    Raises FileNotFoundError when there is no such program.
    """
    named = str(Path(directory) / command[0]) if os.sep in command[0] else command[0]
    path = shutil.which(named, path=env.get("PATH"))
    if path is None:
        raise FileNotFoundError(2, "there is no such program", command[0])
    return (sys.executable, "-I", "-S", str(KEEPER), "-1", str(GRACE_S), path, *command[1:])


async def end(started: Started, *, grace_s: float = GRACE_S) -> None:
    """End the program, its group and what it started beside it; the polite way first when it still runs."""
    process = started.process
    if process.returncode is None:
        _signal(process.pid, signal.SIGTERM)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(grace_s + (SWEEP_S if started.leash is not None else 0)):
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
