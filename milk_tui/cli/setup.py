"""``milk-tui setup``: a few questions that end in a config file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct

from milk_tui.cli import output
from milk_tui.cli.options import Options, pass_options
from milk_tui.core.records import Role

if TYPE_CHECKING:
    from milk_tui.engine.agent_spec import AgentSpec

NOBODY = "nobody"
OTHER = "another model"


class Choice(Struct, frozen=True):
    """One answer to "which model": what is shown, and the agent it stands for (``None``: nobody or
    another)."""

    shown: str
    spec: AgentSpec | None = None


@click.command()
@pass_options
def setup(options: Options) -> None:
    """Choose the two agents with a few questions.

    The answers are written to the config file."""
    from milk_tui import config_edit, paths

    file = options.config.expanduser() if options.config else paths.config_file()
    if file.exists():
        options.loaded  # noqa: B018 (a file that does not load is not written over)
    output.line("Looking for models on this machine and for keys in the environment …")
    changes: dict[tuple[str, ...], Any] = {}
    taken = ""
    for role in Role:
        spec = _ask(role, _choices(role, options))
        if spec is None:
            changes["session", role.value] = None
            continue
        name = _ask_name(spec.name, taken)
        taken = name
        for key, value in _table(spec).items():
            changes["agents", name, key] = value
        changes["session", role.value] = name
    config_edit.write(file, changes)
    output.line(f"Written: {paths.shown(file)}. Start with `milk-tui`; `milk-tui doctor` checks everything.")


def _choices(role: Role, options: Options) -> list[Choice]:
    """What could take the role here, best first, and the two answers that are always there."""
    import asyncio

    from milk_tui.engine.candidates import candidates

    found = asyncio.run(candidates(options.loaded.config, role))
    choices = [Choice(f"{spec.shown}  ({spec.source})", spec) for spec in found]
    choices.append(Choice(OTHER))
    if role is Role.ESCALATION:
        choices.append(Choice(NOBODY))
    return choices


def _ask(role: Role, choices: list[Choice]) -> AgentSpec | None:
    told = "fast, answers first" if role is Role.PRIMARY else "deep, takes over when it is asked to"
    output.line(f"\nThe {role.value} agent ({told}):")
    for number, choice in enumerate(choices, 1):
        output.line(f"  {number}  {choice.shown}")
    number = click.prompt("Number", type=click.IntRange(1, len(choices)), default=1)
    choice = choices[number - 1]
    return _ask_model(role) if choice.shown == OTHER else choice.spec


def _ask_model(role: Role) -> AgentSpec:
    from milk_tui.config import Config
    from milk_tui.core.errors import ConfigError
    from milk_tui.engine.agent_spec import from_word

    while True:
        word = click.prompt("Model in litellm's words, such as ollama_chat/llama3 or openai/NAME").strip()
        base = click.prompt("Address of its server (empty: the provider's own)", default="", show_default=False)
        key = click.prompt(
            "Variable that holds its key (empty: the usual one, or none)", default="", show_default=False
        )
        try:
            spec = from_word(Config(), role, word, "setup")
        except ConfigError as problem:
            output.error(str(problem))
            continue
        from msgspec.structs import replace

        key = key.strip() or ("" if base.strip() else spec.api_key_env)
        return replace(spec, api_base=base.strip(), api_key_env=key)


def _ask_name(proposed: str, taken: str) -> str:
    from milk_tui.config_file import AGENT_NAME

    if proposed.lower() == taken.lower():
        proposed = f"{proposed[:27]}-deep"
    while True:
        name: str = click.prompt("Its name", default=proposed).strip()
        if not AGENT_NAME.match(name):
            output.error("Use 1 to 32 letters, digits, '.', '_' or '-', beginning with a letter or digit.")
        elif name.lower() == taken.lower():
            output.error(f"{name} is the other agent.")
        else:
            return name


def _table(spec: AgentSpec) -> dict[str, Any]:
    """The agent as the file says it; what is the default is taken out."""
    from milk_tui.config import Provider

    embedded = spec.provider is Provider.EMBEDDED
    return {
        "model": (spec.embedded_size if embedded else spec.model) or None,
        "provider": spec.provider.value if embedded or spec.own_program else None,
        "command": list(spec.command) if spec.provider is Provider.ACP else None,
        "api_base": spec.api_base or None,
        "api_key_env": spec.api_key_env or None,
        "role": spec.role.value,
    }
