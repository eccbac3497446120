"""Adding an agent on the settings screen: its kind, then only what that kind needs, then its name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from milk_tui.config import EMBEDDED_SIZES, Provider
from milk_tui.config_schema import Setting, of_agent, read
from milk_tui.core.acp_presets import PRESETS, preset
from milk_tui.core.errors import ConfigError
from milk_tui.engine import agent_spec, agent_tables
from milk_tui.engine.agent_tables import KINDS
from milk_tui.engine.hosted import BARE_NAMES, hosted_of
from milk_tui.ui.dialogs import Picker
from milk_tui.ui.paint import Line
from milk_tui.ui.row_list import Row
from milk_tui.ui.settings_dialogs import ValueDialog
from milk_tui.ui.words import ItemRow

if TYPE_CHECKING:
    from textual.app import App

    from milk_tui.config import Config

OWN_PROGRAM = "own"
NO_KEY = "none"


async def new_agent(app: App[int], config: Config) -> tuple[str, dict[str, Any]] | None:
    """Ask for a new agent; its name and its table, or ``None`` when the person leaves."""
    kind = await app.push_screen_wait(
        choice("a new agent", [(str(k), title, about) for k, (title, about) in KINDS.items()])
    )
    if kind is None:
        return None
    provider = Provider(kind)
    table = await _asked(app, provider)
    if table is None:
        return None
    proposed = table.pop("name", "") or agent_spec.short_name(str(table.get("model", "")) or provider.value)
    name = await _name(app, config, str(proposed))
    if name is None:
        return None
    known = preset(name)
    if known is not None and tuple(table.get("command", ())) == known.command:
        table.pop("command")
    return name, {"provider": provider.value, **table} if provider is not Provider.LITELLM else table


async def _asked(app: App[int], provider: Provider) -> dict[str, Any] | None:
    match provider:
        case Provider.LITELLM:
            return await _model(app)
        case Provider.EMBEDDED:
            sizes = [(size, size, _size(size)) for size in EMBEDDED_SIZES]
            size = await app.push_screen_wait(choice("which embedded model", sizes))
            return None if size is None else {"model": size, "name": agent_spec.EMBEDDED_NAMES[size]}
        case Provider.CLAUDE_CLI:
            model = await ask(app, "model", provider, "Its model, such as opus or haiku; empty: your own default.")
            return None if model is None else {"name": "claude", **({"model": model} if model else {})}
        case _:
            return await _program(app)


async def _model(app: App[int]) -> dict[str, Any] | None:
    model = await ask(app, "model", Provider.LITELLM, needed=True)
    if model is None:
        return None
    table: dict[str, Any] = {"model": model}
    known = hosted_of(model)
    base = await ask(app, "api_base", Provider.LITELLM, "Empty: the provider's own server.", value=_usual_base(model))
    if base is None:
        return None
    if base:
        table["api_base"] = base
    how = [
        ("env", "a variable of the environment", f"usually {known.key}" if known else "its name"),
        ("command", "a program that prints it", "your key store"),
        (NO_KEY, "none", "a server that asks for none"),
    ]
    start = NO_KEY if base else "env"
    where = await app.push_screen_wait(choice("where is its key?", how, start=start))
    if where is None:
        return None
    if where == "env":
        name = await ask(app, "api_key_env", Provider.LITELLM, value=known.key if known else "", needed=True)
        if name is None:
            return None
        if known is None or name != known.key or base:
            table["api_key_env"] = name
    elif where == "command":
        words = await ask(app, "api_key_command", Provider.LITELLM, needed=True)
        if words is None:
            return None
        table["api_key_command"] = split(words)
    return table


async def _program(app: App[int]) -> dict[str, Any] | None:
    known = [(p.name, p.title, " ".join(p.command)) for p in PRESETS]
    word = await app.push_screen_wait(choice("which program", [*known, (OWN_PROGRAM, "another", "its command")]))
    if word is None:
        return None
    if word != OWN_PROGRAM and (found := preset(word)) is not None:
        return {"name": found.name, "command": list(found.command)}
    words = await ask(app, "command", Provider.ACP, "The program and its arguments, as in a shell.", needed=True)
    return None if words is None else {"name": split(words)[0].rpartition("/")[2], "command": split(words)}


async def ask(
    app: App[int], field: str, provider: Provider, about: str = "", *, value: str = "", needed: bool = False
) -> str | None:
    """One field of an agent, checked as it is typed; ``None``: the person leaves."""
    setting = of_agent("new")[field]
    about = f"{setting.meaning} {about}".strip()

    def problem(text: str) -> str:
        if not text.strip():
            return "It is needed." if needed else ""
        return field_problem(setting, text, provider)

    words = await app.push_screen_wait(ValueDialog(field, value, problem, about=about))
    return None if words is None else words.strip()


def field_problem(setting: Setting, text: str, provider: Provider) -> str:
    """What is wrong with a field of an agent; empty when nothing is."""
    field = setting.path[-1]
    try:
        if field in ("command", "api_key_command"):
            split(text)
            return ""
        read(setting, text)
    except ConfigError as error:
        return str(error)
    text = text.strip()
    if field == "model" and provider is Provider.LITELLM and not ("/" in text or text.startswith(BARE_NAMES)):
        return "Write the provider before it: ollama_chat/llama3, openai/gpt-5.6, anthropic/claude-opus-5-5."
    if field == "api_base":
        return agent_tables.address_problem(text)
    if field == "api_key_env":
        return agent_tables.variable_problem(text)
    return ""


def split(words: str) -> list[str]:
    """A command as a shell would take it apart. Raises ConfigError."""
    import shlex

    try:
        found = shlex.split(words)
    except ValueError as error:
        raise ConfigError(f"The command can't be read ({error}).", "Close the quotes.") from error
    if not found:
        raise ConfigError("The command is empty.", "Write the program and its arguments.")
    return found


async def _name(app: App[int], config: Config, proposed: str) -> str | None:
    proposed = agent_tables.free_name(config, proposed[:32])

    def problem(text: str) -> str:
        try:
            agent_tables.good_name(config, text)
        except ConfigError as error:
            return str(error)
        return ""

    about = "What you and the other agent call it; its memory goes by this name."
    words = await app.push_screen_wait(ValueDialog("its name", proposed, problem, about=about))
    return None if words is None else words.strip()


def choice(title: str, choices: Sequence[tuple[str, str, str]], *, start: str = "") -> Picker:
    """A list of keys with a name and what it means."""

    def found(words: str) -> list[Row]:
        return [
            ItemRow(key, _line(name, about))
            for key, name, about in choices
            if all(word in f"{name} {about}".casefold() for word in words.casefold().split())
        ]

    return Picker(title, found, start=start)


def _line(name: str, about: str) -> Line:
    return ((f"  {name}", "strong"), (f"  {about}", "dim"))


def _size(size: str) -> str:
    from milk_tui.embedded.catalogue import find_model

    model = find_model(size)
    return f"{model.title}, {model.bytes / 1e6:,.0f} MB, fetched once"


def _usual_base(model: str) -> str:
    bases: Mapping[str, str] = {"ollama_chat": "", "lm_studio": "http://127.0.0.1:1234/v1"}
    return bases.get(model.split("/", 1)[0], "")
