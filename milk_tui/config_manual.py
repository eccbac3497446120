"""The manual of the settings: the docstrings of ``config.py``, by key. They stand nowhere else."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Mapping
from functools import cache

NAMED = {"agents": "agents.NAME", "mcp": "mcp.NAME"}
"""Sections that hold a table for each name, and how their keys are called in general."""


@cache
def manual() -> Mapping[str, str]:
    """What each setting means, by its key in general: ``context.cap``, ``agents.NAME.model``, ``keys.ACTION``."""
    from milk_tui import config

    classes = {node.name: node for node in ast.parse(inspect.getsource(config)).body if isinstance(node, ast.ClassDef)}
    meanings: dict[str, str] = {}
    for section, annotation, text in _documented(classes["Config"]):
        inner = next((name for name in classes if name in annotation and name.endswith("Config")), "")
        prefix = NAMED.get(section, section)
        if not inner:
            meanings[f"{prefix}.ACTION"] = text
            continue
        meanings[prefix] = _clean(ast.get_docstring(classes[inner]) or "")
        for name, _, meaning in _documented(classes[inner]):
            meanings[f"{prefix}.{name}"] = meaning
    return meanings


def general(key: tuple[str, ...]) -> str:
    """The key as the manual has it: ``("agents", "qwen", "model")`` is ``agents.NAME.model``."""
    match key:
        case ("keys", _):
            return "keys.ACTION"
        case (("agents" | "mcp") as section, _, field, *_):
            return f"{section}.NAME.{field}"
        case (section, field, *_):
            return f"{section}.{field}"
        case _:
            return ".".join(key)


def meaning(key: tuple[str, ...]) -> str:
    """What a setting means; empty for one that there is not."""
    return manual().get(general(key), "")


def _documented(node: ast.ClassDef) -> Iterator[tuple[str, str, str]]:
    """Name, annotation and docstring of each attribute of a class."""
    for here, after in zip(node.body, [*node.body[1:], None], strict=True):
        if not isinstance(here, ast.AnnAssign) or not isinstance(here.target, ast.Name):
            continue
        said = after.value if isinstance(after, ast.Expr) else None
        text = said.value if isinstance(said, ast.Constant) and isinstance(said.value, str) else ""
        yield here.target.id, ast.unparse(here.annotation), _clean(text)


def _clean(text: str) -> str:
    return " ".join(text.split()).replace("``", "`")
