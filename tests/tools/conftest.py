"""A directory to work in, and the tools as an agent has them there; every request for a permission is kept."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from milk_tui.core.permissions import PermissionRequest, Verdict
from milk_tui.core.records import Role
from milk_tui.core.tool_calls import ToolOutcome
from milk_tui.tools.registry import FAMILIES, Caller, Toolset, assemble
from milk_tui.tools.site import Limits, Site


class Bench:
    """One agent's tools at one site."""

    def __init__(self, directory: Path, **site: object) -> None:
        self.directory = directory
        self.site = Site(directory, **site)  # type: ignore[arg-type]
        self.asked: list[PermissionRequest] = []
        self.printed: list[str] = []
        self.verdict: Verdict | Callable[[PermissionRequest], Verdict] = Verdict(allowed=True)
        caller = Caller(Role.PRIMARY, "qwen")
        self.tools = Toolset(
            assemble(FAMILIES), self.site, caller, self._ask, lambda _, text: self.printed.append(text)
        )

    async def _ask(self, request: PermissionRequest) -> Verdict:
        self.asked.append(request)
        return self.verdict(request) if callable(self.verdict) else self.verdict

    async def __call__(self, name: str, **arguments: object) -> ToolOutcome:
        """Call a tool."""
        return await self.tools.run("call", name, json.dumps(arguments))

    async def refuses(self, name: str, *words: str, **arguments: object) -> None:
        """The call is not done, and the answer says why; the person is not asked for what can't be done."""
        outcome = await self(name, **arguments)
        assert not outcome.ok
        for word in words:
            assert word in outcome.content

    def deny(self, reason: str = "") -> None:
        self.verdict = Verdict(allowed=False, reason=reason)

    def write(self, name: str, content: str | bytes) -> Path:
        path = self.directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def read(self, name: str) -> str:
        return (self.directory / name).read_bytes().decode()


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    folder = tmp_path / "shop"
    folder.mkdir()
    return Bench(folder, limits=Limits(tool_s=20, command_s=20))


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "secret.txt").write_text("the secret\n")
    return folder
