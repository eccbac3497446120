"""From the bytes of the config file to a checked ``Config``, with errors a person can act on; and back."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, get_args, get_origin

import msgspec
from msgspec.structs import FieldInfo, fields
from msgspec.structs import replace as replace_fields

from milk_tui.config import EMBEDDED_SIZES, AgentConfig, Config, McpConfig, Provider
from milk_tui.core import acp_presets
from milk_tui.core.errors import ConfigError
from milk_tui.core.records import Role

LARGEST_FILE = 1_000_000
"""Bytes; a config of this size is something else."""

LONGEST_SEARCHED = 2_000
"""Lines of a file in which the place of an error is looked for."""

MCP_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,23}\Z")
AGENT_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,31}\Z")


def read_text(file: Path) -> str | None:
    """The file's text; ``None`` when there is none. Raises ``ConfigError`` for all but a private text file:
    others must not be able to read it (``quality.md``, secrets) or to change what the program runs."""
    from milk_tui import paths

    shown = paths.shown(file)
    try:
        status = file.stat()
        if not file.is_file():
            raise ConfigError(f"{shown}: not a regular file.", "Name a TOML file.")
        if status.st_size > LARGEST_FILE:
            raise ConfigError(
                f"{shown}: {status.st_size} bytes is too large for a config.", "Name a TOML file."
            )
        if status.st_mode & 0o006:
            raise ConfigError(f"{shown}: other users can read or change it.", f"Run: chmod 600 {shown}")
        data = file.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"{shown}: can't be read ({reason(error)}).", "Check the path and its permissions."
        ) from error
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{shown}: byte {error.start} is not UTF-8.", "Save the file as UTF-8.") from error


def reason(error: Exception) -> str:
    """The system's words without the path, which the message says already."""
    return (getattr(error, "strerror", None) or str(error) or type(error).__name__).lower()


def parse(text: str, file: str) -> tuple[Config, dict[str, str]]:
    """A ``Config`` and the source of each value; ``file`` is its name in errors. Raises ``ConfigError``."""
    import tomllib

    try:
        table = tomllib.loads(text.replace("\r\n", "\n"))
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(*_syntax(file, str(error), text)) from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(
            f"{file}: not readable as TOML.", "Check for absurdly long numbers or deep nesting."
        ) from error
    sources: dict[str, str] = {}
    reader = _Reader(file, sources)
    try:
        return reader.struct(Config, table, ""), sources
    except ConfigError as error:
        place = place_of(text, reader.at)
        if not place:
            raise
        raise ConfigError(error.what.replace(f"{file}: ", f"{file}: {place}: ", 1), error.hint) from error


def place_of(text: str, key: str) -> str:
    """``line 3, column 1``: where a dotted key stands in a text that is TOML; empty where it can't be told."""
    import tomllib

    def path_of(table: Any) -> list[str]:
        names = []
        while isinstance(table, dict) and len(table) == 1:
            ((inner, table),) = table.items()
            names.append(inner)
        return names

    lines = text.replace("\r\n", "\n").split("\n")
    try:
        path = path_of(tomllib.loads(f"{key} = 0"))
    except tomllib.TOMLDecodeError:
        return ""
    if not path or len(lines) > LONGEST_SEARCHED:
        return ""
    name = re.compile(rf"(?<![\w-])[\"']?{re.escape(path[-1])}[\"']?(?![\w-])")
    for number, line in enumerate(lines, 1):
        if (found := name.search(line)) is None:
            continue
        for end in range(number, len(lines) + 1):
            try:
                table: Any = tomllib.loads("\n".join(lines[:end]))
            except (tomllib.TOMLDecodeError, RecursionError, ValueError):
                continue
            break
        else:
            return ""
        for part in path:
            table = table.get(part) if isinstance(table, dict) else None
        if table is not None:
            return f"line {number}, column {found.start() + 1}"
    return ""


def replaced(config: Config, key: str, value: str) -> Config:
    """``config`` with one field of ``[session]`` laid over it."""
    return replace_fields(config, session=replace_fields(config.session, **{key: value}))


