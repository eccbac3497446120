"""``milk-tui hook``: what a Claude Code session outside the screen is given at its boundaries (``semantics.md`` §6).

The payload comes from another program: whatever it holds, and whatever state the database is in, the answer is one JSON
object at once, and ``{}`` when there is nothing to say. A prompt is never held up (``agents.md`` §1.5).
"""

from __future__ import annotations

import json
import os
import sqlite3
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO
from urllib.parse import quote

from milk_tui.interop.hook_payload import PROMPT, Boundary, read

if TYPE_CHECKING:
    from milk_tui.config import Config
    from milk_tui.engine.outside_client import Client

PAYLOAD_BYTES = 16 * 1024 * 1024
_BUSY_S = 0.1


@dataclass(frozen=True, slots=True)
class Asked:
    """How the command was called. ``named``: the agent that the person says it is (``--as``)."""

    named: str = ""
    config: Path | None = None
    database: Path | None = None


def answer(incoming: BinaryIO, asked: Asked) -> str:
    """The line for standard output; never raises."""
    try:
        boundary = read(incoming.read(PAYLOAD_BYTES), os.environ)
        if boundary is None:
            return "{}"
        context = _context(boundary, asked)
    except Exception as error:
        print(f"milk-tui hook: nothing is given: {type(error).__name__}: {error}", file=sys.stderr)
        return "{}"
    if not context:
        return "{}"
    said = {"hookSpecificOutput": {"hookEventName": boundary.event, "additionalContext": context}}
    return json.dumps(said, ensure_ascii=True)


def _context(boundary: Boundary, asked: Asked) -> str:
    from milk_tui import paths

    file = (asked.database or paths.database_file()).expanduser().absolute()
    if not file.is_file():
        return ""
    conn = _connect(file)
    try:
        return _given(conn, boundary, asked)
    finally:
        conn.close()


def _connect(file: Path) -> sqlite3.Connection:
    """Raises ``ValueError`` for a file that is not of this version: the hook neither makes nor changes one."""
    from milk_tui.store import migrations, schema

    mode = "rw" if os.access(file, os.W_OK) and os.access(file.parent, os.W_OK) else "ro"
    uri = f"file:{quote(str(file))}?mode={mode}"
    conn = sqlite3.connect(uri, uri=True, timeout=_BUSY_S, isolation_level=None)
    try:
        conn.row_factory = sqlite3.Row
        conn.execute("pragma foreign_keys = on")
        application = conn.execute("pragma application_id").fetchone()[0]
        version = migrations.version_of(conn)
    except BaseException:
        conn.close()
        raise
    if application != schema.APPLICATION_ID or version != migrations.VERSION:
        conn.close()
        raise ValueError(f"{file} is not of this version ({version}, not {migrations.VERSION})")
    return conn


def _given(conn: sqlite3.Connection, boundary: Boundary, asked: Asked) -> str:
    """One transaction, so that of boundaries that come at once each is given something else."""
    from milk_tui import config as configuration
    from milk_tui.interop import hook_context
    from milk_tui.store import outside_runtimes

    config = configuration.load(asked.config).config
    client = _client(config, asked.named)
    now = int(time.time() * 1000)
    locked = _begin(conn)
    try:
        before = outside_runtimes.find(conn, client.name, boundary.remote_id, str(boundary.directory))
        given = hook_context.Given(runtime=hook_context.after(before, boundary))
        if hook_context.is_boundary(before, boundary):
            given = hook_context.gather(conn, config, client, boundary, given.runtime, now=now if locked else None)
        if locked and given.runtime != before:
            outside_runtimes.keep(conn, given.runtime, now)
        conn.execute("commit")
    finally:
        if conn.in_transaction:
            conn.execute("rollback")
    if locked and boundary.event == PROMPT:
        _call_helper(config, boundary, asked)
    return given.text


def _call_helper(config: Config, boundary: Boundary, asked: Asked) -> None:
    """Whatever becomes of it, what is given stays given."""
    try:
        from milk_tui.interop import hook_helper

        if hook_helper.wanted(config, boundary):
            hook_helper.begin(boundary, asked)
    except Exception as error:
        print(f"milk-tui hook: the helper was not begun: {type(error).__name__}: {error}", file=sys.stderr)


def _begin(conn: sqlite3.Connection) -> bool:
    """False when nothing can be written just now: what is told is then told again later, better twice than never."""
    try:
        conn.execute("begin immediate")
    except sqlite3.OperationalError:
        conn.execute("begin")
        return False
    return True


def _client(config: Config, named: str) -> Client:
    from milk_tui.config import Provider
    from milk_tui.engine import outside_client

    return outside_client.named(config, named) if named else outside_client.of_provider(config, Provider.CLAUDE_CLI)
