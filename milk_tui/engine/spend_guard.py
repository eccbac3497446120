"""The spend guard: asks the person before an escalation goes beyond what they want to spend (``semantics.md`` §8)."""

from __future__ import annotations

from collections.abc import Callable, Set
from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from milk_tui.core import spending as rules
from milk_tui.core.permissions import PermissionRequest
from milk_tui.core.records import Role, RouteDecision
from milk_tui.core.routing import RouteState
from milk_tui.core.spending import Answer, Limits
from milk_tui.store import spending
from milk_tui.store.clock import now_ms

if TYPE_CHECKING:
    from milk_tui.config import Config
    from milk_tui.engine.permissions import PermissionDesk
    from milk_tui.store import Store

_THE_PERSONS = ("explicit", "pin")
"""Escalations that the person made: said, not asked about."""
_GOING_ON = ("sticky", "waiting")
"""No new escalation: only the money counts."""


def limits_of(config: Config) -> Limits:
    """What the person wants to spend, as the config says it."""
    routing = config.routing
    return Limits(max_usd=routing.max_usd_per_session, max_escalations_per_hour=routing.max_escalations_per_hour)


class Checked:
    """What the guard says: the decision to carry out, ``None`` for none, and one line for the person."""

    __slots__ = ("decision", "notice")

    def __init__(self, decision: RouteDecision | None, notice: str = "") -> None:
        self.decision = decision
        self.notice = notice


class SpendGuard:
    """One session's guard; it remembers that the person said "don't ask again"."""

    def __init__(
        self, store: Store, limits: Limits, permissions: PermissionDesk, free_models: Set[str] = frozenset()
    ) -> None:
        """``free_models``: those that run on this machine; it may grow."""
        self._store = store
        self.limits = limits
        self._permissions = permissions
        self._granted = False
        self._free_models = free_models

    async def check(
        self,
        state: RouteState,
        decision: RouteDecision,
        *,
        session_id: str,
        turn_id: int,
        asking: Callable[[], None] = lambda: None,
    ) -> Checked:
        """The decision as it may be carried out. Waits for the person where they are asked; ``asking`` is called
        before that."""
        if decision.role is not Role.ESCALATION or self._granted or not self.limits.any:
            return Checked(decision)
        limits = replace(self.limits, max_escalations_per_hour=None) if decision.rule in _GOING_ON else self.limits
        look = partial(spending.spent, session_id=session_id, free_models=frozenset(self._free_models), now=now_ms())
        why = rules.reached(limits, await self._store.read(look))
        if not why:
            return Checked(decision)
        if decision.rule in _THE_PERSONS:
            return Checked(decision, f"{why}; it goes on because you asked for it")
        asking()
        match await self._ask(state, why, turn_id):
            case Answer.ONCE:
                return Checked(decision)
            case Answer.SESSION:
                self._granted = True
                return Checked(decision)
        if state.missing(Role.PRIMARY):
            return Checked(None, f"not sent: {why}")
        kept = RouteDecision(
            role=Role.PRIMARY,
            rule="spending",
            reason=f"not escalated ({decision.rule}): {why}",
            parts=decision.parts,
            one_turn=True,
        )
        return Checked(kept, kept.reason)

    async def _ask(self, state: RouteState, why: str, turn_id: int) -> Answer:
        asked = rules.question(why, state.primary, state.name(Role.ESCALATION))
        verdict = await self._permissions.ask(
            PermissionRequest(
                id=f"spending-{turn_id}-{now_ms()}",
                role=Role.ESCALATION,
                agent_name="milk",
                tool="escalate",
                arguments="{}",
                title="go beyond your limit",
                questions=(asked,),
            )
        )
        return rules.answered(verdict.answers.get(asked.text, ""), asked) if verdict.allowed else Answer.PRIMARY
