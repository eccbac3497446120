"""``milk-tui config``: where the file is, what holds and why, and editing it."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from milk_tui.cli import output
from milk_tui.cli.options import Options, json_option, pass_options


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
def show(options: Options, explain: bool, as_json: bool) -> None:
    """Print every setting, its value and where that came from."""
    loaded = options.loaded
    settings = [
        {"key": key, "value": value, "source": loaded.sources.get(key, "default")}
        for key, value in flatten(loaded.config)
    ]
    meanings = manual() if explain else {}
    for setting in settings:
        if explain:
            setting["meaning"] = meanings.get(_generic(str(setting["key"])), "")
    if as_json:
        output.as_json({"file": str(loaded.file), "found": loaded.found, "settings": settings})
        return
    output.line(f"# {loaded.file}" + ("" if loaded.found else " (not there; these are the defaults)"))
    rows = [(str(s["key"]), as_toml(s["value"]), str(s["source"])) for s in settings]
    if not explain:
        output.table(rows, head=("setting", "value", "from"))
        return
    for row, setting in zip(rows, settings, strict=True):
        output.line(f"{row[0]} = {row[1]}  ({row[2]})")
        output.line(f"    {setting['meaning']}")


@config.command()
@pass_options
def edit(options: Options) -> None:
    """Open the config file in $VISUAL or $EDITOR and check it afterwards."""
    from milk_tui import config as configuration
    from milk_tui import config_file, paths

    file = _file(options)
    if not file.exists():
        config_file.replace_private(file, TEMPLATE)
    click.edit(filename=str(file))
    loaded = configuration.load(file)
    output.line(f"{paths.shown(file)} is fine: {len(loaded.sources)} settings differ from the defaults.")


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


def flatten(value: Any, where: str = "") -> Iterator[tuple[str, Any]]:
    """Dotted key and value of every setting of a configuration."""
    import msgspec

    from milk_tui.config_file import bare

    if isinstance(value, msgspec.Struct):
        items: list[tuple[str, Any]] = [(name, getattr(value, name)) for name in value.__struct_fields__]
    else:
        items = [(bare(name), inner) for name, inner in value.items()]
    for name, inner in items:
        key = f"{where}.{name}" if where else name
        if isinstance(inner, msgspec.Struct | dict):
            yield from flatten(inner, key)
        else:
            yield key, list(inner) if isinstance(inner, tuple) else inner


def as_toml(value: Any) -> str:
    """The value as the file would say it; unset ones as ``(unset)``."""
    import json

    if value is None or value == "":
        return "(unset)"
    return json.dumps(value, ensure_ascii=False, default=str)


def manual() -> dict[str, str]:
    """What each setting means: its docstring, by dotted key (``agents.NAME.…`` and ``keys.ACTION`` in
    general)."""
    from milk_tui import config as configuration

    classes = {
        node.name: node for node in ast.parse(inspect.getsource(configuration)).body if isinstance(node, ast.ClassDef)
    }
    meanings = {}
    for section, annotation, text in _documented(classes["Config"]):
        inner = next((name for name in classes if name in annotation and name.endswith("Config")), "")
        prefix = {"agents": "agents.NAME", "keys": "keys.ACTION"}.get(section, section)
        if not inner:
            meanings[prefix] = text
            continue
        for name, _, meaning in _documented(classes[inner]):
            meanings[f"{prefix}.{name}"] = meaning
    return meanings


def _documented(node: ast.ClassDef) -> Iterator[tuple[str, str, str]]:
    """Name, annotation and docstring of each attribute of a class."""
    for here, after in zip(node.body, [*node.body[1:], None], strict=True):
        if not isinstance(here, ast.AnnAssign) or not isinstance(here.target, ast.Name):
            continue
        said = after.value if isinstance(after, ast.Expr) else None
        text = said.value if isinstance(said, ast.Constant) and isinstance(said.value, str) else ""
        yield here.target.id, ast.unparse(here.annotation), " ".join(text.split()).replace("``", "`")


def _generic(key: str) -> str:
    section, _, rest = key.partition(".")
    if section == "agents":
        return f"agents.NAME.{rest.rpartition('.')[2]}"
    return "keys.ACTION" if section == "keys" else key


def _file(options: Options) -> Path:
    from milk_tui import paths

    return options.config.expanduser() if options.config else paths.config_file()
