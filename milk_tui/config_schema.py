"""The settings one by one, made from the types in ``config.py``: what kind of value each takes, how a person writes it,
and what is wrong with what they wrote."""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping
from enum import Enum, StrEnum
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import msgspec
from msgspec import Struct
from msgspec.structs import fields

from milk_tui import config_file
from milk_tui.config import Config
from milk_tui.config_manual import NAMED, meaning
from milk_tui.core.errors import ConfigError

Path = tuple[str, ...]


class Kind(StrEnum):
    """How a value is written."""

    SWITCH = "switch"
    CHOICE = "choice"
    NUMBER = "number"
    TEXT = "text"
    LIST = "list"
    PAIRS = "pairs"
    KEYS = "keys"


class Setting(Struct, frozen=True, kw_only=True):
    """One key. ``type`` is as ``config.py`` declares it; ``choices`` are all its values where they are few."""

    path: Path
    kind: Kind
    type: Any
    default: Any
    choices: tuple[Any, ...] = ()

    @property
    def key(self) -> str:
        """As the file spells it, with dots."""
        return dotted(self.path)

    @property
    def section(self) -> str:
        return self.path[0]

    @property
    def meaning(self) -> str:
        return meaning(self.path)

    @property
    def allowed(self) -> str:
        """What it may be, in words."""
        if self.kind is Kind.KEYS:
            return 'a key such as "ctrl+g", or several'
        if self.kind is Kind.PAIRS:
            inner = get_args(self.type)[1]
            return f"lines of NAME = {config_file.allowed(inner)}"
        words = config_file.allowed(self.type)
        return f"{words}, or unset" if self.optional else words

    @property
    def optional(self) -> bool:
        """True when it may be unset without a value of its own."""
        return self.default is None


def dotted(path: Path) -> str:
    return ".".join(config_file.bare(part) for part in path)


def settings(config: Config) -> Iterator[Setting]:
    """Every setting, in the order of ``config.py``; for agents and MCP servers those of each that there is. Keys are
    the screen's to add."""
    for section in fields(Config):
        if section.name == "keys":
            continue
        if section.name in NAMED:
            inner = get_args(section.type)[1]
            for name in getattr(config, section.name):
                yield from _of(inner, (section.name, name))
        else:
            yield from _of(section.type, (section.name,))


def of_agent(name: str) -> dict[str, Setting]:
    """The settings of an agent of that name, by field."""
    from milk_tui.config import AgentConfig

    return {setting.path[-1]: setting for setting in _of(AgentConfig, ("agents", name))}


def _of(kind: type[Struct], where: Path) -> Iterator[Setting]:
    for info in fields(kind):
        default = info.default if info.default is not msgspec.NODEFAULT else info.default_factory()
        made, choices = _kind(info.type)
        yield Setting(path=(*where, info.name), kind=made, type=info.type, default=default, choices=choices)


def _kind(declared: Any) -> tuple[Kind, tuple[Any, ...]]:
    origin, args = get_origin(declared), get_args(declared)
    if origin is Annotated:
        return _kind(args[0])
    if origin is Literal:
        return Kind.CHOICE, args
    if origin is tuple:
        return Kind.LIST, _kind(args[0])[1]
    if origin is dict:
        return Kind.PAIRS, ()
    if origin in (Union, types.UnionType):
        kinds = [_kind(each) for each in args if each is not type(None)]
        if len(kinds) == 1 and kinds[0][0] is not Kind.CHOICE:
            return kinds[0]
        choices = [choice for kind, found in kinds for choice in ((True, False) if kind is Kind.SWITCH else found)]
        return Kind.CHOICE, (*choices, *((None,) if type(None) in args else ()))
    if isinstance(declared, type) and issubclass(declared, Enum):
        return Kind.CHOICE, tuple(member.value for member in declared)
    if declared is bool:
        return Kind.SWITCH, (True, False)
    return (Kind.NUMBER, ()) if declared in (int, float) else (Kind.TEXT, ())


def value_of(config: Config, path: Path) -> Any:
    """The value that holds, as TOML has it (lists, plain texts); ``None``: unset, or there is no such table."""
    value: Any = config
    for part in path:
        value = value.get(part) if isinstance(value, Mapping) else getattr(value, part, None)
    return plain(value)


