"""What an agent is given for a leg: a pure function from state to a ``ContextPlan`` (``semantics.md`` §4).

The order serves prompt caches: static → invariants → frame → own thread → volatile part right before the
newest prompt. The volatile part is built for every turn and stays as it is through the tool rounds of that
turn. Most of it is not replayed: working set, need and recalled facts are what holds now, and stale copies
of them in the thread would cost tokens and contradict the new ones. What is given once and for all
(``KEPT``: brief, summaries, notes, digests) stays in the thread with its turn. So the thread only grows at
its end, except where old turns leave in a block (see ``thread``), and a request differs from the one before
by the last answer, the newest prompt and little else.

A stateless agent thus gets the other one's *full* summary when it starts, and what the other one did since
(*delta*) when it returns; its thread has the rest. When turns that held such a summary leave the thread, the
next leg gets the full one again. An agent whose remote session remembers gets the same, and no static text
twice. A caller that does not replay deliveries says so (``ContextState.other_delta``), and the full summary
is then part of every request.

What a layer may take is decided by the layers before it and by constants, never by those after it: a later
layer can't change a byte of an earlier one. Everything that is neither thread nor prompt, labels included,
has at most ``Budgets.total_chars`` characters.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from milk_tui.core import stable_segments, volatile_segments
from milk_tui.core.blocks import StaleFact
from milk_tui.core.cuts import block
from milk_tui.core.drafts import Draft, fit
from milk_tui.core.leg_state import Budgets, ContextState, Part, Size, summary_part
from milk_tui.core.modes import ModeChoice, ModeInputs, mode
from milk_tui.core.records import BrickKind, ContextMode, ContextPlan, Message, Percept, Segment, ThreadMark
from milk_tui.core.thread import Fitted, fit_running, restart
from milk_tui.core.thread import fit as fit_thread

__all__ = [
    "Budgets",
    "ContextState",
    "ModeChoice",
    "ModeInputs",
    "Part",
    "Size",
    "StaleFact",
    "delivered",
    "facts_given",
    "messages",
    "mode",
    "plan",
    "stable_text",
    "static_text",
    "system_text",
    "volatile_text",
]

STATIC_PARTS = (Part.IDENTITY, Part.INSTRUCTIONS, Part.PROJECT, Part.PINNED)
KEPT = (
    Part.BRIEF,
    BrickKind.PRIMARY_SUMMARY,
    BrickKind.ESCALATION_SUMMARY,
    Part.NOTES,
    Part.DIGEST,
)
"""Segments that stay in the thread of a stateless agent with the turn that they were delivered with."""

_LAYERS = (STATIC_PARTS, (Part.INVARIANTS,), (Part.FRAME,))


def plan(state: ContextState) -> ContextPlan:
    """What the agent gets, segment by segment, with the reason for what is left out."""
    choice = mode(state.role, state.mode, state.budgets.fresh_after_turns)
    budgets = state.budgets
    static = stable_segments.static(state, choice)
    room = budgets.cap - budgets.reserve - _chars(static)
    invariants = stable_segments.invariants(state, choice, room - budgets.floor)
    frame = stable_segments.frame(state, choice, room - _chars([invariants]))
    layers = [*static, invariants, frame]
    stable = [d for d in layers if d.stable]
    fitted = _thread(state, choice)
    rebuilt = not choice.fresh and _summary_left(state, fitted.mark)
    volatile = [*(d for d in layers if not d.stable), *volatile_segments.volatile(state, choice, rebuilt=rebuilt)]
    volatile = fit(volatile, _shrink_order(state), _volatile_room(budgets, _chars(stable)))
    return ContextPlan(
        role=state.role,
        mode=choice.mode,
        segments=tuple(_segment(draft) for draft in (*stable, *volatile)),
        thread=fitted.messages,
        thread_note=fitted.note,
        thread_mark=fitted.mark if state.stateless else None,
        thread_limit=budgets.thread_limit if state.stateless else 0,
    )


def _chars(drafts: Iterable[Draft]) -> int:
    return sum(len(draft.text) for draft in drafts)


def _volatile_room(budgets: Budgets, stable_chars: int) -> int:
    room = budgets.cap - stable_chars
    if budgets.volatile_chars is None:
        return room
    return min(room, max(budgets.volatile_chars, budgets.reserve))


def _shrink_order(state: ContextState) -> tuple[str, ...]:
    """The order of §4; what stands behind the rule's list is touched when nothing of that list is left.

    Need, brief, pinned facts and changes are in none of them, nor are decisions.
    """
    by_rule = (summary_part(state.role), summary_part(state.role.other), Part.FACTS, Part.WORKING, Part.FRAME)
    return (*by_rule, Part.INVARIANTS, Part.NOTES, Part.DIGEST)


def _segment(draft: Draft) -> Segment:
    return Segment(
        name=str(draft.name),
        text=draft.text,
        stable=draft.stable,
        included=bool(draft.text),
        why=draft.why,
        shrunk_from=draft.shrunk_from,
    )


def _thread(state: ContextState, choice: ModeChoice) -> Fitted:
    if not state.stateless:
        return Fitted(messages=(), mark=ThreadMark(), note="its remote session keeps the thread")
    if choice.fresh:
        return Fitted(messages=(), mark=restart(state.thread, state.mark), note=f"left behind: {choice.why}")
    return fit_thread(state.thread, state.budgets.thread_limit, state.mark, state.prompt)


def _summary_left(state: ContextState, now: ThreadMark) -> bool:
    """Whether turns that a summary was delivered with have left since the agent's last leg."""
    before = state.mark.after if state.mark else 0
    return any(turn.delivered and before < turn.leg_id <= now.after for turn in state.thread)


