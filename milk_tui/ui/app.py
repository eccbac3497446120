"""The full-screen program: it puts the parts together and passes on what they say; it holds no rule."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import os
import signal
import sys
import time
from collections.abc import Awaitable
from importlib import import_module
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.screen import Screen

from milk_tui.ui import themes
from milk_tui.ui.actions import BY_ID, Action, Keymap, Where, bindings
from milk_tui.ui.actions import keymap as checked_keymap
from milk_tui.ui.appearance import Appearance
from milk_tui.ui.control import Control, EngineSpoke, SessionOpened
from milk_tui.ui.first_look import FirstLook
from milk_tui.ui.main_screen import MainScreen
from milk_tui.ui.paint import LookBook
from milk_tui.ui.prompt import Prompt
from milk_tui.ui.state import SessionState, Topic

if TYPE_CHECKING:
    from textual.timer import Timer

    from milk_tui.config import Config
    from milk_tui.engine.events import AnyEvent
    from milk_tui.engine.launch import Launch
    from milk_tui.ui.cache_watch import CacheWatch
    from milk_tui.ui.commands import Command, Commands

OPEN_AFTER_S = 0.03
"""Seconds between the first paint and the opening: the first keys are shown meanwhile."""
_log = logging.getLogger(__name__)

START_AFTER_S = 0.3
"""Seconds between the first paint and the start of what is heavy (``textual-notes.md`` §4)."""
SETTLED_AFTER_S = 5.0
"""Seconds until what the start makes is there and stays: it is not looked through again either."""
GARBAGE = (700, 10, 100)
"""How seldom all objects are looked through for garbage, which holds everything up for some 15 ms."""
DRAFT_AFTER_S = 0.4
"""Seconds after a change in which a draft is saved, also while somebody types on: a kill takes no more than that."""
CLOSE_WITHIN_S = 8.0


class MilkApp(Appearance):
    """The program. ``launch`` says which directory, session and agents, ``look`` what the terminal is like."""

    ENABLE_COMMAND_PALETTE = False
    TITLE = "milk"
    CSS_PATH = themes.style_sheets("looks", "main")
    BINDINGS: ClassVar = bindings(Where.EVERYWHERE)

    def __init__(self, launch: Launch, look: FirstLook | None = None) -> None:
        super().__init__(look or FirstLook())
        self.state = SessionState(directory=str(launch.directory))
        self.control = Control(launch, self.state, self.post_message)
        self.control.written = lambda: self.main.prompt.full_text
        self.keymap = Keymap({})
        self.look_book = LookBook()
        self.main = MainScreen(self.state, self.control, self.look_book)
        if self.look.plain:
            from milk_tui.ui import plain

            self.main.said = plain.Said(self.state)
        self.terminal = None
        self._commands: Commands | None = None
        self._cache: CacheWatch | None = None
        self._painted_at = 0.0
        self._draft_timer: Timer | None = None
        self._leaving = False
        self._lost = False

    def get_default_screen(self) -> Screen[None]:
        return self.main

    def on_mount(self) -> None:
        self.listen_to_terminal()
        self.main.call_after_refresh(self._painted)

    def _painted(self) -> None:
        """The first frame is out: from here on things may take a moment."""
        self._painted_at = time.monotonic()
        self.take_early_keys()
        self.show_cursor()
        self.app_resume_signal.subscribe(self, self.came_back)
        self._open()

    @work(group="open", exit_on_error=False)
    async def _open(self) -> None:
        """Configuration and database, then the session, then what is heavy."""
        await asyncio.sleep(OPEN_AFTER_S)
        self._end_on_signals()
        if not await self.guarded(self._open_session(), fatal=True):
            return
        await asyncio.sleep(max(0.0, self._painted_at + START_AFTER_S - time.monotonic()))
        gc.freeze()
        gc.set_threshold(*GARBAGE)
        gc.enable()
        self.set_timer(SETTLED_AFTER_S, gc.freeze)
        if self.control.workspace is not None:
            await self.guarded(self.control.workspace.start(), fatal=True)
            await self.guarded(self.control.submit_waiting())

    async def _open_session(self) -> None:
        drawing = await asyncio.to_thread(import_module, "milk_tui.ui.conversation")
        if self.look.plain:
            import_module("milk_tui.ui.plain").name_in_conversation()
        self._add_styles("transcript")
        self._add_styles("permission")
        await self.main.add_conversation(drawing.Conversation())
        workspace = await self.control.open_workspace()
        self._use_config(workspace.config)
        await self.control.open_session(self.control.launch.session, new=self.control.launch.new)
        for line in workspace.notices():
            self.notify(line, markup=False, timeout=10)

    def _add_styles(self, name: str) -> None:
        """Read one more style sheet; it holds from the next widget on."""
        (path,) = themes.style_sheets(name)
        self.stylesheet.read(path)
        self.stylesheet.parse()

    def _use_config(self, config: Config) -> None:
        self.keymap = checked_keymap(config.keys)
        self.set_keymap(self.keymap.overrides())
        for action in self.keymap.bound:
            self.bind(",".join(self.keymap.of(action)), f"do('{action.id}')", description=action.title, show=False)
        self.main.use_settings(self.keymap, config.ui)
        self.state.brick_budget = config.context.context_budget_chars
        self.state.pinned_bytes = config.memory.pinned_bytes
        for problem in self.keymap.problems:
            self.notify(problem, severity="warning", markup=False, timeout=10)
        self.use_ui_settings(config.ui)

    def config_changed(self, config: Config) -> None:
        """Settings were changed: what of them is the screen's holds at once."""
        self._use_config(config)

    @property
    def commands(self) -> Commands:
        """What commands do; imported when the first is run."""
        if self._commands is None:
            from milk_tui.ui.commands import Commands

            self._commands = Commands(self.control, self.state, self.main)
        return self._commands

    async def guarded(self, doing: Awaitable[object], *, fatal: bool = False) -> bool:
        """Await it; what goes wrong is said where the person looks. ``fatal``: there is no session without it."""
        from milk_tui.core.errors import MilkError

        try:
            await doing
        except MilkError as error:
            text = str(error)
        except Exception as error:
            _log.exception("unexpected")
            text = f"This failed inside milk-tui ({type(error).__name__}: {error}). screen.log has the details."
        else:
            return True
        if fatal:
            self.state.problem = text
            self.main.state_changed(Topic)
        self.tell(text, "error" if fatal else "warning")
        return False

    def tell(self, text: str, severity: str = "information") -> None:
        """Say something on the topmost screen that can, else over the prompt."""
        says = [say for screen in reversed(self.screen_stack) if (say := getattr(screen, "say", None)) is not None]
        (says[0] if says else self.main.note)(text, severity)

    @work(group="command", exit_on_error=False)
    async def run_in_background(self, doing: Awaitable[object]) -> None:
        await self.guarded(doing)

    @on(EngineSpoke)
    def engine_spoke(self) -> None:
        """Take what happened into the state, and let the screens show it."""
        from milk_tui.engine import events as happened
        from milk_tui.ui import reduce

        now = time.monotonic()
        topics: set[Topic] = set()
        facts: set[str] = set()
        for event in self.control.take_events():
            topics |= reduce.apply(self.state, event, now)
            self._show_in_conversation(event)
            match event:
                case happened.PerceptChanged():
                    facts.add(event.percept.id)
                case happened.Notice() if event.severity == "information":
                    self.notify(event.text, markup=False, timeout=8)
                case happened.PermissionAsked():
                    self._say_asked()
                case happened.LegStarted():
                    self.state.windows = self.control.windows()
                    self.answer_begins()
                case happened.AgentStatus():
                    self.state.windows = self.control.windows()
                case happened.TurnFinished():
                    self.turn_is_over(str(event.status))
                case _:
                    pass
        self.name_terminal()
        if Topic.KEYS in topics:
            self.look_at_cache()
        for screen in self.screen_stack:
            if (changed := getattr(screen, "state_changed", None)) is not None:
                changed(topics, facts)

    @work(group="cache", exclusive=True, exit_on_error=False)
    async def look_at_cache(self) -> None:
        """Say, or no longer say, that the next prompt pays for the whole prefix again."""
        if self._cache is None:
            from milk_tui.ui.cache_watch import CacheWatch

            self._cache = CacheWatch(self.control, self.state, self.set_timer, self.look_at_cache)
        if await self._cache.look():
            self.main.state_changed({Topic.STATUS})

    def _show_in_conversation(self, event: AnyEvent) -> None:
        """An event that can't be shown is logged: it must not end the program, nor the answer."""
        if self.main.conversation is None:
            return
        try:
            self.main.conversation.hear(event)
        except Exception:
            _log.exception("%s could not be shown", type(event).__name__)

    @on(SessionOpened)
    def session_opened(self, event: SessionOpened) -> None:
        self.name_terminal()
        self.main.session_opened(switched=event.switched)
        self.look_at_cache()

    @on(MainScreen.Sent)
    def prompt_sent(self, event: MainScreen.Sent) -> None:
        """A prompt or a command was entered; a command that is none stays where it is."""
        from milk_tui.ui.commands import CommandError, parse

        try:
            command = parse(event.text)
        except CommandError as error:
            self.main.put_back(event.text)
            self.main.note(str(error), "warning")
            return
        if command is None and self.state.problem:
            self.main.put_back(event.text)
            self.main.note(self.state.problem, "error")
            return
        self.main.prompt.past.sent(event.text)
        if command is None:
            self.run_in_background(self.commands.send(event.text))
        else:
            self.run_in_background(self._command(event.text, command))

    async def _command(self, text: str, command: Command) -> None:
        await self.perform(command.action, command.argument)
        await self.control.remember_typed(text)

    @on(MainScreen.Wanted)
    def wanted(self, event: MainScreen.Wanted) -> None:
        if event.by_key and event.action.id == "escalate":
            self.run_in_background(self.commands.escalate_key(event.written))
        else:
            self.run_in_background(self.perform(event.action))

    @on(Prompt.Changed)
    def prompt_changed(self) -> None:
        """Save the draft a moment later; what is typed until then is saved with it."""
        if self._draft_timer is None:
            self._draft_timer = self.set_timer(DRAFT_AFTER_S, self._save_draft)

    async def _save_draft(self) -> None:
        self._draft_timer = None
        if self.control.sending:  # what was sent is the draft until it is stored, and never both
            self.prompt_changed()
            return
        await self.guarded(self.control.save_draft(self.main.prompt.full_text))

    async def perform(self, action: Action, argument: str = "") -> None:
        """Do what an action says, however it was asked for. Raises MilkError."""
        if action.id in ("agent", "model") and argument in ("", "primary", "escalation"):
            self.action_model(argument or ("primary" if action.id == "model" else "escalation"))
        elif (command := self.commands.by_id.get(action.id)) is not None:
            if action.needs_argument and not argument:
                self.main.prompt.set_text(f"/{action.command} ")
                return
            await command(argument)
        elif action.id == "theme" and argument:
            await self.choose_theme(argument)
        elif action.id == "memory":
            self.action_memory(argument)
        elif action.id == "settings":
            self.action_settings(argument)
        elif action.id == "perception" and argument:
            await self.commands.by_id["perception-file"](argument)
        elif action.id == "sessions" and argument:
            await self.switch_session(argument)
        elif action.id == "help" and argument:
            self.action_help(argument)
        elif action.id == "search":
            await self.main.begin_search(argument)
        elif action.id == "explain-fact":
            self.action_explain_fact(argument)
        else:
            await self.go_and_do(action)

    async def action_do(self, id_: str) -> None:
        """An action that has a key by the config alone."""
        await self.guarded(self.perform(BY_ID[id_]))

    def _say_asked(self) -> None:
        """That an agent waits for the person is said on whatever covers the main screen, and to who looks elsewhere."""
        self.call_person("an agent asks something")
        if self.state.asked and self.screen is not self.main:
            self.tell("an agent asks something: go back to the conversation to answer", "warning")

    def action_help_quit(self) -> None:
        """Textual's own meaning of ``ctrl+c``, which the main screen's replaces."""

    async def action_quit(self) -> None:
        """Save the draft, let everything go, leave. A second time: leave at once."""
        if self._leaving:
            self.exit(0)
            return
        self._leaving = True
        self.main.note("saving …")
        self._leave()

    @work(group="quit", exit_on_error=False)
    async def _leave(self) -> None:
        try:
            async with asyncio.timeout(CLOSE_WITHIN_S):
                await self.guarded(self.control.save_draft(self.main.prompt.full_text))
                await self.control.close()
        finally:
            self.exit(0)

    def _end_on_signals(self) -> None:
        """A hang-up or a polite end saves like a quit does, and so does a terminal that goes away without a word."""
        from milk_tui.ui import hangup

        loop = asyncio.get_running_loop()
        try:
            loop.add_signal_handler(signal.SIGTERM, self.call_later, self.action_quit)
            loop.add_signal_handler(signal.SIGHUP, self.terminal_lost)
        except (NotImplementedError, RuntimeError, ValueError):
            return
        hangup.watch(0, lambda: loop.call_soon_threadsafe(self.terminal_lost))

    def terminal_lost(self) -> None:
        """Nobody sees the screen any more: save and leave, and look no more for keys. It is told by a signal and by the
        terminal itself: the second is no wish to leave at once."""
        if self._lost:
            return
        self._lost = True
        if (reading := getattr(self._driver, "exit_event", None)) is not None:
            reading.set()
        if not self._leaving:
            self.call_later(self.action_quit)


