"""Who plays the two roles of a session: names, models and nonces, kept with it."""

from __future__ import annotations

import secrets
import string
from typing import TYPE_CHECKING

from milk_tui.core.records import AgentName, Role, Session
from milk_tui.engine.roster import Roster
from milk_tui.store import agents

if TYPE_CHECKING:
    from sqlite_utils import Database

NONCE_CHARS = 6
_ALPHABET = string.ascii_lowercase + string.digits


def new_nonce() -> str:
    """A stamp that no text written before can contain (``semantics.md`` §1)."""
    return "".join(secrets.choice(_ALPHABET) for _ in range(NONCE_CHARS))


def unknown() -> AgentName:
    """The primary of a new session, until the roster knows who it is."""
    return AgentName(role=Role.PRIMARY, name="primary", model="", nonce=new_nonce())


def cast(db: Database, session: Session, roster: Roster) -> None:
    """Give the session's roles to the roster's agents. A role keeps its nonce, whoever plays it, so that what is
    cached stays; a role that nobody plays now keeps its name from before when the session has worked with it."""
    now = agents.of_session(db.conn, session.id)
    cast_now = {
        role: AgentName(
            role=role,
            name=agent.name,
            model=agent.model,
            nonce=now[role].nonce if role in now else new_nonce(),
        )
        for role, agent in roster.agents.items()
    }
    for role, player in cast_now.items():
        if now.get(role) != player:
            _make_room(db, session, now, player)
            agents.put(db, session.id, player)
            now[role] = player
    if Role.ESCALATION in now and Role.ESCALATION not in cast_now:
        agents.remove(db, session.id, Role.ESCALATION)


def _make_room(db: Database, session: Session, now: dict[Role, AgentName], player: AgentName) -> None:
    """The other role may still have the name that this one takes (the two were exchanged)."""
    other = now.get(player.role.other)
    if other is not None and other.name.lower() == player.name.lower():
        agents.remove(db, session.id, other.role)
        del now[other.role]
