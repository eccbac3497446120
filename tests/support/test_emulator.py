"""The quick emulator draws what pyte draws, whatever it is given and however that is cut."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping

import pyte
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyte.screens import Char
from wcwidth import wcwidth

from tests.support.emulator import Screen, Stream

COLUMNS, ROWS = 12, 5


class Reference(pyte.Screen):
    """pyte's own, that draws on after what it can't combine."""

    def draw(self, data: str) -> None:
        super().draw("".join(c for c in data if wcwidth(c) > 0 or unicodedata.combining(c)))

    @property
    def display(self) -> list[str]:
        """pyte's fails where half of a wide character was drawn over."""
        return ["".join(self._drawn(self.buffer[y])) for y in range(self.lines)]

    def _drawn(self, line: Mapping[int, Char]) -> Iterator[str]:
        covered = False
        for x in range(self.columns):
            cell = line[x].data
            if not covered:
                yield cell
            covered = not covered and cell != "" and wcwidth(cell[0]) == 2


TEXTS = st.text("ab ~│─╭é漢字😀\u0301\u200d\x7f", max_size=20)
NUMBERS = st.integers(0, 14).map(str)
PLACES = st.builds("\x1b[{};{}{}".format, NUMBERS, NUMBERS, st.sampled_from("Hf"))
STEPS = st.builds("\x1b[{}{}".format, NUMBERS, st.sampled_from("GdABCD"))
ERASING = st.builds("\x1b[{}{}".format, st.sampled_from("012"), st.sampled_from("JK"))
SHIFTING = st.builds("\x1b[{}{}".format, NUMBERS, st.sampled_from("@PLMXr"))
LOOKS = ("", "0", "1;31", "7", "22;38;2;1;2;3", "48;5;200", "0;4;99", "38;2")
MODES = ("4h", "4l", "?7l", "?7h", "?25l", "?2026h", "?2026l", "1$z", "5q")
SETTING = st.builds("\x1b[{}".format, st.sampled_from([*(f"{look}m" for look in LOOKS), *MODES]))
ODD = st.sampled_from(["\r", "\n", "\t", "\b", "\x1bM", "\x1bD", "\x1b7", "\x1b8", "\x1b]0;a\x1b[1mb\x07", "\x9b2J"])
WRITTEN = st.lists(st.one_of(TEXTS, PLACES, STEPS, ERASING, SHIFTING, SETTING, ODD), max_size=30)


def cells(screen: pyte.Screen) -> list[list[object]]:
    return [[screen.buffer[y][x] for x in range(screen.columns)] for y in range(screen.lines)]


@given(WRITTEN, st.lists(st.integers(1, 40)))
def test_it_draws_as_pyte_does_and_shows_every_row_as_it_is(written: list[str], cuts: list[int]) -> None:
    reference, quick = Reference(COLUMNS, ROWS), Screen(COLUMNS, ROWS)
    slow, stream = pyte.ByteStream(reference), Stream(quick)
    data = "".join(written).encode()
    for cut in [*cuts, len(data)]:
        slow.feed(data[:cut])
        stream.feed(data[:cut])
        data = data[cut:]
        assert quick.display == reference.display
    assert cells(quick) == cells(reference)
    assert (quick.cursor.x, quick.cursor.y, quick.title) == (reference.cursor.x, reference.cursor.y, reference.title)


def test_the_other_screen_is_given_back_as_it_was() -> None:
    screen = Screen(COLUMNS, ROWS)
    stream = Stream(screen)
    stream.feed(b"before")
    stream.feed(b"\x1b[?1049h\x1b[Hover")
    assert [row.rstrip() for row in screen.display] == ["over", "", "", "", ""]
    stream.feed(b"\x1b[?1049l")
    assert [row.rstrip() for row in screen.display] == ["before", "", "", "", ""]


@pytest.mark.parametrize(("columns", "lines"), [(20, 8), (6, 3)])
def test_a_screen_of_another_size_shows_what_is_left(columns: int, lines: int) -> None:
    screen, reference = Screen(COLUMNS, ROWS), Reference(COLUMNS, ROWS)
    for each, stream in ((screen, Stream(screen)), (reference, pyte.ByteStream(reference))):
        stream.feed(b"\x1b[Hsome words\r\nmore")
        assert len(each.display) == ROWS
        each.resize(lines, columns)
    assert screen.display == reference.display
