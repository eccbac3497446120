"""A client of ``milk-tui mcp``: the real program as a child, JSON-RPC on its standard streams."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from queue import Empty, Queue
from types import TracebackType
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
DEADLINE_S = 60.0
VERSION = "2025-11-25"


class McpClient:
    """Speaks as ``name``; leaving the block closes the server's input and waits until it has gone."""

    def __init__(
        self,
        arguments: Sequence[str] = (),
        *,
        env: Mapping[str, str],
        cwd: Path,
        name: str = "some-editor",
        before: Sequence[str] = (),
    ) -> None:
        self.name = name
        self.process = subprocess.Popen(
            [sys.executable, "-m", "milk_tui", *before, "mcp", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(ROOT), **env},
            cwd=cwd,
        )
        self._lines: Queue[bytes] = Queue()
        self._errors: list[bytes] = []
        self._readers = [threading.Thread(target=work, daemon=True) for work in (self._read, self._read_errors)]
        for reader in self._readers:
            reader.start()
        self._number = 0

    def __enter__(self) -> McpClient:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.poll() is None and kind is not None:
            self.process.kill()
        self.close()

    def close(self) -> int:
        """The exit status once the server has left by itself."""
        if self.process.stdin is not None and not self.process.stdin.closed:
            self.process.stdin.close()
        status = self.process.wait(DEADLINE_S)
        for reader in self._readers:
            reader.join(DEADLINE_S)
        return status

    @property
    def errors(self) -> str:
        return b"".join(self._errors).decode(errors="replace")

    def send(self, line: bytes | object) -> None:
        data = line if isinstance(line, bytes) else json.dumps(line).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(data + b"\n")
        self.process.stdin.flush()

    def next(self) -> Any:
        """The next line of the server."""
        try:
            line = self._lines.get(timeout=DEADLINE_S)
        except Empty:
            raise AssertionError(f"no answer within {DEADLINE_S:g} s: {self.errors}") from None
        assert line, f"the server has gone: {self.errors}"
        return json.loads(line)

    def ask(self, method: str, params: object = None) -> dict[str, Any]:
        """One request and its whole reply."""
        self._number += 1
        request: dict[str, Any] = {"jsonrpc": "2.0", "id": self._number, "method": method}
        self.send(request if params is None else {**request, "params": params})
        reply = self.next()
        assert reply["id"] == self._number, reply
        return reply

    def hello(self, version: str = VERSION) -> dict[str, Any]:
        reply = self.ask(
            "initialize",
            {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": self.name, "version": "1"}},
        )
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return reply["result"]

    def call(self, tool: str, **arguments: object) -> tuple[str, bool]:
        """What a tool answers, and whether it did what was asked."""
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})["result"]
        return "".join(part["text"] for part in result["content"]), not result["isError"]

    def resource(self, uri: str) -> str:
        return self.ask("resources/read", {"uri": uri})["result"]["contents"][0]["text"]

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line)
        self._lines.put(b"")

    def _read_errors(self) -> None:
        assert self.process.stderr is not None
        self._errors += self.process.stderr
