"""A paste is what stands between its marks, however it is cut into pieces, and nothing in it is a key."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual import events
from textual._xterm_parser import XTermParser

from milk_tui.ui import keys, paste_reader
from milk_tui.ui.paste_reader import END, START


def read(*pieces: str) -> list[str]:
    """What a parser makes of the pieces: keys by name, pastes in guillemets."""
    keys.install()
    parser = XTermParser()
    found: list[str] = []
    for piece in (*pieces, ""):
        for event in parser.feed(piece):
            if isinstance(event, events.Paste):
                found.append(f"«{event.text}»")
            elif isinstance(event, events.Key):
                found.append(event.key)
    return found


@pytest.mark.parametrize(
    "text",
    ["plain", "a\x1b[31mred\rb", "\x1b", "\x1b\x1b\r\r", "\x1b[200~", "\x1b[201", "a\x1b[A\r" * 50, "é漢😀\r\n\t"],
)
def test_nothing_in_a_paste_is_a_key(text: str) -> None:
    assert read(f"a{START}{text}{END}\r") == ["a", f"«{text}»", "enter"]


def test_what_is_in_a_paste_can_not_be_the_end_of_another() -> None:
    assert read(f"{START}one{END}{END}x") == ["«one»", "x"]
    assert read(f"{START}{END}x") == ["x"]
    assert read(f"{START}one{END}{START}two{END}") == ["«one»", "«two»"]


@given(st.text(alphabet="ab\r\x1b[201~é", max_size=40), st.lists(st.integers(1, 30), max_size=8))
def test_pieces_make_no_difference(text: str, cuts: list[int]) -> None:
    text = text.replace(END, "")
    whole = f"x{START}{text}{END}y"
    pieces, at = [], 0
    for size in cuts:
        pieces.append(whole[at : at + size])
        at += size
    pieces = [piece for piece in (*pieces, whole[at:]) if piece]
    pasted = [f"«{text}»"] if text else []
    assert read(*pieces) == ["x", *pasted, "y"]


def test_keys_around_a_paste_that_is_cut_in_its_mark_stay_what_they_are() -> None:
    assert read("\x1b[A\x1b", "[200~text\x1b[20", "1~\x1b[B") == ["up", "«text»", "down"]


def test_what_was_pasted_is_there_when_the_end_of_it_never_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    keys.install()
    clock = [100.0]
    monkeypatch.setattr(paste_reader, "get_time", lambda: clock[0])
    parser = XTermParser()
    assert list(parser.feed(f"{START}half of it")) == []
    clock[0] += paste_reader.SILENCE_S + 1
    assert [event.text for event in parser.tick()] == ["half of it"]
    assert [event.key for event in parser.feed("x")] == ["x"]


def test_an_escape_and_much_later_what_looks_like_the_rest_of_a_mark_is_typed(monkeypatch: pytest.MonkeyPatch) -> None:
    keys.install()
    clock = [100.0]
    monkeypatch.setattr(paste_reader, "get_time", lambda: clock[0])
    parser = XTermParser()
    list(parser.feed("\x1b"))
    clock[0] += paste_reader.STALE_S + 1
    assert not [event for event in parser.feed("[200~abc") if isinstance(event, events.Paste)]
    assert paste_reader._state_of(parser).pieces is None
