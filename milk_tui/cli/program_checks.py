"""Which version of an installed agent there is: the doctor asks the program itself."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor

from milk_tui.core.text import clean, one_line

SECONDS = 10.0
"""How long a program may take to say its version; some are slow to start."""
_NUMBER = re.compile(r"v?\d+\.\d[\w.+-]*")


def versions(programs: Iterable[str]) -> Mapping[str, str]:
    """Path → version, for the programs that say one; all are asked at once."""
    paths = list(dict.fromkeys(programs))
    if not paths:
        return {}
    with ThreadPoolExecutor(max_workers=min(4, len(paths))) as pool:
        return {path: said for path, said in zip(paths, pool.map(version_of, paths), strict=True) if said}


def version_of(path: str) -> str:
    """What ``PROGRAM --version`` says, a number alone where there is one; empty when it says none in time."""
    from milk_tui.agents.child import environment
    from milk_tui.agents.claude_settings import ENVIRONMENT

    try:
        process = subprocess.Popen(
            [path, "--version"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment(os.environ, ENVIRONMENT),
            start_new_session=True,
        )
    except OSError:
        return ""
    try:
        printed, _ = process.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return ""
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    lines = [line.strip() for line in clean(printed[:4_000].decode("utf-8", "replace")).splitlines() if line.strip()]
    if process.returncode or not lines:
        return ""
    found = next((match for line in lines if (match := _NUMBER.search(line))), None)
    return one_line(found[0] if found else lines[0], 40)