def plain(value: Any) -> Any:
    match value:
        case Enum():
            return value.value
        case tuple():
            return [plain(each) for each in value]
        case _:
            return value


def shown(value: Any) -> str:
    """The value for people, on one line; ``unset`` for none."""
    match value:
        case None | "":
            return "unset"
        case bool():
            return "on" if value else "off"
        case [] | {}:
            return "none"
        case list():
            return ", ".join(map(str, value))
        case dict():
            return ", ".join(f"{name} = {inner}" for name, inner in value.items())
        case int():
            return f"{value:,}"
        case float():
            return f"{value:g}"
        case _:
            return str(value)


def written(setting: Setting, value: Any) -> str:
    """The value as a person edits it; ``read`` takes it back."""
    match value:
        case None:
            return ""
        case list() | tuple():
            return "\n".join(map(str, value))
        case dict():
            return "\n".join(
                f"{name} = {inner:g}" if isinstance(inner, float) else f"{name} = {inner}"
                for name, inner in value.items()
            )
        case float():
            return f"{value:g}"
        case _:
            return str(value)


def read(setting: Setting, text: str) -> Any:
    """What a person wrote, as a value for the file; ``None``: unset it. Raises ConfigError, in words for people."""
    match setting.kind:
        case Kind.NUMBER:
            return checked(setting, _number(setting, text))
        case Kind.LIST | Kind.KEYS:
            return checked(setting, [line.strip() for line in text.split("\n") if line.strip()])
        case Kind.PAIRS:
            return checked(setting, dict(_pair(setting, line) for line in text.split("\n") if line.strip()))
        case Kind.CHOICE | Kind.SWITCH:
            said = text.strip().lower()
            names = {shown(choice).lower(): choice for choice in setting.choices}
            names |= {str(choice).lower(): choice for choice in setting.choices}
            if said not in names:
                raise wrong(setting, text)
            return names[said]
        case Kind.TEXT:
            return checked(setting, text.strip())


def checked(setting: Setting, value: Any) -> Any:
    """The value when it is allowed. Raises ConfigError."""
    if value is None and setting.optional:
        return None
    try:
        if setting.kind is Kind.KEYS:
            msgspec.convert(value, list[Annotated[str, msgspec.Meta(min_length=1)]])
        elif setting.kind is Kind.LIST and setting.choices:
            for each in value:
                if each not in setting.choices:
                    raise wrong(setting, each)
        else:
            msgspec.convert(value, setting.type, strict=True)
    except (msgspec.ValidationError, OverflowError) as error:
        raise wrong(setting, value) from error
    texts = value if isinstance(value, list) else [*value, *value.values()] if isinstance(value, dict) else [value]
    if any(not _printable(each) for each in texts):
        raise ConfigError("There are control characters in it.", "Write it without them.")
    return value


def wrong(setting: Setting, value: Any) -> ConfigError:
    from milk_tui.core.text import one_line

    said = one_line(str(value), 40)
    return ConfigError(f"“{said}” is not allowed." if said else "It can't be empty.", f"Allowed: {setting.allowed}.")


def _printable(value: Any) -> bool:
    if isinstance(value, float):
        return value == value
    return not isinstance(value, str) or not any(ord(c) < 32 or ord(c) == 127 for c in value)


def _number(setting: Setting, text: str) -> int | float | None:
    said = text.strip().replace("_", "").replace(",", "").replace("\N{NO-BREAK SPACE}", "")
    if not said and setting.optional:
        return None
    try:
        return int(said)
    except ValueError:
        try:
            return float(said)
        except ValueError:
            raise wrong(setting, text) from None


def _pair(setting: Setting, line: str) -> tuple[str, Any]:
    name, found, value = line.rpartition("=")
    if not found or not name.strip():
        raise ConfigError(f"“{line.strip()[:40]}” has no “=”.", f"Allowed: {setting.allowed}.")
    name, value = name.strip(), value.strip()
    inner = get_args(setting.type)[1]
    if _kind(inner)[0] is not Kind.NUMBER:
        return name, value
    try:
        return name, float(value)
    except ValueError:
        raise wrong(setting, line.strip()) from None
