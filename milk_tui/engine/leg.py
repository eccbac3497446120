"""One leg: an agent works on a turn, from the plan to the transaction that ends it (``architecture.md``)."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from milk_tui import own_keys
from milk_tui.agents import events as said
from milk_tui.agents.base import LegRequest
from milk_tui.agents.images import NOT_SEEN
from milk_tui.core import context, usage_of_facts
from milk_tui.core.context import ContextState
from milk_tui.core.errors import MilkError
from milk_tui.core.records import (
    ContextMode,
    ContextPlan,
    ErrorKind,
    Leg,
    LegError,
    LegStatus,
    Receipt,
    Role,
    Session,
)
from milk_tui.core.routing import after_answer
from milk_tui.engine import events, exchanges, remote_legs
from milk_tui.engine.agent_words import harmless
from milk_tui.engine.answer import Answer
from milk_tui.engine.capture import LegCaptures
from milk_tui.engine.circles import Circles
from milk_tui.engine.commit import Committed, Ending, commit
from milk_tui.engine.events import AnyEvent
from milk_tui.engine.gather import Markers, gather
from milk_tui.engine.helper import delivery
from milk_tui.engine.leg_calls import LegCalls
from milk_tui.engine.leg_hands import LegHands
from milk_tui.engine.leg_speech import LegSpeech
from milk_tui.engine.order import Desk, Order, Outcome, view_of
from milk_tui.engine.patience import Patience
from milk_tui.engine.perception_harness import LegDoubts
from milk_tui.engine.recalling import repaired
from milk_tui.engine.receipt import receipt_of
from milk_tui.safe_log import safe
from milk_tui.store import legs, receipts
from milk_tui.store.clock import now_ms
from milk_tui.store.notes import TURN_STARTED, Note

if TYPE_CHECKING:
    from sqlite_utils import Database

_log = logging.getLogger(__name__)

_STATUS = {"cancelled": LegStatus.CANCELLED, "error": LegStatus.FAILED}


@dataclass(slots=True)
class LegRun:
    """One leg while it runs. ``stop`` may be called at any moment."""

    desk: Desk
    session: Session
    order: Order
    plan: ContextPlan = field(init=False)
    state: ContextState = field(init=False)
    _speech: LegSpeech = field(init=False)
    _doubts: LegDoubts = field(init=False)
    _patience: Patience = field(init=False)
    _notes: Sequence[Note] = ()
    """Of the recall helper, for the start of this leg."""
    handed_back: bool = False
    """True when the person handed back meanwhile: this leg keeps nothing of the session for its agent."""
    _begun: bool = False
    _work: asyncio.Task[None] | None = None
    _circles: Circles | None = None
    _stopped: bool = False

    @property
    def leg(self) -> Leg:
        return self._speech.leg

    @property
    def leg_id(self) -> int | None:
        return self.leg.id if self._begun else None

    @property
    def _handed_over(self) -> bool:
        """True when the session comes to the escalation agent with this leg: an event in the conversation."""
        comes = self.plan.mode in (ContextMode.FIRST, ContextMode.RETURNING)
        return self.order.role is Role.ESCALATION and (comes or self.order.decision.rule == "explicit")

    @property
    def _reason(self) -> str:
        """Shown at the leg when it is more than the usual: an escalation, or one that stands in for the other."""
        decision = self.order.decision
        return decision.reason if self._handed_over or decision.rule == "fall-back" else ""

    async def run(self) -> Outcome:
        """Never raises for what an agent does; cancelling it stops the agent and still ends the leg in the store."""
        await self._begin()
        self._begun = True
        if self._stopped:
            return await self._finish()
        self._work = asyncio.create_task(self._listen())
        try:
            await asyncio.shield(self._work)
        except asyncio.CancelledError:
            await self._halt()
            if not self._stopped:
                await self._finish()
                raise
        return await self._finish()

    async def stop(self) -> None:
        """The person stops the leg: partial text is kept and marked."""
        self._stopped = True
        if self._work is not None and self._work.done():
            self._patience.end()
        await self._halt()

    async def _halt(self) -> None:
        if self._work is not None and not self._work.done():
            self._work.cancel()
            await asyncio.gather(self._work, return_exceptions=True)

    async def _begin(self) -> None:
        desk, order, session = self.desk, self.order, self.session
        view = view_of(desk, session, order)
        self.state = await desk.store.read(lambda conn: gather(conn, view))
        if await repaired(desk.store):
            self.state = await desk.store.read(lambda conn: gather(conn, view))
        self._notes = await delivery.claim(desk.store, session, order.role, TURN_STARTED, desk.publish)
        self.state = msgspec.structs.replace(self.state, notes=delivery.text(self._notes))
        self.plan = context.plan(self.state)
        leg, receipt = await desk.store.write(self._claim)
        delivery.told(session.id, self._notes, desk.publish)
        self._speech = self._listener(leg)
        believed = (*self.state.invariants, *self.state.frame, *self.state.working)
        self._doubts = LegDoubts(believed, self._speech.captures.perceived)
        self._patience = Patience(self._warn, attended=desk.permissions is not None and desk.permissions.attended)
        desk.publish(
            events.LegStarted(
                session_id=session.id,
                turn_id=order.turn.id,
                leg_id=leg.id,
                role=order.role,
                agent_name=order.agent.name,
                model=order.agent.model,
                mode=self.plan.mode,
                started_ms=leg.started_ms,
                escalated=self._handed_over,
                reason=self._reason,
                receipt=receipt,
            )
        )

    def _listener(self, leg: Leg) -> LegSpeech:
        desk, session = self.desk, self.session
        agent = session.agent(self.order.role)
        nonce = agent.nonce if agent else ""
        answer = Answer(nonce, [n for n in session.nonces if n != nonce])
        captures = LegCaptures(
            desk.store,
            session,
            leg,
            desk.publish,
            may_escalate=self.order.may_escalate,
            facts_per_turn=desk.config.memory.facts_per_turn,
            position=lambda: answer.chars,
            semantic=desk.semantic,
        )
        calls = LegCalls(desk, session, self.order, leg.id, self._publish)
        return LegSpeech(desk.store, leg, answer, captures, calls, self._publish)

    def _claim(self, db: Database) -> tuple[Leg, Receipt]:
        order, plan = self.order, self.plan
        pending = legs.create(
            db,
            order.turn.id,
            role=order.role,
            agent_name=order.agent.name,
            model=order.agent.model,
            mode=plan.mode,
            owner=self.desk.store.owner_id,
            reason=self._reason,
            escalated=self._handed_over,
            remote_session=self.state.remote_id or None,
        )
        leg = legs.claim(db, pending.id, revision=exchanges.revision_given(self.state, plan))
        if leg is None:
            raise MilkError(f"Leg {pending.id} was taken by another program.", "Send the prompt again.")
        receipt = receipt_of(plan, leg, self.session.nonces)
        receipts.save(db, receipt)
        self._notes = delivery.deliver(db, self._notes, receiver=order.agent.name, carrier=TURN_STARTED)
        return leg, receipt

    async def _listen(self) -> None:
        order, speech = self.order, self._speech
        hands = LegHands(self.desk, self.session, order, lambda: self.leg, speech.captures, speech.calls, self._doubts)
        request = LegRequest(
            role=order.role,
            plan=self.plan,
            prompt=self._prompt(),
            images=self.state.images if order.agent.caps.images is not False else (),
            words=order.turn.prompt,
            tools=await hands.take_up(say=self._say, spent=speech.spent),
            run_tool=hands.run,
            ask_permission=speech.calls.ask,
            session_id=self.session.id,
            directory=self.session.directory,
            remote_id=self.state.remote_id,
            remote_model=self.state.told_record.model,
            session_cost_usd=self.state.told_record.cost_usd,
            static="" if order.agent.caps.stateless else context.system_text(self.state),
            leg_id=self.leg.id,
            remote_leg=self.state.remote_leg,
            boundary=hands.boundary,
            may_escalate=order.may_escalate,
            need=self.state.need.text if self.state.need else "",
        )
        circles = self._circles = Circles(self.desk.config.routing, order.agent.name, self._warn)
        try:
            async with contextlib.aclosing(order.agent.run(request)) as stream:  # type: ignore[type-var]
                async for heard in stream:
                    event = harmless(heard)
                    await speech.hear(event)
                    if circles.hear(event):
                        speech.end = said.LegEnd("error", circles.error)
                        break
        except asyncio.CancelledError:
            speech.end = said.LegEnd("cancelled")
            raise
        except Exception as error:
            _log.exception("leg %s failed", self.leg.id)
            what = error.what if isinstance(error, MilkError) else f"{type(error).__name__} in milk itself"
            hint = error.hint if isinstance(error, MilkError) else "The log has the details."
            speech.end = said.LegEnd("error", LegError(kind=ErrorKind.INTERNAL, message=what, hint=hint))
        finally:
            circles.close()

    def _prompt(self) -> str:
        """The prompt with what came with it; an agent that takes no images is told, and so is the person."""
        agent, prompt = self.order.agent, self.state.prompt
        if not self.state.images or agent.caps.images is not False:
            return prompt
        self._warn(f"{agent.name} takes no images: what is on them was not sent")
        return prompt if agent.caps.own_tools else f"{prompt}\n\n{NOT_SEEN}"

    def _say(self, text: str) -> None:
        self._publish(events.LegNotice, text=text)

    def _warn(self, text: str) -> None:
        self._publish(events.LegNotice, text=text, severity="warning")

    async def _finish(self) -> Outcome:
        """The end of the leg; it is never cancelled half-way."""
        return await asyncio.shield(asyncio.ensure_future(self._commit()))

    async def _commit(self) -> Outcome:
        speech = self._speech
        await speech.close(self._patience)
        now = now_ms()
        ending = await self._with_uses(self._ending())
        budget = self.desk.config.context.context_budget_chars
        write = partial(commit, leg=self.leg, ending=ending, budget_chars=budget, now=now)
        done = await self._patience.store(lambda: self.desk.store.write(write))
        if done is not None:
            self._announce(done)
        self._publish(
            events.LegFinished,
            turn_id=self.order.turn.id,
            role=self.order.role,
            status=ending.status,
            text=ending.text,
            usage=ending.usage,
            error=ending.error,
            ended_ms=now,
        )
        return Outcome(
            leg=self.leg,
            status=ending.status,
            escalation=ending.brief or None,
            via=speech.captures.via,
            error=ending.error,
            silent=speech.is_silent,
            circle=self._circles.found if self._circles else None,
        )

    async def _with_uses(self, ending: Ending) -> Ending:
        """The facts that the answer used, looked for beside the event loop."""
        given = context.facts_given(self.state, self.plan)
        if not given or ending.status is not LegStatus.DONE:
            return ending
        used = partial(usage_of_facts.used, given, answer=ending.text, prompt=self.order.turn.prompt)
        return msgspec.structs.replace(ending, used=await asyncio.to_thread(used))

    def _ending(self) -> Ending:
        speech, captures = self._speech, self._speech.captures
        text = own_keys.out(speech.answer.text)
        silent = speech.is_silent and not captures.any
        status = _STATUS.get(speech.end.stopped, LegStatus.EMPTY if silent else LegStatus.DONE)
        escalation = captures.escalation if status in (LegStatus.DONE, LegStatus.EMPTY) else None
        before = self.session
        after = before
        if status is LegStatus.DONE and not self.handed_back:
            after = after_answer(before, self.order.decision, self.order.role, text)
        need = self.state.need.text if self.state.need else ""
        return Ending(
            status=LegStatus.DONE if escalation else status,
            text=text,
            thinking=own_keys.out(speech.answer.thinking),
            usage=speech.usage,
            error=discreet(speech.end.error),
            markers=Markers(
                thread=self.plan.thread_mark,
                need=need,
                pinned=self.state.pinned_at_start,
                invariants=self.state.invariants_at_start,
                told=remote_legs.record_after(
                    self.state,
                    self.plan,
                    facts=context.facts_given(self.state, self.plan),
                    answer=text,
                    compacted=speech.compacted,
                    model=speech.model,
                    cost_usd=speech.cost_usd,
                ),
            ),
            prints=self.state.prints,
            session_cost_usd=speech.cost_usd,
            looped=self._circles is not None and self._circles.found is not None,
            sticky=after.sticky if after.sticky is not before.sticky else msgspec.UNSET,
            waiting=after.waiting if after.waiting is not before.waiting else msgspec.UNSET,
            brief=escalation or "",
            replaces=captures.replaces,
        )

    def _announce(self, done: Committed) -> None:
        for change in done.percepts:
            self._publish_plain(events.PerceptChanged, percept=change.percept, what=change.what)
        for brick in done.bricks:
            self._publish_plain(events.BrickChanged, brick=brick)
        if done.entries:
            self._publish_plain(events.PerceptionChanged, entries=done.entries)

    def _publish(self, kind: Callable[..., AnyEvent], **values: object) -> None:
        self.desk.publish(kind(session_id=self.session.id, leg_id=self.leg.id, **values))

    def _publish_plain(self, kind: Callable[..., AnyEvent], **values: object) -> None:
        self.desk.publish(kind(session_id=self.session.id, **values))


def discreet(error: LegError | None) -> LegError | None:
    """The error without keys: a server may say the one back that it refuses."""
    return error and msgspec.structs.replace(error, message=safe(error.message), hint=safe(error.hint))
