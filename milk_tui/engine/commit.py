"""The one transaction that ends a leg: its text, captures, need, perception, bricks, markers (``architecture.md``)."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from milk_tui.core import bricks as brick_rules
from milk_tui.core import remote_told
from milk_tui.core.perception import parse
from milk_tui.core.perception_gather import added
from milk_tui.core.records import (
    Brick,
    BrickKind,
    Layer,
    Leg,
    LegError,
    LegStatus,
    Percept,
    PerceptionEntry,
    Role,
    Session,
    Usage,
)
from milk_tui.core.tags import TagKind
from milk_tui.engine import (
    admission,
    exchanges,
    perception_harness,
    perception_reading,
    perception_writing,
    remote_legs,
)
from milk_tui.engine.gather import Markers
from milk_tui.store import bricks, captures, legs, percept_uses, percepts, remotes, sessions, threads
from milk_tui.store.captures import StagedCapture

if TYPE_CHECKING:
    from sqlite_utils import Database

INTERRUPTED_NOTE = "from an interrupted answer"

_LAYERS = {TagKind.FRAME: Layer.FRAME, TagKind.WORKING: Layer.WORKING, TagKind.INVARIANT: Layer.INVARIANT}


class Ending(Struct, frozen=True, kw_only=True):
    """How a leg ended."""

    status: LegStatus
    text: str
    thinking: str = ""
    usage: Usage = msgspec.field(default_factory=Usage)
    error: LegError | None = None
    markers: Markers = msgspec.field(default_factory=Markers)
    """What the agent was given; kept only when the leg succeeded."""
    prints: dict[str, str] = msgspec.field(default_factory=dict)
    """The layers' fingerprints when the leg began (``core.remote_told``)."""
    session_cost_usd: float | None = None
    """What the runtime's session has cost in all."""
    looped: bool = False
    """True for a leg that was stopped because it ran in circles."""
    sticky: Role | msgspec.UnsetType | None = msgspec.UNSET
    waiting: Role | msgspec.UnsetType | None = msgspec.UNSET
    brief: str = ""
    """The reason for the escalation that follows this leg."""
    used: tuple[str, ...] = ()
    """Ids of the facts that the answer used; they count only when the leg succeeded."""
    replaces: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    """By percept, the short ids that its author named as replaced."""


class Committed(Struct, frozen=True, kw_only=True):
    """What a leg's end changed."""

    session: Session
    percepts: tuple[percepts.Change, ...] = ()
    bricks: tuple[Brick, ...] = ()
    entries: tuple[PerceptionEntry, ...] = ()


def commit(db: Database, leg: Leg, ending: Ending, *, budget_chars: int, now: int) -> Committed | None:
    """End the leg; ``None`` when it had ended already, and then nothing is changed."""
    ended = legs.finish(
        db,
        leg.id,
        ending.status,
        text=ending.text,
        thinking=ending.thinking,
        usage=ending.usage,
        error=ending.error,
        now=now,
    )
    if not ended:
        return None
    succeeded = ending.status in (LegStatus.DONE, LegStatus.EMPTY)
    note = "" if succeeded else INTERRUPTED_NOTE
    changes = percepts.make_live(db, leg.id, note=note, now=now)
    changes += _admitted(db, changes, ending.replaces, now)
    new_bricks, entries = settle(db, leg, now=now)
    if succeeded:
        changes += percept_uses.record(db, ending.used, turn_id=leg.turn_id, actor=leg.role, now=now)
        new_bricks += _brief_delivered(db.conn, leg)
    if ending.session_cost_usd is not None:
        remote_legs.spent(db, leg, ending.session_cost_usd)
    recorded = [change.percept for change in changes if change.what == "live"]
    if ending.brief:
        before = bricks.newest(db.conn, leg.session_id, BrickKind.BRIEF)
        brief = brick_rules.brief(before, ending.brief, turn_id=leg.turn_id, now_ms=now, author=leg.role)
        new_bricks += [brief] if brief else []
    new_bricks += rebuild(db.conn, leg, budget_chars=budget_chars, now=now)
    save(db, leg.session_id, new_bricks)
    if ending.status is LegStatus.DONE:
        _mark(db, leg, ending, recorded)
    session = sessions.set_state(db, leg.session_id, sticky=ending.sticky, waiting=ending.waiting)
    exchanges.leg_ended(db, leg, ending.status, ending.text, hands_over=bool(ending.brief), now=now)
    if ending.looped:
        exchanges.loop_tripped(db, leg, now=now)
    return Committed(session=session, percepts=tuple(changes), bricks=tuple(new_bricks), entries=tuple(entries))


