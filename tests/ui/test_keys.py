"""What the bytes of a terminal become (``textual-notes.md`` §1)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual import events
from textual._xterm_parser import XTermParser

from milk_tui.ui import keys


def parsed(data: str) -> list[tuple[str, str | None]]:
    keys.install()
    parser = XTermParser()
    found = [*parser.feed(data), *parser.feed("")]
    return [(event.key, event.character) for event in found if isinstance(event, events.Key)]


@pytest.mark.parametrize(
    ("data", "key"),
    [
        ("\x1b\r", "alt+enter"),
        ("\x1b\n", "alt+enter"),
        ("\x1b[13;3u", "alt+enter"),
        ("\x1b[27;3;13~", "alt+enter"),
        ("\x1b[13;2u", "shift+enter"),
        ("\x1b[27;2;13~", "shift+enter"),
        ("\x1b[27;5;13~", "ctrl+enter"),
        ("\x1b[27;6;13~", "ctrl+shift+enter"),
        ("\x1b[27;2;9~", "shift+tab"),
        ("\x1b[27;5;103~", "ctrl+g"),
        ("\x1b[27;3;97~", "alt+a"),
        ("\r", "enter"),
        ("\n", "ctrl+j"),
        ("\x1b[17~", "f6"),
        ("\x1b[17;2~", "shift+f6"),
    ],
)
def test_a_key_has_its_name(data: str, key: str) -> None:
    assert [name for name, _ in parsed(data)] == [key]


def test_shift_with_a_printable_key_still_types_it() -> None:
    assert parsed("\x1b[27;2;65~") == [("A", "A")]


def test_a_second_repair_changes_nothing() -> None:
    keys.install()
    once = XTermParser._parse_extended_key
    keys.install()
    assert XTermParser._parse_extended_key is once


@given(st.integers(1, 16), st.integers(0, 0x10FFFF))
def test_every_modified_key_has_one_name_that_can_be_bound(modifiers: int, code: int) -> None:
    sequence = f"\x1b[27;{modifiers};{code}~"
    rewritten = keys.as_kitty(sequence)
    assert rewritten in (sequence, f"\x1b[{code};{modifiers}u")


@pytest.mark.parametrize("data", ["\x1b[27;2;9999999~", "\x1b[9999999;5u"])
def test_a_number_that_is_no_character_does_not_end_the_reading_of_keys(data: str) -> None:
    assert parsed(data + "x")[-1] == ("x", "x")


@given(st.text(max_size=20))
def test_other_text_is_left_alone(text: str) -> None:
    assert keys.as_kitty(text) == text


@pytest.mark.parametrize(
    ("environ", "asked"),
    [
        ({"TMUX": "/tmp/tmux-0/default,1,0"}, True),
        ({"XTERM_VERSION": "XTerm(379)"}, True),
        ({"TERM_PROGRAM": "mintty"}, True),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "iTerm.app"}, False),
        ({"KITTY_WINDOW_ID": "1"}, False),
    ],
)
def test_only_terminals_that_need_it_are_asked_in_the_old_way(environ: dict[str, str], asked: bool) -> None:
    assert keys.wants_asking(environ) is asked
