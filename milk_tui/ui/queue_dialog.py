"""The prompts that wait: to read, to take back and edit, to drop, to put in another order."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen

from milk_tui.core.errors import MilkError
from milk_tui.core.text import one_line
from milk_tui.ui import format as f
from milk_tui.ui.dialogs import CLOSE, STYLES
from milk_tui.ui.on_top import OnTop
from milk_tui.ui.paint import Line
from milk_tui.ui.row_list import RowList
from milk_tui.ui.state import SessionState, Topic

if TYPE_CHECKING:
    from milk_tui.engine.conductor import Conductor
    from milk_tui.ui.control import Control

HINT = "enter edits · x drops · K J move · esc closes"
TOO_LATE = "too late: it is being worked on"
_ROWS = 3
"""Rows of a prompt that are shown."""


@dataclass(frozen=True, slots=True)
class WaitingRow:
    """A prompt with its place in the line."""

    key: str
    place: int
    prompt: str
    selectable: bool = True

    def height(self, width: int) -> int:
        return len(self._wrapped(width))

    def lines(self, width: int) -> Sequence[Line]:
        first = f"{self.place:>2} "
        return [((first if n == 0 else "   ", "dim"), (row, "")) for n, row in enumerate(self._wrapped(width))]

    def _wrapped(self, width: int) -> list[str]:
        return f.wrap(one_line(self.prompt, 1_000), max(8, width - 4), _ROWS)


class QueueDialog(OnTop, ModalScreen[str | None]):
    """The line as it is now. The result is the text of a prompt that was taken back to be edited."""

    CSS_PATH = STYLES
    BINDINGS: ClassVar = [
        CLOSE,
        Binding("x,delete", "drop", "Drop", show=False),
        Binding("K,shift+up", "shift(-1)", "Earlier", show=False),
        Binding("J,shift+down", "shift(1)", "Later", show=False),
    ]

    def __init__(self, state: SessionState, control: Control) -> None:
        super().__init__(classes="dialog")
        self._state = state
        self._control = control
        self.list = RowList(empty="no prompt waits")
        self._turn = asyncio.Lock()

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog-box pane") as box:
            box.border_title = "waiting prompts"
            box.border_subtitle = HINT
            yield self.list

    def on_mount(self) -> None:
        self._show()

    def state_changed(self, topics: Iterable[Topic], facts: Iterable[str] = ()) -> None:
        if Topic.STATUS in set(topics):
            self._show()

    def _show(self) -> None:
        line = sorted(self._state.queue.values(), key=lambda waiting: waiting.turn_id)
        rows = [WaitingRow(str(waiting.turn_id), n, waiting.prompt) for n, waiting in enumerate(line, 1)]
        self.list.set_rows(rows)

    def say(self, text: str, severity: str = "information") -> None:
        """Something went another way: said in the frame, until the next key that does something."""
        self.query_one(".dialog-box").border_subtitle = Content(text or HINT)

    @on(RowList.Chosen)
    def chosen(self, event: RowList.Chosen) -> None:
        event.stop()
        self._do(self._edit)

    def action_drop(self) -> None:
        self._do(self._drop)

    def action_shift(self, step: int) -> None:
        self._do(partial(self._move, step))

    def action_close(self) -> None:
        self.dismiss(None)

    @work(group="queue", exit_on_error=False)
    async def _do(self, doing: Callable[[Conductor, int], Awaitable[None]]) -> None:
        """One after another: a key that comes before the last is done with acts on what that left."""
        async with self._turn:
            conductor, row = self._control.conductor, self.list.current
            if conductor is None or row is None or not self.is_current:
                return
            self.say("")
            try:
                await doing(conductor, int(row.key))
            except MilkError as error:
                self.say(str(error), "warning")

    async def _edit(self, conductor: Conductor, turn_id: int) -> None:
        text = await conductor.drop_queued(turn_id)
        if text is None:
            self.say(TOO_LATE, "warning")
        else:
            self.dismiss(text)

    async def _drop(self, conductor: Conductor, turn_id: int) -> None:
        if await conductor.drop_queued(turn_id) is None:
            self.say(TOO_LATE, "warning")
            return
        self._state.queue.pop(turn_id, None)
        self._show()
        self.say("dropped; up in the prompt brings it back")

    async def _move(self, step: int, conductor: Conductor, turn_id: int) -> None:
        moved = await conductor.move_queued(turn_id, step)
        if moved is not None:
            self.list.go_to(str(moved))
