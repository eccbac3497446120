"""A line that is written in draws nothing while nobody writes."""

from __future__ import annotations

from textual.app import App, ComposeResult

from milk_tui.ui.line_input import LineInput
from tests.support.polling import until


class Form(App[None]):
    def compose(self) -> ComposeResult:
        yield LineInput("a name", placeholder="what it is called")


async def test_its_cursor_is_seen_and_stands_still() -> None:
    app = Form()
    async with app.run_test(size=(40, 5)) as pilot:
        line = app.query_one(LineInput)
        await until(lambda: line.has_focus, what="the focus")
        await pilot.press("end", "s")
        assert line.value == "a names"
        await pilot.pause()
        assert line._cursor_visible
        assert line._blink_timer is not None and not line._blink_timer._active.is_set()