def delivered(segments: Iterable[Segment]) -> str:
    """What of a leg's segments stays in the thread: ``ThreadTurn.delivered`` of that leg's turn."""
    return "\n\n".join(s.text for s in segments if s.included and s.name in KEPT)


def static_text(plan: ContextPlan) -> str:
    """Identity, instructions, project file and pinned facts as one text."""
    return _joined(plan, STATIC_PARTS)


def system_text(state: ContextState) -> str:
    """The whole static text as of the start of the remote session, whatever the next leg gives anew: for a
    runtime that takes it with each of its processes.
    """
    begin = ModeChoice(mode=ContextMode.FIRST, why="")
    static = stable_segments.static(state, begin)
    budgets = state.budgets
    room = budgets.cap - budgets.reserve - _chars(static)
    invariants = stable_segments.invariants(state, begin, room - budgets.floor)
    return "\n\n".join(draft.text for draft in (*static, invariants) if draft.text)


def stable_text(plan: ContextPlan) -> str:
    """Everything static of the plan as one text, invariants too."""
    return "\n\n".join(segment.text for segment in plan.segments if segment.included and segment.stable)


def volatile_text(plan: ContextPlan) -> str:
    """What stands before the newest prompt, in its wrapping; empty when there is nothing."""
    texts = [s.text for s in plan.segments if s.included and not s.stable]
    return block("Context from milk", "\n\n".join(texts)) if texts else ""


def _joined(plan: ContextPlan, names: Sequence[str]) -> str:
    return "\n\n".join(s.text for s in plan.segments if s.included and s.stable and s.name in names)


def messages(
    plan: ContextPlan, prompt: str, running: Sequence[Message] = (), images: Sequence[str] = ()
) -> tuple[Message, ...]:
    """The request: up to three system messages (static, invariants, frame), the thread, one user message
    with the volatile part and the prompt, and what the running turn has brought so far.

    ``running`` holds the assistant messages with tool calls and their results since the prompt, as they
    came; the bound is applied to them. ``cache_point`` is set where a layer ends, and at the tail of what
    the next request begins with.
    """
    layers = (_joined(plan, names) for names in _LAYERS)
    system = [Message(role="system", content=text, cache_point=True) for text in layers if text]
    thread, since = fit_running(plan.thread, prompt, running, plan.thread_limit)
    asked = Message(
        role="user", content="\n\n".join(t for t in (volatile_text(plan), prompt) if t), images=tuple(images)
    )
    if since:
        return (*system, *thread, asked, *_tail(since))
    return (*system, *_tail(thread), asked)


def _tail(thread: Sequence[Message]) -> tuple[Message, ...]:
    return (*thread[:-1], replace(thread[-1], cache_point=True)) if thread else ()


def facts_given(state: ContextState, plan: ContextPlan) -> tuple[Percept, ...]:
    """The facts that the plan's segments hold: what the agent was told with this leg."""
    return volatile_segments.given_facts(state, [s.text for s in plan.segments if s.included])