def check(config: Config, file: str) -> None:
    """What no single value can show: two agents for one role, one agent for both. Raises ``ConfigError``."""
    lower: dict[str, str] = {}
    for name in config.agents:
        twin = lower.setdefault(name.lower(), name)
        if twin != name:
            raise ConfigError(
                f"{file}: agents.{bare(name)}: two agents with one name (case does not count).",
                f"Rename {name} or {twin}.",
            )
    for role in Role:
        claims = [name for name, agent in config.agents.items() if agent.role is role]
        if len(claims) > 1 and not getattr(config.session, role.value):
            raise ConfigError(
                f"{file}: agents.{bare(claims[1])}.role: {claims[0]} is already the {role.value} agent.",
                f'Keep one, or say which under [session]: {role.value} = "{claims[0]}".',
            )
    primary, escalation = config.named(Role.PRIMARY), config.named(Role.ESCALATION)
    if primary and primary.lower() == escalation.lower():
        raise ConfigError(
            f"{file}: session.escalation: {primary} is already the primary agent.",
            "A session has two agents with different names; leave one out or name another.",
        )


def replace_private(file: Path, text: str) -> None:
    """Write ``text`` to ``file`` (0600); a reader sees the old or the new one, never half. Raises
    ``ConfigError``."""
    import os
    import tempfile

    from milk_tui import paths

    target = file.resolve()
    try:
        paths.private_folder(target.parent)
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=".config-")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as out:
                out.write(text)
                out.flush()
                os.fsync(out.fileno())
            Path(temporary).replace(target)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise ConfigError(
            f"{paths.shown(file)}: can't be written ({reason(error)}).",
            "Check the folder's permissions and free space.",
        ) from error


class _Reader:
    """Turns tables into structs one value at a time, so that an error can name the exact key."""

    def __init__(self, file: str, sources: dict[str, str]) -> None:
        self.file = file
        self.sources = sources
        self.at = ""
        """The key that is looked at, for the place of an error."""

    def struct(self, kind: Any, table: Any, where: str) -> Any:
        self.at = where
        if not isinstance(table, dict):
            raise self.wrong(where, table, "a table")
        known = {info.name: info for info in fields(kind)}
        values = {}
        for key, value in table.items():
            self.at = path = f"{where}.{bare(key)}" if where else bare(key)
            if key not in known:
                raise self.unknown(path, key, value, list(known))
            values[key] = self.value(known[key], value, path)
        self.at = where
        return kind(**values)

    def value(self, info: FieldInfo, value: Any, path: str) -> Any:
        kind = info.type
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
            return self.struct(kind, value, path)
        if get_origin(kind) is dict:
            return self.mapping(get_args(kind)[1], value, path)
        return self.leaf(kind, value, path)

    def mapping(self, kind: Any, table: Any, where: str) -> dict[str, Any]:
        if not isinstance(table, dict):
            raise self.wrong(where, table, "a table")
        if kind is AgentConfig:
            return {name: self.agent(name, value) for name, value in table.items()}
        if kind is McpConfig:
            return {name: self.mcp(name, value) for name, value in table.items()}
        if kind is not tuple and get_origin(kind) is not tuple:
            return {name: self.leaf(kind, value, f"{where}.{bare(name)}") for name, value in table.items()}
        return {name: self.keys(value, f"{where}.{bare(name)}") for name, value in table.items()}

    def mcp(self, name: str, table: Any) -> McpConfig:
        self.at = path = f"mcp.{bare(name)}"
        if not MCP_NAME.match(name):
            raise ConfigError(
                f"{self.file}: {path}: not a name for an MCP server.",
                "Use 1 to 24 small letters, digits or '-', beginning with a letter or digit.",
            )
        server: McpConfig = self.struct(McpConfig, table, path)
        if bool(server.command) is bool(server.url):
            raise ConfigError(
                f"{self.file}: {path}: it needs either a command or a url.",
                'Say which, such as command = ["uvx", "mcp-server-git"].',
            )
        if server.url and not server.url.startswith(("http://", "https://")):
            self.at = f"{path}.url"
            raise self.wrong(self.at, server.url, "an address that begins with http:// or https://")
        return server

    def keys(self, value: Any, path: str) -> tuple[str, ...]:
        named = [value] if isinstance(value, str) else value
        if not isinstance(named, list) or not all(isinstance(key, str) and key.strip() for key in named):
            raise self.wrong(path, value, 'a key such as "ctrl+g", or a list of them')
        keys: tuple[str, ...] = self.leaf(tuple[str, ...], named, path)
        return keys

    def agent(self, name: str, table: Any) -> AgentConfig:
        self.at = path = f"agents.{bare(name)}"
        if not AGENT_NAME.match(name):
            raise ConfigError(
                f"{self.file}: {path}: not a name for an agent.",
                "Use 1 to 32 letters, digits, '.', '_' or '-', beginning with a letter or digit.",
            )
        agent: AgentConfig = self.struct(AgentConfig, table, path)
        match agent.provider:
            case Provider.LITELLM if not agent.model:
                raise ConfigError(
                    f"{self.file}: {path}.model: missing.",
                    'Say which, such as model = "ollama_chat/qwen2.5-coder".',
                )
            case Provider.EMBEDDED if agent.model not in ("", *EMBEDDED_SIZES):
                self.at = f"{path}.model"
                raise self.wrong(
                    self.at, agent.model, ", ".join(f'"{size}"' for size in EMBEDDED_SIZES)
                )
            case Provider.ACP if not agent.command and acp_presets.preset(name) is None:
                raise ConfigError(
                    f"{self.file}: {path}.command: missing.",
                    'Say which, such as command = ["opencode", "acp"].',
                )
            case _ if agent.api_key_env and agent.api_key_command:
                raise ConfigError(
                    f"{self.file}: {path}: its key has two sources.",
                    "Keep api_key_env or api_key_command, not both.",
                )
            case _:
                return agent

    def leaf(self, kind: Any, value: Any, path: str) -> Any:
        self.at = path
        try:
            result = msgspec.convert(value, kind, strict=True)
        except (msgspec.ValidationError, OverflowError) as error:
            raise self.wrong(path, value, allowed(kind)) from error
        if isinstance(result, float) and result != result:
            raise self.wrong(path, value, allowed(kind))
        if any(ord(c) < 32 or ord(c) == 127 for text in _strings(result) for c in text):
            raise self.wrong(path, value, "text without control characters")
        self.sources[path] = self.file
        return result

    def wrong(self, path: str, value: Any, allow: str) -> ConfigError:
        return ConfigError(f"{self.file}: {path} = {_quoted(value)}: not allowed.", f"Allowed: {allow}.")

    def unknown(self, path: str, key: str, value: Any, names: list[str]) -> ConfigError:
        import difflib

        close = difflib.get_close_matches(key.lower(), names, n=1, cutoff=0.5)
        hint = f"Did you mean {close[0]}?" if close else f"Allowed: {', '.join(names)}."
        if key in ("api_key", "key", "token"):
            hint = "A key never stands in this file: name its environment variable in api_key_env."
            hint += " Or the program that prints it, in api_key_command."
        elif path.startswith("agents.") and isinstance(value, dict):
            hint = 'A name with a dot stands in quotes: [agents."qwen2.5-coder"].'
        return ConfigError(f"{self.file}: {path}: unknown key.", hint)