def run(launch: Launch, *, plain: bool = False) -> int:
    """Run the screen until the person leaves; the exit code. Nothing else writes to the terminal meanwhile."""
    from milk_tui import paths, safe_log
    from milk_tui.ui import background, continued, first_look, guard, hangup, keys

    gc.disable()  # the start makes many objects that stay; they are looked through once it is over
    keys.install()
    hangup.install()
    continued.install()
    background.install()
    terminal_says = background.THE_TERMINAL
    terminal_says.collect(sys.stdin.fileno())
    dark = background.said_by(os.environ) if terminal_says.dark is None else terminal_says.dark
    config = launch.config_path or paths.config_file()
    look = first_look.of(os.environ, config, dark=dark, plain=plain)
    if look.plain:
        import_module("milk_tui.ui.plain").prepare()
    app = MilkApp(launch, look)
    log = paths.log_dir() / "screen.log"
    with guard.only_the_screen(log) as terminal:
        safe_log.to(sys.stderr)
        app.terminal = terminal
        try:
            code = app.run()
        finally:
            if os.isatty(terminal):
                with contextlib.suppress(OSError):
                    os.write(terminal, app.last_words())
    if app.return_code:
        print(f"milk-tui ended because of an error in itself; {paths.shown(log)} has the details.")
    return app.return_code or code or 0
