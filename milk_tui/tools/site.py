"""Where the tools of one session work: its directory, what was read there, and the bounds."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

from milk_tui.store import Store
from milk_tui.tools.changes import Changes
from milk_tui.tools.places import Place, find

COMMAND_S = 120.0
LONGEST_COMMAND_S = 600.0


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds."""

    tool_s: float = 60.0
    command_s: float = COMMAND_S
    longest_command_s: float = LONGEST_COMMAND_S
    http_s: float = 20.0


@dataclass(slots=True)
class Site:
    """One for a session, shared by its agents: a file that one has read, the other may edit."""

    directory: Path
    session_id: str = ""
    store: Store | None = None
    private: tuple[Path, ...] = ()
    """Folders of the program itself, never opened for a model."""
    environment: tuple[str, ...] = ()
    """Names of variables that commands are given beside the usual ones."""
    limits: Limits = field(default_factory=Limits)
    changes: Changes = field(default_factory=Changes)
    changed: Callable[[], None] = lambda: None
    """Called when a file was changed, so that lists of files are made anew."""
    _seen: dict[Path, str] = field(default_factory=dict)
    _order: Order = field(default_factory=lambda: Order())

    def place(self, said: str, *, follow: bool = True) -> Place:
        """Where a path leads. Raises ``Refused``."""
        return find(said, self.directory, self.private, follow=follow)

    def saw(self, path: Path, data: bytes) -> None:
        """A file was given to an agent as it is now."""
        self._seen[path] = digest(data)

    def seen(self, path: Path) -> str | None:
        """The digest of a file when it was last given to an agent, or written by one."""
        return self._seen.get(path)

    def forget(self, path: Path) -> None:
        self._seen.pop(path, None)

    @property
    def order(self) -> Order:
        return self._order


class Order:
    """Calls in the order in which they come: those that only look go at once, one that changes something goes alone."""

    def __init__(self) -> None:
        self._last_alone: asyncio.Future[None] | None = None
        self._since: list[asyncio.Future[None]] = []
        self._holding: set[asyncio.Task[None]] = set()

    async def do(self, work: Callable[[], Awaitable[None]], *, alone: bool) -> None:
        """Run ``work`` when what came before it is through. Cancelling it lets those behind it go on."""
        before = [done for done in (self._last_alone, *(self._since if alone else ())) if done is not None]
        mine: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if alone:
            self._last_alone, self._since = mine, []
        else:
            self._since = [*(done for done in self._since if not done.done()), mine]
        try:
            if before:
                await asyncio.wait(before)
            await work()
        finally:
            if before and not all(done.done() for done in before):
                holding = asyncio.create_task(_after(before, mine))
                self._holding.add(holding)
                holding.add_done_callback(self._holding.discard)
            else:
                mine.set_result(None)


async def _after(before: list[asyncio.Future[None]], mine: asyncio.Future[None]) -> None:
    """One that was cancelled while it waited holds its place until those before it are through."""
    await asyncio.wait(before)
    mine.set_result(None)


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
