"""A row of the screen costs what it holds.

Textual gives each ``Strip`` seven caches when it is made. Most rows are drawn once and need none; making them took 2.9
of the 3.3 µs of a new row, and 900 of its 1,120 bytes. Here a cache is made when it is asked for. What is cached, and
how much, stays as in Textual.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from textual.cache import FIFOCache
from textual.strip import Strip

if TYPE_CHECKING:
    from rich.segment import Segment

_LARGEST: dict[str, int] = {}
"""How many entries each of the caches keeps, by its name."""


def _init(strip: Strip, segments: Iterable[Segment], cell_length: int | None = None) -> None:
    strip._segments = list(segments)
    strip._cell_length = cell_length
    strip._render_cache = strip._link_ids = strip._cell_count = None


def _missing(strip: Strip, name: str) -> FIFOCache[object, object]:
    """The cache, which is asked for the first time."""
    largest = _LARGEST.get(name)
    if largest is None:
        raise AttributeError(f"a Strip has no {name}")
    cache: FIFOCache[object, object] = FIFOCache(largest)
    setattr(strip, name, cache)
    return cache


def install() -> None:
    """Hold for all strips from now on. Safe to call again; with a Textual whose strips hold anything else, they stay as
    they are."""
    if _LARGEST:
        return
    sample = Strip([], 0)
    held = {name: getattr(sample, name) for name in Strip.__slots__}
    caches = {name: value._maxsize for name, value in held.items() if type(value) is FIFOCache}
    others = {name: value for name, value in held.items() if name not in caches}
    known = {"_segments": [], "_cell_length": 0, "_render_cache": None, "_link_ids": None, "_cell_count": None}
    if others == known:
        _LARGEST.update(caches)
        Strip.__init__ = _init  # type: ignore[method-assign,assignment]
        Strip.__getattr__ = _missing  # type: ignore[attr-defined]
