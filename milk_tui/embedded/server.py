"""``python -m milk_tui.embedded.server``: one server of one model for all programs of the user.

It holds a lock as long as it owns the control socket, lives while a program holds a lease (``control``) and
ends a short grace after the last one is gone, so it is never left behind, even when its users are killed.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import os
import secrets
import selectors
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from milk_tui.embedded import control, llama
from milk_tui.paths import for_owner

START_GRACE_S = 10.0
"""How long a server that nobody has joined yet waits for the program that started it."""

_LOCK_WAIT_S = 5.0
_HELLO_WAIT_S = 2.0
_LOG_CHECK_S = 60.0
_LOG_MAX_BYTES = 1 << 20


class _Connection:
    """A program on the control socket; a lease once it has said hello."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self.pending = b""
        self.lease = False


class ControlServer:
    """The loop over the control socket."""

    def __init__(self, listener: socket.socket, *, grace_s: float, retire: Callable[[], None]) -> None:
        self._listener = listener
        self._grace_s = grace_s
        self._retire = retire
        self._retired = False
        self._connections: set[_Connection] = set()
        self._selector = selectors.DefaultSelector()
        self._wake_read, self._wake_write = socket.socketpair()
        self._news: dict[str, Any] | None = None
        self._state: dict[str, Any] = {"state": "loading"}
        self.joined = threading.Event()
        """Set when the first program has said hello."""

    def announce(self, state: dict[str, Any]) -> None:
        """Tell every lease, now and later; from any thread."""
        self._news = state
        self._wake_write.send(b"!")

    def run(self) -> None:
        """Serve until the last lease is gone for the grace, or loading has failed and everyone knows."""
        for sock in (self._listener, self._wake_read):
            sock.setblocking(False)
            self._selector.register(sock, selectors.EVENT_READ)
        leave_at: float | None = time.monotonic() + max(self._grace_s, START_GRACE_S)
        while True:
            wait = _LOG_CHECK_S if leave_at is None else max(0.0, leave_at - time.monotonic())
            for key, _ in self._selector.select(min(wait, _LOG_CHECK_S)):
                if key.fileobj is self._listener:
                    self._accept()
                elif key.fileobj is self._wake_read:
                    self._wake_read.recv(64)
                    if self._news is not None:
                        self._state, self._news = self._news, None
                        self._tell_all()
                else:
                    self._read(key.data)
            _bound_log()
            if self._state["state"] == "failed" and self.joined.is_set():
                return
            if any(c.lease for c in self._connections):
                leave_at = None
            elif self._retired:
                return
            elif leave_at is None:
                leave_at = time.monotonic() + self._grace_s
            if leave_at is not None and time.monotonic() >= leave_at:
                return

    def _accept(self) -> None:
        try:
            sock, _ = self._listener.accept()
        except OSError:
            return
        sock.setblocking(False)
        connection = _Connection(sock)
        self._connections.add(connection)
        self._selector.register(sock, selectors.EVENT_READ, connection)

    def _read(self, connection: _Connection) -> None:
        try:
            data = connection.sock.recv(4096)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        connection.pending += data
        if not data or len(connection.pending) > control.MAX_LINE:
            self._drop(connection)
            return
        line, found, rest = connection.pending.partition(b"\n")
        if found:
            connection.pending = rest
            self._greet(connection, control.decode(line))

    def _greet(self, connection: _Connection, hello: dict[str, Any]) -> None:
        protocol = hello.get("protocol")
        if not isinstance(protocol, int):
            self._drop(connection)
        elif protocol > control.PROTOCOL:
            self._send(connection, {"state": "outdated", "protocol": control.PROTOCOL})
            self._drop(connection)
            if not self._retired:
                self._retired = True
                self._selector.unregister(self._listener)
                self._retire()
        else:
            connection.lease = True
            self._send(connection, self._state)
            self.joined.set()

    def _tell_all(self) -> None:
        for connection in [c for c in self._connections if c.lease]:
            self._send(connection, self._state)

    def _send(self, connection: _Connection, message: dict[str, Any]) -> None:
        try:
            connection.sock.send(control.encode({"protocol": control.PROTOCOL, **message}))
        except OSError:
            self._drop(connection)

    def _drop(self, connection: _Connection) -> None:
        if connection in self._connections:
            self._connections.remove(connection)
            self._selector.unregister(connection.sock)
            connection.sock.close()


def _bound_log() -> None:
    """Standard error is the log, opened for appending: emptied when it has grown large."""
    with contextlib.suppress(OSError):
        if os.fstat(2).st_size > _LOG_MAX_BYTES:
            os.ftruncate(2, 0)


def _own(path: Path) -> tuple[Any, socket.socket]:
    """The lock and the listening socket; ends the process when another server is at work."""
    lock = open(path.with_suffix(".lock"), "ab", opener=for_owner)  # noqa: SIM115
    deadline = time.monotonic() + _LOCK_WAIT_S
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except BlockingIOError:
            if _answers(path) or time.monotonic() > deadline:
                sys.exit(control.ALREADY_RUNNING)
            time.sleep(0.05)
    with contextlib.suppress(FileNotFoundError):
        path.unlink()
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(str(path))
    path.chmod(0o600)
    listener.listen(64)
    return lock, listener


def _answers(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(1.0)
        try:
            probe.connect(str(path))
        except OSError:
            return False
        return True


def _load(server: ControlServer, options: argparse.Namespace, keep: list[Any]) -> None:
    """Load the model once somebody waits for it: loading holds the interpreter, and they should know why."""
    server.joined.wait(_HELLO_WAIT_S)
    try:
        api_key = secrets.token_urlsafe(24)
        runtime, base_url = llama.serve(
            options.weights,
            name=options.size,
            api_key=api_key,
            threads=llama.usable_threads(options.threads),
            idle_s=options.idle,
        )
    except control.ServerError as error:
        server.announce({"state": "failed", "what": error.what, "hint": error.hint})
    except Exception as error:
        server.announce({"state": "failed", "what": f"The embedded server failed: {error}", "hint": ""})
    else:
        keep.append(runtime)
        server.announce(
            {
                "state": "ready",
                "base_url": base_url,
                "api_key": api_key,
                "model": options.size,
                "pid": os.getpid(),
            }
        )


def _stop(number: int, frame: object) -> NoReturn:
    raise SystemExit(128 + number)


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m milk_tui.embedded.server")
    parser.add_argument("--size", required=True)
    parser.add_argument("--weights", required=True, type=Path)
    parser.add_argument("--socket", required=True, type=Path, help="the control socket; its lock is beside it")
    parser.add_argument("--grace", type=float, default=15.0)
    parser.add_argument("--idle", type=int, default=600)
    parser.add_argument("--threads", type=int, default=0)
    options = parser.parse_args(argv)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _stop)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    path: Path = options.socket
    lock, listener = _own(path)
    owned = True

    def retire() -> None:
        nonlocal owned
        owned = False
        path.unlink(missing_ok=True)
        listener.close()
        lock.close()

    server = ControlServer(listener, grace_s=options.grace, retire=retire)
    keep: list[Any] = []
    threading.Thread(target=_load, args=(server, options, keep), daemon=True).start()
    code = 0
    try:
        server.run()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    finally:
        if owned:
            path.unlink(missing_ok=True)
        # the runtime's own threads may be in the middle of an answer that nobody waits for
        os._exit(code)


if __name__ == "__main__":
    main()
