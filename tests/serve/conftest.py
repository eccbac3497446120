"""A person's machine, and ``milk-tui serve`` on it."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest

from tests.e2e.conftest import Place, program
from tests.support.polling import until
from tests.support.web_page import Server, serving


class ServedPlace(Place):
    """A person's machine whose processes can be looked at one by one."""

    def pids(self, words: str) -> list[int]:
        """The processes of this home whose command holds ``words``."""
        return [int(entry.name) for entry, command, _ in self._own() if words in command]

    async def wait_until_closed(self, words: str) -> None:
        """Return when no process whose command holds ``words`` is left."""
        await until(lambda: not self.pids(words), what=f"no {words} left")

    def environments(self) -> list[bytes]:
        return [names for _, _, names in self._own()]

    def _own(self) -> Iterator[tuple[Path, str, bytes]]:
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                names = (entry / "environ").read_bytes()
                command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
            if os.fsencode(self.root) in names:
                yield entry, command, names


@pytest.fixture
def place(tmp_path: Path) -> ServedPlace:
    (tmp_path / "project").mkdir()
    return ServedPlace(tmp_path)


@pytest.fixture
def serve(place: ServedPlace) -> Callable[..., AbstractAsyncContextManager[Server]]:
    """``async with serve(*options) as server``: any free port, two scripted agents."""

    @asynccontextmanager
    async def started(*options: str, agents: tuple[str, ...] = ()) -> AsyncIterator[Server]:
        names = {**os.environ, **place.environment()}
        env = {name: value for name, value in names.items() if value}
        argv = [*program(), *(agents or place.agents), "serve", "--port", "0", *options]
        async with serving(argv, env=env, cwd=place.project) as server:
            yield server

    return started
