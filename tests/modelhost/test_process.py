"""The host as a process: never left behind, never led astray by the directory it is started in."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from milk_tui.core.records import Message
from milk_tui.modelhost.client import HostState, ModelHost
from milk_tui.modelhost.protocol import CompleteRequest, Delta
from tests.modelhost.helpers import gone
from tests.support.openai_server import OpenAIServer
from tests.support.polling import until

PARENT = """
import asyncio, sys
from milk_tui.modelhost.client import ModelHost
from milk_tui.modelhost.protocol import CompleteRequest
from milk_tui.core.records import Message

async def main():
    host = ModelHost(sys.argv[1], sys.argv[2:] or None)
    await host.start()
    while host.pid is None:
        await asyncio.sleep(0.01)
    print(host.pid, flush=True)
    async for event in host.complete(CompleteRequest(model="x", messages=(Message(role="user", content="SCN:stall"),))):
        pass

asyncio.run(main())
"""


@pytest.mark.parametrize(
    "command",
    [
        pytest.param([sys.executable, "-m", "tests.support.scripted_host"], id="while a request runs"),
        pytest.param([], id="while litellm is imported"),
    ],
)
async def test_a_host_leaves_when_its_parent_is_killed(command: list[str], tmp_path: Path) -> None:
    parent = await asyncio.create_subprocess_exec(
        sys.executable, "-c", PARENT, str(tmp_path / "log"), *command, stdout=asyncio.subprocess.PIPE
    )
    assert parent.stdout is not None
    pid = int(await parent.stdout.readline())
    assert not gone(pid)
    assert os.getpgid(pid) == pid and os.getsid(pid) == pid
    parent.send_signal(signal.SIGKILL)
    await parent.wait()
    await until(lambda: gone(pid), what=f"host {pid} has left")


@pytest.mark.slow
async def test_neither_the_working_directory_nor_a_proxy_leads_the_host_astray(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hostile = tmp_path / "work"
    hostile.mkdir()
    marker = tmp_path / "was-here"
    for name in ("litellm", "msgspec", "httpx", "dotenv", "sitecustomize"):
        (hostile / f"{name}.py").write_text(f"open({str(marker)!r}, 'a').write({name!r})\nraise SystemExit(1)\n")
    (hostile / ".env").write_text("OPENAI_API_BASE=http://127.0.0.1:9\n")
    monkeypatch.chdir(hostile)
    proxies = dict.fromkeys(("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"), "http://127.0.0.1:9")
    host = ModelHost(tmp_path / "log", env=proxies)
    async with OpenAIServer() as server:
        request = CompleteRequest(
            model="openai/x", api_base=server.url, messages=(Message(role="user", content="SCN:say safe"),)
        )
        text = "".join([event.text async for event in host.complete(request) if isinstance(event, Delta)])
    assert text == "safe" and host.state is HostState.READY
    await host.aclose()
    assert not marker.exists()


def test_the_client_and_the_agent_bring_nothing_heavy_into_the_screen_process() -> None:
    source = (
        "import sys, milk_tui.modelhost.client, milk_tui.agents.litellm_agent\n"
        "heavy = {'litellm', 'openai', 'httpx', 'aiohttp', 'pydantic', 'rich', 'textual', 'sqlite3'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    result = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"
