"""Keys that are dealt with in the order in which they were typed, also when one of them moves the focus.

Textual gives a key to the widget that has the focus when it arrives, and looks its binding up only after the widget
has passed it on. Of keys that come in one burst, by fast typing or over a slow line, the later ones thus reach a widget
that is no longer the one they were meant for: after ``/`` for a filter, an ``x`` in the word would forget a fact.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textual import events

if TYPE_CHECKING:
    from textual.app import App
    from textual.binding import BindingsMap
    from textual.dom import DOMNode
    from textual.timer import Timer
    from textual.widget import Widget

    _Base = Widget
else:
    _Base = object

AT_MOST_S = 2.0
"""How long keys are held for another widget that does not come."""


class InOrder(_Base):
    """Goes before the widget's own kind in its bases; no node itself: Textual takes styles from the first that is."""

    _held: list[events.Key] | None = None
    """Keys for the widget that gets the keyboard next; ``None`` while they are this one's own."""
    _held_timer: Timer | None = None

    async def _on_key(self, event: events.Key) -> None:
        focused = self.app.focused
        if self._held is not None:
            self._held.append(event)
        elif focused is not self and focused is not None:
            pass_on(event, focused)
        elif not await self.take_key(event):
            return
        event.stop()
        event.prevent_default()

    async def take_key(self, event: events.Key) -> bool:
        """Do what a key of the widget or of its screen means; False when it means nothing there."""
        for node, bindings in ((self, self._bindings), (self.screen, self.screen._bindings)):
            if await self._run(event.key, node, self._with_keymap(bindings)):
                return True
        return False

    async def _run(self, key: str, node: DOMNode, bindings: BindingsMap) -> bool:
        for binding in bindings.key_to_bindings.get(key, ()):
            if "." not in binding.action and await self.app.run_action(binding.action, node):
                return True
        return False

    def _with_keymap(self, bindings: BindingsMap) -> BindingsMap:
        keymap = getattr(self.app, "keymap", None)
        if keymap is None or not keymap.keys:
            return bindings
        changed = bindings.copy()
        changed.apply_keymap(keymap.overrides())
        return changed

    def hand_over(self) -> None:
        """Another widget is about to get the keyboard: hold what is typed until it has it."""
        if self._held is None:
            self._held = []
            self._held_timer = self.set_timer(AT_MOST_S, self.taken_over)

    def taken_over(self) -> None:
        """Give what was held to the widget that has the keyboard now; when that is still this one, forget it: it was
        not meant for it."""
        held, self._held = self._held or [], None
        if self._held_timer is not None:
            self._held_timer.stop()
            self._held_timer = None
        focused = focused_in(self.app)
        if focused is not None and focused is not self:
            for event in held:
                pass_on(event, focused)


def focused_in(app: App[Any]) -> Widget | None:
    """What has the keyboard; nothing has it once the program ends."""
    return app.focused if app.screen_stack else None


def pass_on(event: events.Key, widget: Widget) -> None:
    """The key for another widget than the one that got it."""
    again = events.Key(event.key, event.character)
    again._set_forwarded()
    widget.post_message(again)
