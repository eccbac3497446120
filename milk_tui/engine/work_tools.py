"""The tools with which an agent works in the directory: who gets which, and where they work."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from milk_tui.config import Config
from milk_tui.core.permissions import PermissionAsker
from milk_tui.core.records import Session, Usage
from milk_tui.engine.peers import peer_tool
from milk_tui.store import Store
from milk_tui.tools import registry
from milk_tui.tools.base import Tool
from milk_tui.tools.changes import Changes
from milk_tui.tools.registry import Caller, Toolset
from milk_tui.tools.site import Limits, Site

if TYPE_CHECKING:
    from milk_tui.engine.order import Desk, Order


def site_of(store: Store, config: Config, session: Session) -> Site:
    """Where the tools of a session work; one for as long as the session is open."""
    settings = config.tools
    directory = Path(session.directory)
    return Site(
        directory=directory,
        session_id=session.id,
        store=store,
        private=_private(store.path, directory),
        environment=settings.environment,
        limits=tool_limits(config),
        changes=Changes(store, session.id),
    )


def tool_limits(config: Config) -> Limits:
    return Limits(tool_s=config.tools.timeout, command_s=config.tools.command_timeout)


def _private(database: Path, directory: Path) -> tuple[Path, ...]:
    """What belongs to milk itself: the folder of its database, or the files alone when the folder is the person's."""
    folder = database.resolve().parent
    here = directory.resolve()
    if folder != here and folder not in here.parents:
        return (folder,)
    return tuple(folder / f"{database.name}{end}" for end in ("", "-wal", "-shm"))


def toolset_for(
    desk: Desk,
    order: Order,
    *,
    ask: PermissionAsker,
    emit: Callable[[str, str], None],
    spent: Callable[[Usage], None],
    leg_id: int,
    servers: Sequence[Tool] = (),
) -> Toolset | None:
    """What the agent of a leg may call beside its memory; ``None`` for one that brings tools of its own, or takes
    none. ``servers``: tools of MCP servers."""
    caps = order.agent.caps
    if desk.site is None or not caps.tools or caps.own_tools:
        return None
    desk.site.changes.leg_id = leg_id
    more = []
    if order.peer is not None and (peer := peer_tool(order.peer, order.role.other, spent)) is not None:
        more.append(peer)
    tools = (*registry.assemble(desk.config.tools.families, more), *servers)
    if not tools:
        return None
    return Toolset(tools, desk.site, Caller(order.role, order.agent.name), ask, emit)
