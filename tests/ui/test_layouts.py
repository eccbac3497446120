"""Every screen and dialog fits every terminal: no part outside, none over another, and a place for the focus. None
blinks: left open, it sends nothing."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import pytest
from textual.screen import Screen
from textual.scroll_view import ScrollView
from textual.widget import Widget

from milk_tui import paths
from milk_tui.core.permissions import PermissionRequest
from milk_tui.core.records import Role
from milk_tui.ui.actions import ACTIONS, Where
from milk_tui.ui.main_screen import MainScreen
from tests.ui.conftest import Desk
from tests.ui.pictures import made_session

SIZES = [(40, 12), (52, 16), (60, 20), (79, 15), (80, 24), (109, 30), (110, 40), (160, 50), (200, 60), (250, 70)]
OPENED = [
    action.id
    for action in ACTIONS
    if action.where in (Where.EVERYWHERE, Where.SESSION)
    and action.id
    in {
        *("palette", "memory", "bricks", "perception", "sessions", "help", "changes", "permissions", "helper"),
        *("history-search", "theme", "statistics", "status", "settings", "agents", "models", "attach"),
    }
]
"""Actions that put a screen or a dialog over the main one."""


def parts(widget: Widget) -> Iterator[Widget]:
    """What is drawn below a widget; what scrolls may be longer than its window."""
    for child in widget.children:
        if child.display and child.region.area:
            yield child
            if not isinstance(child, ScrollView):
                yield from parts(child)


def flaws(screen: Screen[object]) -> list[str]:
    """What is wrong with a layout, in words."""
    whole = screen.region
    found = []
    for part in parts(screen):
        if not whole.contains_region(part.region):
            found.append(f"{part!r} at {part.region} is outside {whole.size}")
        if part.size.width < 1 or part.size.height < 1:
            found.append(f"{part!r} has no room inside its frame: {part.region}")
    for parent in (screen, *parts(screen)):
        if isinstance(parent, ScrollView):
            continue
        beside = [c for c in parent.children if c.display and c.region.area and c.styles.overlay != "screen"]
        for one, other in combinations(beside, 2):
            if one.layer == other.layer and one.region.overlaps(other.region) and "ToastRack" not in repr((one, other)):
                found.append(f"{one!r} at {one.region} lies over {other!r} at {other.region}")
    found += [f"{each!r} blinks" for each in screen.query("Input, TextArea") if each.cursor_blink]
    focused = screen.focused
    if focused is not None and (focused.region.height < 1 or focused.region.width < 8):
        found.append(f"{focused!r} has the focus and no room: {focused.region}")
    return found


async def walk(desk: Desk) -> dict[str, list[str]]:
    """The flaws of the topmost screen in every size."""
    result = {}
    for cols, rows in SIZES:
        await desk.pilot.resize_terminal(cols, rows)
        await desk.pilot.pause()
        if found := flaws(desk.app.screen):
            result[f"{cols}x{rows}"] = found
    await desk.pilot.resize_terminal(120, 40)
    return result


@pytest.fixture
def used(home):
    """A session with turns, facts, bricks and a perception."""
    made_session.make(paths.database_file(), home / "shop")
    return home


async def test_the_main_screen_fits(used, open_desk) -> None:
    async with open_desk() as desk:
        assert await walk(desk) == {}
        desk.app.main.note("a long word from the program: " + "so it goes " * 30, "warning")
        desk.app.main.prompt.set_text("line\n" * 14)
        assert await walk(desk) == {}
        desk.app.main.prompt.set_text("/")
        await desk.pilot.pause()
        assert await walk(desk) == {}


async def test_a_question_over_the_prompt_fits(used, open_desk) -> None:
    async with open_desk() as desk:
        body = "\n".join(f"+ line {number}" for number in range(40))
        for number in range(2):
            request = PermissionRequest(
                id=f"r{number}",
                role=Role.PRIMARY,
                agent_name="qwen",
                tool="edit_file",
                arguments="{}",
                title="edit shop/charge.py (+40 −0)",
                body=body,
                language="diff",
                directory=str(used),
                pattern="shop/*",
            )
            desk.app.state.asked[request.id] = request
        desk.app.main._show_asked()
        await desk.until(lambda: desk.app.main.permission is not None, "the question")
        assert await walk(desk) == {}


@pytest.mark.parametrize("id_", OPENED)
async def test_what_opens_over_it_fits(used, open_desk, id_: str) -> None:
    async with open_desk() as desk:
        (action,) = [each for each in ACTIONS if each.id == id_]
        await desk.app.perform(action)
        await desk.pilot.pause()
        if isinstance(desk.app.screen, MainScreen):
            pytest.skip(f"{id_} opens nothing over the main screen")
        screen = desk.app.screen
        await desk.until(lambda: not [each for each in desk.app.workers if each.node is screen], "all that is read")
        assert await walk(desk) == {}
        for _ in range(len(list(screen.query(".pane"))) - 1):
            await desk.press("f6")
            assert await walk(desk) == {}
