"""The conversation: a session's entries and the engine's events, put into the transcript."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from milk_tui.ui import format as f
from milk_tui.ui.session_source import SessionBodies
from milk_tui.ui.transcript import Entry, EntryBody, EntryKind, Key, Transcript

if TYPE_CHECKING:
    from milk_tui.engine import events as e
    from milk_tui.store import Store
    from milk_tui.store.message_places import Place
    from milk_tui.ui.session_read import Shown


SHOWN_CHARS = 6_000
"""Of what a running command prints: its end."""


class Conversation:
    """Feeds one transcript. It knows records and events, and no other widget."""

    def __init__(self) -> None:
        self.transcript = self._transcript = Transcript(id="transcript")
        self._source: SessionBodies | None = None
        self._routes: dict[int, tuple[str, str]] = {}
        """What to say about the way of a turn whose first leg has not begun: in a line, and at length."""
        self._waiting: dict[int, None] = {}
        """Turns that are shown and wait, in order."""
        self._printed: dict[int, tuple[e.CommandStarted, str]] = {}
        """The person's commands that run, and what they printed."""
        self._running: int | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._notices = 0

    @property
    def is_empty(self) -> bool:
        """Nothing was said, and nothing is shown."""
        return not self._transcript.document.entries.items

    def begin(self, store: Store, shown: Shown) -> None:
        """Show another session, at its end."""
        from milk_tui.ui import bodies

        if self._source is not None:
            self._source.close()
        self._source = SessionBodies(store, self._transcript.bodies_loaded)
        self._routes.clear()
        self._waiting = {turn.id: None for turn in shown.queued}
        self._printed.clear()
        self._running = None
        self._transcript.load(bodies.entries(shown.turns, shown.legs), self._source)

    def go_to_turn(self, turn_id: int) -> None:
        self._transcript.show_entry(("turn", turn_id))
        self._transcript.focus()

    async def go_to_place(self, place: Place, words: str) -> None:
        """Where words that were searched for stand. Raises MilkError when it can't be read."""
        key: Key = ("turn", place.turn_id) if place.leg_id is None else ("leg", place.leg_id)
        source = self._source
        if source is None or key not in self._transcript:
            return
        if source.get(key) is None:
            await source.read(key)
            self._transcript.bodies_loaded([key])
        if source is self._source:
            self._transcript.show_match(key, words, place.number, thinking=place.thinking, tool=place.tool)

    def hear(self, event: e.AnyEvent) -> None:
        """Show one event."""
        from milk_tui.engine import events as e
        from milk_tui.ui import bodies
        from milk_tui.ui.transcript import Fact, Progress, Severity, Tool

        transcript = self._transcript
        match event:
            case e.LegText():
                transcript.stream_text(("leg", event.leg_id), event.text)
            case e.LegThinking():
                transcript.stream_thinking(("leg", event.leg_id), event.text)
            case e.LegTextReplaced():
                transcript.replace_text(("leg", event.leg_id), event.text)
            case e.LegNotice():
                progress = Progress(event.text, event.fraction, Severity(event.severity))
                transcript.progress(("leg", event.leg_id), progress)
            case e.ToolStarted():
                transcript.tool_started(("leg", event.leg_id), Tool(event.tool_id, event.name, event.arguments))
            case e.ToolOutput():
                transcript.tool_output(("leg", event.leg_id), event.tool_id, event.text)
            case e.ToolFinished():
                took = bodies.took(event.seconds)
                key = ("leg", event.leg_id)
                transcript.tool_finished(key, event.tool_id, event.status, event.result, took=took)
            case e.CommandStarted():
                self._printed[event.turn_id] = (event, "")
                self._show_command(event.turn_id)
            case e.CommandPrinted():
                self._show_command(event.turn_id, event.text)
            case e.CommandEnded():
                self._printed.pop(event.turn_id, None)
                self._renew(("turn", event.turn_id))
            case e.TurnQueued():
                self._waiting[event.turn_id] = None
                self._show_prompt(event, event.why)
            case e.TurnStarted():
                self._waiting.pop(event.turn_id, None)
                self._routes[event.turn_id] = (bodies.route_line(event.route), bodies.route_why(event.route))
                self._show_prompt(event, "")
            case e.TurnDropped():
                self._waiting.pop(event.turn_id, None)
                transcript.remove_entry(("turn", event.turn_id))
            case e.TurnFinished():
                self._renew(("turn", event.turn_id))
            case e.LegStarted():
                self._start(event)
            case e.LegFinished():
                self._finish(event)
            case e.PerceptChanged() if event.what == "captured" and event.percept.leg_id == self._running:
                transcript.add_fact(("leg", self._running), bodies.fact_part(event.percept))
            case e.PerceptRefused() if event.leg_id is not None and event.leg_id == self._running:
                refused = Fact(f"{event.content} ({event.why})", "not remembered", Severity.WARNING)
                transcript.add_fact(("leg", event.leg_id), refused)
            case e.Notice() if event.severity != "information":
                self._notice(event)
            case _:
                pass

    def _show_command(self, turn_id: int, more: str = "") -> None:
        """The person's command with the end of what it has printed so far."""
        from milk_tui.ui import bodies

        if turn_id not in self._printed:
            return
        event, before = self._printed[turn_id]
        text = (before + more)[-SHOWN_CHARS:]
        self._printed[turn_id] = (event, text)
        key: Key = ("turn", turn_id)
        body = bodies.command_body(f"!{event.command}", event.created_ms, text)
        if key in self._transcript:
            self._transcript.update(key, body)
        else:
            self._transcript.append(Entry(key, EntryKind.PROMPT, len(event.command), 1), body)
            self._transcript.follow()

    def _show_prompt(self, event: e.TurnQueued | e.TurnStarted, why: str) -> None:
        from milk_tui.ui.transcript import Prompt

        key: Key = ("turn", event.turn_id)
        body = EntryBody((Prompt(event.prompt, f.clock(event.created_ms), why),))
        if key in self._transcript:
            self._transcript.update(key, body)
        else:
            entry = Entry(key, EntryKind.PROMPT, len(event.prompt), event.prompt.count("\n") + 1)
            self._transcript.append(entry, body, before=self._first_waiting(event.turn_id))
            self._transcript.follow()

    def _start(self, event: e.LegStarted) -> None:
        from milk_tui.ui import bodies

        self._running = event.leg_id
        head = bodies.leg_head(event, *self._routes.pop(event.turn_id, ("", "")))
        self._transcript.append(
            Entry(("leg", event.leg_id), EntryKind.LEG, extra=len(head.parts), escalated=event.escalated),
            head,
            before=self._first_waiting(event.turn_id),
            live=True,
        )

    def _finish(self, event: e.LegFinished) -> None:
        """The whole leg as it is stored; what streamed stays until it is read."""
        if self._running == event.leg_id:
            self._running = None
        if self._source is not None:
            task = asyncio.get_running_loop().create_task(self._finish_from(self._source, event))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _finish_from(self, source: SessionBodies, event: e.LegFinished) -> None:
        from milk_tui.core.errors import MilkError
        from milk_tui.ui import bodies

        key: Key = ("leg", event.leg_id)
        try:
            body = await source.read(key)
        except MilkError:
            body = bodies.unread_body(event)
        if source is self._source and key in self._transcript:
            self._transcript.finish(key, body)

    def _renew(self, key: Key) -> None:
        if self._source is not None and key in self._transcript:
            self._source.forget(key)
            self._transcript.update(key)

    def _first_waiting(self, turn_id: int) -> Key | None:
        """The first waiting prompt after a turn: what belongs to the turn goes before it."""
        return next((("turn", waiting) for waiting in self._waiting if waiting > turn_id), None)

    def _notice(self, event: e.Notice) -> None:
        from milk_tui.ui.transcript import Notice, Severity

        self._notices += 1
        now = f.clock(int(time.time() * 1000))
        notice = Notice(event.text, Severity(event.severity), now)
        self._transcript.append(
            Entry(("notice", self._notices), EntryKind.NOTICE, len(event.text), 1), EntryBody((notice,))
        )
