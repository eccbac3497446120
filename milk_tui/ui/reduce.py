"""How the engine's events change what the screen knows. Pure: ``now`` is passed in, no widget is
touched."""

from __future__ import annotations

from milk_tui.core.records import LegStatus, Receipt, Usage
from milk_tui.engine import events as e
from milk_tui.ui.format import clock
from milk_tui.ui.state import ContextUse, QueuedPrompt, RunningLeg, SessionState, Topic

_NOTHING: frozenset[Topic] = frozenset()
_STATUS = frozenset({Topic.STATUS})
_HEADER = frozenset({Topic.HEADER})
_ASKED = frozenset({Topic.ASKED, Topic.STATUS, Topic.KEYS})
_LEG = frozenset({Topic.STATUS, Topic.HEADER, Topic.KEYS})


def apply(state: SessionState, event: e.AnyEvent, now: float) -> frozenset[Topic]:
    """Change ``state`` by one event; returns what is to be drawn again. ``now``: monotonic seconds."""
    match event:
        case e.LegText() | e.LegThinking() | e.LegTextReplaced() | e.LegNotice():
            return _progress(state, event, now)
        case e.ToolStarted() | e.ToolFinished():
            return _tool(state, event)
        case e.TurnQueued():
            state.queue[event.turn_id] = QueuedPrompt(event.turn_id, event.prompt, event.why)
            return _STATUS
        case e.TurnStarted() | e.TurnDropped() | e.TurnFinished():
            return _STATUS if state.queue.pop(event.turn_id, None) else _NOTHING
        case e.LegStarted():
            state.running = RunningLeg(event.leg_id, event.turn_id, str(event.role), event.agent_name, started=now)
            state.context = _estimated(event.receipt)
            state.cold = ""
            return _LEG
        case e.UsageChanged():
            return _reported(state, event.leg_id, event.usage)
        case e.LegFinished():
            return _finished(state, event)
        case e.PerceptChanged():
            return _percept(state, event)
        case e.PerceptRefused():
            state.note = f"not remembered: {event.why}"
            return frozenset({Topic.BRICKS})
        case e.Notice():
            state.note = event.text
            return frozenset({Topic.BRICKS})
        case e.HelperStatus() | e.NoteChanged():
            return _helper(state, event)
        case e.CommandStarted():
            state.command, state.command_since = event.command, now
            return _LEG
        case e.CommandEnded():
            state.command = ""
            return _LEG
        case e.BrickChanged():
            state.bricks[str(event.brick.kind)] = event.brick
            return frozenset({Topic.BRICKS})
        case e.PerceptionChanged():
            state.perception.update({(str(x.layer), x.key): x for x in event.entries})
            return frozenset({Topic.PERCEPTION})
        case e.SessionChanged():
            state.session = event.session
            state.name_agents()
            return _LEG
        case e.PermissionAsked():
            state.asked[event.request.id] = event.request
            return _ASKED
        case e.PermissionEnded():
            return _ASKED if state.asked.pop(event.request_id, None) else _NOTHING
        case e.HostChanged():
            state.host, state.host_detail = event.state, event.detail
            return _STATUS
        case e.AgentStatus():
            view = state.agents[str(event.role)]
            state.agents[str(event.role)] = view._replace(state=event.state, text=event.text, fraction=event.fraction)
            return _LEG
        case _:
            return _NOTHING


def _progress(
    state: SessionState, event: e.LegText | e.LegThinking | e.LegTextReplaced | e.LegNotice, now: float
) -> frozenset[Topic]:
    leg = state.running
    if leg is None or leg.leg_id != event.leg_id:
        return _NOTHING
    before = leg
    match event:
        case e.LegText():
            leg = leg._replace(chars=leg.chars + len(event.text), notice="", fraction=None, retry_at=0.0)
        case e.LegThinking():
            thought = leg.thinking_chars + len(event.text)
            leg = leg._replace(thinking_chars=thought, notice="", fraction=None, retry_at=0.0)
        case e.LegTextReplaced():
            leg = leg._replace(chars=len(event.text))
        case e.LegNotice():
            again = 0.0 if event.retry_in_s is None else now + event.retry_in_s
            leg = leg._replace(notice=event.text, fraction=event.fraction, retry_at=again)
    state.running = leg
    return _STATUS if _phase(leg) != _phase(before) else _NOTHING


def _phase(leg: RunningLeg) -> tuple[bool, bool, str, float | None]:
    """What is said about a leg beside its counts, which the clock of the screen brings up to date."""
    return leg.chars > 0, leg.thinking_chars > 0, leg.notice, leg.fraction


def _tool(state: SessionState, event: e.ToolStarted | e.ToolFinished) -> frozenset[Topic]:
    leg = state.running
    if leg is None or leg.leg_id != event.leg_id:
        return _NOTHING
    state.running = leg._replace(tool=event.name if isinstance(event, e.ToolStarted) else "")
    return _STATUS


def _finished(state: SessionState, event: e.LegFinished) -> frozenset[Topic]:
    if state.running is not None and state.running.leg_id == event.leg_id:
        state.running = None
    if event.usage.known:
        state.usage = event.usage if state.usage is None else state.usage.plus(event.usage)
        if event.usage.cached_tokens is not None:
            state.sent_where_cache_known += event.usage.input_tokens or 0
    elif event.status in (LegStatus.DONE, LegStatus.EMPTY):
        state.usage_partial = True
    return _LEG


def _percept(state: SessionState, event: e.PerceptChanged) -> frozenset[Topic]:
    if event.what == "removed":
        state.percepts.pop(event.percept.id, None)
    else:
        state.percepts[event.percept.id] = event.percept
    return frozenset({Topic.PERCEPTS})


def _helper(state: SessionState, event: e.HelperStatus | e.NoteChanged) -> frozenset[Topic]:
    """What the helper is at stands where news stand, until other news come; after a search what stood there before."""
    before = state.note
    match event:
        case e.HelperStatus(state="searching" | "failed"):
            if not state.helper:
                state.helper_before = before
            state.helper = state.note = f"◌ {event.text}"
        case e.HelperStatus():
            if state.helper and state.note == state.helper:
                state.note = state.helper_before
            state.helper = ""
        case e.NoteChanged():
            state.helper, state.note = "", f"◌ {_note_words(event)}"
    return frozenset({Topic.BRICKS}) if state.note != before else _NOTHING


def _note_words(event: e.NoteChanged) -> str:
    match event.status:
        case "pending" | "claimed":
            return f"pending: {event.text}"
        case "delivered":
            return f"delivered {clock(event.at_ms)} to {event.receiver}"
        case status:
            return status + (f": {event.reason}" if event.reason else "")


def _estimated(receipt: Receipt) -> ContextUse:
    tokens = -(-(receipt.chars + receipt.thread_chars) // 4)
    return ContextUse(tokens, estimated=True, role=str(receipt.role))


def _reported(state: SessionState, leg_id: int, usage: Usage) -> frozenset[Topic]:
    """A leg's usage is the sum of its requests so far: the newest request's part is the context's size."""
    before = state.reported if state.reported[0] == leg_id else (leg_id, 0)
    total = usage.input_tokens
    if total is None or total <= before[1]:
        return _NOTHING
    state.reported = (leg_id, total)
    role = state.running.role if state.running is not None else state.next_role
    state.context = ContextUse(total - before[1], estimated=False, role=role)
    return _HEADER
