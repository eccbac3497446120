"""The protocol's own Python client connects to ``milk-tui mcp`` and finds what it expects."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.support.mcp_client import ROOT

mcp = pytest.importorskip("mcp", reason="the extra mcp is not installed")


async def test_the_sdks_client_lists_calls_and_reads(tmp_path: Path) -> None:
    server = mcp.StdioServerParameters(
        command=sys.executable,
        args=["-m", "milk_tui", "mcp"],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "MILK_TUI_HOME": str(tmp_path / "home")},
        cwd=tmp_path,
    )
    async with mcp.Client(server) as client:
        assert client.server_info.name == "milk-tui"
        tools = (await client.list_tools()).tools
        assert {"recall", "record_memory", "forget_memory"} <= {tool.name for tool in tools}
        learned = await client.call_tool("record_memory", {"fact": "Prices are integers in cents"})
        assert not learned.is_error
        found = await client.call_tool("recall", {"query": "how are prices stored?"})
        assert "integers in cents" in found.content[0].text
        wrong = await client.call_tool("get_memory", {"id": "#ffffff"})
        assert wrong.is_error
        resources = (await client.list_resources()).resources
        assert [str(resource.uri) for resource in resources] == ["milk://memory/pinned", "milk://perception"]
        pinned = await client.read_resource("milk://memory/pinned")
        assert pinned.contents[0].text == "No fact is pinned."
