"""How the program looks, and what the terminal is told beside it: theme, title, alerts."""

from __future__ import annotations

import asyncio
import os
import time
from typing import TYPE_CHECKING, Any

from textual import events
from textual.filter import NoColor
from textual.reactive import Reactive
from textual.theme import Theme

from milk_tui.ui import sizes, themes
from milk_tui.ui.background import QUESTION, THE_TERMINAL
from milk_tui.ui.first_look import FirstLook
from milk_tui.ui.passing import Passing

if TYPE_CHECKING:
    from milk_tui.config import UiConfig

AUTOMATIC = "automatic"
"""The choice that leaves the theme to the terminal."""


class Appearance(Passing):
    """The app's looks. ``look`` is what is known of the terminal and wanted before anything is opened."""

    HORIZONTAL_BREAKPOINTS = sizes.WIDTHS
    VERTICAL_BREAKPOINTS = sizes.HEIGHTS

    theme = Reactive(themes.DARK.name)
    """The name of the theme; a start with another than the right one would style everything twice."""

    def __init__(self, look: FirstLook) -> None:
        self.look = look
        self._theme_is_fitting = not look.theme or look.no_colour
        self.set_reactive(Appearance.theme, themes.known(look.theme_name) or look.fitting)
        super().__init__()
        self.stylesheet.reparse = self.stylesheet.parse  # type: ignore[method-assign]
        """Textual reads all sheets anew when a screen brings one; what was read stays until the colours change."""
        self.no_color = self.no_color or look.no_colour
        if look.no_colour:
            self._use_no_colour()
        if look.still or look.plain:
            self.animation_level = "none"
        if look.plain or look.few_signs:
            from milk_tui.ui import spelling

            self._filters.append(spelling.Spelled(spelling.PLAIN if look.plain else spelling.CONSOLE))
        self._named_terminal = ""
        self._alert = "both"
        self._alert_after_s = 20.0
        self._names_terminal = True
        self._waited_since = 0.0

    @property
    def available_themes(self) -> dict[str, Theme]:
        return {**themes.BY_NAME, **super().available_themes}

    def get_theme(self, theme_name: str) -> Theme | None:
        """As Textual's, which puts all themes together anew each time, and asks for one with every widget drawn."""
        return themes.BY_NAME.get(theme_name) or super().get_theme(theme_name)

    def _use_no_colour(self) -> None:
        """Bold, dim, underlined and reversed text remain, also where the terminal says that it is dumb."""
        self._filters[:] = [each for each in self._filters if type(each).__name__ != "Monochrome"]
        if not any(isinstance(each, NoColor) for each in self._filters):
            self._filters.append(NoColor())
        if self.console._color_system is None:
            from rich.color import ColorSystem

            self.console._color_system = ColorSystem.STANDARD

    def listen_to_terminal(self) -> None:
        """Follow what the terminal says of its background, unless a theme was chosen."""
        loop = asyncio.get_running_loop()
        THE_TERMINAL.on_answer = lambda dark: loop.call_soon_threadsafe(self.ground_is, dark)
        if THE_TERMINAL.attributes is not None and hasattr(self._driver, "attrs_before"):
            self._driver.attrs_before = THE_TERMINAL.attributes  # type: ignore[union-attr]

    def came_back(self, _: object) -> None:
        """The terminal is the program's again, after a stop or another program, and shows nothing of it yet."""
        self.show_cursor()
        if self._driver is not None:
            self._driver.write(self._named_terminal)
        self.refresh()

    def show_cursor(self) -> None:
        """The terminal's own cursor, which voices and braille displays follow."""
        if self.look.plain and self._driver is not None:
            self._driver.write("\x1b[?25h")

    def notify(self, message: str, **more: Any) -> None:
        """A message that goes by itself is a line that stays on the plain screen."""
        if self.main.said is not None:
            self.main.said.add(message)
        else:
            super().notify(message, **more)

    def take_early_keys(self) -> None:
        """Keys that were typed before there was a prompt."""
        driver = self._driver
        if driver is None:
            return

        def send(held: str) -> None:
            for event in THE_TERMINAL.parse(held):
                driver.process_message(event)

        THE_TERMINAL.let_go(send)

    def ground_is(self, dark: bool) -> None:
        """The terminal's background is dark or light, now."""
        from dataclasses import replace

        self.look = replace(self.look, dark=dark)
        if self._theme_is_fitting and self.theme != self.look.fitting:
            self.theme = self.look.fitting

    def on_app_focus(self, event: events.AppFocus) -> None:
        """The background may have changed meanwhile: a terminal that answered once is asked again."""
        if self._theme_is_fitting and THE_TERMINAL.dark is not None and self._driver is not None:
            self._driver.write(QUESTION)

    def use_ui_settings(self, settings: UiConfig) -> None:
        """The configuration is read."""
        self._alert, self._alert_after_s = settings.alert, settings.alert_after
        self._names_terminal = settings.title
        if settings.theme and settings.theme != self.theme and not self.look.no_colour:
            self.use_theme(settings.theme)
        if settings.reduced_motion:
            self.animation_level = "none"

    def use_theme(self, name: str) -> bool:
        """Show a theme by its name, ``automatic`` the one that fits the terminal; False when there is none."""
        if self.look.no_colour:
            self.main.note("colours are off: NO_COLOR is set, or the terminal has none", "warning")
            return False
        if name == AUTOMATIC:
            self._theme_is_fitting = True
            self.theme = self.look.fitting
        elif name in self.available_themes:
            self._theme_is_fitting = False
            self.theme = name
        else:
            self.main.note(f"there is no theme {name}: {', '.join(sorted(self.available_themes))}", "warning")
            return False
        return True

    async def choose_theme(self, name: str) -> None:
        """Show a theme and have the config remember it. Raises MilkError where it can't be written."""
        if self.use_theme(name):
            from milk_tui import config_edit, paths

            file = self.control.launch.config_path or paths.config_file()
            wanted = None if name == AUTOMATIC else name
            await asyncio.to_thread(config_edit.write, file, {("ui", "theme"): wanted})
            self.main.note(f"theme: {name}; remembered in {paths.shown(file)}")

    def name_terminal(self) -> None:
        """Write what goes on and the session's title into the terminal's own title."""
        if self._driver is None or not self._names_terminal:
            return
        from milk_tui.ui import attention

        wanted = attention.titled(attention.title(self.state, plain=self.look.plain))
        if wanted != self._named_terminal:
            self._driver.write(("" if self._named_terminal else attention.KEEP_TITLE) + wanted)
            self._named_terminal = wanted

    def answer_begins(self) -> None:
        self._waited_since = self._waited_since or time.monotonic()

    def turn_is_over(self, status: str) -> None:
        """A long answer is told to a person who looks elsewhere; one that was stopped is no news."""
        since, self._waited_since = self._waited_since, 0.0
        said = {"done": "the answer is there", "failed": "the answer failed"}.get(status)
        if said and since and time.monotonic() - since >= self._alert_after_s:
            self.call_person(said)

    def call_person(self, text: str) -> None:
        """Ring, or send a message, while the terminal is not looked at."""
        if not self.app_focus and self._driver is not None:
            from milk_tui.ui import attention

            about = f"{text} · {self.state.title}" if self.state.title else text
            self._driver.write(attention.alert(self._alert, about, os.environ))

    def last_words(self) -> bytes:
        """What gives the terminal back its own title."""
        from milk_tui.ui import attention

        return attention.GIVE_BACK_TITLE.encode() if self._named_terminal else b""
