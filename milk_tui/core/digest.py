"""What one agent did in one turn, made small and clean: the material of the summary bricks (``semantics.md``
§3).
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from milk_tui.core.cuts import RESULT_CHARS, cut_inside, cut_result, escape, plain, without_reasoning
from milk_tui.core.records import Leg, LegStatus, Role, ToolCall, ToolStatus, Turn
from milk_tui.core.secret_scan import masked

TEXT_CHARS = 48_000
"""A longer prompt or answer is cut inside before anything else is done with it, so that a digest costs
little.
"""
_RAW_RESULT_CHARS = 8 * RESULT_CHARS

_ENDED: dict[LegStatus, str] = {
    LegStatus.CANCELLED: "stopped by the person",
    LegStatus.INTERRUPTED: "interrupted",
    LegStatus.FAILED: "failed",
    LegStatus.EMPTY: "no answer",
}


class CallDigest(Struct, frozen=True, kw_only=True):
    """A tool call: arguments as the model wrote them, the result already shortened (``cut`` says so)."""

    name: str
    arguments: str
    result: str = ""
    ok: bool = True
    cut: bool = False


class TurnDigest(Struct, frozen=True, kw_only=True):
    """One leg as a summary shows it. Text fields are clean and can't spell a label of ours; ``leg_id`` is
    the order.
    """

    turn_id: int
    leg_id: int
    role: Role
    prompt: str
    answer: str = ""
    calls: tuple[CallDigest, ...] = ()
    note: str = ""
    """How the leg ended when it did not end well."""


def digest(turn: Turn, leg: Leg, calls: Iterable[ToolCall] = ()) -> TurnDigest:
    """The digest of a leg from its records; ``calls`` are the leg's, in their order."""
    return TurnDigest(
        turn_id=turn.id,
        leg_id=leg.id,
        role=leg.role,
        prompt=_told(cut_inside(turn.prompt, TEXT_CHARS)),
        answer=_told(without_reasoning(cut_inside(leg.text, TEXT_CHARS))),
        calls=tuple(call_digest(c) for c in calls),
        note=_ENDED.get(leg.status, ""),
    )


def call_digest(call: ToolCall) -> CallDigest:
    """A tool call with its result cut to ``RESULT_CHARS``; a result that long exactly is kept whole."""
    raw = call.result[:_RAW_RESULT_CHARS]
    result = masked(plain(raw))
    unseen = len(call.result) - len(raw)
    cut = len(result) > RESULT_CHARS or unseen > 0
    return CallDigest(
        name=" ".join(plain(call.name).split()) or "tool",
        arguments=_told(call.arguments[:_RAW_RESULT_CHARS]),
        result=escape(cut_result(result, unseen=unseen)),
        ok=call.status in (ToolStatus.OK, ToolStatus.RUNNING),
        cut=cut,
    )


def _told(text: str) -> str:
    """The text as the other agent may be told it: a summary goes beyond the conversation, so no secret is in it."""
    return escape(masked(plain(text)))


def is_empty(digest: TurnDigest) -> bool:
    """True for a leg without a tool call and with less than 200 characters of text: as an escalation it does
    not replace ``escalation_summary`` (§3).
    """
    return not digest.calls and len(digest.answer) < 200
