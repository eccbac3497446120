"""From the records of a session to what the transcript shows of them. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from milk_tui.core import routing
from milk_tui.core.attachments import Attachment, Kind
from milk_tui.core.records import (
    BrickKind,
    Leg,
    LegError,
    LegStatus,
    Percept,
    Receipt,
    RouteDecision,
    Segment,
    ToolCall,
    Turn,
    TurnStatus,
    Usage,
)
from milk_tui.engine.events import LegFinished, LegStarted
from milk_tui.store.legs import LegIndex
from milk_tui.store.turns import TurnIndex
from milk_tui.ui import format as f
from milk_tui.ui.transcript import parts as p

RECEIPT_KEY = "F3"

_TURN_NOTES = {
    TurnStatus.PENDING: "waits",
    TurnStatus.FAILED: "not answered",
    TurnStatus.INTERRUPTED: "interrupted",
}
_BRIEF_NAMES = {
    "escalation_brief": "brief",
    "current_need": "need",
    "primary_summary": "primary's summary",
    "escalation_summary": "escalation summary",
}


def turn_key(turn_id: int) -> p.Key:
    return ("turn", turn_id)


def leg_key(leg_id: int) -> p.Key:
    return ("leg", leg_id)


def entries(turns: Sequence[TurnIndex], legs: Sequence[LegIndex]) -> list[p.Entry]:
    """The list of a session: each turn's prompt and then its legs."""
    of_turn: dict[int, list[LegIndex]] = {}
    for leg in legs:
        of_turn.setdefault(leg.turn_id, []).append(leg)
    result: list[p.Entry] = []
    for turn in turns:
        result.append(p.Entry(turn_key(turn.id), p.EntryKind.PROMPT, chars=turn.prompt_chars, lines=turn.prompt_lines))
        result += [leg_entry(leg) for leg in of_turn.get(turn.id, ())]
    return result


def leg_entry(leg: LegIndex) -> p.Entry:
    extra = 2 * leg.escalated + bool(leg.thinking_chars) + leg.tools + (leg.status is not LegStatus.DONE)
    return p.Entry(
        leg_key(leg.id),
        p.EntryKind.LEG,
        chars=leg.text_chars,
        lines=leg.text_lines,
        extra=extra,
        escalated=leg.escalated,
    )


def prompt_body(turn: Turn, attached: Sequence[Attachment] = ()) -> p.EntryBody:
    """A prompt with what came with it, or a command with its output, and what became of the turn when that was no
    answer."""
    if turn.route is not None and turn.route.rule == "command":
        output = next((each.text for each in attached if each.kind is Kind.COMMAND), "")
        return command_body(turn.prompt, turn.created_ms, output)
    prompt = p.Prompt(turn.prompt, f.clock(turn.created_ms), _TURN_NOTES.get(turn.status, ""))
    return p.EntryBody((prompt, *(attachment_part(each) for each in attached)))


def attachment_part(attached: Attachment) -> p.Fact:
    note = f" · {attached.note}" if attached.note else ""
    verb = "given too" if attached.kind is Kind.COMMAND else "attached"
    return p.Fact(f"{attached.name}{note}", verb)


def command_body(prompt: str, created_ms: int, output: str) -> p.EntryBody:
    """A shell command of the person and what it printed so far, as it was printed."""
    shown: list[p.Part] = [p.Prompt(prompt, f.clock(created_ms), "")]
    if output.strip():
        longest = max((len(run) for run in re.findall(r"`{3,}", output)), default=2)
        fence = "`" * (longest + 1)
        shown.append(p.Markdown(f"{fence}\n{output.rstrip()}\n{fence}"))
    return p.EntryBody(tuple(shown))


def leg_body(
    leg: Leg,
    tools: Sequence[ToolCall],
    captured: Sequence[Percept],
    receipt: Receipt | None,
    route: RouteDecision | None,
    *,
    broken_off: bool = False,
) -> p.EntryBody:
    """A leg that has ended, or runs: banner, header, thinking, answer with its tools, facts, outcome, usage.

    ``broken_off``: it answered, but its turn ended before who was to go on was asked.
    """
    shown: list[p.Part] = []
    if leg.escalated and receipt is not None:
        shown += _handover(leg.agent_name, leg.reason, receipt)
    about_this = route is not None and route.role is leg.role
    way = route_line(route) if about_this and not _has_brief(receipt) else ""
    why = route_why(route) if about_this else ""
    shown.append(p.Header(leg.agent_name, leg.role, f.clock(leg.started_ms), way, why))
    if leg.thinking.strip():
        shown.append(p.Thinking(leg.thinking))
    shown += p.interleave(leg.text, [(call.position, tool_part(call)) for call in tools])
    shown += [fact_part(percept) for percept in captured]
    if (outcome := _BROKEN_OFF if broken_off else outcome_part(leg.status, leg.error)) is not None:
        shown.append(outcome)
    if usage := usage_line(leg.usage, leg.started_ms, leg.ended_ms):
        shown.append(p.Usage(usage))
    return p.EntryBody(tuple(shown))


def leg_head(event: LegStarted, route: str, why: str = "") -> p.EntryBody:
    """What is known of a leg when it begins."""
    shown: list[p.Part] = []
    if event.escalated:
        shown += _handover(event.agent_name, event.reason, event.receipt)
    way = "" if event.escalated and _has_brief(event.receipt) else route
    shown.append(p.Header(event.agent_name, event.role, f.clock(event.started_ms), way, why))
    return p.EntryBody(tuple(shown))


