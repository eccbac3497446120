"""The settings (F8): every key with its value and meaning, and the agents; changed here, kept in the config file."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from msgspec.structs import replace
from textual import events, on, work
from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.dom import DOMNode
from textual.widgets import Input, Static
from textual.worker import Worker

from milk_tui.config_schema import Setting, plain, shown
from milk_tui.core.errors import MilkError
from milk_tui.core.records import Role
from milk_tui.core.text import clean, one_line
from milk_tui.engine import agent_spec
from milk_tui.engine.settings_desk import NOW, Held
from milk_tui.ui import agent_wizard, model_picker, settings_edits
from milk_tui.ui import format as f
from milk_tui.ui import settings_rows as rows
from milk_tui.ui.actions import ACTIONS, BY_ID, Action, Keymap, Where, bindings
from milk_tui.ui.actions import keymap as checked_keymap
from milk_tui.ui.control import Control
from milk_tui.ui.in_order import InOrder
from milk_tui.ui.line_input import LineInput
from milk_tui.ui.row_list import RowList
from milk_tui.ui.screens import FullScreen
from milk_tui.ui.settings_about import detail_rows
from milk_tui.ui.settings_rows import AgentRow, ButtonRow, PlayerRow, Seen, SettingRow
from milk_tui.ui.state import SessionState, Topic
from milk_tui.ui.themes import style_sheets

if TYPE_CHECKING:
    from milk_tui.config import Config
    from milk_tui.engine.agent_spec import AgentSpec
    from milk_tui.engine.settings_desk import SettingsDesk
    from milk_tui.engine.workspace import Workspace

_OWN = frozenset(a.method for a in ACTIONS if a.where is Where.SETTINGS and a.id != "filter-settings")
_OF_AGENTS = {"test-agent", "primary-agent", "escalation-agent", "remove-agent"}


class SettingsList(InOrder, RowList):
    """The list; what is typed right after ``/`` is for the filter."""


class SettingsScreen(FullScreen):
    """A list that ``/`` narrows, and what its row is about."""

    CSS_PATH = style_sheets("dialogs", "inspector", "settings")
    BINDINGS: ClassVar = bindings(Where.SETTINGS)
    HEADING: ClassVar = "settings"
    WHERE = (Where.SETTINGS,)

    def __init__(self, state: SessionState, keymap: Keymap, control: Control, *, words: str = "") -> None:
        super().__init__(state, keymap)
        self._control = control
        self._keymap = keymap
        self._seen: Seen | None = None
        self._hellos: dict[str, tuple[str, str]] = {}
        self._unfolded: set[str] = set()
        self._busy = False
        """True while something is asked in dialogs: keys typed between two of them do nothing here."""
        self._greeting: dict[str, Worker[None]] = {}
        self.filter = LineInput(words, placeholder="/ finds settings", id="settings-filter")
        self.list = SettingsList(id="settings-list", empty=" looking …")
        self.about = RowList(id="setting-about")
        self.about.can_focus = False

    def body(self) -> ComposeResult:
        yield self.filter
        with Container(id="settings"):
            with Container(id="settings-pane", classes="pane"):
                yield self.list
            with Container(id="setting-pane", classes="pane"):
                yield self.about
        yield Static(classes="pane-note", markup=False)

    def on_mount(self) -> None:
        self.say("")
        self.list.focus()
        self._show(first=True)
        self.look()

    @property
    def _workspace(self) -> Workspace:
        if self._control.workspace is None:
            raise MilkError("The session is not open yet.")
        return self._control.workspace

    @property
    def _desk(self) -> SettingsDesk:
        return self._workspace.settings

    def say(self, text: str, severity: str = "information") -> None:
        """Say something where the person looks: over the keys."""
        note = self.query_one(".pane-note", Static)
        note.update(Content(clean(text)))
        note.set_class(severity != "information", "-warning")
        note.display = bool(text)
        self.set_class(bool(text), "-said")

    def state_changed(self, topics: Iterable[Topic], facts: Iterable[str] = ()) -> None:
        if Topic.HEADER in set(topics) and self.is_mounted:
            self._show()

    def key_target(self, action: Action) -> DOMNode | None:
        return self if action.where is Where.SETTINGS else self.focused

    @work(group="look", exclusive=True, exit_on_error=False)
    async def look(self) -> None:
        """Take over what was changed in the file meanwhile, and show it."""
        try:
            await self._desk.look()
        except MilkError as error:
            self.say(str(error), "warning")
        self._taken_over()

    def _taken_over(self) -> None:
        """The configuration may be another now: the app and this screen go on with it."""
        config = self._workspace.config
        if self._seen is None or config is not self._seen.config:
            self.app.config_changed(config)  # type: ignore[attr-defined]
            self._keymap = checked_keymap(config.keys)
            self.footer.show(keymap=self._keymap)
        self._show()

    def _show(self, *, first: bool = False) -> None:
        workspace = self._control.workspace
        if workspace is None:
            return
        config = workspace.config
        source = workspace.loaded.file.name
        keys = [replace(each, source=each.source if each.is_default else source) for each in _key_settings(config)]
        roster = workspace.roster
        self._seen = Seen(
            config=config,
            held=(*self._desk.held(), *keys),
            players={role: roster.specs.get(role) for role in Role},
            advice=dict(roster.advice),
            specs={name: agent_spec.from_config(config, Role.PRIMARY, name, "config") for name in config.agents},
            unfolded=frozenset(self._unfolded),
            hellos=self._hellos,
        )
        listed = rows.rows(self._seen, self.filter.value)
        self.list.empty = " no setting says that: / other words, esc all"
        self.list.set_rows(listed)
        if first:
            self.list.action_edge(0)
        changed = sum(1 for each in self._seen.held if not each.is_default)
        found, there = sum(isinstance(row, SettingRow) for row in listed), len(self._seen.held)
        self.query_one("#settings-pane").border_title = Content(
            f"{found} of {there} settings" if self.filter.value.strip() else f"{there} settings"
        )
        self.title_line.say(
            (
                (" settings", "strong"),
                (f" · {f.fit_left(_shown_path(workspace), max(8, self.size.width - 32))}", "dim"),
                (f" · {changed} set", "dim"),
            ),
            (("esc back ", "dim"),),
        )
        self._describe()

    def _describe(self) -> None:
        if self._seen is None:
            return
        acts = {id_: self._keymap.shown(BY_ID[id_], 1) for id_ in ("edit-setting", *_OF_AGENTS)}
        self.about.set_rows(detail_rows(self.list.current, act=acts))
        self.about.scroll_home(animate=False)
        row = self.list.current
        off = {"escape", "escalate"}
        off |= _OF_AGENTS if not isinstance(row, AgentRow | PlayerRow) else set()
        off |= {"primary-agent", "escalation-agent", "remove-agent"} if isinstance(row, PlayerRow) else set()
        off |= {"reset-setting"} if not isinstance(row, SettingRow) or row.held.is_default else set()
        off |= set() if self._desk.last_change else {"undo-setting"}
        self.footer.show(where=() if self.filter.has_focus else self.WHERE, off=frozenset(off))

    def on_descendant_focus(self) -> None:
        self._describe()

    @on(RowList.Moved)
    def moved(self, event: RowList.Moved) -> None:
        event.stop()
        if event.list is self.list:
            self._describe()

    @on(Input.Changed)
    def typed(self, event: Input.Changed) -> None:
        event.stop()
        self._show()
        self.list.action_edge(0)

    @on(Input.Submitted)
    def submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.list.focus()

    def on_key(self, event: events.Key) -> None:
        """From the filter into the list."""
        if self.filter.has_focus and event.key in ("down", "up", "pagedown", "pageup"):
            event.stop()
            self.list.focus()

    async def action_back(self) -> None:
        """The first that applies: an agent that is asked to say hello, the filter, the screen."""
        if self._greeting:
            for worker in self._greeting.values():
                worker.cancel()
        elif self.filter.value:
            self.filter.value = ""
            self.list.focus()
        elif self.filter.has_focus:
            self.list.focus()
        else:
            self.dismiss(None)

    def action_filter_settings(self) -> None:
        self.set_focus(self.filter)

    @on(RowList.Chosen)
    def chosen(self, event: RowList.Chosen) -> None:
        event.stop()
        if not self._busy:
            self.action_edit_setting()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Only the way back is open while something is asked."""
        return not self._busy or action not in _OWN

    def action_edit_setting(self) -> None:
        match self.list.current:
            case SettingRow() as row:
                self._doing(self._edit(row.held))
            case PlayerRow() as row:
                self._doing(self._pick(row.role))
            case AgentRow() as row:
                self._unfolded ^= {row.name}
                self._show()
            case ButtonRow():
                self.action_add_agent()

    @work(group="doing", exclusive=True, exit_on_error=False)
    async def _doing(self, doing: Awaitable[object]) -> None:
        """Do it; what goes wrong is said over the keys, and what holds then is shown."""
        self.say("")
        self._busy = True
        try:
            await doing
        except MilkError as error:
            self.say(str(error), "warning")
        finally:
            self._busy = False
        self._taken_over()

    async def _change(self, changes: dict[tuple[str, ...], Any], title: str) -> None:
        when = await self._desk.change(changes, title)
        undo = self._keymap.shown(BY_ID["undo-setting"], 1)
        self.say(f"{title}{'' if when == NOW else f': holds {when}'}  ({undo} takes it back)")

    async def _edit(self, held: Held) -> None:
        of = held.setting.path[1] if held.setting.section == "agents" else ""
        spec = self._seen.specs.get(of) if self._seen is not None else None
        await settings_edits.edit(self.app, held, self._desk.config, spec, self._set)

    async def _set(self, setting: Setting, value: Any) -> None:
        """Write a value; what is the default, or nothing, is taken out of the file."""
        gone = value is None or value == plain(setting.default) or (value == "" and not setting.default)
        await self._change({setting.path: None if gone else value}, f"{setting.key}: {_short(value)}")

    async def _pick(self, role: Role) -> None:
        await model_picker.choose(self.app, self._control, role)

    def action_reset_setting(self) -> None:
        row = self.list.current
        if not isinstance(row, SettingRow):
            self.say("this is no setting")
        elif row.held.is_default:
            self.say(f"{row.held.setting.key} has its default")
        else:
            setting = row.held.setting
            self._doing(self._change({setting.path: None}, f"{setting.key}: its default"))

    def action_undo_setting(self) -> None:
        self._doing(self._undo())

    async def _undo(self) -> None:
        title = await self._desk.undo()
        self.say(f"undone: {title}" if title else "there is nothing to take back")

    def action_add_agent(self) -> None:
        self._doing(self._add())

    async def _add(self) -> None:
        made = await agent_wizard.new_agent(self.app, self._desk.config)
        if made is None:
            return
        name, table = made
        await self._change({("agents", name, key): value for key, value in table.items()}, f"agent {name}")
        self.filter.value = ""
        self._unfolded.add(name)
        self._taken_over()
        self.call_after_refresh(self.list.go_to, rows.AGENT + name)
        acts = self._keymap
        test, first, second = (acts.shown(BY_ID[i], 1) for i in ("test-agent", "primary-agent", "escalation-agent"))
        self.say(f"{name} is there: {test} says hello, {first} makes it the primary, {second} the escalation agent")

    def action_primary_agent(self) -> None:
        self._with_agent(partial(self._give, Role.PRIMARY))

    def action_escalation_agent(self) -> None:
        self._with_agent(partial(self._give, Role.ESCALATION))

    def _with_agent(self, do: Callable[[str], Awaitable[object]]) -> None:
        if (name := self._agent_here()) is not None:
            self._doing(do(name))
        else:
            self.say("this is no agent of the config: choose one under AGENTS")

    async def _give(self, role: Role, name: str) -> None:
        await self._desk.assign(role, name)
        await self._workspace.players.go_with_config(self._control.session_id, role)
        flag = self._workspace.launch.primary if role is Role.PRIMARY else self._workspace.launch.escalation
        after = f"; in this run --{role} {flag} holds" if flag else " from the next turn on"
        self.say(f"{name} is the {role} agent{after}")

    def action_remove_agent(self) -> None:
        self._with_agent(self._remove)

    async def _remove(self, name: str) -> None:
        await self._desk.remove_agent(name)
        self.say(f"{name} is out of the config ({self._keymap.shown(BY_ID['undo-setting'], 1)} brings it back)")

    def _agent_here(self) -> str | None:
        """The agent of the config that the cursor is on, or on a field of."""
        row = self.list.current
        if isinstance(row, AgentRow):
            return row.name
        if isinstance(row, SettingRow) and row.held.setting.section == "agents":
            return row.held.setting.path[1]
        return None

    def action_test_agent(self) -> None:
        row = self.list.current
        name = self._agent_here()
        if isinstance(row, PlayerRow) and row.spec is not None:
            self._greet(row.key, row.spec)
        elif name is not None and self._seen is not None:
            self._greet(rows.AGENT + name, self._seen.specs[name])
        else:
            self.say("nobody is here to say hello")

    def _greet(self, key: str, spec: AgentSpec) -> None:
        if key not in self._greeting:
            self._greeting[key] = self._hello(key, spec)

    @work(group="hello", exit_on_error=False)
    async def _hello(self, key: str, spec: AgentSpec) -> None:
        def progress(text: str) -> None:
            self._say_hello(key, f"… {text or 'asked to say hello'}  (esc stops)", "dim")

        progress("")
        try:
            said = await self._workspace.players.hello(spec, self.state.directory, progress)
            self._say_hello(key, *rows.hello_line(said))
        except asyncio.CancelledError:
            self._say_hello(key, "stopped", "dim")
            raise
        except MilkError as error:
            self._say_hello(key, f"✗ {error}", "error")
        finally:
            self._greeting.pop(key, None)

    def _say_hello(self, key: str, text: str, look: str) -> None:
        self._hellos[key] = (clean(text), look)
        if self.is_attached:
            self._show()
            if self.list.current is not None and self.list.current.key == key:
                self.list.go_to(key)


def _key_settings(config: Config) -> list[Held]:
    return rows.key_settings(config, ACTIONS)


def _short(value: Any) -> str:
    return one_line(shown(value), 60)


def _shown_path(workspace: Workspace) -> str:
    from milk_tui import paths

    return paths.shown(workspace.loaded.file)
