"""The stable segments: static part, invariants, frame (``semantics.md`` §4)."""

from __future__ import annotations

from msgspec.structs import replace

from milk_tui.core import blocks
from milk_tui.core.cuts import cut_end
from milk_tui.core.drafts import Draft, counted, left_out, stable, within
from milk_tui.core.leg_state import SMALL_STATIC_CHARS, ContextState, Part, Size
from milk_tui.core.modes import ModeChoice
from milk_tui.core.records import Layer
from milk_tui.core.shrink import entries_shrinker, frame_shrinker

BEHIND = "behind the thread: small model"


def static(state: ContextState, choice: ModeChoice) -> list[Draft]:
    """Identity, instructions, project file, pinned facts: fixed for the session, within what later layers
    leave free.

    Only the project file gives way, then the instructions' end; both by what is static alone.
    """
    if state.size is Size.MINIMAL:
        return _small_static(state)
    budgets = state.budgets
    have = state.remote_has(choice)
    pinned = pinned_at_start(state)
    drafts = [
        Draft(
            name=Part.IDENTITY,
            text=blocks.identity(state.agent, state.other, state.directory),
            why="who the agent is",
        ),
        Draft(
            name=Part.INSTRUCTIONS,
            text=state.instructions,
            why="how memory, need and escalation work" if state.instructions else "it is given none",
            shrink=lambda limit: cut_end(state.instructions, limit),
        ),
        _project(state),
        Draft(
            name=Part.PINNED,
            text=blocks.pinned(pinned.lines),
            why=counted(
                "pinned when the session began" if pinned.lines else "nothing pinned when the session began",
                len(pinned.lines),
                pinned.left_out,
            ),
        ),
    ]
    limit = budgets.cap - budgets.reserve - 2 * budgets.floor
    for index in (2, 1):
        excess = sum(len(d.text) for d in drafts) - limit
        if excess > 0:
            room = len(drafts[index].text) - excess
            drafts[index] = within(drafts[index], room, "the other static texts need the room")
    return [left_out(draft, have) if have else stable(draft) for draft in drafts]


def _small_static(state: ContextState) -> list[Draft]:
    who = blocks.short_identity(state.agent)
    said = cut_end(state.instructions, SMALL_STATIC_CHARS - len(who) - 2)
    return [
        Draft(name=Part.IDENTITY, text=who, stable=True, why="who the agent is"),
        Draft(
            name=Part.INSTRUCTIONS,
            text=said,
            stable=True,
            why="in its minimal form" if said else "it is given none",
        ),
        Draft(name=Part.PROJECT, stable=True, why="left out: small model"),
    ]


def _project(state: ContextState) -> Draft:
    if not state.project_text.strip():
        return Draft(name=Part.PROJECT, why="the directory has none, or the agent reads it itself")
    raw = state.project_text.encode("utf-8", "replace")
    text = blocks.safe(raw[: state.budgets.project_bytes].decode("utf-8", "ignore"))
    over = len(raw) > state.budgets.project_bytes
    whole = blocks.project(state.project_name, text)

    def shrink(limit: int) -> str:
        return blocks.project(state.project_name, cut_end(text, limit - (len(whole) - len(text))))

    return Draft(
        name=Part.PROJECT,
        text=whole,
        why=f"{blocks.name(state.project_name)}, as of the session's start",
        shrink=shrink,
        shrunk_from=len(state.project_text) if over else None,
    )


def pinned_at_start(state: ContextState) -> blocks.Lines:
    return blocks.pack(
        state.pinned_at_start, state.role, max_bytes=state.budgets.pinned, max_items=state.budgets.pinned
    )


def invariants(state: ContextState, choice: ModeChoice, room: int) -> Draft:
    """What holds for the whole project, as of the session's start (later edits travel in ``changes``)."""
    source = state.invariants if state.size is Size.MINIMAL else state.invariants_at_start
    accepted = [blocks.tidy(e) for e in source if not e.proposed and e.value]
    if not accepted:
        return Draft(name=Part.INVARIANTS, stable=True, why="none was accepted when the session began")
    if missing := state.remote_has(choice):
        return Draft(name=Part.INVARIANTS, why=missing)
    draft = Draft(
        name=Part.INVARIANTS,
        text=blocks.entries(Layer.INVARIANT, accepted),
        why="true for the whole project",
        shrink=entries_shrinker(Layer.INVARIANT, accepted),
    )
    return _placed(within(draft, room, "the context's cap"), state, prefix=True)


def frame(state: ContextState, choice: ModeChoice, room: int) -> Draft:
    """The slice at hand; for an agent whose remote session remembers it is part of what travels with the
    turn.
    """
    shown = [blocks.tidy(e) for e in state.frame if e.value]
    if not shown:
        return Draft(name=Part.FRAME, stable=state.stateless, why="no frame has been written yet")
    if missing := state.not_due(choice, Part.FRAME):
        return Draft(name=Part.FRAME, why=missing)
    draft = Draft(
        name=Part.FRAME,
        text=blocks.entries(Layer.FRAME, shown),
        why="the slice at hand",
        shrink=frame_shrinker(shown),
    )
    return _placed(within(draft, room, "the context's cap"), state, prefix=state.stateless)


def _placed(draft: Draft, state: ContextState, *, prefix: bool) -> Draft:
    """The draft as part of the stable prefix, or of the volatile part: a small model's prefix stays short."""
    if state.size is Size.MINIMAL:
        return replace(draft, why=f"{draft.why}; {BEHIND}")
    return stable(draft) if prefix else draft
