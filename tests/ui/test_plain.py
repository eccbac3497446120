"""The plain screen: words in lines, for who hears them; and the signs of poor fonts."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from milk_tui.ui import plain, spelling
from milk_tui.ui.state import RunningLeg, SessionState
from tests.support.terminal import Terminal

FRAMES = set("─│┌┐└┘├┤┬┴┼╭╮╰╯━▰▱⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏●◆★◌❯▸▾")


@pytest.mark.parametrize("table", [spelling.PLAIN, spelling.CONSOLE], ids=["plain", "console"])
def test_a_sign_is_replaced_by_one_of_the_same_width(table: dict[str, str]) -> None:
    for sign, letter in table.items():
        assert cell_len(letter) == cell_len(sign) == 1, (sign, letter)
        assert letter not in table, f"{sign} becomes {letter}, which is one to be replaced"


def test_the_plain_screen_is_lines_of_words(home) -> None:
    with Terminal.python("-m", "milk_tui", "--plain", cwd=home / "shop", cols=120, rows=40) as terminal:
        terminal.wait_for("ready for a prompt to qwen")
        assert not terminal.screen.cursor.hidden
        assert "percepts" not in terminal.text, "nothing stands beside the conversation"
        terminal.send("tell me")
        terminal.press("enter")
        terminal.wait_for(lambda screen: "qwen answers" in screen and screen.rstrip().count("ready for a prompt") == 2)
        assert "primary qwen" in terminal.text
        assert "ctrl+p commands" in terminal.text
        assert not FRAMES & set(terminal.text)
        for key, said in (("f2", "memory - 0 facts"), ("f3", "brick inspector - 1 leg"), ("f4", "perception")):
            terminal.press(key)
            terminal.wait_for(said)
            assert not FRAMES & set(terminal.text), key
        row, written = terminal.screen.cursor.y, terminal.raw_bytes
        terminal.press("escape")
        terminal.wait_for("ready for a prompt")
        assert (row, written) != (terminal.screen.cursor.y, terminal.raw_bytes)
        terminal.settle(0.3)
        assert terminal.row_of("> Ask") == terminal.screen.cursor.y
        terminal.press("ctrl+q")
        assert terminal.wait_exit() == 0


def test_the_linux_console_shows_only_what_its_fonts_have(home) -> None:
    env = {"TERM": "linux", "COLORTERM": ""}
    with Terminal.python("-m", "milk_tui", cwd=home / "shop", env=env, cols=80, rows=24) as terminal:
        terminal.wait_for("to * qwen")
        assert not set("╭╮╰╯▰▱●◆★◌❯▸▾…") & set(terminal.text)
        assert "┌" in terminal.text
        assert {cell.fg for row in terminal.screen.buffer.values() for cell in row.values()} <= {
            *("default", "black", "red", "green", "brown", "blue", "magenta", "cyan", "white"),
            *("brightblack", "brightred", "brightgreen", "brightbrown", "brightblue", "brightmagenta", "brightcyan"),
        }
        terminal.press("ctrl+q")
        assert terminal.wait_exit() == 0


def test_without_colour_focus_and_cursor_can_still_be_seen(home) -> None:
    with Terminal.python("-m", "milk_tui", cwd=home / "shop", env={"NO_COLOR": "1"}, cols=100, rows=30) as terminal:
        terminal.wait_for("to ● qwen")
        terminal.press("ctrl+p")
        terminal.wait_for("find a command")
        terminal.settle(0.3)
        cells = [cell for row in terminal.screen.buffer.values() for cell in row.values()]
        assert {(cell.fg, cell.bg) for cell in cells} == {("default", "default")}
        assert any(cell.reverse for cell in cells)


def test_what_the_program_is_at_is_one_sentence_that_stays_while_it_does() -> None:
    state = SessionState(ready=True)
    said = []
    for chars in (0, 0, 5, 90, 4_000):
        state.running = RunningLeg(1, 1, "primary", "qwen", 0.0, chars=chars)
        said.append(plain.say(state))
    assert list(dict.fromkeys(said)) == ["qwen thinks", "qwen answers"]
