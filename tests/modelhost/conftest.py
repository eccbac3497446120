"""One real model host for the whole run: its start costs seconds."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from milk_tui.modelhost.client import ModelHost
from tests.support.anthropic_server import AnthropicServer
from tests.support.openai_server import OpenAIServer

HOST_KEY = "canary-key-of-the-host-environment"
"""Set as MILK_TEST_KEY in the host's environment: must reach the server that it is named for, and nothing else."""


@pytest.fixture(scope="session")
def host_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("host") / "host.log"


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def real_host(host_log: Path) -> AsyncIterator[ModelHost]:
    env = {
        "MILK_TEST_KEY": HOST_KEY,
        "OPENAI_API_KEY": "canary-key-of-openai",
        "ANTHROPIC_API_KEY": "canary-key-of-anthropic",
        "LITELLM_LOG": "DEBUG",
    }
    host = ModelHost(host_log, env=env)
    await host.start()
    yield host
    await host.aclose()


@pytest_asyncio.fixture(loop_scope="session")
async def openai() -> AsyncIterator[OpenAIServer]:
    async with OpenAIServer() as server:
        yield server


@pytest_asyncio.fixture(loop_scope="session")
async def anthropic() -> AsyncIterator[AnthropicServer]:
    async with AnthropicServer() as server:
        yield server
