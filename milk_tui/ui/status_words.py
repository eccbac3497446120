"""``/status``: how everything is, in a few lines. Pure."""

from __future__ import annotations

from milk_tui.ui import format as f
from milk_tui.ui.state import ESCALATION, PRIMARY, SessionState


def status_lines(state: SessionState) -> list[str]:
    """Session, agents, context, what was used, host and helper; what is not known is said to be so."""
    session = state.session
    lines = [
        f"session {session.id[:8]} · {state.title or 'untitled'} · {f.directory(state.directory)}"
        if session is not None
        else "no session is open"
    ]
    for role in (PRIMARY, ESCALATION):
        view, pinned = state.agent(role), state.pin_note(role)
        about = [view.model, view.state if view.state != "unknown" else "", pinned, view.text]
        said = " · ".join(word for word in about if word)
        lines.append(f"{f.ROLE_MARKS[role]} {role}: {view.name or 'nobody'}" + (f" · {said}" if said else ""))
    lines.append(f"context {context_words(state)} · {used_words(state)}")
    helper = state.helper or (state.note if state.note.startswith(f.HELPER_MARK) else "")
    host = f"model host {state.host}" + (f" ({state.host_detail})" if state.host_detail else "")
    lines.append(f"{host} · helper: {helper.removeprefix(f.HELPER_MARK).strip() or 'quiet'}")
    return lines


def context_words(state: SessionState) -> str:
    """The size of the newest request, and who says so."""
    if state.context is None:
        return "not known yet"
    window = state.windows.get(state.context.role)
    part = f" of {f.count(window)} ({f.percent(state.context.tokens / window)})" if window else ""
    return f"{f.count(state.context.tokens)} tok{part}, {'estimated' if state.context.estimated else 'as reported'}"


def used_words(state: SessionState) -> str:
    """Tokens, cached share and cost of the session as far as they were reported."""
    if state.usage is None:
        return "nothing was reported as used yet"
    usage, least = state.usage, "at least " if state.usage_partial else ""
    tokens = (usage.input_tokens or 0) + (usage.output_tokens or 0)
    share = state.cached_share
    cached = "cached share not reported" if share is None else f"{f.percent(share)} of what was sent was cached"
    cost = "cost not reported" if usage.cost_usd is None else f"{least}{f.money(usage.cost_usd)}"
    return f"{least}{f.count(tokens)} tok in all · {cached} · {cost}"