def _admitted(
    db: Database, changes: Iterable[percepts.Change], replaces: dict[str, tuple[str, ...]], now: int
) -> list[percepts.Change]:
    """What the facts that became live do to the others, one after another: a later one may meet an earlier one."""
    new = [change.percept for change in changes if change.what == "live"]
    return [done for fact in new for done in admission.weigh(db, fact, replaces=replaces.get(fact.id, ()), now=now)]


def settle(db: Database, leg: Leg, *, now: int) -> tuple[list[Brick], list[PerceptionEntry]]:
    """Apply what the leg said about need and perception. The bricks are not saved yet, the entries are."""
    said = captures.settle(db, leg.id)
    told: list[PerceptionEntry] = []
    for capture in said:
        if layer := _LAYERS.get(capture.kind):
            told += perception_writing.write(
                db,
                leg.session_id,
                _entries(capture, leg),
                now=now,
                as_of=leg.turn_id,
                adding=added(layer, capture.body),
            )
    told += perception_harness.after_leg(db, leg, now=now)
    need = next((c.body for c in reversed(said) if c.kind is TagKind.NEED), "")
    return need_bricks(db.conn, leg.session_id, need, turn_id=leg.turn_id, author=leg.role, now=now), told


def need_bricks(
    conn: sqlite3.Connection, session_id: str, text: str, *, turn_id: int, author: str, now: int
) -> list[Brick]:
    """The need that ``text`` sets, and the one before it as replaced; nothing for a blank text."""
    before = bricks.newest(conn, session_id, BrickKind.NEED)
    need = brick_rules.need(before, text, turn_id=turn_id, now_ms=now, author=author)
    if need is None:
        return []
    return [brick_rules.replaced(before), need] if before and before.text != need.text else [need]


def rebuild(conn: sqlite3.Connection, leg: Leg, *, budget_chars: int, now: int) -> list[Brick]:
    """The summary of the leg's agent, when it changed. Reads the newest legs as far as the budget reaches."""
    kind = BrickKind.PRIMARY_SUMMARY if leg.role is Role.PRIMARY else BrickKind.ESCALATION_SUMMARY
    newest = next(threads.digests(conn, leg.session_id, leg.role, chunk=1), None)
    if newest is None:
        return []
    rendering = brick_rules.full(
        threads.digests(conn, leg.session_id, leg.role),
        leg.agent_name,
        budget=budget_chars,
        total=threads.count(conn, leg.session_id, leg.role),
    )
    before = bricks.newest(conn, leg.session_id, kind)
    brick = brick_rules.rebuilt(before, newest, rendering, now_ms=now)
    return [brick] if brick else []


def save(db: Database, session_id: str, versions: Iterable[Brick]) -> None:
    for brick in versions:
        bricks.save(db, session_id, brick)


def _entries(capture: StagedCapture, leg: Leg) -> list[PerceptionEntry]:
    layer = _LAYERS.get(capture.kind)
    if layer is None:
        return []
    return [
        replace(
            entry,
            writer=leg.agent_name,
            turn_id=leg.turn_id,
            updated_ms=capture.created_ms,
            proposed=layer is Layer.INVARIANT,
        )
        for entry in parse(layer, capture.body)
    ]


def _brief_delivered(conn: sqlite3.Connection, leg: Leg) -> list[Brick]:
    brief = brick_rules.brief_for(bricks.newest(conn, leg.session_id, BrickKind.BRIEF), leg.turn_id)
    given = brief is not None and leg.role is Role.ESCALATION
    return [brick_rules.delivered(brief, leg.id)] if brief and given else []


def _mark(db: Database, leg: Leg, ending: Ending, recorded: list[Percept]) -> None:
    """Remember what the agent was given and what it did itself: neither is news to it."""
    remote = remotes.open_one(db, session_id=leg.session_id, agent_name=leg.agent_name, remote_id=leg.remote_session)
    need = bricks.current(db.conn, leg.session_id).get(BrickKind.NEED)
    own = need is not None and need.author == leg.role and need.turn_id == leg.turn_id
    markers = replace(ending.markers, need=need.text) if need is not None and own else ending.markers
    if markers.told is not None:
        layers = perception_reading.for_leg(db.conn, leg.session_id, leg.turn_id)
        now = remote_told.prints(need, layers[Layer.FRAME], layers[Layer.WORKING])
        told = remote_told.own_doings(markers.told, before=ending.prints, now=now, facts=recorded)
        markers = replace(markers, told=told)
    facts = tuple(markers.told.facts) if markers.told else None
    remotes.mark(db, remote, told=facts, markers=msgspec.to_builtins(markers))
