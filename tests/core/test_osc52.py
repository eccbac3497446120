"""The clipboard's sequence says exactly the text, whatever it passes."""

from __future__ import annotations

import base64
import re

from hypothesis import given
from hypothesis import strategies as st

from milk_tui.core.osc52 import LONGEST_CHARS, SCREEN_CHARS, Between, fits, sequence

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=2000)


def said(plain: str) -> str:
    found = re.fullmatch(r"\x1b\]52;c;([A-Za-z0-9+/=]*)\x07", plain)
    assert found is not None
    return base64.b64decode(found[1]).decode()


@given(TEXTS)
def test_the_terminal_gets_the_very_text(text: str) -> None:
    assert said(sequence(text)) == text


@given(TEXTS)
def test_tmux_passes_on_what_is_inside(text: str) -> None:
    wrapped = sequence(text, Between.TMUX)
    assert wrapped.startswith("\x1bPtmux;") and wrapped.endswith("\x1b\\")
    assert said(wrapped[7:-2].replace("\x1b\x1b", "\x1b")) == text


@given(TEXTS)
def test_screen_gets_pieces_that_it_can_hold(text: str) -> None:
    pieces = re.findall(r"\x1bP(.*?)\x1b\\", sequence(text, Between.SCREEN), re.DOTALL)
    assert all(len(piece) <= SCREEN_CHARS for piece in pieces)
    assert said("".join(pieces)) == text


@given(st.integers(0, 120_000) | st.integers(74_900, 75_100))
def test_what_fits_is_not_longer_than_terminals_take(length: int) -> None:
    long = len(sequence("x" * length))
    assert long <= LONGEST_CHARS if fits("x" * length) else long > LONGEST_CHARS - 16
