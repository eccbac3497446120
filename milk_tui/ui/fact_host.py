"""What is asked of facts, wherever their list is: done, said, shown. It puts reading, doing and dialogs together."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from milk_tui.core.errors import MilkError
from milk_tui.core.percepts import SecretRefusedError
from milk_tui.core.records import Role
from milk_tui.ui import fact_reads
from milk_tui.ui.fact_doings import FactDoings

if TYPE_CHECKING:
    from textual.app import App

    from milk_tui.core.records import Percept
    from milk_tui.ui.control import Control
    from milk_tui.ui.fact_list import FactList
    from milk_tui.ui.fact_pane import FactPane


class FactHost:
    """``say`` shows a line where the person looks. ``MilkError`` goes through to the caller."""

    def __init__(self, app: App[int], control: Control, say: Callable[[str], None]) -> None:
        self._app = app
        self._control = control
        self.doings = FactDoings(control, say)
        self._in_turn = asyncio.Lock()
        """What is done with facts is done one after another, in the order of the keys."""
        self.asked_role = Role.PRIMARY
        """Whose recall a filter shows."""

    async def asked(self, event: FactList.Asked) -> None:
        try:
            await self._asked(event)
        finally:
            event.list.taken_over()

    async def _asked(self, event: FactList.Asked) -> None:
        match event.what:
            case "details":
                await self.show(event.percept)
            case "explain":
                view = event.list.view
                await self.explain(getattr(view, "words", ""), event.percept)
            case _:
                async with self._in_turn:
                    await self.doings.do(event)

    async def edited(self, event: FactPane.Edited) -> None:
        """Keep a fact's new words; the writing stays open when they are refused."""
        try:
            await self.doings.edit(event.percept, event.text, insist=event.insist)
        except SecretRefusedError as refused:
            event.pane.refuse_edit(event.text)
            raise MilkError(refused.what, "Enter once more keeps it all the same.") from refused
        await event.pane.close_edit()

    async def find(self, event: FactPane.FilterChanged) -> None:
        """Show what the words find, if they are still those of the filter then."""
        if event.words.strip():
            event.pane.show_found(await fact_reads.find(self._control, event.words, self.asked_role))

    async def show(self, percept: Percept) -> None:
        """Everything about a fact, and the way to where it was said."""
        from milk_tui.ui.fact_details import details

        going = await details(self._app, self._control, percept)
        if going is not None:
            self._app.post_message(going)

    async def explain(self, prompt: str, percept: Percept | None = None) -> None:
        """Why an agent is given what for a prompt; for a blank one, for what was asked last."""
        from milk_tui.ui.browser_why import explain

        prompt = prompt.strip() or await self._control.last_prompt()
        if not prompt:
            raise MilkError("There is no prompt to explain.", "Type words into the filter first.")
        await explain(self._app, self._control, prompt, percept)
