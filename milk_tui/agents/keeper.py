"""Runs another program and outlives nobody: ``python -I -S keeper.py LIFELINE_FD SECONDS COMMAND …``.

Between the screen and an agent of its own stands this small process. It holds the reading end of a pipe whose other
end the screen keeps open: however the screen dies, also by ``kill -9``, the pipe ends, and so does the agent with all
that it started (``agents.md`` §1.6: a killed agent leaves its shell commands running in sessions of their own; where
the system lets a process adopt such orphans, they are found and ended too).

Standard library only, and run as a file, so that it starts in no time. Its exit status is the agent's; 128 + N after
signal N, 127 when the program can't be started. ``SIGTERM``
ends the agent, which has SECONDS to leave. Where no pipe can be handed over, LIFELINE_FD is -1: then it is the death of
its parent that ends it. Commands of the tools and MCP servers have one too.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from types import FrameType

SWEEP_S = 2.0
"""How long what it left behind may take to be gone after ``SIGKILL``."""

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


def main(argv: list[str]) -> int:
    lifeline = int(argv[1])
    grace_s = float(argv[2])
    command = argv[3:]
    wake_read, wake_write = os.pipe()
    for fd in (wake_read, wake_write):
        os.set_blocking(fd, False)
    signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
    stopping: list[int] = []

    def stop(number: int, frame: FrameType | None) -> None:
        stopping.append(number)

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, stop)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    adopts = _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    if lifeline < 0:
        _prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    child = _start(command, {wake_read, wake_write} | ({lifeline} if lifeline >= 0 else set()))
    for fd in (0, 1):
        os.close(fd)
    status = _wait(child, lifeline, wake_read, stopping, grace_s)
    _sweep(child, adopts)
    return status


def _start(command: list[str], own: set[int]) -> int:
    """The agent, in a process group of its own, with nothing of ours but the standard streams."""
    keeper = os.getpid()
    pid = os.fork()
    if pid:
        with suppress(OSError):
            os.setpgid(pid, pid)
        return pid
    try:
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD, signal.SIGPIPE):
            signal.signal(number, signal.SIG_DFL)
        os.setpgid(0, 0)
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != keeper:
            os._exit(1)
        for fd in own:
            os.close(fd)
        os.execvp(command[0], command)
    except OSError as error:
        os.write(2, f"{command[0]}: {error.strerror}\n".encode("utf-8", "replace"))
    finally:
        os._exit(127)


def _wait(child: int, lifeline: int, wake: int, stopping: list[int], grace_s: float) -> int:
    """The agent's exit status, as a shell says it; ends it when the lifeline is cut or a signal asks for it."""
    watched = [lifeline, wake] if lifeline >= 0 else [wake]
    deadline: float | None = None
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            code = os.waitstatus_to_exitcode(status)
            return 128 - code if code < 0 else code
        left = None if deadline is None else max(0.0, deadline - time.monotonic())
        if left == 0.0:
            _signal_group(child, signal.SIGKILL)
            deadline, left = None, None
        ready, _, _ = select.select(watched, [], [], left)
        if wake in ready:
            with suppress(BlockingIOError):
                os.read(wake, 512)
        cut = lifeline in ready and not os.read(lifeline, 512)
        if cut:
            watched = [wake]
        if cut or stopping:
            stopping.clear()
            _signal_group(child, signal.SIGTERM)
            deadline = deadline or time.monotonic() + grace_s


def _sweep(child: int, adopts: bool) -> None:
    """End what the agent left behind: its group, and (where we adopt orphans) everything it had started."""
    _signal_group(child, signal.SIGKILL)
    deadline = time.monotonic() + SWEEP_S
    while adopts and time.monotonic() < deadline:
        for pid in _children():
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.01)


def _children() -> list[int]:
    """The processes whose parent we are, by the system's process table (Linux)."""
    own, found = os.getpid(), []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError, ValueError, IndexError):
                stat = (entry / "stat").read_text(errors="replace")
                if int(stat.rpartition(")")[2].split()[1]) == own:
                    found.append(int(entry.name))
    return found


def _signal_group(pid: int, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, number)


def _prctl(option: int, value: int) -> bool:
    """Linux's ``prctl``; False where there is none."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        return bool(ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0) == 0)
    except (OSError, AttributeError):
        return False


if __name__ == "__main__":
    sys.exit(main(sys.argv))
