"""A key of a screen that can do nothing where the cursor is says so: none is silent."""

from __future__ import annotations

from typing import Any

import pytest

from milk_tui.ui.actions import ACTIONS, BY_ID, WAYS, Where
from milk_tui.ui.panes import PanedScreen
from milk_tui.ui.settings import SettingsScreen
from tests.support.polling import until
from tests.ui.conftest import Desk

SCREENS = (
    Where.PERCEPTION,
    Where.INSPECTOR,
    Where.STATISTICS,
    Where.SETTINGS,
    Where.HELPER,
    Where.CHANGES,
    Where.SESSIONS,
)


async def opened(desk: Desk, where: Where) -> None:
    main = desk.app.screen
    way = BY_ID[WAYS[where]]
    if way.keys:
        await desk.press(way.keys[0])
    else:
        await desk.say(f"/{way.command}")
    await desk.until(lambda: desk.app.screen is not main, f"the {where}")
    await desk.pilot.pause(0.3)


async def silent_here(desk: Desk, where: Where) -> list[str]:
    """The actions of the screen whose keys change nothing that is seen."""
    screen, silent = desk.app.screen, []
    for action in (action for action in ACTIONS if action.where is where and action.keys):
        if hasattr(screen, "say"):
            screen.say("")
        desk.app.clear_notifications()
        await desk.pilot.pause()
        before = desk.text
        await desk.press(action.keys[0])
        try:
            await until(lambda before=before: desk.app.screen is not screen or desk.text != before, 1.0)
        except AssertionError:
            silent.append(action.id)
        if screen not in desk.app.screen_stack:
            return silent  # the key led away
        while desk.app.screen is not screen:
            await desk.press("escape")
        if isinstance(screen, SettingsScreen) and screen.filter.has_focus:
            await desk.press("escape")
    return silent


@pytest.mark.parametrize("where", SCREENS)
async def test_no_key_of_a_screen_is_silent_where_it_can_do_nothing(open_desk: Any, where: Where) -> None:
    async with open_desk() as desk:
        await desk.say("hello")
        await desk.idle()
        await opened(desk, where)
        screen = desk.app.screen
        for _ in range(len(screen.panes) if isinstance(screen, PanedScreen) else 1):
            assert await silent_here(desk, where) == []
            if screen not in desk.app.screen_stack:
                break
            await desk.press("f6")
