"""A key is answered without waiting for the screen's clock (``quality.md``, key echo)."""

from __future__ import annotations

import asyncio

import pytest
from textual.app import App


async def _stop_the_clock(desk, monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """From here on no beat comes; what is drawn all the same is put into the list."""
    drawn: list[object] = []
    display = App._display
    monkeypatch.setattr(App, "_display", lambda app, on, what: (drawn.append(what), display(app, on, what)))
    await asyncio.sleep(0.5)
    monkeypatch.setattr(desk.app.screen._update_timer, "resume", lambda: None)
    await asyncio.sleep(0.2)
    drawn.clear()
    return drawn


@pytest.mark.parametrize(("view", "key"), [("", "q"), ("f1", "q"), ("f8", "down")])
async def test_a_key_is_drawn_before_the_next_beat(
    open_desk, view: str, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_desk() as desk:
        if view:
            await desk.press(view)
            await desk.until(lambda: desk.app.screen is not desk.app.main, view)
        drawn = await _stop_the_clock(desk, monkeypatch)
        desk.app.simulate_key(key)
        await desk.until(lambda: drawn, f"{key} is drawn")


async def test_what_changes_by_itself_keeps_the_beat(open_desk, monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_desk() as desk:
        drawn = await _stop_the_clock(desk, monkeypatch)
        desk.app.main.header.refresh()
        await asyncio.sleep(0.3)
        assert drawn == []
