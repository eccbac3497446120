"""The list of rows under the mouse: the wheel scrolls it, a bar shows where it is, a click chooses."""

from __future__ import annotations

import pytest
from textual import events
from textual.app import App, ComposeResult
from textual.containers import Vertical

from milk_tui.ui import themes
from milk_tui.ui.paint import Line, LookBook
from milk_tui.ui.row_list import RowList
from milk_tui.ui.words import ItemRow, TextRow


class WholeRow:
    """A row that fills its line to the last cell."""

    selectable = True

    def __init__(self, number: int) -> None:
        self.key = f"row {number}"

    def height(self, width: int) -> int:
        return 1

    def lines(self, width: int) -> list[Line]:
        return [((self.key.ljust(width - 1) + "]", ""),)]


class ListApp(App[None]):
    CSS_PATH = themes.style_sheets("looks", "main")

    def __init__(self, number: int) -> None:
        super().__init__()
        self.look_book = LookBook()
        self.list = RowList([WholeRow(n) for n in range(number)])
        self.chosen: list[str] = []

    def compose(self) -> ComposeResult:
        with Vertical(classes="pane"):
            yield self.list
        yield self.look_book

    def on_row_list_chosen(self, event: RowList.Chosen) -> None:
        self.chosen.append(event.key)

    @property
    def lines(self) -> list[str]:
        return [strip.text.strip("│ ▁▂▃▄▅▆▇█") for strip in self.screen._compositor.render_strips()[1:-1]]


def turn(app: ListApp, event: type[events.MouseEvent]) -> None:
    """The wheel over the list, as the terminal reports it."""
    app.post_message(event(None, 5, 3, 0, 0, 0, False, False, False, screen_x=5, screen_y=3))


async def test_the_wheel_scrolls_and_leaves_the_cursor_where_it_is() -> None:
    app = ListApp(100)
    async with app.run_test(size=(30, 12)) as pilot:
        turn(app, events.MouseScrollDown)
        turn(app, events.MouseScrollDown)
        await pilot.pause()
        assert app.lines[0].startswith("row 4 ")
        assert app.list.current.key == "row 0"
        turn(app, events.MouseScrollUp)
        await pilot.pause()
        assert app.lines[0].startswith("row 2 ")
        for _ in range(80):
            turn(app, events.MouseScrollDown)
        await pilot.pause()
        assert app.lines[-1].startswith("row 99 ")


async def test_a_click_takes_the_cursor_to_the_row_that_is_seen_there_and_two_choose_it() -> None:
    app = ListApp(100)
    async with app.run_test(size=(30, 12)) as pilot:
        turn(app, events.MouseScrollDown)
        await pilot.pause()
        await pilot.click(RowList, offset=(3, 4))
        assert (app.list.current.key, app.lines[4][:5], app.list.has_focus) == ("row 6", "row 6", True)
        await pilot.click(RowList, offset=(3, 5), times=2)
        assert app.chosen == ["row 7"]


@pytest.mark.parametrize(("number", "bar"), [(100, True), (3, False)])
async def test_the_bar_is_there_where_it_is_needed_and_covers_nothing(number: int, bar: bool) -> None:
    app = ListApp(number)
    async with app.run_test(size=(30, 12)) as pilot:
        await pilot.pause()
        assert app.list.show_vertical_scrollbar is bar
        assert all(line.endswith("]") for line in app.lines[: min(number, 10)])
        assert app.list.text_width == 28 - bar
        app.list.set_rows([WholeRow(n) for n in range(3 if bar else 100)])
        await pilot.pause()
        assert app.list.show_vertical_scrollbar is not bar
        assert all(line.endswith("]") for line in app.lines[:3])


async def test_what_wraps_wraps_beside_the_bar() -> None:
    app = ListApp(0)
    async with app.run_test(size=(30, 12)) as pilot:
        app.list.set_rows([ItemRow(f"{n}", (("x" * 27, ""),)) for n in range(40)])
        await pilot.pause()
        assert app.list.virtual_size.height == sum(row.height(27) for row in app.list.rows)
        await pilot.resize_terminal(60, 50)
        await pilot.pause()
        assert app.list.virtual_size.height == sum(row.height(58) for row in app.list.rows)


@pytest.mark.parametrize("before", [0, 4, 35], ids=lambda number: f"{number} above")
@pytest.mark.parametrize(("there", "back"), [("down", "up"), ("pagedown", "pageup")])
async def test_text_between_rows_that_can_be_chosen_is_read_and_not_jumped_over(before, there, back) -> None:
    app = ListApp(0)
    async with app.run_test(size=(30, 12)) as pilot:
        app.list.focus()
        text = [TextRow(f"t{n}", f"line {n}") for n in range(100)]
        rows = [*text[:before], WholeRow(1), *text[before : before + 35], WholeRow(2), *text[before + 35 :]]
        app.list.set_rows(rows)
        await pilot.pause()
        all_of_it = {f"line {n}" for n in range(100)}
        for key in (there, back):
            seen: set[str] = set()
            for _ in range(90):
                seen |= set(app.lines)
                await pilot.press(key)
            assert all_of_it - seen == set()
        assert app.lines[0] == ("line 0" if before else app.lines[0])
        assert app.list.current.key == "row 1"


async def test_the_ends_of_a_list_are_its_ends() -> None:
    app = ListApp(0)
    async with app.run_test(size=(30, 12)) as pilot:
        app.list.focus()
        app.list.set_rows([TextRow("a", "first"), *(WholeRow(n) for n in range(20)), TextRow("b", "last")])
        await pilot.pause()
        await pilot.press("end")
        assert (app.lines[-1], app.list.current.key) == ("last", "row 19")
        await pilot.press("home")
        assert (app.lines[0], app.list.current.key) == ("first", "row 0")


async def test_every_list_of_the_program_takes_the_wheel(open_desk) -> None:
    async with open_desk(size=(80, 24)) as desk:
        await desk.press("f1")
        await desk.sees("type to find", "esc closes")
        row = desk.app.screen.query_one(RowList)
        before = desk.text
        at = row.region.offset
        desk.app.post_message(
            events.MouseScrollDown(
                None, at.x + 2, at.y + 2, 0, 0, 0, False, False, False, screen_x=at.x + 2, screen_y=at.y + 2
            )
        )
        await desk.until(lambda: desk.text != before and row.scroll_offset.y > 0, "a list that moves")
