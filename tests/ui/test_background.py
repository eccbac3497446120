"""The terminal is asked for its background at the start; nothing that was typed meanwhile is lost."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from milk_tui.ui.background import Question, is_dark, said_by
from tests.support.terminal import Terminal

ANSWER = "\x1b]11;rgb:fbfb/f8f8/f2f2\x1b\\"


@pytest.mark.parametrize(
    ("colours", "dark"),
    [
        ("0000/0000/0000", True),
        ("ffff/ffff/ffff", False),
        ("15/17/1c", True),
        ("fdfd/f6f6/e3e3", False),
        ("f/f/f", False),
        ("0000/0000/ffff/8000", True),
        ("ffff", None),
        ("fffff/0/0", None),
        ("//", None),
    ],
)
def test_a_colour_is_dark_or_light_or_none(colours: str, dark: bool | None) -> None:
    assert is_dark(colours) is dark


@pytest.mark.parametrize(
    ("value", "dark"), [("15;0", True), ("0;15", False), ("0;default;7", False), ("default", None), ("", None)]
)
def test_the_environment_may_say_it(value: str, dark: bool | None) -> None:
    assert said_by({"COLORFGBG": value}) is dark


@given(before=st.text("ab\x1b[é"), after=st.text("ab]é"), cuts=st.lists(st.integers(0, 60), max_size=4))
def test_keys_around_an_answer_stay_however_it_is_cut(before: str, after: str, cuts: list[int]) -> None:
    data = before + ANSWER + after
    question = Question()
    edges = [0, *sorted(cut for cut in cuts if not len(before) < cut <= len(before) + 5), len(data)]
    heard = "".join(question.heard(data[a:b]) for a, b in itertools.pairwise(edges))
    assert heard == before + after
    assert question.dark is False


def test_a_later_answer_is_told_once() -> None:
    question, told = Question(), []
    question.on_answer = told.append
    for _ in range(2):
        assert question.heard(f"x{ANSWER}y") == "xy"
    question.heard("\x1b]11;rgb:00/00/00\x07")
    assert told == [False, True]


def test_keys_are_held_until_there_is_a_prompt_and_stay_in_order() -> None:
    question, sent = Question(), []
    question._holds = True
    assert question.heard("ab\x1b]11;rgb:ff/f") == ""
    assert question.heard("f/ff\x07cd") == ""
    question.let_go(sent.append)
    question.let_go(sent.append)
    assert (sent, question.dark, question.heard("e")) == (["abcd"], False, "e")


def grounds(terminal: Terminal) -> set[str]:
    """The background colours of the first row."""
    return {cell.bg for cell in terminal.screen.buffer[0].values()}


@pytest.mark.parametrize(("background", "colour"), [("ffff/ffff/ffff", "fbf8f2"), ("1515/1717/1c1c", "15171c")])
def test_the_first_frame_fits_the_terminal(home: Path, background: str, colour: str) -> None:
    with Terminal.python("-m", "milk_tui", cwd=home / "shop", background=background) as terminal:
        terminal.wait_for("Ask, or / for commands")
        assert grounds(terminal) == {colour}
        terminal.press("ctrl+q")
        assert terminal.wait_exit() == 0


def test_what_is_typed_before_the_screen_is_there_is_in_the_prompt(home: Path) -> None:
    """The letters are sent when the program asks its question, long before it reads keys."""
    with Terminal.python("-m", "milk_tui", cwd=home / "shop", background="ffff/ffff/ffff") as terminal:
        while not terminal.raw_bytes:
            assert terminal.pump(20)
        terminal.send(b"early" + ANSWER.encode() + b"bird")
        terminal.wait_for("earlybird")
        assert grounds(terminal) == {"fbf8f2"}
        terminal.press("ctrl+q")
        assert terminal.wait_exit() == 0


def test_the_terminal_is_as_before_at_the_end(home: Path) -> None:
    command = f"stty -a > before; {sys.executable} -m milk_tui; stty -a > after"
    with Terminal.spawn(["sh", "-c", command], cwd=home / "shop") as terminal:
        terminal.wait_for("Ask, or / for commands")
        terminal.press("ctrl+q")
        assert terminal.wait_exit() == 0
    assert (home / "shop" / "before").read_text() == (home / "shop" / "after").read_text()
