"""States of a session in which everything there is to give is there, and how a plan is read."""

from __future__ import annotations

from milk_tui.core.bricks import Rendering
from milk_tui.core.context import ContextState, ModeInputs, messages
from milk_tui.core.records import BrickKind, ContextPlan, Layer, Role
from tests.core import session_makers as make

NEED, PRIMARY, ESCALATION = BrickKind.NEED, BrickKind.PRIMARY_SUMMARY, BrickKind.ESCALATION_SUMMARY
STARTED = ModeInputs(started=True)
RETURNS = ModeInputs(started=True, other_worked=True)
DELTA = Rendering(text="## Turn 7\nuser: a\nclaude or qwen: new work", turns=1)


def state(role: Role = Role.ESCALATION, **changes) -> ContextState:
    """An escalation (or the primary) in a session where everything there is to give is there."""
    own, other = (make.CLAUDE, make.QWEN) if role is Role.ESCALATION else (make.QWEN, make.CLAUDE)
    fields = {
        "role": role,
        "agent": own,
        "other": other,
        "directory": "/home/me/app",
        "instructions": "# milk's memory\nWrite tags.",
        "project_name": "AGENTS.md",
        "project_text": "Run make test.",
        "pinned_at_start": (make.percept(1, "tabs, never spaces", pinned=True),),
        "pinned": (make.percept(1, "tabs, never spaces", pinned=True),),
        "invariants_at_start": (make.entry(Layer.INVARIANT, "stack", "Python"),),
        "invariants": (make.entry(Layer.INVARIANT, "stack", "Python"),),
        "frame": (make.entry(Layer.FRAME, "slice", "points"), make.entry(Layer.FRAME, "decided", "integers")),
        "working": (make.entry(Layer.WORKING, "file", "points.py"),),
        "need": make.brick(NEED, "award points once"),
        "brief": make.brick(BrickKind.BRIEF, "needs a design"),
        "primary_summary": make.brick(PRIMARY, "## Turn 1\nuser: hi\nqwen: hello"),
        "escalation_summary": make.brick(ESCALATION, "## Turn 2\nuser: hm\nclaude: deep"),
        "other_delta": Rendering(),
        "facts": (make.percept(2, "the queue is in redis"),),
        "thread": (make.thread_turn(2, "hm", "deep"),),
    } | changes
    primary, escalation = fields.pop("primary_summary"), fields.pop("escalation_summary")
    deep = role is Role.ESCALATION
    return ContextState(
        own_summary=escalation if deep else primary, other_summary=primary if deep else escalation, **fields
    )


def overfull(**changes) -> ContextState:
    """More than there is room for."""
    turns = "\n\n".join(f"## Turn {n}\nuser: p\nqwen: " + "w" * 400 for n in range(28))
    fields = {
        "primary_summary": make.brick(PRIMARY, turns),
        "escalation_summary": make.brick(ESCALATION, turns),
        "project_text": "j" * 6_000,
        "facts": tuple(make.percept(n, "f" * 200) for n in range(2, 10)),
        "mode": ModeInputs(started=True, forced_fresh=True),
    }
    return state(**fields | changes)


def given_names(made: ContextPlan) -> list[str]:
    return [s.name for s in made.segments if s.included]


def text(made: ContextPlan, name: str) -> str:
    segment = made.segment(name)
    assert segment is not None, name
    return segment.text


def why(made: ContextPlan, name: str) -> str:
    segment = made.segment(name)
    assert segment is not None, name
    assert not segment.included
    return segment.why


def request(made: ContextPlan, prompt: str = "go") -> str:
    return "\0".join(m.content for m in messages(made, prompt))
