"""How a program and the shared server talk: a JSON object a line, on a unix socket that is the user's alone.

An open connection is a *lease*: the server lives as long as there is one. The kernel closes a dead program's
connections, so a lease ends with its holder however that ends.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from milk_tui.core.errors import MilkError
from milk_tui.core.records import ErrorKind
from milk_tui.embedded.catalogue import EmbeddedModel
from milk_tui.paths import make_private

PROTOCOL = 1
"""Version of hello and answers. A server serves every older one; a newer program makes it retire."""

ALREADY_RUNNING = 3
"""Exit code of a server that found another one at work."""

MAX_LINE = 65_536
_MAX_SOCKET_PATH = 100


class ServerError(MilkError):
    """The embedded server can't be started or has gone."""

    kind = ErrorKind.SERVER


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a ready server answers: an OpenAI-compatible ``base_url`` on the loopback, its key and model."""

    base_url: str
    api_key: str
    model: str
    pid: int

    def __repr__(self) -> str:
        return f"Endpoint(base_url={self.base_url!r}, model={self.model!r}, pid={self.pid})"


@dataclass(frozen=True, slots=True)
class Rendezvous:
    """The files by which programs and the server of one model find each other."""

    socket: Path
    """The control socket; the server's lock has the same name with ``.lock``."""
    log: Path


def rendezvous(model: EmbeddedModel, runtime_dir: Path) -> Rendezvous:
    """The files of ``model`` in ``runtime_dir``, which is made, or made private, when it isn't.

    Raises ``ServerError`` when the folder belongs to somebody else. A folder whose path is too long for a
    socket is replaced by a private one in the temporary folder.
    """
    name = f"{model.size}-{model.sha256[:8]}"
    folder = runtime_dir
    if len(os.fsencode(folder / f"{name}.sock")) > _MAX_SOCKET_PATH:
        digest = hashlib.sha256(os.fsencode(folder.absolute())).hexdigest()[:8]
        folder = Path(tempfile.gettempdir()) / f"milk-tui-{os.geteuid()}-{digest}"
    _make_private(folder)
    return Rendezvous(folder / f"{name}.sock", folder / f"{name}.log")


def _make_private(folder: Path) -> None:
    try:
        make_private(folder)
        found = folder.lstat()
        if stat.S_ISLNK(found.st_mode):
            found = folder.stat()
        if found.st_uid != os.geteuid():
            raise ServerError(f"{folder} belongs to another user.", "Set MILK_TUI_RUNTIME to a folder of your own.")
        if found.st_mode & 0o077:
            folder.chmod(0o700)
    except OSError as error:
        raise ServerError(f"The folder {folder} can't be used: {error.strerror}.") from error


def encode(message: dict[str, Any]) -> bytes:
    return json.dumps(message).encode() + b"\n"


def decode(line: bytes) -> dict[str, Any]:
    """One message; anything else than an object is an empty one."""
    try:
        message = json.loads(line)
    except ValueError:
        return {}
    return message if isinstance(message, dict) else {}


def last_words(log: Path, limit: int = 300) -> str:
    """The last line of a server's log, without control characters; empty when there is none."""
    try:
        text = log.read_bytes()[-8000:].decode("utf-8", "replace")
    except OSError:
        return ""
    lines = ["".join(c for c in line if c.isprintable()).strip() for line in text.splitlines()]
    return next((line for line in reversed(lines) if line), "")[:limit]