def allowed(kind: Any) -> str:
    """What a value of this type may be, in words."""
    import types
    from enum import Enum
    from typing import Annotated, Literal, Union

    origin, args = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return allowed(args[0]) + _bounds(args[1])
    if origin is Literal:
        return ", ".join(f'"{value}"' for value in args)
    if origin is dict:
        return "a table"
    if origin in (Union, types.UnionType):
        return ", ".join(allowed(arg) for arg in args if arg is not type(None))
    if origin is tuple:
        return f"a list of {allowed(args[0])}" if get_origin(args[0]) is Literal else "a list of texts"
    if isinstance(kind, type) and issubclass(kind, Enum):
        return ", ".join(f'"{member.value}"' for member in kind)
    return {bool: "true, false", int: "a whole number", float: "a number", str: "a text in quotes"}[kind]


def _bounds(meta: msgspec.Meta) -> str:
    words = [
        f"{word} {bound:,}".replace(",", "_")
        for word, bound in (("from", meta.ge), ("above", meta.gt), ("to", meta.le), ("below", meta.lt))
        if bound is not None
    ]
    return " " + " ".join(words) if words else ""


def bare(key: str) -> str:
    """A key as TOML writes it: in quotes when it needs them."""
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _quoted(key)


def _strings(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    return value if isinstance(value, tuple) else ()


def _quoted(value: Any) -> str:
    """The value on one short line, whatever is in it."""
    text = {True: "true", False: "false"}.get(value, "") if isinstance(value, bool) else ""
    text = text or (f'"{value}"' if isinstance(value, str) else str(value))
    text = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
    return text if len(text) <= 60 else text[:59] + "…"


def _syntax(file: str, message: str, text: str) -> tuple[str, str]:
    found = re.search(r"\(at line (\d+), column (\d+)\)", message)
    lines = text.split("\n")
    line, column = (int(found[1]), int(found[2])) if found else (len(lines), len(lines[-1]) + 1)
    what = _quoted(message.split(" (at ")[0]).strip('"')
    return f"{file}: line {line}, column {column}: {what}.", "Fix the TOML there."
