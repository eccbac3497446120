"""The state before a leg, read in one snapshot of the database (``semantics.md`` §4)."""

from __future__ import annotations

import sqlite3

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from milk_tui import recall
from milk_tui.agents.base import Caps
from milk_tui.config import Config
from milk_tui.core import bricks as brick_rules
from milk_tui.core import remote_told
from milk_tui.core.attachments import TOTAL_CHARS, given, images
from milk_tui.core.context import Budgets, ContextState, ModeInputs, Size, StaleFact, mode
from milk_tui.core.cuts import block
from milk_tui.core.exchanges import DIGEST_BYTES, cue
from milk_tui.core.instructions import protocol
from milk_tui.core.records import (
    AgentName,
    BrickKind,
    Layer,
    Leg,
    Percept,
    PerceptionEntry,
    Role,
    Session,
    ThreadMark,
)
from milk_tui.core.remote_told import Told
from milk_tui.engine import exchanges, perception_reading, remote_legs
from milk_tui.store import attachments, bricks, legs, percept_lists, remotes, threads, turns
from milk_tui.store.remotes import RemoteSession

SMALL_DIGEST_BYTES = 700
"""Of the news from other sessions for a small model, whose whole context is small."""


class Markers(Struct, frozen=True, kw_only=True):
    """What an agent was given, as of its last leg that succeeded; kept with its remote session, for which the milk
    session stands in when the agent is stateless."""

    thread: ThreadMark | None = None
    need: str = ""
    pinned: tuple[Percept, ...] = ()
    invariants: tuple[PerceptionEntry, ...] = ()
    told: Told | None = None
    """What a runtime that keeps its own history has of the rest."""


class Project(Struct, frozen=True):
    """The directory's own instruction file, as it was when the session was opened."""

    name: str = ""
    text: str = ""


class LegView(Struct, frozen=True, kw_only=True):
    """What is asked: the context of ``role`` for a prompt of a turn."""

    session: Session
    role: Role
    caps: Caps
    config: Config
    project: Project
    turn_id: int
    """The turn that the leg belongs to; a number above all others when the plan is only looked at."""
    prompt: str
    fresh: bool = False
    gone: bool = False
    """The runtime no longer has its session."""
    may_escalate: bool = False
    semantic: recall.Semantic | None = None
    """Finds facts by meaning; without it they are found by words."""


def gather(conn: sqlite3.Connection, view: LegView) -> ContextState:
    """Everything that the plan is made of. Its cost follows the budgets and what is new, not the session."""
    session, role = view.session, view.role
    agent = _agent(session, role)
    other = session.agent(role.other)
    small = not view.caps.tags and not view.caps.tools
    budgets = _budgets(view, small)
    remote = remotes.current(conn, session.id, agent.name, stand_in=view.caps.stateless)
    markers = marks(remote)
    own_last = worked = legs.last_answered(conn, session.id, role)
    if not view.caps.stateless:
        own_last = remote_legs.last_answered(conn, session.id, role, remote)
    other_last = legs.last_answered(conn, session.id, role.other)
    now = bricks.current(conn, session.id)
    need = now.get(BrickKind.NEED)
    pinned = tuple(recall.pinned_for(conn, role, session.id, max_bytes=budgets.pinned_bytes))
    entries = perception_reading.for_leg(conn, session.id, view.turn_id)
    inputs = ModeInputs(
        started=own_last is not None,
        waiting=session.waiting is role,
        other_worked=other_last is not None and (own_last is None or other_last.id > own_last.id),
        need_changed=own_last is not None and (need.text if need else "") != markers.need,
        primary_turns=0 if own_last is None else legs.answered_after(conn, session.id, Role.PRIMARY, own_last.id),
        forced_fresh=view.fresh,
        heir=worked is not None and not view.caps.stateless,
        gone=view.gone,
    )
    goes_on = own_last is not None and not mode(role, inputs, budgets.fresh_after_turns).fresh
    mark = markers.thread
    project = Project() if small or view.project.name in view.caps.reads else view.project
    inline = not view.caps.tools or view.config.memory.digest == "inline"
    news = exchanges.news(
        conn,
        session,
        agent.name,
        remote_id=remote.remote_id if remote else None,
        max_bytes=SMALL_DIGEST_BYTES if small else DIGEST_BYTES - len(block("News", "")),
    )
    attached = attachments.of_turns(conn, [view.turn_id]).get(view.turn_id, ())
    own = threads.worked(conn, session.id, role=role, after_leg=mark.after if mark else 0)
    facts = tuple(
        recall.for_leg(
            conn,
            role=role,
            session_id=session.id,
            prompt=view.prompt,
            max_items=budgets.facts_items,
            max_bytes=budgets.facts_bytes,
            semantic=view.semantic,
        )
    )
    state = ContextState(
        role=role,
        agent=agent,
        other=other,
        directory=session.directory,
        size=Size.MINIMAL if small else Size.FULL,
        budgets=budgets,
        mode=inputs,
        instructions=view.caps.system or _instructions(view),
        project_name=project.name,
        project_text=project.text,
        pinned_at_start=markers.pinned if goes_on else pinned,
        invariants_at_start=markers.invariants if goes_on else entries[Layer.INVARIANT],
        pinned=pinned,
        invariants=entries[Layer.INVARIANT],
        frame=entries[Layer.FRAME],
        working=entries[Layer.WORKING],
        dense=view.config.perception.dense,
        need=need,
        need_age=turns.count_after(conn, session.id, need.turn_id, before=view.turn_id) if need else 0,
        brief=brick_rules.brief_for(now.get(BrickKind.BRIEF), view.turn_id),
        own_summary=now.get(_summary(role)),
        other_summary=now.get(_summary(role.other)),
        facts=facts,
        stale=_stale(conn, markers.pinned) if goes_on else (),
        digest=news.text if inline else "",
        cue="" if inline else cue(news),
        news=news,
        stateless=view.caps.stateless,
        thread=exchanges.own_thread(conn, agent.name, own) if view.caps.stateless else (),
        mark=mark,
        prompt=given(view.prompt, attached, _attached_chars(view)),
        images=images(attached),
    )
    return state if view.caps.stateless else _remembering(conn, view, state, remote, own_last)


