"""How settings, model picker, agent wizard and statistics look in four sizes, dark and light."""

from __future__ import annotations

import pytest

from tests.support.polling import until
from tests.ui.pictures.test_pictures import drawn_alike
from tests.ui.pictures.test_screens import SIZES, after, open_app

__all__ = ["drawn_alike", "open_app"]
LOOKS = [(size, dark) for size in SIZES for dark in (True, False)]
NAMES = [f"{columns}x{rows}-{'dark' if dark else 'light'}" for (columns, rows), dark in LOOKS]
SHOWN = {
    "settings": ("f8",),
    "statistics": (*"/stats", "enter"),
    "models": (*"/model", "enter"),
    "wizard": ("f8", "a"),
}


def opened(*keys: str, screens: int):
    """Press keys, and settle once that many screens lie on each other."""

    async def run(pilot) -> None:
        await after(*keys, rest_s=0)(pilot)
        await until(lambda: len(pilot.app.screen_stack) == screens, what="the screen")
        await after()(pilot)

    return run


@pytest.mark.parametrize("shown", SHOWN)
@pytest.mark.parametrize(("size", "dark"), LOOKS, ids=NAMES)
def test_it_looks_as_it_did(snap_compare, open_app, shown: str, size, dark: bool) -> None:
    keys = ("slash" if key == "/" else key for key in SHOWN[shown])
    run = opened(*keys, screens=3 if shown == "wizard" else 2)
    assert snap_compare(open_app(dark=dark), terminal_size=size, run_before=run)
