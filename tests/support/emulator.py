"""pyte's emulator, quicker: what a test waits for is seen as soon as it is there, not when the emulator is done.

It draws as pyte does (``tests/support/test_emulator.py``). What is done here once is done there for each character: the
cells of one look, the attributes of one sequence, the parts of a plain control sequence, the text of a row that did not
change.
"""

from __future__ import annotations

import copy
import re
import unicodedata
from typing import Any, ClassVar

import pyte
from pyte import charsets, modes
from pyte.screens import Char
from wcwidth import wcwidth

_ALTERNATE = 1049
_CONTROL = re.compile(r"\x1b\[(\??)([0-9;]*)([@A-Za-z`])")


def _is_drawn(character: str) -> bool:
    return wcwidth(character) > 0 or bool(unicodedata.combining(character))


class Screen(pyte.Screen):
    """pyte's screen with the alternate one that full-screen programs draw on and give back."""

    _narrow: ClassVar[set[str]] = set()
    """Characters that are known to take one cell."""
    _cells: ClassVar[dict[Char, dict[str, Char]]] = {}
    """For each look the cells that were drawn with it."""
    _looks: ClassVar[dict[tuple[Char, tuple[int, ...]], Char]] = {}

    def __init__(self, columns: int, lines: int) -> None:
        self._before: tuple[Any, int, int] | None = None
        self._rows: list[str] = []
        super().__init__(columns, lines)

    @property
    def display(self) -> list[str]:
        """The rows as they are; those that changed since it was last asked for are put together again."""
        if len(self._rows) != self.lines:
            self._rows = [""] * self.lines
            self.dirty.update(range(self.lines))
        for y in self.dirty:
            if y < self.lines:
                self._rows[y] = self._row(y)
        self.dirty.clear()
        return list(self._rows)

    def _row(self, y: int) -> str:
        line = self.buffer[y]
        cells = [line[x].data for x in range(self.columns)]
        text = "".join(cells)
        if self._is_narrow(text):
            return text
        drawn, covered = [], False
        for cell in cells:
            if not covered:
                drawn.append(cell)
            covered = not covered and bool(cell) and wcwidth(cell[0]) == 2
        return "".join(drawn)

    def _is_narrow(self, text: str) -> bool:
        """True when every character takes one cell."""
        new = set(text) - self._narrow
        if new:
            narrow = {character for character in new if wcwidth(character) == 1}
            self._narrow.update(narrow)
            return len(narrow) == len(new)
        return True

    def draw(self, data: str) -> None:
        """pyte gives a piece up at a mark that it can't combine; terminals draw on."""
        cursor = self.cursor
        simple = (
            cursor.x + len(data) <= self.columns
            and modes.IRM not in self.mode
            and not self.charset
            and self.g0_charset is charsets.LAT1_MAP
            and self._is_narrow(data)
        )
        if not simple:
            self.dirty.update((max(0, cursor.y - 1), cursor.y))
            super().draw(data if data.isascii() else "".join(filter(_is_drawn, data)))
            return
        made = self._cells.setdefault(cursor.attrs, {})
        line = self.buffer[cursor.y]
        for x, character in enumerate(data, cursor.x):
            cell = made.get(character)
            if cell is None:
                cell = made[character] = cursor.attrs._replace(data=character)
            line[x] = cell
        cursor.x += len(data)
        self.dirty.add(cursor.y)

    def select_graphic_rendition(self, *attrs: int) -> None:
        asked = (self.cursor.attrs, attrs)
        known = self._looks.get(asked)
        if known is None:
            super().select_graphic_rendition(*attrs)
            self._looks[asked] = self.cursor.attrs
        else:
            self.cursor.attrs = known

    def set_mode(self, *asked: int, **kwargs: Any) -> None:
        if kwargs.get("private") and _ALTERNATE in asked and self._before is None:
            self._before = (copy.deepcopy(self.buffer), self.cursor.y, self.cursor.x)
            self.erase_in_display(2)
            self.cursor_position()
        super().set_mode(*asked, **kwargs)

    def reset_mode(self, *asked: int, **kwargs: Any) -> None:
        if kwargs.get("private") and _ALTERNATE in asked and self._before is not None:
            (self.buffer, self.cursor.y, self.cursor.x), self._before = self._before, None
            self.dirty.update(range(self.lines))
        super().reset_mode(*asked, **kwargs)


class Stream(pyte.ByteStream):
    """pyte's stream; a control sequence that is there as a whole is not read letter by letter."""

    def feed(self, data: bytes) -> None:
        text = self.utf8_decoder.decode(data) if self.use_utf8 else "".join(map(chr, data))
        fed = 0
        for control in _CONTROL.finditer(text):
            self._read(text[fed : control.start()])
            if self._taking_plain_text:
                self._do(*control.groups())
            else:  # in the middle of another sequence
                self._read(control[0])
            fed = control.end()
        self._read(text[fed:])

    def _read(self, text: str) -> None:
        if text:
            pyte.Stream.feed(self, text)

    def _do(self, private: str, parameters: str, final: str) -> None:
        does = getattr(self.listener, self.csi.get(final, "debug"))
        numbers = [min(int(number or 0), 9999) for number in parameters.split(";")]
        if private:
            does(*numbers, private=True)
        else:
            does(*numbers)
