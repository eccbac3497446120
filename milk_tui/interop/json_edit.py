"""Small changes to a JSON text that leave every other byte as it is. Pure.

The text is read into nodes that know where they stand; a change is a replacement of one piece of it. What a person
wrote keeps its order, its line breaks and its way of indenting.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

MOST_DEEP = 100

_DECODER = json.JSONDecoder()
_SPACE = re.compile(r"[ \t\n\r]*")
_SCALAR = re.compile(r"true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")


class NotJson(ValueError):
    """The text is no JSON, or not such that it can be changed safely."""


@dataclass(slots=True)
class Node:
    """A value and where it stands: ``text[start:end]``. Of an object ``members``, of a list ``items``."""

    start: int
    end: int
    value: Any = None
    members: list[tuple[str, int, Node]] | None = None
    """Key, where the key begins, value."""
    items: list[Node] | None = None

    def get(self, key: str) -> Node | None:
        return next((node for name, _, node in self.members or () if name == key), None)


def parse(text: str) -> Node:
    """The root. Raises ``NotJson`` with line and column."""
    at = _space(text, 0)
    node = _value(text, at, 0)
    end = _space(text, node.end)
    if end != len(text):
        raise _error(text, end, "nothing more may follow")
    return node


def plain(node: Node) -> Any:
    """The value as ``json.loads`` gives it."""
    if node.members is not None:
        return {key: plain(value) for key, _, value in node.members}
    if node.items is not None:
        return [plain(item) for item in node.items]
    return node.value


def insert(text: str, parent: Node, value: Any, key: str | None = None) -> str:
    """The text with one more member (``key``) or item at the end of ``parent``."""
    unit, outer = _unit(text), _indent_of(text, parent.start)
    children = _children(parent)
    inline = bool(children) and "\n" not in text[parent.start : children[0][0]]
    label = "" if key is None else f"{json.dumps(key, ensure_ascii=False)}: "
    if inline:
        return _spliced(text, children[-1][1], children[-1][1], ", " + label + json.dumps(value, ensure_ascii=False))
    inner = _indent_of(text, children[0][0]) if children else outer + unit
    written = json.dumps(value, ensure_ascii=False, indent=unit).replace("\n", "\n" + inner)
    line = "\r\n" if "\r\n" in text else "\n"
    if children:
        return _spliced(text, children[-1][1], children[-1][1], f",\n{inner}{label}{written}".replace("\n", line))
    body = f"\n{inner}{label}{written}\n{outer}".replace("\n", line)
    return _spliced(text, parent.start + 1, parent.end - 1, body)


def remove(text: str, parent: Node, child: Node) -> str:
    """The text without one member or item of ``parent``, and without the comma that it needed."""
    children = _children(parent)
    index = next(i for i, (_, end) in enumerate(children) if end == child.end)
    start, end = children[index]
    if len(children) == 1:
        return _spliced(text, parent.start + 1, parent.end - 1, "")
    if index == 0:
        return _spliced(text, start, children[1][0], "")
    return _spliced(text, children[index - 1][1], end, "")


def _children(parent: Node) -> list[tuple[int, int]]:
    if parent.members is not None:
        return [(start, value.end) for _, start, value in parent.members]
    return [(item.start, item.end) for item in parent.items or ()]


def _spliced(text: str, start: int, end: int, new: str) -> str:
    return text[:start] + new + text[end:]


def _unit(text: str) -> str:
    """One step of indenting, as the text has it; two spaces where it has none."""
    found = re.search(r"\n([ \t]+)\S", text)
    return found[1] if found else "  "


def _indent_of(text: str, at: int) -> str:
    """The white space at the beginning of the line."""
    begin = text.rfind("\n", 0, at) + 1
    found = re.match(r"[ \t]*", text[begin:at])
    return found[0] if found else ""


def _space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _value(text: str, at: int, depth: int) -> Node:
    if depth > MOST_DEEP:
        raise _error(text, at, "it is too deep")
    match text[at : at + 1]:
        case "{":
            return _object(text, at, depth)
        case "[":
            return _list(text, at, depth)
        case '"':
            value, end = _string(text, at)
            return Node(at, end, value)
        case _:
            found = _SCALAR.match(text, at)
            if found is None:
                raise _error(text, at, "a value is missing")
            return Node(at, found.end(), json.loads(found[0]))


def _object(text: str, start: int, depth: int) -> Node:
    members: list[tuple[str, int, Node]] = []
    at = _space(text, start + 1)
    if text[at : at + 1] == "}":
        return Node(start, at + 1, members=members)
    while True:
        if text[at : at + 1] != '"':
            raise _error(text, at, "a key is missing")
        begin = at
        key, at = _string(text, at)
        at = _space(text, at)
        if text[at : at + 1] != ":":
            raise _error(text, at, "a colon is missing")
        node = _value(text, _space(text, at + 1), depth + 1)
        if any(key == other for other, _, _ in members):
            raise _error(text, begin, f"the key {json.dumps(key)} is there twice")
        members.append((key, begin, node))
        at = _space(text, node.end)
        if text[at : at + 1] == "}":
            return Node(start, at + 1, members=members)
        if text[at : at + 1] != ",":
            raise _error(text, at, "a comma is missing")
        at = _space(text, at + 1)


def _list(text: str, start: int, depth: int) -> Node:
    items: list[Node] = []
    at = _space(text, start + 1)
    if text[at : at + 1] == "]":
        return Node(start, at + 1, items=items)
    while True:
        node = _value(text, at, depth + 1)
        items.append(node)
        at = _space(text, node.end)
        if text[at : at + 1] == "]":
            return Node(start, at + 1, items=items)
        if text[at : at + 1] != ",":
            raise _error(text, at, "a comma is missing")
        at = _space(text, at + 1)


def _string(text: str, at: int) -> tuple[str, int]:
    try:
        value, end = _DECODER.raw_decode(text, at)
    except ValueError as error:
        raise _error(text, at, "a string is broken") from error
    return str(value), end


def _error(text: str, at: int, what: str) -> NotJson:
    line = text.count("\n", 0, at) + 1
    column = at - text.rfind("\n", 0, at)
    return NotJson(f"line {line}, column {column}: {what}")
