"""A row of the screen makes its caches when it needs them, and keeps in them what Textual keeps."""

from __future__ import annotations

import subprocess
import sys

import pytest
from rich.segment import Segment
from rich.style import Style
from textual.cache import FIFOCache
from textual.strip import Strip

from milk_tui.ui import light_strips

SEGMENTS = [Segment("one "), Segment("two ", Style(bold=True)), Segment("三", Style(color="red"))]
OWN = """
from textual.strip import Strip
strip = Strip([])
names = [name for name in Strip.__slots__ if name.endswith("_cache") and name != "_render_cache"]
print(sorted((name, getattr(strip, name)._maxsize) for name in names))
"""
OTHER = """
from textual.strip import Strip
from milk_tui.ui import light_strips
init = Strip.__init__
def other(strip, *given):
    init(strip, *given)
    strip._link_ids = set()
Strip.__init__ = other
light_strips.install()
print(Strip.__init__ is other, hasattr(Strip, "__getattr__"))
"""


@pytest.fixture(autouse=True)
def installed() -> None:
    light_strips.install()


def test_the_caches_are_those_of_textual() -> None:
    told = printed(OWN)
    strip = Strip([])
    mine = [(name, getattr(strip, name)) for name in sorted(light_strips._LARGEST)]
    assert all(type(cache) is FIFOCache and not cache for _, cache in mine)
    assert repr([(name, cache._maxsize) for name, cache in mine]) == told
    assert len(mine) == 7


def test_a_row_that_is_only_drawn_has_no_cache() -> None:
    strip = Strip(SEGMENTS)
    assert strip.text == "one two 三" and strip.cell_length == 10
    made = [name for name in light_strips._LARGEST if _has(strip, name)]
    assert made == []


def test_what_was_made_once_is_kept() -> None:
    strip = Strip(SEGMENTS)
    assert strip.crop(1, 6) is strip.crop(1, 6)
    assert strip.divide([4, 8, 10]) is strip.divide([4, 8, 10])
    assert [part.text for part in strip.divide([4, 8, 10])] == ["one ", "two ", "三"]
    bold = Style(bold=True)
    assert strip.apply_style(bold) is strip.apply_style(bold)
    assert _has(strip, "_crop_cache") and not _has(strip, "_offsets_cache")


def test_what_a_strip_does_not_have_is_an_error() -> None:
    with pytest.raises(AttributeError, match="_no_such_cache"):
        Strip([])._no_such_cache  # type: ignore[attr-defined]  # noqa: B018


def test_a_strip_that_holds_anything_else_stays_as_it_is() -> None:
    assert printed(OTHER) == "True False"


def printed(program: str) -> str:
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.strip()


def _has(strip: Strip, name: str) -> bool:
    """Without asking for it."""
    try:
        object.__getattribute__(strip, name)
    except AttributeError:
        return False
    return True
