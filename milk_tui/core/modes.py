"""How much an agent is given: first, returning, resume or continuation (``semantics.md`` §4, table)."""

from __future__ import annotations

from msgspec import Struct

from milk_tui.core.records import ContextMode, Role

FRESH_AFTER_TURNS = 8


class ModeInputs(Struct, frozen=True, kw_only=True):
    """What decides the mode. For a stateless agent the session stands in for the remote session."""

    started: bool = False
    """The agent has a remote session; a stateless one: it has answered in this session."""
    waiting: bool = False
    """Its last answer ended in a question, and it waits for the reply."""
    other_worked: bool = False
    """The other agent answered since this one's last answered leg."""
    need_changed: bool = False
    """The need is another one than at this agent's last leg."""
    primary_turns: int = 0
    """Answered primary turns since this agent's last answered leg."""
    forced_fresh: bool = False
    """The person asked for a fresh start (``/escalate fresh``)."""
    heir: bool = False
    """It has not worked in this session, but another one did in its role before it."""
    gone: bool = False
    """The remote says that its session no longer exists."""


class ModeChoice(Struct, frozen=True, kw_only=True):
    """The mode with its reason. ``fresh``: the agent worked before and starts anew, so it is given its own
    prior summary, and what it had as a thread or remote session is left behind.
    """

    mode: ContextMode
    why: str
    fresh: bool = False


def mode(role: Role, inputs: ModeInputs, fresh_after_turns: int = FRESH_AFTER_TURNS) -> ModeChoice:
    """The mode of the next leg of ``role``.

    An escalation that would return starts afresh when the need changed or ``fresh_after_turns`` primary
    turns passed. An agent that waits for a reply never does: it would have forgotten its question.
    """
    if not inputs.started and inputs.heir:
        return ModeChoice(mode=ContextMode.FIRST, why="takes over its role in this session", fresh=True)
    if not inputs.started:
        return ModeChoice(mode=ContextMode.FIRST, why="has not worked in this session yet")
    if inputs.gone:
        return ModeChoice(mode=ContextMode.FIRST, why="its remote session is gone: rebuilt", fresh=True)
    if inputs.forced_fresh:
        return ModeChoice(mode=ContextMode.FIRST, why="fresh start asked for", fresh=True)
    if inputs.waiting:
        return ModeChoice(mode=ContextMode.RESUME, why="it asked a question and waits for the answer")
    if not inputs.other_worked:
        return ModeChoice(mode=ContextMode.CONTINUATION, why="no other leg since its last one")
    if role is Role.ESCALATION and inputs.need_changed:
        return ModeChoice(mode=ContextMode.FIRST, why="fresh start: the need changed", fresh=True)
    if role is Role.ESCALATION and inputs.primary_turns >= fresh_after_turns:
        why = f"fresh start: {inputs.primary_turns} primary turns since its last one"
        return ModeChoice(mode=ContextMode.FIRST, why=why, fresh=True)
    return ModeChoice(mode=ContextMode.RETURNING, why="the other agent worked since its last leg")
