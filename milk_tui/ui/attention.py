"""What the terminal itself is told: its title, and that the person is waited for while they look elsewhere."""

from __future__ import annotations

from collections.abc import Mapping

from milk_tui.core.osc52 import Between, wrapped
from milk_tui.core.text import one_line
from milk_tui.ui.state import SessionState

LONGEST_TITLE = 60
LONGEST_MESSAGE = 120
KEEP_TITLE = "\x1b[22;0t"
GIVE_BACK_TITLE = "\x1b[23;0t"
_BELL = "\x07"


def title(state: SessionState, *, plain: bool = False) -> str:
    """Who asks or answers first, so that a narrow tab shows it; then the program and the session."""
    now = ""
    if state.asked:
        now = "an agent asks" if plain else "▲ asks"
    elif state.running is not None:
        now = f"{state.running.agent_name} answers" if plain else f"… {state.running.agent_name}"
    return " · ".join(filter(None, (now, "milk", one_line(state.title, LONGEST_TITLE))))


def titled(text: str) -> str:
    """The sequence that writes a title; ``text`` may be anybody's."""
    return f"\x1b]2;{one_line(text, 2 * LONGEST_TITLE)}\x07"


def alert(how: str, text: str, environ: Mapping[str, str]) -> str:
    """The sequence that calls for the person: ``bell``, ``message`` (OSC 9), ``both``, ``off``.

    tmux hands a message on only inside an envelope of its own, where ``allow-passthrough`` is on; the bell it always
    does.
    """
    message = ""
    if how in ("message", "both"):
        between = Between.TMUX if environ.get("TMUX") else Between.NOTHING
        message = wrapped(f"\x1b]9;milk: {one_line(text, LONGEST_MESSAGE)}\x07", between)
    return message + (_BELL if how in ("bell", "both") else "")
