"""The plain screen, for screen readers: lines and words, one thing under another, and what changes said as text.

Frames, spinners and signs are left out when rows are written (``spelling.py``), panes never stand side by side
(``sizes.py``), the terminal's cursor is shown where one is, and every change of state is a line over the prompt.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable

from textual.containers import Vertical
from textual.widgets import Static

from milk_tui.ui import format as f
from milk_tui.ui import sizes
from milk_tui.ui.state import SessionState, Topic

SHOWN = 4
"""Lines of what happened that stay over the prompt."""


def prepare() -> None:
    """Before any screen is made: agents are named by words, keys by their names, and nothing stands beside another."""
    from milk_tui.ui import keymap

    f.ROLE_MARKS.update(primary="primary", escalation="escalation")
    sizes.WIDTHS[:] = [(0, "-narrow")]
    keymap.speak()


def name_in_conversation() -> None:
    """Likewise, once what draws the conversation is imported."""
    from milk_tui.core.records import Role
    from milk_tui.ui.transcript import compose

    compose.GLYPH.update({Role.PRIMARY: "primary", Role.ESCALATION: "escalation"})


def say(state: SessionState) -> str:
    """What the program is at, in one sentence that changes only when that does."""
    if state.problem:
        return state.problem
    if state.asked:
        request = next(iter(state.asked.values()))
        return f"{request.agent_name} asks: {request.title}"
    if state.running is not None:
        leg = state.running
        doing = (
            "is being stopped"
            if leg.stopping
            else leg.notice or (f"runs {leg.tool}" if leg.tool else "answers" if leg.chars else "thinks")
        )
        return f"{leg.agent_name} {doing}"
    if state.command:
        return f"the command {state.command} runs"
    if (view := state.loading) is not None:
        return f"{view.name} is being loaded"
    if not state.ready:
        return "the session is being opened"
    view = state.agent(state.next_role)
    if not view.name or view.state == "missing":
        return view.text or "no agent configured: milk-tui doctor says what to do"
    if view.state == "down":
        return f"{view.name} is down: {view.text}"
    return f"ready for a prompt to {view.name}"


class Said(Vertical):
    """The last things that happened, one a line, the newest last."""

    def __init__(self, state: SessionState) -> None:
        super().__init__(id="said")
        self._state = state
        self._lines: deque[str] = deque(maxlen=SHOWN)
        self._last = ""
        self._text = Static(markup=False)

    def compose(self) -> Iterable[Static]:
        yield self._text

    def on_mount(self) -> None:
        self.state_changed()

    def state_changed(self, topics: Iterable[Topic] = ()) -> None:
        """Add a line when what the program is at has changed."""
        now = say(self._state)
        if now != self._last:
            self._last = now
            self.add(now)

    def add(self, text: str) -> None:
        from milk_tui.core.text import one_line

        self._lines.append(f"{f.clock(int(time.time() * 1000))} {one_line(text, 300)}")
        self._text.update("\n".join(self._lines))
