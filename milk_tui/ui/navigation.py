"""The ways to the screens and dialogs above the main one; each is imported when it is first shown."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from importlib import import_module
from typing import TYPE_CHECKING

from textual import work

from milk_tui.core.errors import MilkError
from milk_tui.ui.actions import BY_ID, WAYS, Action, Keymap, Where
from milk_tui.ui.control import Control
from milk_tui.ui.guarded_app import GuardedApp
from milk_tui.ui.main_screen import MainScreen
from milk_tui.ui.state import SessionState

if TYPE_CHECKING:
    from milk_tui.ui.fact_details import GoToTurn
    from milk_tui.ui.fact_host import FactHost
    from milk_tui.ui.memory import MemoryScreen
    from milk_tui.ui.screens import FullScreen


class Navigation(GuardedApp):
    """What the app can open; the app itself says what is done with the session."""

    state: SessionState
    control: Control
    keymap: Keymap
    main: MainScreen
    terminal: int | None
    """The terminal's descriptor, for an editor; ``None`` where there is none."""

    _facts: FactHost | None = None

    if TYPE_CHECKING:

        def tell(self, text: str, severity: str = "information") -> None: ...

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

    @property
    def facts(self) -> FactHost:
        """What is asked of facts; imported when that is first done."""
        if self._facts is None:
            from milk_tui.ui.fact_host import FactHost

            self._facts = FactHost(self, self.control, self.tell)
        return self._facts

    @work(group="memory", exit_on_error=False)
    async def action_memory(self, words: str = "") -> None:
        """The memory browser; with ``words`` in its filter when there are some."""
        self.show_full(await self._memory_screen(words))

    @work(group="memory", exit_on_error=False)
    async def action_clean_up(self) -> None:
        """The memory browser, with what could be forgotten."""
        screen = await self._memory_screen()
        self.show_main()
        self.push_screen(screen)
        screen.call_after_refresh(screen.action_clean_up)

    async def _memory_screen(self, words: str = "") -> MemoryScreen:
        module = await asyncio.to_thread(import_module, "milk_tui.ui.memory")
        screen: MemoryScreen = module.MemoryScreen(self.state, self.keymap, self.control, self.facts, words=words)
        return screen

    @work(group="dialog", exit_on_error=False)
    async def action_explain_fact(self, prompt: str = "") -> None:
        """Why an agent would be given what for a prompt."""
        await self.guarded(self.facts.explain(prompt))

    @work(group="dialog", exit_on_error=False)
    async def on_go_to_turn(self, event: GoToTurn) -> None:
        """Close what is above the conversation and show a turn, of another session if need be."""
        self.show_main()
        if event.session_id and event.session_id != self.control.session_id:
            await self.guarded(self.switch_session(event.session_id))
        self.call_later(self._show_turn, event.turn_id)

    def _show_turn(self, turn_id: int) -> None:
        if self.main.conversation is not None:
            self.main.conversation.go_to_turn(turn_id)

    def action_bricks(self) -> None:
        self.inspect()

    def action_compare_receipts(self) -> None:
        """The difference between the two newest receipts."""
        self.inspect(compare=True)

    @work(group="inspect", exit_on_error=False)
    async def inspect(self, leg_id: int | None = None, *, compare: bool = False) -> None:
        """The brick inspector; with the receipt of a leg when one is named, or the newest two compared."""
        await self.guarded(self._show_made("inspector", "InspectorScreen", leg_id=leg_id, compare=compare))

    async def _show_made(self, module: str, kind: str, **more: object) -> None:
        """Show a full screen whose module is imported beside the event loop."""
        found = await asyncio.to_thread(import_module, f"milk_tui.ui.{module}")
        self.show_full(getattr(found, kind)(self.state, self.keymap, self.control, **more))

    def action_status(self) -> None:
        """How everything is."""
        from milk_tui.ui.dialogs import Reader
        from milk_tui.ui.status_words import status_lines
        from milk_tui.ui.words import text_rows

        self.push_screen(Reader("status", text_rows("\n".join(status_lines(self.state)), prefix="status")))

    @work(group="inspect", exit_on_error=False)
    async def action_statistics(self) -> None:
        """What the session used."""
        await self.guarded(self._show_made("statistics", "StatisticsScreen"))

    @work(group="inspect", exit_on_error=False)
    async def action_settings(self, words: str = "") -> None:
        await self.guarded(self._show_made("settings", "SettingsScreen", words=words))

    @work(group="dialog", exit_on_error=False)
    async def action_model(self, role: str = "primary") -> None:
        """Another model for a role."""
        picker = await asyncio.to_thread(import_module, "milk_tui.ui.model_picker")
        from milk_tui.core.records import Role

        await self.guarded(picker.choose(self, self.control, Role(role)))

    @work(group="inspect", exit_on_error=False)
    async def action_perception(self) -> None:
        await self.guarded(self._show_made("perception", "PerceptionScreen"))

    @work(group="dialog", exit_on_error=False)
    async def action_sessions(self) -> None:
        from milk_tui.ui.sessions import choose

        await self.guarded(choose(self, self.control, self))

    @work(group="dialog", exit_on_error=False)
    async def action_new_session(self) -> None:
        self.show_main()
        await self.guarded(self.switch_session(new=True))

    async def switch_session(self, which: str | None = None, *, new: bool = False) -> None:
        """Another session on the screen; the draft of this one is saved first, and views of it are closed."""
        if self.control.workspace is None:
            self.main.note("the session is not open yet")
            return
        self.show_main()
        await self.control.save_draft(self.main.prompt.full_text)
        await self.control.open_session(which, new=new)

    @work(group="dialog", exit_on_error=False)
    async def action_help(self, words: str = "") -> None:
        """What can be done, that of the pane that one is in first; what is chosen is done there."""
        from milk_tui.ui.help import help_picker
        from milk_tui.ui.whereabouts import panes_of, target_of

        here, focused = self.screen, self.screen.focused
        picker = help_picker(self.keymap, panes_of(here), words=words)
        chosen = BY_ID.get(await self.push_screen_wait(picker) or "")
        if chosen is None:
            return
        if chosen.where in panes_of(here) and focused is not None and chosen.where is not Where.EVERYWHERE:
            focused.focus()
            self.call_later(self.run_action, chosen.method, target_of(here, chosen))
        else:
            await self.guarded(self.perform(chosen))

    async def go_and_do(self, action: Action) -> None:
        """Do what belongs to a screen or a pane where that is; what needs a place there is only shown the way to.

        Raises MilkError.
        """
        if hasattr(self, f"action_{action.method}"):
            await self.run_action(action.method, self)
        elif hasattr(self.main, f"action_{action.method}"):
            self.show_main()
            await self.run_action(action.method, self.main)
        else:
            await self._show_pane(action)

    async def _show_pane(self, action: Action) -> None:
        """Go to where the action's key works, and say which it is."""
        match action.where:
            case Where.PROMPT:
                self.show_main()
                self.main.prompt.focus()
            case Where.PERCEPTS | Where.CONVERSATION | Where.PERMISSION:
                self.show_main()
                if not self.main.panes.go_to(action.where):
                    raise MilkError(f"there is no {action.where} now")
            case where:
                self.show_main()
                await self.perform(BY_ID[WAYS[where]])
        self.notify(f"{self.keymap.shown(action, 1)} here: {action.help}", markup=False)

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

    def action_changes(self) -> None:
        """What the agents changed in files."""
        from milk_tui.ui.changes_dialog import ChangesDialog

        if self.control.conductor is None:
            self.tell("the session is not open yet")
        else:
            self.push_screen(ChangesDialog(self.control.conductor.changes))

    @work(group="dialog", exit_on_error=False)
    async def action_helper(self) -> None:
        """The memory helper's notes and runs."""
        dialog = (await asyncio.to_thread(import_module, "milk_tui.ui.helper_dialog")).HelperDialog
        if self.control.workspace is None or self.control.conductor is None:
            self.tell("the session is not open yet")
        else:
            self.push_screen(dialog(self.control.workspace, self.control.conductor))

    @work(group="dialog", exit_on_error=False)
    async def action_permissions(self) -> None:
        """What the agents may do without asking again."""
        from milk_tui.ui import grants_dialog

        if self.control.workspace is not None:
            await self.guarded(grants_dialog.manage(self, self.control.workspace.store, self.state.directory))

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

        await prompt_tools.search_history(self, self.main.prompt, await self.control.earlier_prompts())

    @work(group="dialog", exit_on_error=False)
    async def action_editor(self) -> None:
        from milk_tui.ui import prompt_tools

        await self.guarded(prompt_tools.write_elsewhere(self, self.main.prompt, self.terminal))
