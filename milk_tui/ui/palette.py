"""The command palette's entries: the registry's actions, found by fuzzy words."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Protocol, cast

from textual.command import CommandPalette, DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.events import Mount
from textual.widgets import Input

from milk_tui.ui.actions import ACTIONS, Action, Keymap
from milk_tui.ui.on_top import OnTop
from milk_tui.ui.themes import style_sheets


class Performer(Protocol):
    """The app, as far as the palette needs it."""

    keymap: Keymap
    perform: Callable[[Action], Awaitable[None]]
    guarded: Callable[[Awaitable[object]], Awaitable[bool]]


class Palette(OnTop, CommandPalette):
    """Textual's palette, which takes it for granted that nothing is typed ahead."""

    CSS_PATH = style_sheets("palette")

    def _on_mount(self, event: Mount) -> None:
        if self.app.screen is not self:
            event.prevent_default()
        self.query_one(Input).cursor_blink = False  # as every line that is written in (``ui/line_input.py``)


class Actions(Provider):
    """Everything that has a command; what needs an argument goes into the prompt, where it is offered."""

    _done = False

    @property
    def _performer(self) -> Performer:
        return cast(Performer, self.app)

    async def discover(self) -> Hits:
        for action in self._offered():
            label = self._label(action)
            yield DiscoveryHit(Content(label), self._do(action), text=label, help=action.help)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for action in self._offered():
            label = self._label(action)
            also = " ".join(action.aliases)
            score = max(matcher.match(label), matcher.match(also) * 0.9, matcher.match(action.help) * 0.7)
            if score > 0:
                shown = matcher.highlight(label.replace("[", "\\["))
                yield Hit(score, shown, self._do(action), text=label, help=action.help)

    def _offered(self) -> list[Action]:
        return [a for a in ACTIONS if a.command and a.id != "palette"]

    def _label(self, action: Action) -> str:
        keys = self._performer.keymap.shown(action, 1)
        return f"{action.title}  {action.usage}" + (f"  ({keys})" if keys else "")

    def _do(self, action: Action) -> Callable[[], Awaitable[None]]:
        return partial(self._perform, action)

    async def _perform(self, action: Action) -> None:
        """Once for each palette, however often enter was pressed."""
        if not self._done:
            self._done = True
            await self._performer.guarded(self._performer.perform(action))
