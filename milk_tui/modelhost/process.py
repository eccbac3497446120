"""The model host as an operating system process: its command, its environment, its log file, its end."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import milk_tui
from milk_tui.paths import make_private

LOG_BYTES = 1_000_000
"""Size at which the log is put aside as ``NAME.1`` when a host starts; the host itself stops at four times
this."""

_READ_LIMIT = 1 << 20


def default_command() -> list[str]:
    """The real host. ``-P``: nothing is ever imported from the directory that the person works in."""

    return [sys.executable, "-P", "-m", "milk_tui.modelhost"]


def child_environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """This process's environment (the keys are in it), with this very package findable in a checkout too."""

    env = dict(os.environ)
    home = Path(milk_tui.__file__).resolve().parent.parent
    if home.name not in ("site-packages", "dist-packages"):
        env["PYTHONPATH"] = os.pathsep.join([str(home), *filter(None, [env.get("PYTHONPATH")])])
    env.update(extra or {})
    return env


class HostLog:
    """The file that takes the host's standard error, readable by its owner alone."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def open(self) -> int:
        """A descriptor to append to; a log that has grown large is put aside first. Raises ``OSError``."""

        make_private(self.path.parent)
        try:
            if self.path.stat().st_size > LOG_BYTES:
                self.path.replace(self.path.with_name(self.path.name + ".1"))
        except FileNotFoundError:
            pass
        return os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)

    def say(self, text: str) -> None:
        """Append one line; a log that can't be written is no reason to fail."""

        stamp = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime())
        try:
            fd = self.open()
        except OSError:
            return
        try:
            os.write(fd, f"{stamp} client: {text}\n".encode("utf-8", "replace"))
        except OSError:
            pass
        finally:
            os.close(fd)


async def spawn(
    command: Sequence[str], env: Mapping[str, str], log: HostLog, cwd: Path | None
) -> asyncio.subprocess.Process:
    """Start the host in a session and process group of its own. Raises ``OSError``."""

    fd = log.open()
    try:
        return await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=fd,
            env=dict(env),
            cwd=cwd,
            start_new_session=True,
            limit=_READ_LIMIT,
        )
    finally:
        os.close(fd)


def kill_group(process: asyncio.subprocess.Process) -> None:
    """Kill the host and whatever it started; nothing to do when they are gone."""

    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass


async def end(process: asyncio.subprocess.Process, grace_s: float) -> int:
    """Close the host's standard input, wait ``grace_s`` seconds for it to leave, then kill its group."""

    if process.stdin is not None:
        process.stdin.close()
    try:
        await asyncio.wait_for(process.wait(), grace_s)
    except TimeoutError:
        pass
    finally:
        kill_group(process)
    return await process.wait()
