"""``milk-tui mcp`` from spawn until its tools are listed / Python that imports json, sqlite3 and click."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from tests.bench import Options
from tests.bench._spawned import compared

_HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "claude-code", "version": "2"}}
_ASKED = (
    {"jsonrpc": "2.0", "id": 0, "method": "server/discover"},
    {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": _HELLO},
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
)


def run(options: Options) -> dict[str, object]:
    return compared(options, _until_listed)


def _until_listed(env: Mapping[str, str], project: Path) -> float:
    begun = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, "-m", "milk_tui", "mcp"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=env,
        cwd=project,
    ) as server:
        assert server.stdin is not None and server.stdout is not None
        server.stdin.write("".join(json.dumps(message) + "\n" for message in _ASKED).encode())
        server.stdin.flush()
        lines = [server.stdout.readline() for _ in range(3)]
        seconds = time.perf_counter() - begun
        assert len(json.loads(lines[2])["result"]["tools"]) >= 7, lines
        server.stdin.close()
    return seconds
