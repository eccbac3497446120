"""Every screen over a database in which every text is hostile: what is drawn has the cells that were reckoned, and no
sequence but colours. The widths are those that the emulator of the pseudo-terminal tests knows (wcwidth)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.console import Console
from textual.strip import Strip

from milk_tui.ui.app import MilkApp
from milk_tui.ui.row_list import RowList
from milk_tui.ui.transcript import Transcript
from milk_tui.ui.transcript.layout import Spot
from tests.hostile import poisoned
from tests.hostile.watch import OURS, Output, cells
from tests.ui.conftest import home, open_desk

__all__ = ["home", "open_desk"]

CONSOLE = Console(color_system="truecolor", force_terminal=True)
SIZES = [(120, 40), (60, 20)]


class Drawn:
    """Looks at strips as they are sent."""

    def __init__(self) -> None:
        self.harm: list[str] = []
        self.strips = 0
        self._seen: set[tuple[str, int]] = set()

    def strip(self, strip: Strip, width: int, where: str) -> None:
        self.strips += 1
        sent = strip.render(CONSOLE)
        if (sent, width) in self._seen:
            return
        self._seen.add((sent, width))
        output = Output()
        output.feed(sent.encode("utf-8", "surrogatepass"))
        self.harm += [f"{where}: {harm}" for harm in output.harm]
        self.harm += [
            f"{where}: link {link}" for link in output.links if not link.lower().startswith(("http", "mailto:"))
        ]
        text = _without_sequences(sent)
        if cells(text) != width:
            self.harm.append(f"{where}: {cells(text)} cells instead of {width}: {text[:80]!r}")

    def screen(self, app: MilkApp, where: str) -> None:
        """What is on the screen now."""
        width = app.size.width
        for strip in app.screen._compositor.render_strips():
            self.strip(strip, width, where)

    def lists(self, app: MilkApp, where: str) -> None:
        """All rows of the lists on it, whether in view or not."""
        for found in app.screen.query(RowList):
            width = found.size.width
            if not width:
                continue
            for row in found.rows:
                lines = found.lines_of(row, width)
                assert len(lines) == row.height(width), (where, row)
                for line in lines:
                    self.strip(found.paint(line, width), width, f"{where} {type(row).__name__}")

    def transcript(self, view: Transcript) -> None:
        """The conversation from its first row to its last."""
        view.read_at(Spot(0, 0, 0))
        before = None
        while (top := view.top()) != before:
            for y in range(view.size.height):
                self.strip(view.render_line(y), view.scrollable_content_region.width, f"conversation {top}")
            before = top
            view.scroll_rows(view.size.height)


def _without_sequences(sent: str) -> str:
    return OURS.sub(b"", sent.encode("utf-8", "surrogatepass")).decode("utf-8", "replace")


@pytest.fixture
def poisoned_home(home: Path) -> Path:
    poisoned.make(home / "home" / "data" / "milk.db", home / "shop")
    return home


def screens() -> Iterator[tuple[str, str]]:
    yield from {
        "memory": "/memory",
        "bricks": "/bricks",
        "perception": "/perception",
        "sessions": "/sessions",
        "changes": "/changes",
        "permissions": "/permissions",
        "helper": "/helper",
        "help": "/help",
    }.items()


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
async def test_every_screen_holds(open_desk, poisoned_home: Path, size: tuple[int, int]) -> None:
    drawn = Drawn()
    async with open_desk(size) as desk:
        drawn.screen(desk.app, "main")
        drawn.lists(desk.app, "main")
        for name, command in screens():
            before = desk.app.screen
            await desk.say(command)
            await desk.until(lambda before=before: desk.app.screen is not before, name)
            await desk.pilot.pause(0.1)
            drawn.screen(desk.app, name)
            drawn.lists(desk.app, name)
            for _ in range(3):
                await desk.press("down", "pagedown")
                drawn.screen(desk.app, name)
            while desk.app.screen is not desk.app.main:
                await desk.press("escape")
        transcript = desk.app.main.query_one(Transcript)
        drawn.transcript(transcript)
    assert drawn.harm == [], "\n".join(drawn.harm[:20])
    assert drawn.strips > 2_000
