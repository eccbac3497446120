"""Whether the next prompt will pay for the whole prefix again, as far as that can be known before it is sent."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from milk_tui.core import context, prefix_cache
from milk_tui.core.errors import MilkError
from milk_tui.core.prefix_cache import Cold
from milk_tui.core.records import Role
from milk_tui.store import last_sent
from milk_tui.store.clock import now_ms

if TYPE_CHECKING:
    from milk_tui.engine.conductor import Conductor
    from milk_tui.engine.workspace import Workspace


class Outlook(NamedTuple):
    """``cold``: why it will be paid in full; ``expires_in_ms``: when that may change by itself."""

    cold: Cold | None = None
    expires_in_ms: int | None = None


async def look(workspace: Workspace, conductor: Conductor, role: Role) -> Outlook:
    """For the agent in that role. One that keeps its own history and cache (Claude Code, ACP) is not judged, nor is any
    while the other is looked for: what is said of that one stands at the beginning."""
    agent = workspace.roster.get(role)
    if agent is None or not agent.caps.stateless or not workspace.roster.known:
        return Outlook()
    session_id, asked = conductor.session.id, workspace.config.context.cache_ttl
    last = await workspace.store.read(lambda conn: last_sent.of_role(conn, session_id, role))
    if last is None:
        return Outlook()
    try:
        prefix = context.stable_text(await conductor.plan_next(role))
    except MilkError:
        return Outlook()
    now = now_ms()
    return Outlook(
        prefix_cache.cold(last, model=agent.model, prefix=prefix, asked=asked, now_ms=now),
        prefix_cache.expires_in_ms(last, model=agent.model, asked=asked, now_ms=now),
    )