def _remembering(
    conn: sqlite3.Connection, view: LegView, state: ContextState, remote: RemoteSession | None, last: Leg | None
) -> ContextState:
    """The state as an agent needs it whose runtime keeps the thread by itself."""
    choice = mode(state.role, state.mode, state.budgets.fresh_after_turns)
    if remote is not None:
        state = replace(state, remote_leg=remote_legs.newest(conn, remote))
    if remote is None or choice.fresh or view.gone:
        return replace(state, prints=remote_told.prints(state.need, state.frame, state.working))
    if last is None:
        prints = remote_told.prints(state.need, state.frame, state.working)
        return replace(state, remote_id=remote.remote_id, told_record=remote_legs.told_of(remote), prints=prints)
    context, other = view.config.context, state.other
    told = remote_legs.given(
        conn,
        remote_legs.told_of(remote),
        in_history=view.caps.static_in_history,
        reinject_after=(context.reinjection_turns, context.reinjection_bytes),
        facts=state.facts,
        need=state.need,
        frame=state.frame,
        working=state.working,
    )
    budget = context.context_budget_chars
    new = remote_legs.delta(conn, view.session.id, state.role.other, other.name, last, budget) if other else None
    told["stale"] = (*told["stale"], *(fact for fact in state.stale if fact not in told["stale"]))
    return replace(state, remote_id=remote.remote_id, other_delta=new, **told)


def marks(remote: RemoteSession | None) -> Markers:
    """What the agent has been given so far in the session."""
    return msgspec.convert(remote.markers, Markers) if remote and remote.markers else Markers()


def _agent(session: Session, role: Role) -> AgentName:
    agent = session.agent(role)
    if agent is None:
        raise ValueError(f"the session has no {role} agent")
    return agent


def _attached_chars(view: LegView) -> int:
    """What may come with a prompt: a third of the model's window, where that is known."""
    window = view.caps.window_tokens
    return TOTAL_CHARS if window is None else min(TOTAL_CHARS, window * 4 // 3)


def _summary(role: Role) -> BrickKind:
    return BrickKind.PRIMARY_SUMMARY if role is Role.PRIMARY else BrickKind.ESCALATION_SUMMARY


def _budgets(view: LegView, small: bool) -> Budgets:
    config, window = view.config, view.caps.window_tokens
    if small:
        return Budgets.minimal(window or 4_096)
    return Budgets(
        total_chars=config.context.cap,
        window_tokens=window,
        thread_tokens=config.context.thread_tokens,
        facts_items=config.memory.max_items,
        facts_bytes=config.memory.max_bytes,
        pinned_bytes=config.memory.pinned_bytes,
        fresh_after_turns=config.context.fresh_after_turns,
    )


def _instructions(view: LegView) -> str:
    agent, other = _agent(view.session, view.role), view.session.agent(view.role.other)
    return protocol(
        "full",
        agent.nonce,
        agent.name,
        other.name if other else "",
        tools=view.caps.tools,
        may_escalate=view.may_escalate,
    )


def _stale(conn: sqlite3.Connection, told: tuple[Percept, ...]) -> tuple[StaleFact, ...]:
    """Facts of the static part that no longer hold; an unpinned one still holds."""
    gone = []
    for fact in told:
        now = percept_lists.get(conn, fact.id)
        if now is None or not now.holds:
            successor = percept_lists.get(conn, now.superseded_by) if now and now.superseded_by else None
            gone.append(StaleFact(short_id=fact.short_id, now=successor.content if successor else ""))
        elif now.content != fact.content:
            gone.append(StaleFact(short_id=fact.short_id, now=now.content))
    return tuple(gone)
