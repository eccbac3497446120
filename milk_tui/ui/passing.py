"""What the conversation, the lists of facts and the dialogs ask for, passed on to what does it."""

from __future__ import annotations

from collections.abc import Awaitable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from textual import on, work

from milk_tui.ui.fact_list import FactList
from milk_tui.ui.fact_pane import FactPane
from milk_tui.ui.navigation import Navigation

if TYPE_CHECKING:
    from milk_tui.ui.copying import Door
    from milk_tui.ui.permission_dialog import PermissionDialog
    from milk_tui.ui.search_bar import SearchBar
    from milk_tui.ui.transcript import messages


class Passing(Navigation):
    """The handlers of the app for messages from its widgets."""

    if TYPE_CHECKING:

        def run_in_background(self, doing: Awaitable[object]) -> object: ...

    _door: Door | None = None

    def on_transcript_receipt_requested(self, event: messages.ReceiptRequested) -> None:
        match event.key:
            case ("leg", int(leg_id)):
                self.inspect(leg_id)

    def on_transcript_take_back_requested(self, event: messages.TakeBackRequested) -> None:
        from milk_tui.ui.fact_doings import FactDoings

        fact = self.state.percepts.get(event.fact)
        if fact is None:
            self.main.note("it is not remembered any more")
        else:
            self.run_in_background(FactDoings(self.control, self.main.note).forget([fact]))

    def on_transcript_follow_changed(self, event: messages.FollowChanged) -> None:
        self.main.say_following(event.following, event.new_count)

    def copy_to_clipboard(self, text: str) -> None:
        """Every copy of the program, and of Textual's own widgets, goes through one door."""
        from milk_tui.core.text import clean

        self._clipboard = clean(text)
        self.run_in_background(self._copy(self._clipboard))

    @contextmanager
    def suspend(self) -> Iterator[None]:
        """Give the terminal to another program. Raises MilkError in a browser, which has none."""
        from milk_tui.core.errors import MilkError

        if getattr(self._driver, "is_web", False):
            raise MilkError("another program can't be shown in a browser.", "Open milk-tui in a terminal for that.")
        with super().suspend():
            yield

    async def _copy(self, text: str) -> None:
        from milk_tui.ui import copying

        if self._door is None:
            self._door = copying.door_of(self._driver)
        workspace = self.control.workspace
        if workspace is not None:
            self._door.wish = workspace.config.ui.clipboard
        if (copied := await self._door.copy(text)) is not None:
            self.tell(copied.words(copying.described(text)), "information" if copied.way else "warning")

    def on_transcript_copy_requested(self, event: messages.CopyRequested) -> None:
        self.copy_to_clipboard(event.text)

    def on_transcript_link_clicked(self, event: messages.LinkClicked) -> None:
        self._choose_link([(event.text or event.href, event.href)])

    def on_transcript_links_requested(self, event: messages.LinksRequested) -> None:
        self._choose_link(event.links)

    @work(group="dialog", exit_on_error=False)
    async def _choose_link(self, shown: Sequence[tuple[str, str]]) -> None:
        """A link is from a model: its address is shown before it is opened."""
        from milk_tui.ui import links

        chosen = await links.choose(self, shown)
        if chosen is None:
            return
        if chosen.verb == "copy":
            self.copy_to_clipboard(chosen.href)
        elif await self.guarded(links.open_outside(chosen.href)):
            self.main.note(f"opened: {chosen.href}")

    def on_transcript_nothing_there(self, event: messages.NothingThere) -> None:
        self.main.note(event.text)

    def on_transcript_quote_requested(self, event: messages.QuoteRequested) -> None:
        from milk_tui.ui import conversation_doings

        conversation_doings.quote(self.main.prompt, event.text)

    def on_transcript_open_requested(self, event: messages.OpenRequested) -> None:
        from milk_tui.ui import conversation_doings

        self.run_in_background(conversation_doings.read_elsewhere(self, event.text, self.terminal))

    def on_transcript_ask_other_requested(self, event: messages.AskOtherRequested) -> None:
        from milk_tui.ui import conversation_doings

        self.run_in_background(conversation_doings.ask_other(self.control, event.key))

    def on_transcript_fork_requested(self, event: messages.ForkRequested) -> None:
        self.run_in_background(self._fork(event))

    async def _fork(self, event: messages.ForkRequested) -> None:
        from milk_tui.ui import conversation_doings

        title = await conversation_doings.fork_at(self.control, event.key)
        self.main.note(f"this is {title}, a copy to go another way with")

    @work(group="dialog", exit_on_error=False)
    async def action_queue(self) -> None:
        """The prompts that wait; what is taken back is edited in the prompt."""
        from milk_tui.ui.queue_dialog import QueueDialog

        text = await self.push_screen_wait(QueueDialog(self.state, self.control))
        if text is not None:
            self.main.put_back(text)

    def on_transcript_match_wanted(self, event: messages.MatchWanted) -> None:
        self._search(self._match(event.by))

    async def _match(self, by: int) -> None:
        host = self.main.search
        said = "nothing was searched for yet" if host is None else await host.again(by)
        if said:
            self.main.note(said)

    def on_search_bar_wanted(self, event: SearchBar.Wanted) -> None:
        if self.main.search is not None:
            self._search(self.main.search.look(event.words))

    def on_search_bar_step(self, event: SearchBar.Step) -> None:
        if self.main.search is not None:
            self._search(self.main.search.step(event.by))

    @work(group="search", exclusive=True, exit_on_error=False)
    async def _search(self, doing: Awaitable[object]) -> None:
        await self.guarded(doing)

    @on(FactList.Said)
    def fact_list_said(self, event: FactList.Said) -> None:
        self.tell(event.text)

    @on(FactList.Asked)
    def fact_asked(self, event: FactList.Asked) -> None:
        self.run_in_background(self.facts.asked(event))

    @on(FactPane.Edited)
    def fact_edited(self, event: FactPane.Edited) -> None:
        self.run_in_background(self.facts.edited(event))

    @on(FactPane.FilterChanged)
    def filter_changed(self, event: FactPane.FilterChanged) -> None:
        self._find(event)

    @work(group="filter", exclusive=True, exit_on_error=False)
    async def _find(self, event: FactPane.FilterChanged) -> None:
        await self.guarded(self.facts.find(event))

    def on_permission_dialog_answered(self, event: PermissionDialog.Answered) -> None:
        self.control.answer(event.request_id, event.verdict)

    def on_permission_dialog_left(self, event: PermissionDialog.Left) -> None:
        self.main.leave_permission(event.typed)
