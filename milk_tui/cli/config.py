"""``milk-tui config``: where the file is, what holds and why, and editing it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from milk_tui.cli import output
from milk_tui.cli.options import Options, json_option, pass_options

if TYPE_CHECKING:
    from milk_tui.config import Config


@click.group()
def config() -> None:
    """Show, explain or edit the configuration."""


@config.command()
@pass_options
def path(options: Options) -> None:
    """Print the path of the config file."""
    click.echo(_file(options))


@config.command()
@click.option("--explain", is_flag=True, help="Say what each setting means.")
@json_option
@pass_options
def show(options: Options, explain: bool, as_json: bool) -> int:
    """Print every setting, its value and where that came from.

    Keys that can't be used are said at the end; the exit status is then 1."""
    from milk_tui.config_manual import meaning
    from milk_tui.config_schema import dotted

    loaded = options.loaded
    settings: list[dict[str, Any]] = [
        {"path": path, "key": dotted(path), "value": value, "source": loaded.sources.get(dotted(path), "default")}
        for path, value in flatten(loaded.config)
    ]
    for setting in settings:
        if explain:
            setting["meaning"] = meaning(setting.pop("path"))
        else:
            setting.pop("path")
    problems = unusable_keys(loaded.config)
    code = 1 if problems else 0
    if as_json:
        output.as_json({"file": str(loaded.file), "found": loaded.found, "settings": settings, "problems": problems})
        return code
    output.line(f"# {loaded.file}" + ("" if loaded.found else " (not there; these are the defaults)"))
    rows = [(str(s["key"]), as_toml(s["value"]), str(s["source"])) for s in settings]
    if not explain:
        output.table(rows, head=("setting", "value", "from"))
    else:
        for row, setting in zip(rows, settings, strict=True):
            output.line(f"{row[0]} = {row[1]}  ({row[2]})")
            output.line(f"    {setting['meaning']}")
    _say(problems)
    return code


@config.command()
@pass_options
def edit(options: Options) -> int:
    """Open the config file in $VISUAL or $EDITOR and check it afterwards."""
    from milk_tui import config as configuration
    from milk_tui import config_file, paths

    file = _file(options)
    if not file.exists():
        config_file.replace_private(file, TEMPLATE)
    click.edit(filename=str(file))
    loaded = configuration.load(file)
    if problems := unusable_keys(loaded.config):
        _say(problems)
        return 1
    output.line(f"{paths.shown(file)} is fine: {len(loaded.sources)} settings differ from the defaults.")
    return 0


TEMPLATE = """\
# The configuration of milk-tui. What is not said here has its default:
# `milk-tui config show --explain` lists every setting with its meaning.

# [agents.qwen]
# model = "ollama_chat/qwen2.5-coder"
# role = "primary"

# [agents.claude]
# model = "anthropic/claude-opus-5-5"
# api_key_env = "ANTHROPIC_API_KEY"
# role = "escalation"
"""


def unusable_keys(config: Config) -> list[str]:
    """What of ``[keys]`` can't be used, as the screen says it."""
    if not config.keys:
        return []
    from milk_tui.ui.actions import keymap

    return list(keymap(config.keys).problems)


def _say(problems: Iterable[str]) -> None:
    for problem in problems:
        output.line(problem, err=True)


def flatten(value: Any, where: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Key and value of every setting of a configuration."""
    import msgspec

    if isinstance(value, msgspec.Struct):
        items: list[tuple[str, Any]] = [(name, getattr(value, name)) for name in value.__struct_fields__]
    else:
        items = list(value.items())
    for name, inner in items:
        path = (*where, name)
        if isinstance(inner, msgspec.Struct | dict):
            yield from flatten(inner, path)
        else:
            yield path, list(inner) if isinstance(inner, tuple) else inner


def as_toml(value: Any) -> str:
    """The value as the file would say it; unset ones as ``(unset)``."""
    import json

    if value is None or value == "":
        return "(unset)"
    return json.dumps(value, ensure_ascii=False, default=str)


def _file(options: Options) -> Path:
    from milk_tui import paths

    return options.config.expanduser() if options.config else paths.config_file()
