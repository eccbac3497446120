"""The volatile segments: what is built for one turn and stands before its prompt (``semantics.md`` §4)."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from milk_tui.core import blocks, perception_harness
from milk_tui.core.bricks import Rendering
from milk_tui.core.cuts import block, cut_end
from milk_tui.core.drafts import Draft, counted, left_out
from milk_tui.core.leg_state import ContextState, Part, Size, summary_part
from milk_tui.core.modes import ModeChoice
from milk_tui.core.perception import BUDGET
from milk_tui.core.records import Brick, ContextMode, Layer, NeedStatus, Percept, Role
from milk_tui.core.shrink import lines_shrinker, summary_shrinker, working_shrinker
from milk_tui.core.stable_segments import BEHIND, pinned_at_start


def volatile(state: ContextState, choice: ModeChoice, *, rebuilt: bool = False) -> list[Draft]:
    """What stands before the newest prompt, in the order in which it is sent.

    ``rebuilt``: what the thread had of the other agent's summary left it, so the full one is due again.
    """
    minimal = state.size is Size.MINIMAL
    given = _pinned_now(state) if minimal else pinned_at_start(state)
    since = blocks.Lines() if minimal else _pinned_since(state, given)
    return [
        *([_small_pinned(given)] if minimal else []),
        _working(state, choice),
        _need(state, choice),
        _brief(state),
        _own_summary(state, choice),
        _other_summary(state, choice, rebuilt=rebuilt),
        _changes(state, since, given),
        _facts(state, _known(state, since, given)),
        _later(Part.NOTES, state.notes, "Notes", "no note waits"),
        _later(Part.DIGEST, state.digest, "News", "no news from other sessions waits"),
        _cue(state),
    ]


def _pinned_now(state: ContextState) -> blocks.Lines:
    most = state.budgets.pinned
    return blocks.pack(state.pinned, state.role, max_bytes=most, max_items=most)


def _pinned_since(state: ContextState, given: blocks.Lines) -> blocks.Lines:
    """What was pinned since the session began, in what the pinned facts of the static part left of the
    budget.
    """
    most = state.budgets.pinned
    start = {p.id for p in state.pinned_at_start}
    return blocks.pack(state.pinned, state.role, max_bytes=most - given.bytes, max_items=most, skip=start)


def _known(state: ContextState, since: blocks.Lines, given: blocks.Lines) -> set[str]:
    """Ids of facts that need no recall: pinned ones that stand elsewhere in the plan, with the same words;
    and what a remote session that remembers was told.
    """
    static = {p.id: p.content for p in state.pinned_at_start}
    ids = {*since.ids, *given.ids} - {p.id for p in state.facts if static.get(p.id, p.content) != p.content}
    return ids if state.stateless else ids | state.told


def _small_pinned(lines: blocks.Lines) -> Draft:
    why = counted("pinned" if lines.lines else "nothing is pinned", len(lines.lines), lines.left_out)
    return Draft(name=Part.PINNED, text=blocks.pinned(lines.lines), why=f"{why}; {BEHIND}")


def _working(state: ContextState, choice: ModeChoice) -> Draft:
    shown = perception_harness.fitted([blocks.tidy(e) for e in state.working if e.value], BUDGET[Layer.WORKING])
    if not shown:
        return Draft(name=Part.WORKING, why="the working set is empty")
    dense = state.dense and state.size is Size.FULL
    draft = Draft(
        name=Part.WORKING,
        text=blocks.entries(Layer.WORKING, shown, dense=dense),
        why="what is being worked on",
        shrink=working_shrinker(shown, dense=dense),
    )
    return left_out(draft, missing) if (missing := state.not_due(choice, Part.WORKING)) else draft


def _need(state: ContextState, choice: ModeChoice) -> Draft:
    brick = state.need
    if brick is None or not brick.text or brick.status is NeedStatus.REPLACED:
        return Draft(name=Part.NEED, why="no need is set")
    if brick.status is NeedStatus.FULFILLED:
        return Draft(name=Part.NEED, why="fulfilled")
    why = f"set by {brick.author} in turn {brick.turn_id}"
    draft = Draft(name=Part.NEED, text=blocks.need(brick, state.need_age), why=why)
    if choice.mode is ContextMode.RETURNING:
        return draft
    return left_out(draft, missing) if (missing := state.not_due(choice, Part.NEED)) else draft


def _brief(state: ContextState) -> Draft:
    brick = state.brief
    if state.role is Role.PRIMARY:
        return Draft(name=Part.BRIEF, why="only an escalation has a brief")
    if brick is None or not brick.text:
        return Draft(name=Part.BRIEF, why="nobody gave a reason for this escalation")
    if brick.delivered_leg is not None:
        return Draft(name=Part.BRIEF, why="delivered already")
    text = blocks.brief(brick, state.budgets.brief_chars)
    return Draft(name=Part.BRIEF, text=text, why=f"the reason, given by {brick.author}")


def _own_summary(state: ContextState, choice: ModeChoice) -> Draft:
    name = summary_part(state.role)
    brick = state.own_summary
    if brick is None or not brick.text:
        return Draft(name=name, why="it has not answered in this session yet")
    again = not state.replays and state.mark is not None and state.mark.fresh
    if not choice.fresh and not again:
        return Draft(name=name, why=f"its own {'thread' if state.stateless else 'remote session'} has it")
    why = "its thread begins with a fresh start" if again else "what it did before this fresh start"
    return _summary(name, state.agent.name, brick, "your own turns, those before the fresh start too", why)


def _other_summary(state: ContextState, choice: ModeChoice, *, rebuilt: bool) -> Draft:
    name = summary_part(state.role.other)
    if state.other is None:
        return Draft(name=name, why="there is no other agent")
    if choice.mode is ContextMode.FIRST or rebuilt or not state.replays:
        brick = state.other_summary
        if brick is None or not brick.text:
            return Draft(name=name, why=f"{blocks.name(state.other.name)} has not answered yet")
        if choice.mode is ContextMode.FIRST:
            why = "all of it: it starts"
        else:
            why = "all of it again: old turns left its thread" if rebuilt else "all of it, with every request"
        return _summary(name, state.other.name, brick, "the whole session", why)
    delta = state.other_delta
    if delta is None or not delta.text:
        has = "thread" if state.stateless else "remote session"
        return Draft(name=name, why=f"nothing new: its own {has} has the rest")
    return _summary(name, state.other.name, delta, "since your last answer", "since its last answered leg")


def _summary(name: str, agent: str, source: Brick | Rendering, which: str, why: str) -> Draft:
    counts = [
        f"{number:,} {what}"
        for number, what in (
            (source.collapsed, "calls collapsed"),
            (source.cut, "texts cut"),
            (source.dropped, "older turns dropped"),
        )
        if number
    ]
    text = blocks.safe(source.text)
    return Draft(
        name=name,
        text=blocks.summary(agent, text, which),
        why=", ".join((why, *counts)),
        shrink=summary_shrinker(agent, text, which),
    )


def _changes(state: ContextState, since: blocks.Lines, given: blocks.Lines) -> Draft:
    """What is no longer as the stable part says; a small model's stable part says nothing that could
    change.
    """
    unpinned: list[str] = []
    invariants: list[str] = []
    if state.size is Size.FULL:
        now = {p.id for p in state.pinned}
        unpinned = [p.short_id for p in state.pinned_at_start if p.id in given.ids and p.id not in now]
        accepted = [e for e in state.invariants if not e.proposed]
        before = [e for e in state.invariants_at_start if not e.proposed]
        invariants = [*state.emptied, *blocks.invariant_changes(before, accepted)]
    text = blocks.changes(
        pinned_since=since.lines,
        unpinned=unpinned,
        invariants=invariants,
        stale=state.stale,
        told=state.told_lines,
        limit=state.budgets.changes_chars,
    )
    since_when = "its last leg" if state.told_lines else "the session began"
    why = "what is no longer as it was told" if text else f"nothing changed since {since_when}"
    return Draft(name=Part.CHANGES, text=text, why=counted(why, 0, since.left_out))


def _facts(state: ContextState, known: Collection[str]) -> Draft:
    if not state.facts:
        return Draft(name=Part.FACTS, why="nothing in memory fits this prompt")
    packed = blocks.pack(
        state.facts,
        state.role,
        max_bytes=state.budgets.facts_bytes,
        max_items=state.budgets.facts_items,
        skip=known,
    )
    if not packed.lines:
        return Draft(name=Part.FACTS, why=counted("none is new to it and for it", 0, packed.left_out))
    return Draft(
        name=Part.FACTS,
        text=blocks.facts(packed.lines),
        why=counted("recalled for this prompt", len(packed.lines), packed.left_out),
        shrink=lines_shrinker(blocks.facts, packed.lines),
    )


def given_facts(state: ContextState, texts: Sequence[str]) -> tuple[Percept, ...]:
    """The facts of ``state`` that stand in one of the sent ``texts``."""
    lines = {line.removeprefix("pinned since: ") for text in texts for line in text.split("\n")}
    known = {p.id: p for p in (*state.facts, *state.pinned, *state.pinned_at_start)}
    return tuple(p for p in known.values() if blocks.fact_line(p) in lines)


def _cue(state: ContextState) -> Draft:
    if not state.cue:
        return Draft(name=Part.CUE, why="nothing to be read by tool")
    return Draft(name=Part.CUE, text=block("News", state.cue), why="read by tool; shown until it was")


def _later(name: Part, text: str, label: str, empty: str) -> Draft:
    if not text:
        return Draft(name=name, why=empty)
    whole = block(label, text)
    return Draft(
        name=name,
        text=whole,
        why="delivered once",
        shrink=lambda limit: block(label, cut_end(text, limit - (len(whole) - len(text)))),
    )
