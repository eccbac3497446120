"""A timer that is to run once runs, however late.

Textual leaves out what a timer is late for, and so never runs one that is late for its only time: when the thread is
held up between two lines of ``Timer._run`` for longer than the delay (another thread has the interpreter, the machine
is busy, the program was stopped). Text that is to be shown a millisecond later would not be until the answer ends.
"""

from __future__ import annotations

from collections.abc import Callable

from textual.timer import Timer


def _starts(start: Callable[[Timer], None]) -> Callable[[Timer], None]:
    def started(timer: Timer) -> None:
        if timer._repeat == 0:
            timer._skip = False
        start(timer)

    return started


def install() -> None:
    """Hold for all timers of Textual from now on. Safe to call again."""
    if not getattr(Timer, "_runs_when_late", False):
        Timer._start = _starts(Timer._start)  # type: ignore[method-assign,assignment]
        Timer._runs_when_late = True  # type: ignore[attr-defined]
