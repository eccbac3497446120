"""How settings, model picker, agent wizard and statistics look in four sizes, dark and light."""

from __future__ import annotations

import pytest

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


@pytest.mark.parametrize("shown", SHOWN)
@pytest.mark.parametrize(("size", "dark"), LOOKS, ids=NAMES)
def test_it_looks_as_it_did(snap_compare, open_app, shown: str, size, dark: bool) -> None:
    keys = ("slash" if key == "/" else key for key in SHOWN[shown])
    assert snap_compare(open_app(dark=dark), terminal_size=size, run_before=after(*keys))
