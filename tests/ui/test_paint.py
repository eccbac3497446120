"""A painted line: exactly as wide as it is to be, and it says when it goes on."""

from __future__ import annotations

import pytest
from rich.cells import cell_len
from textual.app import App, ComposeResult

from milk_tui.ui.paint import Line, LookBook, Painter


class PaintApp(App[None]):
    def __init__(self) -> None:
        super().__init__()
        self.look_book = LookBook()
        self.painter = Painter()

    def compose(self) -> ComposeResult:
        yield self.painter
        yield self.look_book


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ((("short", ""),), "short     "),
        ((("exactly 10", ""),), "exactly 10"),
        ((("exactly 10", ""), ("   ", "")), "exactly 10"),
        ((("one more 10", ""),), "one more …"),
        ((("exactly 10", ""), ("!", "dim")), "exactly 1…"),
        ((("exactly 9", ""), ("!?", "dim")), "exactly 9…"),
        ((("日本語日本語", ""),), "日本語日 …"),
        ((("日本語日本", ""),), "日本語日本"),
    ],
)
async def test_what_has_no_room_is_cut_with_a_sign(line: Line, shown: str) -> None:
    app = PaintApp()
    async with app.run_test():
        strip = app.painter.paint(line, 10)
        assert strip.text == shown
        assert cell_len(strip.text) == strip.cell_length == 10
        assert app.painter.paint(line, 0).text == ""
        assert cell_len(app.painter.paint(line, 1).text) == 1
