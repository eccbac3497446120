"""A plan as people may see it: what was sent, nonces masked."""

from __future__ import annotations

from msgspec.structs import replace

from milk_tui.core import tags
from milk_tui.core.records import ContextPlan, Leg, Receipt


def receipt_of(plan: ContextPlan, leg: Leg, nonces: tuple[str, ...]) -> Receipt:
    """What was sent, nonces masked."""
    return Receipt(
        leg_id=leg.id,
        turn_id=leg.turn_id,
        role=plan.role,
        agent_name=leg.agent_name,
        mode=plan.mode,
        segments=masked(plan, nonces).segments,
        sent_ms=leg.started_ms,
        thread_messages=len(plan.thread),
        thread_chars=sum(len(message.content) for message in plan.thread),
        thread_note=plan.thread_note,
    )


def masked(plan: ContextPlan, nonces: tuple[str, ...]) -> ContextPlan:
    """The plan as people may see it."""
    return replace(
        plan,
        segments=tuple(replace(s, text=tags.mask(s.text, nonces)) for s in plan.segments),
        thread=plan.thread,
    )
