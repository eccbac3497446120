"""What other programs wait for imports no more than it needs."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from milk_tui.store import Store, percepts
from tests.support.mcp_client import ROOT

HEAVY = ["asyncio", "sqlite_utils", "litellm", "textual", "rich", "numpy", "tomlkit", "yaml", "httpx", "ssl", "mcp"]
_HOOK = """
import io, sys
from milk_tui.interop.hook import Asked, answer
print(answer(io.BytesIO(sys.argv[1].encode()), Asked()))
print(*(name for name in sys.argv[2].split() if name in sys.modules))
"""
_MCP = """
import io, sys
from pathlib import Path
from milk_tui import config
from milk_tui.interop.mcp_memory import ClientMemory
from milk_tui.interop.mcp_server import Server
out = io.BytesIO()
memory = ClientMemory(config.load().config, lambda: Path("/nowhere"), Path.cwd())
Server(memory, io.BytesIO(sys.argv[1].encode()), out).run()
print(out.getvalue().decode().splitlines()[-1])
print(*(name for name in sys.argv[2].split() if name in sys.modules))
"""


def run(program: str, given: str, home: Path, *, also: str = "") -> tuple[str, str]:
    """What it printed: its answer, and which heavy modules it has imported."""
    (home / "config").mkdir(parents=True, exist_ok=True)
    config = home / "config" / "config.toml"
    config.write_text('[agents.claude]\nprovider = "claude-cli"\nrole = "escalation"\n')
    config.chmod(0o600)
    done = subprocess.run(
        [sys.executable, "-c", program, given, " ".join([*HEAVY, also])],
        env={**os.environ, "PYTHONPATH": str(ROOT), "MILK_TUI_HOME": str(home)},
        cwd=home,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    said, heavy = done.stdout.split("\n")[:2]
    return said, heavy


def test_a_hook_answers_without_an_event_loop_or_a_command_line(tmp_path: Path, empty_database: Path) -> None:
    (tmp_path / "data").mkdir()
    shutil.copy(empty_database, tmp_path / "data" / "milk.db")
    store = Store.open(tmp_path / "data" / "milk.db")
    store.write_sync(lambda db: percepts.add(db, content="Never touch production", pinned=True))
    store.close()
    payload = {"hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": str(tmp_path), "prompt": "production"}
    said, heavy = run(_HOOK, json.dumps(payload), tmp_path, also="click subprocess logging")
    assert "Never touch production" in said
    assert heavy == ""


def test_a_server_lists_its_tools_without_a_database(tmp_path: Path) -> None:
    hello = {"clientInfo": {"name": "claude-code"}}
    asked = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    ]
    said, heavy = run(_MCP, "\n".join(json.dumps(each) for each in asked) + "\n", tmp_path, also="milk_tui.recall")
    assert len(json.loads(said)["result"]["tools"]) >= 9
    assert heavy == ""
