"""The one door through which text leaves for the clipboard; it says "copied" only when it was."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from milk_tui.core import osc52
from milk_tui.ui.clipboard_ways import VARIABLE, WISHES, Page, Program, Terminal, Way, Wish, ways

if TYPE_CHECKING:
    from textual.driver import Driver

PAGE_S = 3.0
"""Seconds in which a browser says whether it took the text."""


@dataclass(frozen=True, slots=True)
class Copied:
    """How it went. ``way`` is ``None`` when the text is only in this program's own memory."""

    way: Way | None
    checked: bool = False
    """Whether the clipboard was seen to hold the text."""
    reasons: tuple[str, ...] = ()
    """Why the ways before it, or all, took nothing."""

    def words(self, what: str) -> str:
        """What the person is told; ``what`` is the text's description (``7 characters``)."""
        match self.way:
            case None:
                why = f" ({self.reasons[0]})" if self.reasons else ""
                return f"{what} kept inside milk-tui: ctrl+v in the prompt pastes; no clipboard could be reached{why}"
            case Terminal():
                return f"{what} sent to the terminal (OSC 52); it can't confirm"
            case Program(name="tmux"):
                return f"{what} copied to tmux (prefix ] pastes); the terminal can't confirm"
            case way:
                return f"{what} copied ({way.name})"


@dataclass(slots=True)
class Door:
    """Copies, one after another; of two that wait the newer one counts.

    ``write`` sends a sequence to the terminal; ``page`` asks a browser and gives whether it took the text, and why not.
    """

    write: Callable[[str], object]
    page: Callable[[str], Awaitable[tuple[bool, str]]] | None = None
    wish: Wish = "auto"
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    _latest: int = 0

    async def copy(self, text: str) -> Copied | None:
        """Try the ways in their order; ``None`` when a newer copy came first. Never blocks the loop."""
        self._latest += 1
        number = self._latest
        async with self._lock:
            if number != self._latest:
                return None
            return await self._copy(text)

    async def _copy(self, text: str) -> Copied:
        reasons: list[str] = []
        for way in ways(os.environ, shutil.which, wish=wished(self.wish), page=self.page is not None):
            match way:
                case Program():
                    from milk_tui.ui import clipboard_programs

                    try:
                        checked = await asyncio.to_thread(clipboard_programs.copy, way, text)
                    except clipboard_programs.NotCopiedError as error:
                        reasons.append(str(error))
                        continue
                    return Copied(way, checked, tuple(reasons))
                case Terminal():
                    if not osc52.fits(text):
                        reasons.append("too long for a terminal's clipboard, which takes about 75,000 characters")
                        continue
                    for between in way.between:
                        self.write(osc52.sequence(text, between))
                    return Copied(way, False, tuple(reasons))
                case Page():
                    assert self.page is not None
                    took, why = await self.page(text)
                    if took:
                        return Copied(way, True)
                    reasons.append(why)
        return Copied(None, False, tuple(reasons))


def wished(configured: Wish) -> Wish:
    """What the environment says, else what the config says."""
    said = os.environ.get(VARIABLE, "")
    return next((wish for wish in WISHES if wish == said), configured)


def described(text: str) -> str:
    """What is copied, in a few words."""
    lines = text.count("\n") + (not text.endswith("\n"))
    return f"{len(text):,} characters" if lines < 2 else f"{lines:,} lines"


def door_of(driver: Driver | None) -> Door:
    """The door of a screen."""

    def write(sequence: str) -> None:
        if driver is not None:
            driver.write(sequence)

    return Door(write, page_of(driver))


def page_of(driver: Driver | None) -> Callable[[str], Awaitable[tuple[bool, str]]] | None:
    """The way to the browser that shows the screen; ``None`` in a terminal."""
    if not getattr(driver, "is_web", False):
        return None
    numbers = iter(range(1, 2**62))

    async def page(text: str) -> tuple[bool, str]:
        loop = asyncio.get_running_loop()
        said: asyncio.Future[tuple[bool, str]] = loop.create_future()

        def settle(answer: tuple[bool, str]) -> None:
            if not said.done():
                said.set_result(answer)

        def answered(took: bool, why: str) -> None:
            loop.call_soon_threadsafe(settle, (took, why))

        driver.copy(next(numbers), text, answered)  # type: ignore[union-attr]
        try:
            return await asyncio.wait_for(said, PAGE_S)
        except TimeoutError:
            return False, "the browser does not answer"

    return page
