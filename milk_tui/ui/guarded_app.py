"""What holds for all that the program shows, whoever shows it (``quality.md``, "hostile text", secrets)."""

from __future__ import annotations

from typing import Literal

from rich.text import Text
from textual import events
from textual.app import App

from milk_tui.ui import last_door, light_strips, sure_timers
from milk_tui.ui.at_once import AtOnce

LONGEST_NOTICE = 2_000


class GuardedApp(App[int]):
    """The program's app before it has anything to do: no text is markup, an error shows no values."""

    def __init__(self) -> None:
        last_door.install()
        sure_timers.install()
        light_strips.install()
        super().__init__()

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, (events.Key, events.Paste)) and not event.is_forwarded and self.screen_stack:
            top = self.screen
            if isinstance(top, AtOnce):
                top.key_came()
        await super().on_event(event)

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: Literal["information", "warning", "error"] = "information",
        timeout: float | None = None,
        markup: bool = False,
    ) -> None:
        """As Textual's, for any text: it is cleaned and never markup, whatever ``markup`` says."""
        from milk_tui.core.text import clean

        shown = clean(message)[:LONGEST_NOTICE]
        super().notify(shown, title=clean(title), severity=severity, timeout=timeout, markup=False)

    def _fatal_error(self) -> None:
        """Textual prints the values of all variables with an error that ends the program; prompts and keys are among
        them."""
        import traceback

        from milk_tui.core.secret_scan import masked
        from milk_tui.core.text import clean

        self.bell()
        error = self._exception
        told = "".join(traceback.format_exception(error)) if error is not None else "unknown error"
        self._exit_renderables.append(Text(masked(clean(told))))
        self._close_messages_no_wait()
