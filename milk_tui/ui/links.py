"""Links of the conversation: shown with the place they lead to, and opened or copied by the person alone.

An address comes from a model or a file: it is never opened without having been shown whole, and only web and mail
addresses are opened at all.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple
from urllib.parse import urlsplit

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen

from milk_tui.core.errors import MilkError
from milk_tui.core.text import one_line
from milk_tui.core.visible import visible
from milk_tui.ui import format as f
from milk_tui.ui.dialogs import CLOSE, STYLES
from milk_tui.ui.on_top import OnTop
from milk_tui.ui.paint import Line, cells
from milk_tui.ui.row_list import RowList

if TYPE_CHECKING:
    from textual.app import App

OPENED = frozenset({"http", "https", "mailto"})
LONGEST = 8_000
"""Characters of an address that is shown, and thus opened."""
WAIT_S = 5.0
"""Seconds that the opening program may take to say that it can't."""
_ROWS = 8


class Doing(NamedTuple):
    """What the person wants with an address."""

    verb: str
    """``open`` or ``copy``."""
    href: str


@dataclass(frozen=True, slots=True)
class LinkRow:
    """What the conversation shows of a link, where it leads, and the whole address."""

    key: str
    text: str
    href: str
    selectable: bool = True

    def height(self, width: int) -> int:
        return 1 + len(self._address(width))

    def lines(self, width: int) -> Sequence[Line]:
        where = host(self.href) or "no web address: it can only be copied"
        head: Line = (
            (f.fit(self.text, max(8, width - cells(((where, ""),)) - 4)), "strong"),
            ("  → ", "dim"),
            (where, "key"),
        )
        return [head, *(((f"  {row}", "dim"),) for row in self._address(width))]

    def _address(self, width: int) -> list[str]:
        return f.wrap(visible(self.href[:LONGEST]), max(8, width - 2), _ROWS)


class LinkDialog(OnTop, ModalScreen[Doing | None]):
    """The links to choose from."""

    CSS_PATH = STYLES
    BINDINGS: ClassVar = [
        CLOSE,
        Binding("y,c", "copy", "Copy", show=False),
        Binding("o", "open", "Open", show=False),
    ]

    def __init__(self, links: Sequence[tuple[str, str]]) -> None:
        """``links``: text and address of each."""
        super().__init__(classes="dialog")
        self._links = links
        self.list = RowList([LinkRow(str(n), one_line(text, 200), href) for n, (text, href) in enumerate(links)])

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog-box pane") as box:
            box.border_title = Content(f.plural(len(self._links), "link"))
            box.border_subtitle = "enter opens · y copies · esc closes"
            yield self.list

    @on(RowList.Chosen)
    def chosen(self, event: RowList.Chosen) -> None:
        event.stop()
        self._done("open")

    def action_open(self) -> None:
        self._done("open")

    def action_copy(self) -> None:
        self._done("copy")

    def action_close(self) -> None:
        self.dismiss(None)

    def _done(self, verb: str) -> None:
        if (row := self.list.current) is not None:
            self.dismiss(Doing(verb, self._links[int(row.key)][1]))


def host(href: str) -> str:
    """Where an address leads: the machine or the mailbox; empty for what is not opened."""
    try:
        parts = urlsplit(href)
        if parts.scheme.lower() not in OPENED or len(href) > LONGEST or not href.isprintable() or " " in href:
            return ""
        return parts.path if parts.scheme.lower() == "mailto" else parts.netloc.rpartition("@")[2]
    except ValueError:
        return ""


async def choose(app: App[int], links: Sequence[tuple[str, str]]) -> Doing | None:
    """Show the links until the person has decided."""
    return await app.push_screen_wait(LinkDialog(links))


async def open_outside(href: str) -> None:
    """Give a web or mail address to the desktop's own program. Raises MilkError."""
    if not host(href):
        raise MilkError("this address is not opened", "y copies it")
    command = opener(os.environ, sys.platform)
    if command is None:
        raise MilkError("no browser can be opened from here", "y copies the address")
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            href,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
        )
        async with asyncio.timeout(WAIT_S):
            code = await process.wait()
    except TimeoutError:
        return
    except OSError as error:
        raise MilkError(f"{command[0]} can't be run: {error.strerror}", "y copies the address") from error
    if code:
        raise MilkError(f"{command[0]} could not open it ({code})", "y copies the address")


def opener(environ: Mapping[str, str], platform: str) -> list[str] | None:
    """The desktop's program for addresses; ``None`` where there is no desktop, as over ssh."""
    if platform == "darwin":
        return ["open"]
    desktop = any(environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))
    names = ["wslview"] if environ.get("WSL_DISTRO_NAME") else []
    names += ["xdg-open", "gio"] if desktop else []
    found = next((path for name in names if (path := shutil.which(name))), None)
    if found is None:
        return None
    return [found, "open"] if found.endswith("/gio") else [found]
