"""When something between the agents is written into their memories, and what a leg is told of it (``semantics.md`` §7).

The four triggers are here and nowhere else. Each runs inside the transaction of what caused it; the same event
reported again changes nothing. Cancelled and failed legs trigger nothing, but for a loop that was interrupted.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING

from msgspec.structs import replace

from milk_tui.core import exchanges as rules
from milk_tui.core.attachments import Attachment, given, images
from milk_tui.core.context import ContextState, Part
from milk_tui.core.exchanges import ExchangeKind, Happened
from milk_tui.core.records import Brick, ContextPlan, Leg, LegStatus, Role, Session
from milk_tui.core.routing import waiting_after
from milk_tui.core.thread import ThreadTurn, thread_turn
from milk_tui.store import attachments, delivered, exchanges, private_calls, sessions, turns
from milk_tui.store.threads import Worked

if TYPE_CHECKING:
    from sqlite_utils import Database

_LOOKED_BACK = 20
"""Messages of the speaker that are looked through for one of substance."""


def leg_ended(db: Database, leg: Leg, status: LegStatus, text: str, *, hands_over: bool, now: int) -> None:
    """A leg has its end in the store: the agent's journal, and ``escalation-concluded`` when an escalation leg answered
    without asking. ``hands_over``: another leg of the turn follows."""
    if status is not LegStatus.DONE:
        return
    asked = turns.get(db.conn, leg.turn_id).prompt
    line = rules.cycle(asked, text)
    exchanges.add_cycle(db, leg.agent_name, turn_id=leg.turn_id, session_id=leg.session_id, text=line, now=now)
    if leg.role is Role.ESCALATION and not hands_over and not waiting_after(text):
        session = sessions.get(db.conn, leg.session_id)
        kind = ExchangeKind.ESCALATION_CONCLUDED
        _happened(db, session, kind, f"{kind}:{leg.id}", speaker=leg.agent_name, now=now)


def loop_tripped(db: Database, leg: Leg, *, now: int) -> None:
    """Loop detection interrupted the leg."""
    session = sessions.get(db.conn, leg.session_id)
    kind = ExchangeKind.LOOP_TRIP
    _happened(db, session, kind, f"{kind}:{leg.id}", speaker=leg.agent_name, now=now)


def handed_back(db: Database, session: Session, *, now: int) -> None:
    """Control returned to the primary, by the person's key or by a rule; once between two turns."""
    if session.escalation is None:
        return
    kind = ExchangeKind.HANDBACK
    event = f"{kind}:{session.id}:{turns.last_id(db.conn, session.id)}"
    _happened(db, session, kind, event, speaker=session.escalation.name, now=now)


def need_fulfilled(db: Database, session: Session, need: Brick, *, now: int) -> None:
    """The need is done: told as by the agent that worked last; by nobody when none has."""
    row = db.conn.execute(
        "select agent_name from legs where session_id = ? and status = 'done' order by id desc limit 1", (session.id,)
    ).fetchone()
    if row is not None:
        kind = ExchangeKind.TASK_COMPLETED
        _happened(db, session, kind, f"{kind}:{session.id}:{need.version}", speaker=row["agent_name"], now=now)


def task_returned(db: Database, session: Session, call_id: int, speaker: str, answer: str, *, now: int) -> None:
    """An ``ask_NAME`` call came back with an answer of ``speaker``."""
    kind = ExchangeKind.TASK_COMPLETED
    _happened(db, session, kind, f"{kind}:call:{call_id}", speaker=speaker, said=[answer], now=now)


def _happened(
    db: Database,
    session: Session,
    kind: ExchangeKind,
    event_id: str,
    *,
    speaker: str,
    now: int,
    said: Iterable[str] = (),
) -> None:
    names = [agent.name for agent in (session.primary, session.escalation) if agent]
    listener = next((name for name in names if name.casefold() != speaker.casefold()), "")
    event = Happened(
        event_id=event_id,
        ts_ms=now,
        kind=kind,
        session_id=session.id,
        label=session.title or PurePath(session.directory).name,
        speaker=speaker,
        listener=listener,
        takeaway=rules.takeaway([*said, *_said(db.conn, session.id, speaker)]),
    )
    exchanges.append(db, event)


def _said(conn: sqlite3.Connection, session_id: str, agent_name: str) -> Iterator[str]:
    rows = conn.execute(
        "select text from legs where session_id = ? and agent_name = ? collate nocase and status = 'done'"
        " order by id desc limit ?",
        (session_id, agent_name, _LOOKED_BACK),
    )
    return (row["text"] for row in rows.fetchall())


def revision_given(state: ContextState, plan: ContextPlan) -> int:
    """The revision that a leg with this plan is given: the digest's when it went out whole, else what was seen before
    (a cue tells of entries and shows none). Negative when a new remote session was given nothing."""
    news = state.news
    if not news.shown and not news.waiting:
        return news.upto
    segment = plan.segment(Part.DIGEST)
    whole = bool(state.digest) and segment is not None and segment.included and segment.shrunk_from is None
    return news.upto if whole else news.before


def news(
    conn: sqlite3.Connection, session: Session, agent_name: str, *, remote_id: str | None, max_bytes: int
) -> rules.Digest:
    """What happened in the agent's other sessions and was not told in this one."""
    return exchanges.digest(
        conn, session_id=session.id, agent_name=agent_name, remote_id=remote_id, max_bytes=max_bytes
    )


def own_thread(conn: sqlite3.Connection, agent_name: str, worked: Iterable[Worked]) -> tuple[ThreadTurn, ...]:
    """Legs of a role, newest first, as the thread of the agent that has the role now, oldest first.

    What an agent read of its own memory, and what it was told of its other sessions, is in no other agent's thread: not
    in that of one that took over its role either.
    """
    legs = list(worked)[::-1]
    own = [each for each in legs if each.leg.agent_name.casefold() == agent_name.casefold()]
    once = delivered.once(conn, [each.leg.id for each in own])
    calls = {each.leg.id: private_calls.revealed(conn, each.tools) for each in own}
    threaded = (
        thread_turn(each.turn, each.leg, calls.get(each.leg.id, each.tools), once.get(each.leg.id, "")) for each in legs
    )
    came_with = attachments.of_turns(conn, {each.turn.id for each in legs})
    return tuple(_with_attachments(turn, came_with.get(turn.turn_id, ())) for turn in threaded)


def _with_attachments(turn: ThreadTurn, attached: Sequence[Attachment]) -> ThreadTurn:
    """The turn as it was given, with what came with its prompt."""
    return replace(turn, prompt=given(turn.prompt, attached), images=images(attached)) if attached else turn
