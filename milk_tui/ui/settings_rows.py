"""The rows of the settings screen, made from what holds: agents first, then the settings by section. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rich.cells import cell_len

from milk_tui.config import Config
from milk_tui.config_manual import manual
from milk_tui.config_schema import Kind, Setting, shown
from milk_tui.core.records import Role
from milk_tui.core.text import one_line
from milk_tui.engine.agent_spec import AgentSpec
from milk_tui.engine.agent_tables import FIELDS, KINDS
from milk_tui.engine.hello import Hello
from milk_tui.engine.settings_desk import Held
from milk_tui.ui import format as f
from milk_tui.ui.action import Action
from milk_tui.ui.actions import BY_ID
from milk_tui.ui.keymap import display
from milk_tui.ui.paint import Line, Piece
from milk_tui.ui.row_list import Heading, Row
from milk_tui.ui.words import blank

NAME_CELLS = 26
"""Cells of a setting's name in the list."""
CHANGED = "•"

AGENT, ROLE, ADD = "agent:", "role:", "add:"
"""How keys of rows begin that are no settings."""


@dataclass(frozen=True, slots=True)
class SettingRow:
    """One setting on one line: name, value, where that is from."""

    held: Held
    whole_name: bool = False
    indent: int = 2
    selectable: bool = True

    @property
    def key(self) -> str:
        return self.held.setting.key

    @property
    def name(self) -> str:
        return self.held.setting.key if self.whole_name else self.held.setting.path[-1]

    def height(self, width: int) -> int:
        return 1

    def lines(self, width: int) -> Sequence[Line]:
        held = self.held
        changed = not held.is_default
        mark = (f"{' ' * self.indent}{CHANGED if changed else ' '} ", "key")
        taken = self.indent + 2
        name = min(max(NAME_CELLS, cell_len(self.name) + 1), max(8, (width - taken) // 2))
        where = where_from(held) if changed and width >= 60 else ""
        value = one_line(value_shown(held), 400)
        room = max(0, width - taken - name - (cell_len(where) + 2 if where else 0))
        look = value_look(held)
        pieces: list[Piece] = [mark, (f.pad(self.name, name), "strong" if changed else "")]
        pieces.append((f.pad(value, room), look))
        if where:
            pieces.append((f"  {where}", "dim"))
        return (tuple(pieces),)


@dataclass(frozen=True, slots=True)
class AgentRow:
    """An agent of the config: name and role, what drives it, how the last hello went."""

    name: str
    spec: AgentSpec
    roles: tuple[Role, ...] = ()
    said: str = ""
    said_look: str = "dim"
    unfolded: bool = False
    selectable: bool = True

    @property
    def key(self) -> str:
        return AGENT + self.name

    def height(self, width: int) -> int:
        return 2 if self.said else 1

    def lines(self, width: int) -> Sequence[Line]:
        marks = role_marks(self.roles)
        first: Line = (
            ("▾ " if self.unfolded else "▸ ", "key"),
            *(marks or (("  ", ""),)),
            (f"{self.name}  ", "strong"),
            (one_line(self.spec.shown, 200), "dim"),
            (f" · {KINDS[self.spec.provider][0]}" if width >= 50 else "", "dim"),
        )
        return (first, (("    ", ""), (f.fit(self.said, width - 5), self.said_look))) if self.said else (first,)


@dataclass(frozen=True, slots=True)
class PlayerRow:
    """Who plays a role now, and why."""

    role: Role
    spec: AgentSpec | None
    advice: str = ""
    said: str = ""
    said_look: str = "dim"
    selectable: bool = True

    @property
    def key(self) -> str:
        return ROLE + self.role.value

    def height(self, width: int) -> int:
        return 2 if self.said else 1

    def lines(self, width: int) -> Sequence[Line]:
        mark = f.ROLE_MARKS[self.role.value]
        who: Line = ((f"  {mark} ", self.role.value), (f.pad(self.role.value, 12), self.role.value))
        if self.spec is None:
            first: Line = (*who, ("nobody  ", "warning"), (one_line(self.advice, 300), "dim"))
        else:
            first = (
                *who,
                (f"{self.spec.name}  ", "strong"),
                (one_line(self.spec.shown, 200), ""),
                (f"  {one_line(self.spec.source, 80)}" if width >= 60 else "", "dim"),
            )
        return (first, (("    ", ""), (f.fit(self.said, width - 5), self.said_look))) if self.said else (first,)


@dataclass(frozen=True, slots=True)
class ButtonRow:
    """Something to do that has no row of its own yet."""

    key: str
    text: str
    about: str = ""
    selectable: bool = True

    def height(self, width: int) -> int:
        return 1

    def lines(self, width: int) -> Sequence[Line]:
        return (((f"  + {self.text}", "key"), (f"  {self.about}", "dim")),)


@dataclass(frozen=True, slots=True)
class Seen:
    """All that the screen shows."""

    config: Config
    held: Sequence[Held]
    players: Mapping[Role, AgentSpec | None]
    advice: Mapping[Role, str] = field(default_factory=dict)
    specs: Mapping[str, AgentSpec] = field(default_factory=dict)
    """The agents of the config."""
    unfolded: frozenset[str] = frozenset()
    """Those whose fields are shown."""
    hellos: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Key of a row → the line under it and its look."""


def rows(seen: Seen, words: str = "") -> list[Row]:
    """What fits all the words: of a setting its name, value and meaning; of an agent its name, kind and model."""
    wanted = words.casefold().split()
    listed: list[Row] = []
    _add(listed, "who plays", "WHO PLAYS NOW", _players(seen, wanted))
    _add(listed, "agents", "AGENTS", _agents(seen, wanted))
    sections: dict[str, list[Row]] = {}
    for held in seen.held:
        section = held.setting.section
        if section == "agents" or not _fits(held, wanted):
            continue
        sections.setdefault(section, []).append(SettingRow(held, whole_name=section == "mcp"))
    for section, found in sections.items():
        _add(listed, section, section.upper(), found, about=section_meaning(section))
    return listed


def _add(listed: list[Row], key: str, title: str, found: Sequence[Row], about: str = "") -> None:
    if not found:
        return
    if listed:
        listed.append(blank(f"gap:{key}"))
    listed.append(Heading(f"heading:{key}", ((f"{title}  ", "heading"), (about, "dim"))))
    listed += found


def _players(seen: Seen, wanted: Sequence[str]) -> list[Row]:
    found: list[Row] = []
    for role in Role:
        spec = seen.players.get(role)
        text = f"who plays role agent model {role} {spec.name if spec else 'nobody'} {spec.shown if spec else ''}"
        if _holds(text, wanted):
            said, look = seen.hellos.get(ROLE + role.value, ("", "dim"))
            found.append(PlayerRow(role, spec, seen.advice.get(role, ""), said, look))
    return found


def _agents(seen: Seen, wanted: Sequence[str]) -> list[Row]:
    found: list[Row] = []
    by_agent: dict[str, list[Held]] = {}
    for held in seen.held:
        if held.setting.section == "agents":
            by_agent.setdefault(held.setting.path[1], []).append(held)
    for name, spec in seen.specs.items():
        kind, about = KINDS[spec.provider]
        fields = [each for each in by_agent.get(name, ()) if each.setting.path[-1] in FIELDS[spec.provider]]
        itself = _holds(f"agents {name} {spec.model} {spec.provider} {kind} {about}", wanted)
        fitting = [each for each in fields if _fits(each, wanted)] if wanted else []
        if not itself and not fitting:
            continue
        shown_fields = fields if name in seen.unfolded else fitting
        roles = tuple(role for role in Role if (player := seen.players.get(role)) and player.name == name)
        said, look = seen.hellos.get(AGENT + name, ("", "dim"))
        found.append(AgentRow(name, spec, roles, said, look, bool(shown_fields)))
        found += [SettingRow(each, indent=4) for each in shown_fields]
    if _holds("add an agent new agents", wanted):
        found.append(ButtonRow(ADD, "add an agent", "a model, Claude Code, an ACP program"))
    return found


def _fits(held: Held, wanted: Sequence[str]) -> bool:
    setting = held.setting
    return _holds(f"{setting.key} {value_shown(held)} {meaning_of(setting)} {held.source}", wanted)


def _holds(text: str, wanted: Sequence[str]) -> bool:
    folded = text.casefold()
    return all(word in folded for word in wanted)


def role_marks(roles: Sequence[Role]) -> Line:
    return tuple((f"{f.ROLE_MARKS[role.value]} ", role.value) for role in roles)


def section_meaning(section: str) -> str:
    """The first sentence about a section."""
    return _TITLES.get(section) or manual().get(section, "").partition(", `")[0].rstrip(".")


_TITLES = {"keys": "what each key does", "agents": ""}


def value_shown(held: Held) -> str:
    if held.setting.kind is Kind.KEYS:
        return "  ".join(map(display, held.value)) or "none"
    return shown(held.value)


def meaning_of(setting: Setting) -> str:
    """What a setting is for; of a key, what the key does."""
    if setting.section == "keys" and (action := BY_ID.get(setting.path[1])) is not None:
        return action.help
    return setting.meaning


def value_look(held: Held) -> str:
    match held.value:
        case True:
            return "good"
        case False | None | "":
            return "dim"
        case _:
            return ""


def where_from(held: Held) -> str:
    """Where a value is from, in a word or two."""
    source = held.source
    if source == "default":
        return "default"
    if source.startswith("--"):
        return f"option {source}"
    return f"variable {source}" if held.fixed else "config file"


def hello_line(result: Hello) -> tuple[str, str]:
    """The line under an agent that was asked to say hello, and its look."""
    return (f"✓ {result.line}", "good") if result.ok else (f"✗ {result.line}", "error")


def key_settings(config: Config, actions: Sequence[Action]) -> list[Held]:
    """The key map as settings: one for each action that has a key or a command."""
    listed = []
    for action in actions:
        if not action.keys and not action.command:
            continue
        setting = Setting(path=("keys", action.id), kind=Kind.KEYS, type=list, default=list(action.keys))
        said = config.keys.get(action.id)
        source = "default" if said is None else "config"
        listed.append(Held(setting=setting, value=list(action.keys if said is None else said), source=source))
    return listed
