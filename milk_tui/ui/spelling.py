"""The program's signs in other letters: for fonts that lack them, and for ears.

Signs are replaced when a row is written, one cell by one, so that no widget knows of it.
"""

from __future__ import annotations

from functools import lru_cache

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter


def _table(pairs: str) -> dict[str, str]:
    """Every pair is a sign and the letter for it; ``_`` stands for a space."""
    return {pair[0]: pair[1:].replace("_", " ") for pair in pairs.split()}


_LETTERS = _table(
    """
    ●* ◆+ ★! ◌o ◇o ◉o ◦o ❯> ›> ‹< ▲! ✗x ✓+ …. ☑x ☐_ ①1 ②2 ↩< ↪> ↳> ⇄= ⋯. ⏎< “" ”" ‘' ’' –- −-
    """
)
CONSOLE = {
    **_LETTERS,
    **_table("╭┌ ╮┐ ╰└ ╯┘ ━═ ┃║ ┏╔ ┓╗ ┗╚ ┛╝ ▎│ ▌█ ┄- ▰█ ▱░ ▸► ▾▼ □_ ▪■ ▁_ ▂_ ▃▄ ▅▄ ▆█ ▇█"),
    **_table("⠋/ ⠙- ⠹\\ ⠸| ⠼/ ⠴- ⠦\\ ⠧| ⠇/ ⠏-"),
}
"""For the fonts of the Linux console, which have frames, blocks and arrows."""
PLAIN = {
    **_LETTERS,
    **_table("▰# ▱. ▸+ ▾- ■# □_ ▪* ·- •* ↓v ↑^ →> ←< ▁_ ▂_ ▃_ ▄_ ▅_ ▆_ ▇_ █# ▓# ▒= ░."),
    **dict.fromkeys("─│┌┐└┘├┤┬┴┼╭╮╰╯━┃┏┓┗┛┄╌═║╔╗╚╝▏▕▎▌▊▔▀▉⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏", " "),
}
"""For voices: no frames and no spinner."""


class Spelled(LineFilter):
    """Writes every row in the letters of a table."""

    def __init__(self, table: dict[str, str]) -> None:
        super().__init__()
        signs = str.maketrans(table)
        self._spell = lru_cache(4096)(lambda text: text.translate(signs))

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        spell = self._spell
        return [
            segment if segment.control or segment.text.isascii() else Segment(spell(segment.text), segment.style)
            for segment in segments
        ]
