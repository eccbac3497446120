"""The header, the status and the queue in words: pure functions from the state to lines."""

from __future__ import annotations

from collections.abc import Iterator

from milk_tui.ui import format as f
from milk_tui.ui.paint import Line, cells
from milk_tui.ui.state import ESCALATION, PRIMARY, AgentView, ContextUse, SessionState

LONGEST_TITLE = 60
SHORTEST_FOLDER = 8
"""Cells for the directory, below which it is left out."""

_NAMES = {PRIMARY: "primary", ESCALATION: "escalation"}


def header(state: SessionState, width: int) -> Line:
    """The first line of the screen, in at most ``width`` cells: what matters less gives way first."""
    for with_title in (True, False):
        for right in _right_sides(state):
            left = _left_side(state, width - cells(right) - 3, with_title=with_title)
            if left is not None:
                gap = width - cells(left) - cells(right) - 1
                return (*left, (" " * gap, ""), *right, (" ", ""))
    return ((" milk", "strong"),)


def _left_side(state: SessionState, room: int, *, with_title: bool) -> Line | None:
    brand: Line = ((" milk", "strong"),)
    if not with_title:
        return brand if cells(brand) <= room else None
    title = state.title or ("no session" if state.problem else "new session" if state.ready else "…")
    separator: Line = ((" · ", "dim"),)
    line: Line = (*brand, *separator, (f.fit(title, LONGEST_TITLE), ""))
    left = room - cells(line) - cells(separator)
    if state.directory and left >= SHORTEST_FOLDER:
        return (*line, *separator, (f.fit_left(f.directory(state.directory), left), "dim"))
    for limit in (LONGEST_TITLE, 32, 20, 12):
        line = (*brand, *separator, (f.fit(title, limit), ""))
        if cells(line) <= room:
            return line
    line = ((f" {f.fit(title, 12)}", ""),)
    return line if cells(line) <= room else None


def _right_sides(state: SessionState) -> Iterator[Line]:
    """Right sides from the fullest to the barest."""
    meters = _meters(state)
    for name_cells, shown in ((30, 4), (18, 4), (18, 3), (18, 2), (14, 1), (14, 0), (9, 0)):
        agents: list[tuple[str, str]] = []
        for role in (PRIMARY, ESCALATION):
            agents += [("  ", "")] if agents else []
            agents += _agent(state, state.agent(role), name_cells)
        yield (*agents, *(piece for meter in meters[:shown] for piece in (("   ", ""), *meter)))
    yield _agent(state, state.agent(state.next_role), 9)
    yield ()


def _agent(state: SessionState, view: AgentView, name_cells: int) -> Line:
    note = state.pin_note(view.role)
    if view.state == "loading":
        note = f"loading {f.percent(view.fraction)}" if view.fraction is not None else "loading"
    elif view.state == "down":
        note = "down"
    elif view.state == "missing" and view.model:
        note = "missing"
    nobody = view.state == "missing" and not view.model
    name = "none" if nobody else f.fit(view.name, name_cells) or "…"
    look = view.role if view.name and view.state != "missing" else "dim"
    if view.state == "down":
        look = "error"
    line: Line = ((f"{f.ROLE_MARKS[view.role]} {name}", look),)
    return (*line, (f" ({note})", "dim")) if note else line


def _meters(state: SessionState) -> list[Line]:
    """Context, tokens and cost; an estimate has a ``~``, a lower bound a ``≥``, what is unknown is
    absent."""
    meters: list[Line] = []
    if state.context is not None:
        meters.append(_context(state.context, state.windows.get(state.context.role)))
    if state.usage is not None:
        bound = "≥ " if state.usage_partial else ""
        tokens = (state.usage.input_tokens or 0) + (state.usage.output_tokens or 0)
        meters.append(((f"{bound}{f.count(tokens)} tok", "dim"),))
        if state.usage.cost_usd is not None:
            meters.append(((bound + f.money(state.usage.cost_usd), "dim"),))
        if state.cached_share is not None:
            meters.append(((f"{f.percent(state.cached_share)} cached", "dim"),))
    return meters


def _context(use: ContextUse, window: int | None) -> Line:
    about = "~" if use.estimated else ""
    if not window:
        return ((f"ctx {about}{f.count(use.tokens)}", "dim"),)
    fraction = use.tokens / window
    look = "error" if fraction > 0.9 else "warning" if fraction > 0.75 else "dim"
    return (("ctx ", "dim"), (f.gauge(fraction), look), (f" {about}{f.percent(fraction)}", "dim"))