def _handover(agent: str, reason: str, receipt: Receipt) -> tuple[p.Banner, p.ReceiptLine]:
    """Who takes over, why if somebody gave a reason, and what was sent."""
    banner = p.Banner(agent, reason if _has_brief(receipt) else "")
    return banner, p.ReceiptLine(receipt_line(receipt), RECEIPT_KEY)


def _has_brief(receipt: Receipt | None) -> bool:
    """True when the agent was given somebody's reason; without one, the rule that decided says why."""
    if receipt is None:
        return False
    return any(segment.name == BrickKind.BRIEF and segment.included for segment in receipt.segments)


def unread_body(event: LegFinished) -> p.EntryBody:
    """A leg that has ended and can't be read back: what was said about its end."""
    shown: list[p.Part] = [p.Markdown(event.text)] if event.text.strip() else []
    if (outcome := outcome_part(event.status, event.error)) is not None:
        shown.append(outcome)
    return p.EntryBody(tuple(shown))


def tool_part(call: ToolCall) -> p.Tool:
    time = took((call.ended_ms - call.started_ms) / 1000) if call.ended_ms else ""
    return p.Tool(call.id, call.name, call.arguments, call.result, call.status, took=time, allowed_by=call.allowed_by)


def took(seconds: float | None) -> str:
    """How long a call ran, in words; empty when that is unknown."""
    if seconds is None:
        return ""
    return "<1 s" if seconds < 1 else f.elapsed(seconds)


def fact_part(percept: Percept) -> p.Fact:
    return p.Fact(f"{percept.short_id} {percept.content}", id=percept.id)


def route_line(route: RouteDecision | None) -> str:
    """Why the turn came here; nothing when nothing speaks for anything else."""
    if route is None or route.rule == "primary":
        return ""
    if route.rule == "signals":
        return "routed: " + ", ".join(f"{part.name} {routing.signed(part.value)}" for part in route.parts)
    return f"{route.rule}: {route.reason}"


def route_why(route: RouteDecision | None) -> str:
    """The whole decision: rule, reason, and the parts of the score with what was found; empty when nothing spoke."""
    if route is None or not route.parts:
        return ""
    wide = max(len(part.name) for part in route.parts)
    lines = [f"{route.rule} → {route.role}: {route.reason}"]
    lines += [f"{part.name:{wide}} {routing.signed(part.value):>5}  {part.detail}".rstrip() for part in route.parts]
    if len(route.parts) > 1:
        lines.append(f"{'sum':{wide}} {routing.signed(round(sum(part.value for part in route.parts), 2)):>5}")
    return "\n".join(lines)


def receipt_line(receipt: Receipt) -> str:
    """``sent 5.1k chars: brief · need · primary's summary 3.1k · facts 240``: what was not there before."""
    given = [segment for segment in receipt.segments if segment.included and not segment.stable]
    names = " · ".join(_segment_name(segment) for segment in given)
    fixed = sum(segment.chars for segment in receipt.segments if segment.included and segment.stable)
    parts = [names] if names else []
    if fixed:
        parts.append(f"fixed part {f.count(fixed)}")
    if receipt.thread_messages:
        parts.append(f"thread {f.count(receipt.thread_chars)}")
    return f"sent {f.count(receipt.chars + receipt.thread_chars)} chars: " + " · ".join(parts)


def _segment_name(segment: Segment) -> str:
    name = _BRIEF_NAMES.get(segment.name, segment.name.replace("_", " "))
    return f"{name} {f.count(segment.chars)}" if segment.chars >= 200 else name


_BROKEN_OFF = p.Outcome(
    "interrupted: the turn ended before the next agent was asked", p.Severity.WARNING, "/retry asks again"
)
_OUTCOMES = {
    LegStatus.CANCELLED: p.Outcome("stopped; what came until then is kept"),
    LegStatus.INTERRUPTED: p.Outcome(
        "interrupted: the program ended here; what came until then is kept",
        p.Severity.WARNING,
        "/retry asks again",
    ),
    LegStatus.EMPTY: p.Outcome("no answer: the model said nothing", p.Severity.WARNING, "/retry asks again"),
}


def outcome_part(status: LegStatus, error: LegError | None) -> p.Outcome | None:
    """How a leg ended when it did not simply answer."""
    if error is not None:
        after = f" in {f.elapsed(error.retry_after_s)}" if error.retry_after_s else ""
        hint = f"{error.hint} /retry asks again{after}".strip()
        return p.Outcome(error.message, p.Severity.ERROR, hint)
    if status is LegStatus.FAILED:
        return p.Outcome("failed", p.Severity.ERROR, "/retry asks again")
    return _OUTCOMES.get(status)


def usage_line(usage: Usage, started_ms: int, ended_ms: int | None) -> str:
    """``7 s · 1.2k in (0.9k cached) · 340 out · $0.01``; what is unknown is left out."""
    parts: list[str] = []
    if ended_ms is not None:
        parts.append(f.elapsed((ended_ms - started_ms) / 1000))
    if usage.input_tokens is not None:
        cached = f" ({f.count(usage.cached_tokens)} cached)" if usage.cached_tokens else ""
        parts.append(f"{f.count(usage.input_tokens)} in{cached}")
    if usage.output_tokens is not None:
        parts.append(f"{f.count(usage.output_tokens)} out")
    if ended_ms is not None and not usage.known:
        parts.append("tokens not reported")
    if usage.cost_usd is not None:
        parts.append(f.money(usage.cost_usd))
    return " · ".join(parts)
