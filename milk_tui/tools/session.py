"""``get_session_context`` and ``export_session``: what was said in this session, as an overview and then in bounded
ranges. Receipts, digests, private memory and nonces are never part of it (``semantics.md`` §7)."""

from __future__ import annotations

import re
import sqlite3
from typing import Annotated

from msgspec import Meta

from milk_tui.core import tags
from milk_tui.core.cuts import RESULT_CHARS
from milk_tui.core.records import BrickKind, Leg, Session, ToolCall, Turn
from milk_tui.core.text import one_line
from milk_tui.core.tool_calls import ToolOutcome
from milk_tui.store import Store, bricks, legs, sessions, tool_calls, turns
from milk_tui.tools.base import Access, Arguments, Call, Prepared, Refused, cut, plural, tool
from milk_tui.tools.my_memory import NAMES as PRIVATE
from milk_tui.tools.site import Site
from milk_tui.tools.writing import create

FAMILY = "session"
MOST_TURNS = 20
OVERVIEW_TURNS = 60
CHARS = 16_000
EXPORT_CHARS = 2_000_000
_RANGE = re.compile(r"(\d+)(?:\s*-\s*(\d+))?")


class SessionContext(Arguments, frozen=True, kw_only=True):
    turns: Annotated[
        str,
        Meta(description=f"Left out: an overview with the numbers of turns. Else 12 or 12-20, {MOST_TURNS} at most."),
    ] = ""


class ExportSession(Arguments, frozen=True, kw_only=True):
    path: Annotated[
        str, Meta(description="A new Markdown file; left out: the text comes as the answer, in a range.")
    ] = ""
    turns: Annotated[str, Meta(description="Such as 1-40. Left out with a path: all; without one: an overview.")] = ""


async def _prepare_context(site: Site, said: SessionContext) -> Prepared:
    wanted = _range(said.turns, MOST_TURNS) if said.turns.strip() else None

    store = _store(site)

    async def run(call: Call) -> ToolOutcome:
        text = await store.read(lambda conn: _overview(conn, site) if wanted is None else _turns(conn, site, wanted))
        return ToolOutcome(cut(text, CHARS, hint="ask for fewer turns"))

    return Prepared(run)


async def _prepare_export(site: Site, said: ExportSession) -> Prepared:
    if not said.path.strip():
        return await _prepare_context(site, SessionContext(turns=said.turns))
    wanted = _range(said.turns, 1_000_000) if said.turns.strip() else (0, 2**62)
    text = await _store(site).read(lambda conn: f"# {_title(conn, site)}\n\n{_turns(conn, site, wanted)}\n")
    if len(text) > EXPORT_CHARS:
        raise Refused(f"That is {len(text):,} characters; export fewer turns at once.")
    return await create(site, said.path, text)


def _store(site: Site) -> Store:
    if site.store is None:
        raise Refused("No session is kept here.")
    return site.store


def _range(said: str, most: int) -> tuple[int, int]:
    match = _RANGE.fullmatch(said.strip())
    if match is None:
        raise Refused("turns is a number or a range such as 12-20; the overview has the numbers.")
    first, last = int(match[1]), int(match[2] or match[1])
    if last < first:
        raise Refused(f"The range {said.strip()} is empty.")
    if last - first >= most * 50:
        raise Refused(f"At most {most} turns at once.")
    return first, last


def _title(conn: sqlite3.Connection, site: Site) -> str:
    return _session(conn, site).title or f"session {site.session_id[:8]}"


def _session(conn: sqlite3.Connection, site: Site) -> Session:
    return sessions.get(conn, site.session_id)


def _overview(conn: sqlite3.Connection, site: Site) -> str:
    session = _session(conn, site)
    ids = [entry.id for entry in turns.index(conn, site.session_id)]
    need = bricks.newest(conn, site.session_id, BrickKind.NEED)
    agents = ", ".join(f"{agent.name} ({agent.role.value})" for agent in (session.primary, session.escalation) if agent)
    lines = [f"{session.title or 'no title'} · {session.directory}", f"agents: {agents}", plural(len(ids), "turn")]
    if need is not None and need.text:
        lines.append(f"need: {one_line(need.text, 300)}")
    shown = ids[-OVERVIEW_TURNS:]
    if len(shown) < len(ids):
        lines.append(f"the newest {len(shown)}; older ones by their numbers, from {ids[0]} on")
    found = turns.many(conn, shown)
    lines += [f"{turn_id}: {one_line(found[turn_id].prompt, 120)}" for turn_id in shown if turn_id in found]
    return tags.mask("\n".join(lines), session.nonces)


def _turns(conn: sqlite3.Connection, site: Site, wanted: tuple[int, int]) -> str:
    session = _session(conn, site)
    first, last = wanted
    ids = [entry.id for entry in turns.index(conn, site.session_id) if first <= entry.id <= last]
    if not ids:
        raise Refused(f"No turn of this session is in {first}-{last}; the overview has their numbers.")
    found = turns.many(conn, ids)
    parts: list[str] = []
    for turn_id in ids:
        worked = legs.of_turn(conn, turn_id)
        calls = tool_calls.of_legs(conn, [leg.id for leg in worked])
        parts.append(_turn(found[turn_id], worked, calls))
    return tags.mask("\n\n".join(parts), session.nonces)


def _turn(turn: Turn, worked: list[Leg], calls: dict[int, tuple[ToolCall, ...]]) -> str:
    parts = [f"## turn {turn.id}\n\n**you:** {turn.prompt}"]
    for leg in worked:
        lines = [f"**{leg.agent_name}** ({leg.role.value}, {leg.status.value}):"]
        for call in calls.get(leg.id, ()):
            if call.name in PRIVATE:
                lines.append(f"- {call.name} (its own)")
                continue
            lines.append(f"- {call.name} {one_line(call.arguments, 200)} → {one_line(call.result, RESULT_CHARS)}")
        if leg.text.strip():
            lines.append(leg.text.strip())
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


TOOLS = (
    tool(
        "get_session_context",
        "What was said and done in this session: an overview, then single turns.",
        SessionContext,
        _prepare_context,
        family=FAMILY,
        access=Access.SESSION,
    ),
    tool(
        "export_session",
        "This session as Markdown: into a new file, or some turns of it as the answer.",
        ExportSession,
        _prepare_export,
        family=FAMILY,
        access=Access.WRITE,
    ),
)
