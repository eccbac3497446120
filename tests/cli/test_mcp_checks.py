"""The doctor looks at the MCP servers of the config."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import ROOT, Milk


def configure(home: Path, text: str) -> None:
    file = home / "config" / "config.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    file.chmod(0o600)


def of_servers(milk: Milk) -> dict[str, tuple[str, str]]:
    told = milk("doctor", "--json").json
    return {c["name"]: (c["state"], c["detail"]) for c in told["checks"] if c["section"] == "MCP servers"}


def test_without_servers_it_says_nothing(milk: Milk):
    assert of_servers(milk) == {}


def test_each_server_is_connected_and_its_tools_are_counted(milk: Milk, home: Path, monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("mcp")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    command = json.dumps([sys.executable, "-m", "tests.support.mcp_server"])
    configure(
        home,
        f'[mcp.little]\ncommand = {command}\nenv = ["PYTHONPATH"]\n'
        '[mcp.gone]\ncommand = ["/nowhere/server"]\n'
        '[mcp.unset]\nurl = "http://127.0.0.1:9/mcp"\nheaders = { Authorization = "NOT_SET" }\n'
        '[mcp.resting]\ncommand = ["x"]\nenabled = false\n',
    )
    found = of_servers(milk)

    assert found["little"][0] == "ok" and found["little"][1].startswith("7 tools")
    assert found["gone"][0] == "error" and "/nowhere/server" in found["gone"][1]
    assert found["unset"][0] == "error" and "NOT_SET" in found["unset"][1]
    assert found["resting"][0] == "ok"


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ('[mcp.Bad_Name]\ncommand = ["x"]\n', "not a name for an MCP server"),
        ("[mcp.a]\n", "either a command or a url"),
        ('[mcp.a]\ncommand = ["x"]\nurl = "http://x"\n', "either a command or a url"),
        ('[mcp.a]\nurl = "ftp://x"\n', "http://"),
        ('[mcp.a]\ncommand = ["x"]\nenviron = ["A"]\n', "unknown key"),
    ],
)
def test_a_wrong_entry_is_named_with_what_is_allowed(milk: Milk, home: Path, text: str, what: str):
    configure(home, text)
    ran = milk("config", "show")

    assert ran.code == 1 and what in ran.err
