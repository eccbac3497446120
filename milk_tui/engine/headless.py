"""One turn without a screen: the same events, gathered into one outcome.

``-p`` reads the conductor's stream as the screen does (``architecture.md``, "One turn"); nothing here prints.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec import Struct, field

from milk_tui.core.records import (
    LegError,
    LegStatus,
    Percept,
    Role,
    RouteDecision,
    Session,
    TurnStatus,
    Usage,
)
from milk_tui.engine.events import (
    AnyEvent,
    LegFinished,
    LegStarted,
    Notice,
    PerceptChanged,
    PerceptRefused,
    SessionChanged,
    TurnDropped,
    TurnFinished,
    TurnStarted,
)

if TYPE_CHECKING:
    from milk_tui.engine.conductor import Conductor

STOP_WAIT_S = 10.0
"""How long a stopped turn may take to say that it has ended."""


class LegReport(Struct, frozen=True, kw_only=True):
    """One agent's part of the turn."""

    id: int
    role: Role
    agent: str
    model: str
    status: LegStatus
    text: str
    usage: Usage
    error: LegError | None
    escalated: bool
    reason: str


class Outcome(Struct, frozen=True, kw_only=True):
    """A finished turn: what ``--output-format json`` prints."""

    session: Session
    turn: int
    status: TurnStatus
    text: str
    """The answer: the text of the last leg that has one."""
    route: RouteDecision | None
    legs: tuple[LegReport, ...]
    usage: Usage
    """Sum over the legs; unknown is not 0."""
    facts: tuple[Percept, ...]
    """What was learned, as it stands at the end."""
    refused: tuple[PerceptRefused, ...]
    notices: tuple[str, ...]

    @property
    def error(self) -> LegError | None:
        """Why the turn failed: the last leg's error."""
        return next((leg.error for leg in reversed(self.legs) if leg.error), None)


class Gathered(Struct, kw_only=True):
    """What the stream has said so far; ``turn`` is known when the prompt is stored."""

    session: Session
    turn: int | None = None
    ended: dict[int, TurnStatus] = field(default_factory=dict)
    routes: dict[int, RouteDecision] = field(default_factory=dict)
    started: dict[int, LegStarted] = field(default_factory=dict)
    finished: dict[int, LegFinished] = field(default_factory=dict)
    facts: dict[str, Percept] = field(default_factory=dict)
    refused: list[PerceptRefused] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)

    def add(self, event: AnyEvent) -> None:
        match event:
            case TurnStarted():
                self.routes[event.turn_id] = event.route
            case LegStarted():
                self.started[event.leg_id] = event
            case LegFinished():
                self.finished[event.leg_id] = event
            case TurnFinished():
                self.ended[event.turn_id] = event.status
            case TurnDropped():
                self.ended[event.turn_id] = TurnStatus.CANCELLED
            case PerceptChanged():
                self._fact(event)
            case PerceptRefused():
                self.refused.append(event)
            case SessionChanged():
                self.session = event.session
            case Notice():
                self.notices.append(event.text)
            case _:
                pass

    def _fact(self, event: PerceptChanged) -> None:
        if event.what == "removed":
            self.facts.pop(event.percept.id, None)
        elif event.what in ("captured", "live", "confirmed") or event.percept.id in self.facts:
            self.facts[event.percept.id] = event.percept

    @property
    def done(self) -> bool:
        return self.turn is not None and self.turn in self.ended

    def leg_of_turn(self, leg_id: int) -> bool:
        """True for a leg of our turn; a session that is continued may finish older prompts first."""
        leg = self.started.get(leg_id)
        return leg is not None and (self.turn is None or leg.turn_id == self.turn)

    def outcome(self) -> Outcome:
        assert self.turn is not None
        legs = tuple(
            LegReport(
                id=leg_id,
                role=began.role,
                agent=began.agent_name,
                model=began.model,
                status=self.finished[leg_id].status if leg_id in self.finished else LegStatus.INTERRUPTED,
                text=self.finished[leg_id].text if leg_id in self.finished else "",
                usage=self.finished[leg_id].usage if leg_id in self.finished else Usage(),
                error=self.finished[leg_id].error if leg_id in self.finished else None,
                escalated=began.escalated,
                reason=began.reason,
            )
            for leg_id, began in sorted(self.started.items())
            if began.turn_id == self.turn
        )
        usage = Usage()
        for leg in legs:
            usage = usage.plus(leg.usage)
        return Outcome(
            session=self.session,
            turn=self.turn,
            status=self.ended.get(self.turn, TurnStatus.INTERRUPTED),
            text=next((leg.text for leg in reversed(legs) if leg.text), ""),
            route=self.routes.get(self.turn),
            legs=legs,
            usage=usage,
            facts=tuple(self.facts.values()),
            refused=tuple(self.refused),
            notices=tuple(self.notices),
        )


async def run_turn(
    conductor: Conductor,
    prompt: str,
    *,
    escalate: bool = False,
    emit: Callable[[AnyEvent, Gathered], None],
    stop: asyncio.Event,
) -> Outcome:
    """Submit the prompt and wait until its turn has ended. ``emit`` sees every event of the session in
    order, with what was gathered so far. Setting ``stop`` stops the turn; its partial text is kept.

    An error of ``emit`` (a reader that went away) stops the turn and is raised.
    """
    gathered = Gathered(session=conductor.session)
    changed = asyncio.Event()
    problems: list[Exception] = []

    def hear(event: AnyEvent) -> None:
        gathered.add(event)
        try:
            if not problems:
                emit(event, gathered)
        except Exception as problem:
            problems.append(problem)
            stop.set()
        changed.set()

    leave = conductor.listen(hear)
    try:
        await conductor.perception.greet()
        gathered.turn = await conductor.submit(prompt, escalate=escalate)
        await _until(gathered, changed, stop)
        if not gathered.done:
            if await conductor.drop_queued(gathered.turn) is None:
                await conductor.stop()
            await _until(gathered, changed, None)
    finally:
        leave()
    if problems:
        raise problems[0]
    return gathered.outcome()


async def _until(gathered: Gathered, changed: asyncio.Event, stop: asyncio.Event | None) -> None:
    """Wait for the end of the turn, or for ``stop``; without ``stop`` for at most ``STOP_WAIT_S``."""
    stopping = asyncio.create_task(stop.wait()) if stop else asyncio.create_task(asyncio.sleep(STOP_WAIT_S))
    try:
        while not gathered.done and not stopping.done():
            changed.clear()
            hearing = asyncio.create_task(changed.wait())
            await asyncio.wait({hearing, stopping}, return_when=asyncio.FIRST_COMPLETED)
            hearing.cancel()
    finally:
        stopping.cancel()