def status(state: SessionState, now: float, frame: int) -> Line:
    """What happens right now, for the prompt's frame; empty when nothing does."""
    spin = f.SPINNER[frame % len(f.SPINNER)] if frame >= 0 else "…"
    if state.problem:
        return ((state.problem, "error"),)
    if state.asked:
        from milk_tui.ui import permission_view

        return permission_view.status(tuple(state.asked.values()))
    if state.running is not None:
        return _running(state, now, spin)
    if state.command:
        took = f.elapsed(now - state.command_since)
        return ((f"{spin} ", "strong"), (f"!{f.fit(state.command, 40)}", ""), (f" · {took} · esc stops it", "dim"))
    if (view := state.loading) is not None:
        bar = f"{f.gauge(view.fraction, 10)} {f.percent(view.fraction)} " if view.fraction is not None else ""
        said = view.text or f"loading {view.name}"
        return ((f"{spin} ", view.role), (bar, view.role), ("esc cancels · ", "dim"), (said, ""))
    if not state.ready:
        return ((f"{spin} opening the session", "dim"),)
    if state.host in ("starting", "restarting"):
        return ((f"{spin} model host {state.host}", "dim"),)
    if state.host == "failed":
        return ((f"model host failed: {state.host_detail}", "error"),)
    return _resting(state)


def _running(state: SessionState, now: float, spin: str) -> Line:
    leg = state.running
    assert leg is not None
    mark = f.ROLE_MARKS[leg.role]
    doing = (
        "stopping"
        if leg.stopping
        else leg.notice
        or (f"runs {leg.tool}" if leg.tool else "")
        or ("answers" if leg.chars else "thinks" if leg.thinking_chars else "waits for the first word")
    )
    if leg.retry_at:
        left = leg.retry_at - now
        again = f"tries again in {f.elapsed(left + 0.99)}" if left > 0 else "tries again"
        doing = f"{again} · {doing.partition(': trying again')[0]}"
    parts = [f.elapsed(now - leg.started)]
    written = leg.chars + leg.thinking_chars
    if written:
        parts.append(f"~{f.count(-(-written // 4))} tok")
    bar = f"{f.gauge(leg.fraction, 10)} {f.percent(leg.fraction)} " if leg.fraction is not None else ""
    return (
        (f"{spin} ", leg.role),
        (f"{mark} {leg.agent_name}", leg.role),
        (f" {bar}{doing} · {' · '.join(parts)}", "dim"),
    )


def _resting(state: SessionState) -> Line:
    view = state.agent(state.next_role)
    if not view.name or view.state == "missing":
        return ((view.text or "no agent configured: milk-tui doctor says what to do", "warning"),)
    if view.state == "down":
        return ((f"{f.ROLE_MARKS[view.role]} {view.name} is down", "error"), (f" · {view.text}", "dim"))
    note = state.pin_note(view.role)
    line: Line = (("to ", "dim"), (f"{f.ROLE_MARKS[view.role]} {view.name}", view.role))
    line = (*line, (f" ({note})", "dim")) if note else line
    return (*line, (f" · {state.cold}", "warning")) if state.cold else line


def queue(state: SessionState) -> Line:
    """What waits, for the frame's other corner; empty when nothing does."""
    number = len(state.queue) + len(state.waiting_here)
    if not number:
        return ()
    why = next((item.why for item in state.queue.values() if item.why), "")
    if not why and state.waiting_here:
        why = "until the session is open"
    verb = "waits" if number == 1 else "wait"
    said = f"{f.plural(number, 'prompt')} {verb} {why.removeprefix('waits ')}".rstrip()
    return ((said, "warning"), (" · /queue to edit", "dim"))


def news(state: SessionState, width: int) -> Line:
    """The newest note, for where there is no sidebar that has it; empty when there is none."""
    note = f.fit(" ".join(state.note.split()), max(0, width - 4))
    return ((note, "helper" if note.startswith(f.HELPER_MARK) else "dim"),) if note else ()


def brick_lines(state: SessionState, width: int) -> list[Line]:
    """The brick strip: need, brief, the two summaries with gauges, the newest note."""
    lines: list[Line] = []
    for label, kind in (("need", "current_need"), ("brief", "escalation_brief")):
        brick = state.bricks.get(kind)
        text = " ".join(brick.text.split()) if brick is not None else ""
        look = "" if text else "dim"
        lines.append(((f"{label:<6}", "heading"), (f.fit(text or "–", width - 6), look)))
    side_by_side = width >= 36
    half = width // 2 if side_by_side else width
    meters: list[Line] = []
    for role, kind in ((PRIMARY, "primary_summary"), (ESCALATION, "escalation_summary")):
        brick = state.bricks.get(kind)
        chars = len(brick.text) if brick is not None else 0
        view = state.agent(role)
        bar = f.gauge(chars / max(1, state.brick_budget))
        size = f"{f.count(chars)}/{f.count(state.brick_budget)}".replace(".0k", "k")
        tail = f" {bar} {size}" if half >= 24 else f" {bar} {f.count(chars)}"
        name = f.fit(view.name or _NAMES[role], max(3, half - 3 - len(tail)))
        meters.append(((f"{f.ROLE_MARKS[role]} {name}", role), (tail, "dim")))
    if side_by_side:
        first, second = meters
        lines.append((*first, (" " * max(1, half - cells(first)), ""), *second))
    else:
        lines += meters
    note = " ".join(state.note.split())
    lines.append((("note  ", "heading"), (f.fit(note or "–", width - 6), "" if note else "dim")))
    return lines
