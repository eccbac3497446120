"""The main screen: conversation, facts, bricks and prompt; it shows the state and says what is wanted."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from shutil import get_terminal_size
from typing import TYPE_CHECKING, ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.message import Message
from textual.screen import Screen
from textual.style import Style
from textual.widget import Widget

from milk_tui.ui import sizes, summary
from milk_tui.ui.actions import BY_ID, Action, Keymap, Where, bindings
from milk_tui.ui.at_once import AtOnce
from milk_tui.ui.bars import FooterLine, HeaderLine
from milk_tui.ui.control import Control
from milk_tui.ui.main_panes import MainPanes
from milk_tui.ui.paint import LookBook
from milk_tui.ui.prompt import Prompt
from milk_tui.ui.prompt_box import PromptBox
from milk_tui.ui.sidebar import Sidebar
from milk_tui.ui.sizes import HEIGHTS, WIDTHS
from milk_tui.ui.state import SessionState, Topic

if TYPE_CHECKING:
    from textual.timer import Timer

    from milk_tui.config import UiConfig
    from milk_tui.ui.arguments import Arguments
    from milk_tui.ui.choices import Choice
    from milk_tui.ui.conversation import Conversation
    from milk_tui.ui.permission_dialog import PermissionDialog
    from milk_tui.ui.permission_host import PermissionHost
    from milk_tui.ui.plain import Said
    from milk_tui.ui.search_host import SearchHost
    from milk_tui.ui.welcome import Welcome


class Across(Horizontal):
    """A row of panes that shows nothing itself, which Textual need not draw behind them."""

    BLANK = True


TICK_S = 0.25
AGAIN_S = 2.0
"""Seconds in which a second ``ctrl+c`` quits."""


class MainScreen(AtOnce, Screen[None]):
    """Composition and looks; what a key does with the session is said upwards (``Wanted``)."""

    @dataclass
    class Wanted(Message):
        """An action is wanted, by its key or by a command that takes nothing."""

        action: Action
        by_key: bool = True
        written: str = ""
        """What it is wanted for; it is out of the prompt."""

    @dataclass
    class Sent(Message):
        """A prompt was sent; it is taken out of the input when it is kept."""

        text: str

    BINDINGS: ClassVar = bindings(Where.SESSION)
    HORIZONTAL_BREAKPOINTS = WIDTHS
    VERTICAL_BREAKPOINTS = HEIGHTS
    AUTO_FOCUS = "#prompt"
    BLANK = True

    def __init__(self, state: SessionState, control: Control, look_book: LookBook) -> None:
        super().__init__(classes=sizes.classes(*get_terminal_size()))
        self._state = state
        self._control = control
        self._frame = 0
        self._ticker: Timer | None = None
        self._asked_to_quit = 0.0
        self.header = HeaderLine(state)
        self._look_book = look_book
        self.conversation: Conversation | None = None
        """There once the first frame is out: what draws it is slow to import."""
        self.search: SearchHost | None = None
        """There once something was searched for."""
        self.sidebar = Sidebar(state)
        self.box = PromptBox()
        self.footer = FooterLine()
        self.panes = MainPanes(self)
        self._reduced_motion = False
        self.keymap = Keymap({})
        self.typed_at = 0.0
        """When the prompt last changed, on the monotonic clock."""
        self._arguments: Arguments | None = None
        """What can follow a command; there once one was written."""
        self.said: Said | None = None
        """What happens, in lines of text: on the plain screen."""
        self._welcome: Welcome | None = None
        self._permission: PermissionHost | None = None
        """There once an agent has asked something."""

    @property
    def prompt(self) -> Prompt:
        return self.box.prompt

    def compose(self) -> ComposeResult:
        yield self.header
        with Across(id="body"):
            with Vertical(id="conversation", classes="pane") as conversation:
                conversation.border_title = "conversation"
            yield self.sidebar
        if self.said is not None:
            yield self.said
        yield self.box
        yield self.footer
        yield self._look_book

    def on_mount(self) -> None:
        self.box.find_files = self._control.find_files
        self.prompt.directory = lambda: self._state.directory
        self.box.find_arguments = self._find_arguments
        self._ticker = self.set_interval(TICK_S, self._tick, pause=True)
        self._say()

    async def _find_arguments(self, command: str, written: str) -> Sequence[Choice]:
        if self._arguments is None:
            from milk_tui.ui.arguments import Arguments

            self._arguments = Arguments(self._control, lambda: self.app.available_themes)
        return await self._arguments.find(command, written)

    def state_changed(self, topics: Iterable[Topic], facts: Iterable[str] = ()) -> None:
        """Draw again what the topics name; ``facts`` are new or changed ones."""
        topics = set(topics)
        if Topic.HEADER in topics:
            self.header.refresh()
        if Topic.STATUS in topics or (Topic.BRICKS in topics and not self.sidebar.display):
            self._say()
        if Topic.PERCEPTS in topics:
            self.sidebar.show_facts(facts)
        if topics & {Topic.BRICKS, Topic.HEADER}:
            self.sidebar.show_bricks()
        if Topic.ASKED in topics:
            self._show_asked()
        if Topic.KEYS in topics:
            self._offer_keys()
        if self._welcome is not None:
            self._welcome.state_changed()

    def on_resize(self, event: events.Resize) -> None:
        self.prompt.styles.max_height = sizes.prompt_rows(event.size.height)

    def _show_asked(self) -> None:
        """What agents ask, over the prompt; the bricks make room for it."""
        self.sidebar.set_class(bool(self._state.asked), "-asked")
        if self._permission is None:
            if not self._state.asked:
                return
            from milk_tui.ui.permission_host import PermissionHost

            self._permission = PermissionHost(self, self._state)
        self._permission.changed()

    @property
    def permission(self) -> PermissionDialog | None:
        """The dialog of what an agent asks, while something waits."""
        return self._permission.dialog if self._permission is not None else None

    def leave_permission(self, typed: str) -> None:
        """From the dialog back to the prompt, with what was typed for it."""
        if self._permission is not None:
            self._permission.leave(typed)

    @on(Prompt.Changed)
    def prompt_typed(self) -> None:
        self.typed_at = time.monotonic()

    def use_settings(self, keymap: Keymap, settings: UiConfig) -> None:
        self.keymap = keymap
        self.box.use_keys(keymap)
        self.footer.show(keymap=keymap)
        self._reduced_motion = settings.reduced_motion
        self.sidebar.pane.facts.flashes = not settings.reduced_motion
        self.set_class(not settings.sidebar, "-no-sidebar")

    def _say(self) -> None:
        if self.said is not None:
            self.said.state_changed()
            self.box.say((("prompt", ""),), summary.queue(self._state))
            return
        now = time.monotonic()
        frame = -1 if self._reduced_motion else self._frame
        corner = summary.queue(self._state)
        if not corner and not self.sidebar.display:
            corner = summary.news(self._state, self.size.width)
        self.box.say(summary.status(self._state, now, frame), corner)
        if self._ticker is not None:
            (self._ticker.resume if self._state.busy else self._ticker.pause)()

    def _tick(self) -> None:
        self._frame += 1
        self._say()

    def _offer_keys(self) -> None:
        state = self._state
        at_rest = state.running is None and state.loading is None and not state.command
        where, off = self.panes.offered(at_rest=at_rest)
        self.footer.show(where=where, off=off)

    def on_row_list_moved(self) -> None:
        self._offer_keys()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        self._offer_keys()
        for pane in self.query(".pane"):
            pane.set_class(pane in event.widget.ancestors, "-focused")

    def on_paste(self, event: events.Paste) -> None:
        """A paste that no widget took belongs into the prompt."""
        self.prompt.focus()
        self.prompt.insert_text(event.text)

    @on(FooterLine.Pressed)
    def key_clicked(self, event: FooterLine.Pressed) -> None:
        """It is done by its target, as by its key: what the target then says goes past this screen."""
        where = event.action.where
        target: Widget | None = None
        if where is not Where.EVERYWHERE:
            target = self if where is Where.PROMPT else self.panes.there.get(where, self)
        (target or self.app).call_later(self.app.run_action, event.action.method, target)

    @on(PromptBox.CommandChosen)
    def command_chosen(self, event: PromptBox.CommandChosen) -> None:
        self.post_message(self.Wanted(event.action, by_key=False))

    @on(Prompt.Paged)
    def paged(self, event: Prompt.Paged) -> None:
        event.stop()
        if self.conversation is not None:  # by itself: what it then says goes past this screen
            self.conversation.transcript.call_later(self.conversation.transcript.action_pages, event.pages)

    @on(Prompt.Submitted)
    def submitted(self, event: Prompt.Submitted) -> None:
        event.stop()
        self.post_message(self.Sent(event.text))

    def say_following(self, following: bool, new_count: int) -> None:
        """Say in the frame whether the end is followed, and what is new below when it is not."""
        new = f"{new_count} new ↓ · " if new_count else ""
        key = self.keymap.shown(BY_ID["follow"], 1)
        said = Content.styled(f"{new}{key} follows", Style.from_meta({"@click": "screen.follow"}))
        self.query_one("#conversation").border_subtitle = None if following else said

    def _key_escape(self) -> None:
        """Dropping a selection is one step of ``action_escape``, not one beside it."""

    async def action_escape(self) -> None:
        """The first that applies (``ux.md``, "Keys")."""
        if self.box.close_completion() or await self.sidebar.pane.close_filter():
            return
        if self.search is not None and await self.search.close():
            return
        if self.selections:
            self.clear_selection()
        elif self.prompt.selected_text:
            self.prompt.move_cursor(self.prompt.cursor_location)
        elif self._state.running is not None or self._state.command:
            self._want("escape")
        elif self.focused is not self.prompt:
            self.prompt.focus()
        elif self._state.loading is not None:
            self._want("escape")

    def action_copy(self) -> None:
        """Without a selection: clear the prompt, or ask to quit."""
        now = time.monotonic()
        if self.box.close_completion() or not self.prompt.is_blank:
            self.prompt.take()
            self.box.note("cleared; ^z brings it back")
        elif now - self._asked_to_quit < AGAIN_S:
            self._want("quit")
        else:
            self._asked_to_quit = now
            self.box.note("once more to save and quit")

    def action_copy_text(self) -> None:
        from textual.actions import SkipAction

        text = self.get_selected_text()
        if not text:
            raise SkipAction()
        self.app.copy_to_clipboard(text)

    def action_sidebar(self) -> None:
        if self.has_class("-narrow"):
            self._want("memory")
        else:
            self.toggle_class("-no-sidebar")
            if self.focused is not None and self.sidebar in self.focused.ancestors:
                self.prompt.focus()

    @property
    def here(self) -> tuple[Where, ...]:
        """The pane that has the focus, then the screen's own; from the prompt these come first."""
        own = self.panes.focused
        return (Where.SESSION, Where.PROMPT) if own in (None, Where.PROMPT) else (own, Where.SESSION)

    def move_pane(self, step: int) -> None:
        self.panes.move(step)

    def _want(self, id_: str) -> None:
        self.post_message(self.Wanted(BY_ID[id_]))

    async def begin_search(self, words: str = "") -> None:
        """Search in the conversation."""
        if self.conversation is None:
            return
        if self.search is None:
            from milk_tui.ui.search_host import SearchHost

            self.search = SearchHost(self.query_one("#conversation"), self._control, self.conversation)
        await self.search.begin(words)

    async def action_search(self) -> None:
        await self.begin_search()

    def action_queue(self) -> None:
        self._want("queue")

    def action_follow(self) -> None:
        if self.conversation is not None:
            self.conversation.transcript.call_later(self.conversation.transcript.follow)

    def action_escalate(self) -> None:
        written = "" if self.prompt.is_blank else self.prompt.take()
        self.post_message(self.Wanted(BY_ID["escalate"], written=written))

    def action_hand_back(self) -> None:
        self._want("hand-back")

    def action_history_search(self) -> None:
        self._want("history-search")

    def action_editor(self) -> None:
        self._want("editor")

    async def add_conversation(self, conversation: Conversation) -> None:
        """Put the transcript into its pane."""
        self.conversation = conversation
        pane = self.query_one("#conversation")
        await pane.mount(conversation.transcript)
        if self.said is None:
            from milk_tui.ui.welcome import Welcome

            self._welcome = Welcome(self._state, lambda: conversation.is_empty, lambda: self.keymap)
            await pane.mount(self._welcome)

    def session_opened(self, *, switched: bool) -> None:
        """Show the session that was opened: conversation, facts, and its draft.

        What was written before the first session was there stays; the draft is then one step up.
        """
        shown, session = self._control.shown, self._state.session
        if shown is None or session is None or self._control.workspace is None:
            return
        if self.conversation is not None:
            self.conversation.begin(self._control.workspace.store, shown)
        self.prompt.past.set(shown.history)
        if switched:
            written, left = self.prompt.full_text, self._control.left_draft
            begun = written[len(left) :] if written.startswith(left) else ""
            self.prompt.begin(session.draft + begun)
        elif self.prompt.is_blank:
            self.prompt.begin(session.draft)
        elif session.draft and self.prompt.full_text != session.draft:
            self.prompt.past.offer(session.draft)
            self.note("the draft of last time is one step up")
        self.state_changed(Topic)

    def note(self, text: str, severity: str = "information") -> None:
        if self.said is not None:
            self.said.add(text)
        else:
            self.box.note(text, severity)

    def copy(self, text: str) -> None:
        self.app.copy_to_clipboard(text)

    def sent(self, text: str) -> None:
        self.prompt.past.sent(text)

    def put_back(self, text: str) -> None:
        self.prompt.put_back(text)
