"""One turn: where it goes, its first leg, and the legs that follow from it (``semantics.md`` §8)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from msgspec import Struct

from milk_tui.core import bricks as brick_rules
from milk_tui.core import loops, routing
from milk_tui.core.loops import Finding
from milk_tui.core.records import (
    BrickKind,
    ErrorKind,
    LegStatus,
    Role,
    RouteDecision,
    ScorePart,
    Session,
    Turn,
    TurnStatus,
)
from milk_tui.core.routing import Explicit, RouteState
from milk_tui.engine import circles, commit, events, way
from milk_tui.engine.exchanges import handed_back
from milk_tui.engine.leg import LegRun
from milk_tui.engine.order import Desk, Order, Outcome
from milk_tui.engine.roster import Roster
from milk_tui.store import bricks, legs, sessions, spending, turns
from milk_tui.store.clock import now_ms

if TYPE_CHECKING:
    from sqlite_utils import Database

_DOWN = frozenset(
    {
        ErrorKind.AUTH,
        ErrorKind.NOT_FOUND,
        ErrorKind.RATE_LIMIT,
        ErrorKind.TIMEOUT,
        ErrorKind.UNREACHABLE,
        ErrorKind.SERVER,
        ErrorKind.HOST_DIED,
        ErrorKind.NO_AGENT,
    }
)
"""Failures that mean that an agent can't work, not that it can't do this."""

_FINAL = {
    LegStatus.DONE: TurnStatus.DONE,
    LegStatus.EMPTY: TurnStatus.DONE,
    LegStatus.CANCELLED: TurnStatus.CANCELLED,
}


class Asked(Struct, frozen=True, kw_only=True):
    """What the person said about this one turn."""

    role: Role | None = None
    reason: str = ""
    fresh: bool = False
    again: bool = False
    """The person asked for the same once more; that is no sign that the answer was bad."""

    @property
    def explicit(self) -> Explicit | None:
        return Explicit(role=self.role, reason=self.reason) if self.role else None


class TurnRun:
    """A turn while it runs."""

    def __init__(
        self,
        desk: Desk,
        roster: Roster,
        session: Session,
        turn: Turn,
        asked: Asked,
        adopt: Callable[[Session], None],
    ) -> None:
        self.turn = turn
        self._desk = desk
        self._roster = roster
        self._session = session
        self._asked = asked
        self._adopt = adopt
        self._leg: LegRun | None = None
        self._stopped = False

    @property
    def leg_id(self) -> int | None:
        return self._leg.leg_id if self._leg else None

    @property
    def role(self) -> Role | None:
        """Whose leg runs now."""
        return self._leg.order.role if self._leg else None

    async def run(self) -> None:
        """Work on the turn to its end. Raises only what the store raises."""
        store = self._desk.store
        explicit = self._asked.explicit
        state, wanted = await way.decide(
            self._desk, self._roster, self._session, self.turn, explicit, again=self._asked.again
        )
        allowed = await self._guarded(state, wanted, self._asked_about)
        decision = allowed or wanted
        if not await store.write(partial(self._start, decision=decision)):
            return
        self._desk.publish(
            events.TurnStarted(
                session_id=self._session.id,
                turn_id=self.turn.id,
                prompt=self.turn.prompt,
                created_ms=self.turn.created_ms,
                route=decision,
            )
        )
        status = TurnStatus.FAILED
        if allowed is not None and not state.nobody:
            status = await self._legs(state, decision)
        if state.nobody:
            self._notice(f"{decision.reason}. {self._roster.advice[Role.PRIMARY]}", "error")
        await store.write(partial(turns.finish, turn_id=self.turn.id, status=status))
        await self._hand_back_if_due()
        self._desk.publish(events.TurnFinished(session_id=self._session.id, turn_id=self.turn.id, status=status))

    def _start(self, db: Database, decision: RouteDecision) -> bool:
        """Take the turn; a reason that the person gave becomes the brief of its escalation."""
        if not turns.start(db, self.turn.id, decision, owner=self._desk.store.owner_id):
            return False
        if self._asked.reason and decision.role is Role.ESCALATION:
            self._save_brief(db, text=self._asked.reason, author="user")
        return True

    def _asked_about(self) -> None:
        """The turn has not begun, and the person is asked first: their prompt is shown meanwhile."""
        self._desk.publish(
            events.TurnQueued(
                session_id=self._session.id,
                turn_id=self.turn.id,
                prompt=self.turn.prompt,
                created_ms=self.turn.created_ms,
                why="waits for your answer",
            )
        )

    async def _guarded(
        self, state: RouteState, decision: RouteDecision, asking: Callable[[], None] = lambda: None
    ) -> RouteDecision | None:
        """The decision within what the person wants to spend; ``None``: nobody works on it."""
        if self._desk.guard is None:
            return decision
        checked = await self._desk.guard.check(
            state, decision, session_id=self._session.id, turn_id=self.turn.id, asking=asking
        )
        if checked.notice:
            self._notice(checked.notice, "warning")
        return checked.decision

    async def _legs(self, state: RouteState, decision: RouteDecision) -> TurnStatus:
        worked: set[Role] = set()
        while True:
            worked.add(decision.role)
            outcome = await self._run_leg(decision)
            if outcome.status is LegStatus.DONE:
                await self._say_if_alike(outcome)
            if outcome.error is not None and outcome.error.kind is ErrorKind.REMOTE_GONE and not self._stopped:
                outcome = await self._begun_anew(decision)
            following = None if self._stopped else self._next(state, outcome, decision, worked)
            if outcome.circle is not None and not self._stopped:
                following = await self._out_of_circle(state, outcome.circle, decision, worked)
            if following is not None and following.role not in worked:
                following = await self._guarded(state, following)
            if following is None or following.role in worked or self._stopped:
                return _FINAL.get(outcome.status, TurnStatus.FAILED)
            decision = following
            await self._desk.store.write(partial(turns.set_route, turn_id=self.turn.id, route=decision))

    async def _out_of_circle(
        self, state: RouteState, found: Finding, decision: RouteDecision, worked: set[Role]
    ) -> RouteDecision | None:
        """The escalation that the person is offered when the primary was stopped for going in circles."""
        desk = self._desk
        if decision.role is not Role.PRIMARY or Role.ESCALATION in worked or desk.permissions is None:
            return None
        if state.missing(Role.ESCALATION):
            return None
        brief = loops.brief(found, state.primary, self.turn.prompt)
        if not await circles.offer(desk.permissions, brief, state.primary, state.name(Role.ESCALATION)):
            return None
        await desk.store.write(partial(self._save_brief, text=brief, author="milk"))
        part = ScorePart("loop", 1.0, found.kind)
        return RouteDecision(role=Role.ESCALATION, rule="loop", reason=brief, parts=(part,))

    async def _say_if_alike(self, outcome: Outcome) -> None:
        """Say once when an agent's answers have become all but the same."""
        if self._desk.config.routing.loops == "off":
            return
        leg = outcome.leg
        texts = await self._desk.store.read(partial(legs.last_texts, session_id=leg.session_id, role=leg.role, most=4))
        if await asyncio.to_thread(lambda: loops.alike(texts) and not loops.alike(texts[:-1])):
            way_out = "; /escalate hands this over" if leg.role is Role.PRIMARY else ""
            self._notice(f"{leg.agent_name} gave nearly the same answer {loops.ANSWER_TIMES} times{way_out}", "warning")

    def _save_brief(self, db: Database, *, text: str, author: str) -> None:
        before = bricks.newest(db.conn, self._session.id, BrickKind.BRIEF)
        brief = brick_rules.brief(before, text, turn_id=self.turn.id, now_ms=now_ms(), author=author)
        commit.save(db, self._session.id, [brief] if brief else [])

    def _next(
        self, state: RouteState, outcome: Outcome, decision: RouteDecision, worked: set[Role]
    ) -> RouteDecision | None:
        if outcome.escalation is not None:
            return routing.self_escalation(
                state,
                decision.role,
                outcome.escalation,
                outcome.via,
                escalated_already=Role.ESCALATION in worked,
            )
        error = outcome.error
        if outcome.status is LegStatus.FAILED and outcome.silent and error and error.kind in _DOWN:
            return routing.fall_back(state, decision.role, error.message)
        return None

    async def _begun_anew(self, decision: RouteDecision) -> Outcome:
        """The runtime no longer has its session: say so, and try once with everything that a new one needs (§4)."""
        name = self._roster.agents[decision.role].name
        self._notice(f"{name} no longer has its own session: it is begun anew and told what it needs", "warning")
        return await self._run_leg(decision, gone=True)

    async def _run_leg(self, decision: RouteDecision, *, gone: bool = False) -> Outcome:
        agent = self._roster.agents[decision.role]
        may_escalate = decision.role is Role.PRIMARY and self._roster.get(Role.ESCALATION) is not None
        order = Order(
            turn=self.turn,
            agent=agent,
            decision=decision,
            fresh=self._asked.fresh and decision.role is Role.ESCALATION,
            gone=gone,
            may_escalate=may_escalate,
            peer=self._roster.get(decision.role.other),
        )
        self._leg = LegRun(self._desk, self._session, order)
        if self._stopped:
            await self._leg.stop()
        try:
            outcome = await self._leg.run()
        finally:
            self._leg = None
        self._session = await self._desk.store.write(lambda db: sessions.get(db.conn, self._session.id))
        self._adopt(self._session)
        return outcome

    async def _hand_back_if_due(self) -> None:
        """Return to the primary where the person configured it: the escalation agent has answered often enough."""
        due, session = self._desk.config.routing.hand_back_after, self._session
        if not due or session.sticky is not Role.ESCALATION or session.waiting or session.pinned_agent:
            return
        answers = await self._desk.store.read(
            lambda conn: spending.escalation_answers_in_a_row(conn, session.id)
        )
        if answers < due:
            return
        after = routing.handed_back(session)

        def write(db: Database) -> Session:
            handed_back(db, session, now=now_ms())
            return sessions.set_state(db, session.id, sticky=after.sticky, waiting=after.waiting)

        self._session = await self._desk.store.write(write)
        self._adopt(self._session)
        number = "an answer" if answers == 1 else f"{answers} answers"
        agent = session.escalation.name if session.escalation else "the escalation agent"
        self._notice(f"back to {session.primary.name} after {number} of {agent}, as configured", "information")

    def _notice(self, text: str, severity: str) -> None:
        self._desk.publish(events.Notice(session_id=self._session.id, text=text, severity=severity))

    def hand_back(self) -> None:
        """What the escalation agent is at it ends, and the session is the primary's."""
        if self._leg is not None and self._leg.order.role is Role.ESCALATION:
            self._leg.handed_back = True

    async def stop(self) -> None:
        """Stop the leg that runs; no leg follows."""
        self._stopped = True
        if self._leg is not None:
            await self._leg.stop()
