"""The time slider of the perception: a stop for every turn that changed something, and now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual import events
from textual.message import Message
from textual.strip import Strip

from milk_tui.core.perception_view import Version
from milk_tui.core.text import one_line
from milk_tui.ui import format as f
from milk_tui.ui.paint import Line, Painter, Piece, cells

NOW = "now"
_LEAST_TRACK = 8


def places(versions: Sequence[Version], width: int) -> list[int]:
    """The cell of every stop on a track of ``width`` cells: by its turn, one after another where there is room."""
    if not versions:
        return []
    first, last = versions[0].turn_id, versions[-1].turn_id
    room = width - 1
    if len(versions) >= width:
        return [at * room // max(1, len(versions) - 1) for at in range(len(versions))]
    found: list[int] = []
    for at, version in enumerate(versions):
        by_turn = (version.turn_id - first) * room // max(1, last - first)
        least = found[-1] + 1 if found else 0
        found.append(min(max(by_turn, least), width - (len(versions) - at)))
    return found


def slider_line(
    versions: Sequence[Version], at: int | None, width: int, *, plain: bool = False
) -> tuple[Line, list[int]]:
    """The line, and the cell of each stop on it, the last one being now. ``at``: the stop that is shown; ``None``:
    now."""
    track, stop, here = ("-", "o", "@") if plain else ("─", "●", "◉")
    if not versions:
        return ((" ", ""), ("nothing was written yet: each turn that changes something becomes a stop here", "dim")), []
    said = _said(versions, at)
    left: Line = ((" [ ", "key"),)
    tail = f" {NOW} "
    room = max(_LEAST_TRACK, min(width - cells(left) - len(tail) - 4 - cells(said) - 2, 4 * len(versions) + 24))
    if room + cells(left) + len(tail) + 5 > width:
        room = max(2, width - cells(left) - len(tail) - 5)
    found = places(versions, room)
    taken = set(found)
    shown = None if at is None else found[at]
    pieces: list[Piece] = [
        (here, "key") if cell == shown else (stop, "good") if cell in taken else (track, "dim") for cell in range(room)
    ]
    end: Line = (
        (f"{track} {here if at is None else stop}", "key" if at is None else "dim"),
        (tail, "strong" if at is None else "dim"),
    )
    line = (*left, *pieces, *end, ("] ", "key"), *said)
    start = cells(left)
    return line, [*(start + place for place in found), start + room + 2]


def turn_name(turn_id: int) -> str:
    """What was written before anything was asked belongs to no turn."""
    return f"turn {turn_id}" if turn_id > 0 else "before the first turn"


def _said(versions: Sequence[Version], at: int | None) -> Line:
    if at is None:
        newest = versions[-1]
        return ((f" last change: {turn_name(newest.turn_id)}", "dim"),)
    version = versions[at]
    writers = ", ".join(one_line(writer, 24) for writer in version.writers[:3])
    changes = f.plural(version.changes, "change")
    return (
        (f" {turn_name(version.turn_id)}", "strong"),
        (f" · {changes} by {writers} · {f.moment(version.at_ms)[5:]}", "dim"),
    )


class Slider(Painter):
    """Shows where in time the screen is; a click goes there."""

    ALLOW_SELECT = False

    @dataclass
    class Chosen(Message):
        """A stop; ``None``: now."""

        index: int | None

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._versions: Sequence[Version] = ()
        self._at: int | None = None
        self._cells: list[int] = []

    def show(self, versions: Sequence[Version], at: int | None) -> None:
        self._versions, self._at = versions, at
        self.refresh()

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        plain = not self.app.console.encoding.startswith("utf")
        line, self._cells = slider_line(self._versions, self._at, width, plain=plain)
        return self.paint(line, width)

    def on_click(self, event: events.Click) -> None:
        if not self._cells:
            return
        nearest = min(range(len(self._cells)), key=lambda index: abs(self._cells[index] - event.x))
        self.post_message(self.Chosen(None if nearest == len(self._cells) - 1 else nearest))
