"""The ways to the screens and dialogs above the main one; each is imported when it is first shown."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TYPE_CHECKING

from textual import work
from textual.app import App

from milk_tui.ui.actions import Action, Keymap
from milk_tui.ui.control import Control
from milk_tui.ui.main_screen import MainScreen
from milk_tui.ui.state import SessionState

if TYPE_CHECKING:
    from milk_tui.core.records import Percept
    from milk_tui.ui.screens import FullScreen


class Navigation(App[int]):
    """What the app can open; the app itself says what is done with the session."""

    state: SessionState
    control: Control
    keymap: Keymap
    main: MainScreen
    terminal: int | None
    """The terminal's descriptor, for an editor; ``None`` where there is none."""

    if TYPE_CHECKING:

        async def guarded(self, doing: Awaitable[object], *, fatal: bool = False) -> bool: ...

        async def perform(self, action: Action, argument: str = "") -> None: ...

    def show_main(self) -> None:
        """Close every screen above the main one."""
        while self.screen is not self.main:
            self.pop_screen()

    def show_full(self, screen: FullScreen) -> None:
        """Show a full screen instead of the one that is up; the same one again closes it."""
        again = type(self.screen) is type(screen)
        self.show_main()
        if not again:
            self.push_screen(screen)

    def action_memory(self) -> None:
        from milk_tui.ui.memory import MemoryScreen

        self.show_full(MemoryScreen(self.state, self.keymap))

    def action_bricks(self) -> None:
        self.inspect()

    def inspect(self, leg_id: int | None = None) -> None:
        """The brick inspector, with the receipt of a leg when one is named."""
        from milk_tui.ui.inspector import InspectorScreen

        self.show_full(InspectorScreen(self.state, self.keymap, self.control, leg_id=leg_id))

    def action_perception(self) -> None:
        from milk_tui.ui.perception import PerceptionScreen

        self.show_full(PerceptionScreen(self.state, self.keymap))

    @work(group="dialog", exit_on_error=False)
    async def action_sessions(self) -> None:
        from milk_tui.ui.sessions import choose

        await self.guarded(choose(self, self.control, self))

    @work(group="dialog", exit_on_error=False)
    async def action_new_session(self) -> None:
        self.show_main()
        await self.guarded(self.switch_session(new=True))

    async def switch_session(self, which: str | None = None, *, new: bool = False) -> None:
        """Another session on the screen; the draft of this one is saved first."""
        if self.control.workspace is None:
            self.main.note("the session is not open yet")
            return
        await self.control.save_draft(self.main.prompt.full_text)
        await self.control.open_session(which, new=new)

    @work(group="dialog", exit_on_error=False)
    async def action_help(self) -> None:
        from milk_tui.ui.actions import BY_ID
        from milk_tui.ui.help import help_picker

        chosen = await self.push_screen_wait(help_picker(self.keymap))
        if chosen is not None:
            await self.guarded(self.perform(BY_ID[chosen]))

    def action_palette(self) -> None:
        from milk_tui.ui.palette import Actions, Palette

        self.push_screen(Palette([Actions], placeholder="find a command"))

    @work(group="dialog", exit_on_error=False)
    async def action_theme(self) -> None:
        from milk_tui.ui.dialogs import Picker
        from milk_tui.ui.theme_rows import theme_rows

        before = self.theme
        chosen = await self.push_screen_wait(Picker("theme", theme_rows(self.available_themes, before)))
        if chosen is not None:
            self.theme = chosen

    def action_next_pane(self) -> None:
        self._move_pane(1)

    def action_previous_pane(self) -> None:
        self._move_pane(-1)

    def _move_pane(self, step: int) -> None:
        move = getattr(self.screen, "move_pane", None)
        if move is not None:
            move(step)
        elif step > 0:
            self.screen.focus_next()
        else:
            self.screen.focus_previous()

    @work(group="dialog", exit_on_error=False)
    async def action_history_search(self) -> None:
        from milk_tui.ui import prompt_tools

        await prompt_tools.search_history(self, self.main.prompt)

    @work(group="dialog", exit_on_error=False)
    async def action_editor(self) -> None:
        from milk_tui.ui import prompt_tools

        await self.guarded(prompt_tools.write_elsewhere(self, self.main.prompt, self.terminal))

    async def show_fact(self, percept: Percept) -> None:
        """Everything about a fact, and the way to where it was said."""
        from milk_tui.ui.fact_details import details

        turn = await details(self, self.control, percept)
        if turn is not None and self.main.conversation is not None:
            self.show_main()
            self.main.conversation.go_to_turn(turn)

    def use_theme(self, name: str) -> None:
        if name in self.available_themes:
            self.theme = name
        else:
            self.main.note(f"there is no theme {name}: {', '.join(sorted(self.available_themes))}", "warning")
