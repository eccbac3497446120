"""Joining the shared server: start it when it isn't there, wait until it is ready, notice its end."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from milk_tui.embedded import child, control
from milk_tui.embedded.background import in_thread
from milk_tui.embedded.catalogue import EmbeddedModel
from milk_tui.embedded.control import Endpoint, Rendezvous, ServerError
from milk_tui.embedded.llama import SPIN_COUNT, SPIN_VARIABLE
from milk_tui.embedded.settings import EmbeddedSettings

START_LIMIT_S = 60.0
"""How long a server may take until it can be joined."""

LOAD_LIMIT_S = 300.0
_POLL_S = 0.05
_OLD_LOG_BYTES = 256 * 1024


class Lease:
    """A held connection to a ready server; ``on_lost`` is called when the server ends by itself."""

    def __init__(self, endpoint: Endpoint, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.endpoint = endpoint
        self.on_lost: Callable[[], None] = lambda: None
        self._writer = writer
        self._watch = asyncio.create_task(self._until_lost(reader))

    @property
    def held(self) -> bool:
        return not self._watch.done()

    async def _until_lost(self, reader: asyncio.StreamReader) -> None:
        with contextlib.suppress(OSError):
            while await reader.read(4096):
                pass
        self._writer.close()
        self.on_lost()

    def close(self) -> None:
        self._watch.cancel()
        self._writer.close()


async def join(
    model: EmbeddedModel, weights: Path, settings: EmbeddedSettings, on_loading: Callable[[], None]
) -> Lease:
    """A lease on the ready server of ``model``; starts one when none is there.

    ``on_loading`` is called when a server is there and loads. Raises ``ServerError``.
    """
    where = control.rendezvous(model, settings.runtime_dir)
    starter: subprocess.Popen[bytes] | None = None
    deadline = asyncio.get_running_loop().time() + START_LIMIT_S
    while True:
        try:
            reader, writer = await asyncio.open_unix_connection(str(where.socket), limit=control.MAX_LINE)
        except OSError:
            if starter is not None and starter.poll() not in (None, 0, control.ALREADY_RUNNING):
                raise _ended(starter, where) from None
            if asyncio.get_running_loop().time() > deadline:
                raise ServerError("The embedded server could not be started in time.", f"See {where.log}.") from None
            if starter is None or starter.poll() is not None:
                starter = await in_thread(lambda: _start(model, weights, settings, where))
            await asyncio.sleep(_POLL_S)
            continue
        try:
            async with asyncio.timeout(LOAD_LIMIT_S):
                endpoint = await _handshake(reader, writer, on_loading)
        except TimeoutError:
            writer.close()
            raise ServerError("The embedded server did not finish loading.", f"See {where.log}.") from None
        except _EndedWhileLoadingError:
            writer.close()
            raise _ended(starter, where) from None
        except BaseException:
            writer.close()
            raise
        if endpoint is not None:
            return Lease(endpoint, reader, writer)
        writer.close()
        await asyncio.sleep(_POLL_S)


class _EndedWhileLoadingError(Exception):
    pass


async def _handshake(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, on_loading: Callable[[], None]
) -> Endpoint | None:
    """Where the server answers once it is ready; ``None`` when it was leaving or is too old: ask again."""
    writer.write(control.encode({"protocol": control.PROTOCOL, "pid": os.getpid()}))
    loading = False
    while True:
        try:
            message: dict[str, Any] = control.decode(await reader.readline())
        except (OSError, ValueError):
            message = {}
        match message.get("state"):
            case "loading":
                loading = True
                on_loading()
            case "ready":
                return Endpoint(
                    base_url=str(message.get("base_url", "")),
                    api_key=str(message.get("api_key", "")),
                    model=str(message.get("model", "")),
                    pid=int(message.get("pid", 0)),
                )
            case "failed":
                raise ServerError(str(message.get("what", "")), str(message.get("hint", "")))
            case _ if loading:
                raise _EndedWhileLoadingError
            case _:
                return None


def _start(
    model: EmbeddedModel, weights: Path, settings: EmbeddedSettings, where: Rendezvous
) -> subprocess.Popen[bytes]:
    """Start a server, free of this terminal and of this program's life and secrets."""
    with contextlib.suppress(OSError):
        if where.log.stat().st_size > _OLD_LOG_BYTES:
            where.log.unlink()
    command = [
        *child.module_command("milk_tui.embedded.server"),
        *(
            "--size",
            model.size,
            "--weights",
            str(weights.absolute()),
            "--socket",
            str(where.socket.absolute()),
        ),
        *(
            "--grace",
            str(settings.grace_s),
            "--idle",
            str(settings.idle_s),
            "--threads",
            str(settings.threads),
        ),
    ]
    log = os.open(where.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=log,
            cwd="/",
            env=child.environment(os.environ, extra={SPIN_VARIABLE: SPIN_COUNT}),
            start_new_session=True,
        )
    finally:
        os.close(log)
    threading.Thread(target=process.wait, name="embedded-reaper", daemon=True).start()
    return process


def _ended(process: subprocess.Popen[bytes] | None, where: Rendezvous) -> ServerError:
    code = process.poll() if process is not None else None
    match code:
        case int() if code < 0:
            name = signal.Signals(-code).name
            why = f"was ended by {name}"
            hint = "This processor may lack what the runtime needs." if name == "SIGILL" else "Is memory short?"
        case int() if code > 0:
            why = f"ended with code {code}"
            hint = ""
        case _:
            why = "ended while it was loading"
            hint = ""
    words = control.last_words(where.log)
    detail = f": {words}" if words else ""
    return ServerError(f"The embedded server {why}{detail}.", f"{hint} See {where.log}.".strip())
