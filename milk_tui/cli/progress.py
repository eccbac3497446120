"""Something that takes long, on standard error: one line that is painted over, or a line for each new
step."""

from __future__ import annotations

import re
import shutil
import sys
import time

import click

from milk_tui.core import text

BAR_CELLS = 24
EVERY_S = 0.1

_FIGURES = re.compile(r"\d[\d.,]*")


class ProgressLine:
    """In a terminal the line moves; elsewhere a step is said when it begins, not again when only its figures
    change."""

    def __init__(self) -> None:
        self.step = ""
        """What was said last."""
        self._live = sys.stderr.isatty()
        self._painted = False
        self._at = 0.0

    def show(self, step: str, fraction: float | None = None, figures: str = "") -> None:
        """``fraction`` 0..1 where it is known; ``figures`` is said behind the step, such as "12 of 98 MB"."""
        now = time.monotonic()
        same = _FIGURES.sub("", step) == _FIGURES.sub("", self.step)
        if same and (not self._live or now - self._at < EVERY_S):
            return
        self.step, self._at = step, now
        if not self._live:
            click.echo(text.one_line(step, 500), err=True)
            return
        words = text.one_line(f"{step}{', ' if figures else ''}{figures}", 500)
        if fraction is not None:
            full = round(max(0.0, min(1.0, fraction)) * BAR_CELLS)
            words = f"{'▰' * full}{'▱' * (BAR_CELLS - full)} {fraction:4.0%}  {words}"
        click.echo("\r\x1b[K" + words[: shutil.get_terminal_size().columns - 1], nl=False, err=True)
        self._painted = True

    def clear(self) -> None:
        """Take the painted line away, so that something else can be said."""
        if self._painted:
            click.echo("\r\x1b[K", nl=False, err=True)
            self._painted = False
