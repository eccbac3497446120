"""Profiles of the recall helper: one Markdown file with a YAML header (``semantics.md`` §6).

The header says when the helper runs, what it may read, what it must return and what holds it back; the body is its
instructions. Every field is known, typed and bounded, so that a misspelt limit is an error with its line and not a
limit that does not hold. A version of a profile is its text, by hash.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from milk_tui.core.errors import MilkError
from milk_tui.core.helper_signals import SIGNALS

if TYPE_CHECKING:
    from yaml.nodes import Node

KIND = "crossing-guard-orchestration-profile"
LARGEST = 65_536
"""Bytes of a profile's file."""
SEND_MESSAGE = "send-message"
CAPABILITIES = frozenset({"managed-turn"})
"""What this program can do for a helper; a profile that requires more can't run."""
MESSAGES, CLAIMS = "session.messages", "prior-claims"
RECORD_UNAVAILABLE = "record-unavailable"


class ProfileError(MilkError):
    """A profile can't be used; each line names file, line and what is wrong."""


class Problem(Struct, frozen=True):
    """``line`` counts from 1 in the file."""

    line: int
    what: str


class Limits(Struct, frozen=True, kw_only=True):
    """What a run may take. All of it is enforced."""

    timeout_s: float = 120.0
    max_hops: int = 1
    max_depth: int = 1
    max_input_bytes: int = 65_536
    max_output_bytes: int = 4_096
    max_tokens: int = 2_048
    max_retries: int = 0
    max_concurrency: int = 1


class ContextPart(Struct, frozen=True, kw_only=True):
    kind: str
    required: bool = False
    max_bytes: int = 16_384


class Profile(Struct, frozen=True, kw_only=True):
    """A valid profile."""

    id: str
    version: str
    name: str
    description: str
    event: str
    context: tuple[ContextPart, ...]
    authority: tuple[str, ...]
    reply_shape: str
    local_only: bool
    capabilities: tuple[str, ...]
    limits: Limits
    body: str
    hash: str
    """SHA-256 of the file's text."""
    text: str

    def part(self, kind: str) -> ContextPart | None:
        return next((part for part in self.context if part.kind == kind), None)

    @property
    def messages_bytes(self) -> int:
        part = self.part(MESSAGES)
        return part.max_bytes if part else 0


def content_hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def parse(text: str, where: str = "profile") -> Profile:
    """The profile that the file's text is. Raises ``ProfileError`` with every problem and its line."""
    found, problems = read(text)
    if found is None:
        lines = "; ".join(f"{where}:{p.line}: {p.what}" for p in problems[:8])
        more = f" (and {len(problems) - 8} more)" if len(problems) > 8 else ""
        raise ProfileError(f"{lines}{more}.", "Correct the header; `milk-tui helper show recall` prints a valid one.")
    return found


def read(text: str) -> tuple[Profile | None, list[Problem]]:
    """The profile, or every problem in the order of the lines."""
    if len(text.encode("utf-8", "replace")) > LARGEST:
        return None, [Problem(1, f"the file has more than {LARGEST:,} bytes")]
    lines = text.split("\n")
    if lines[0].rstrip() != "---":
        return None, [Problem(1, "the header is missing: the first line must be ---")]
    end = next((number for number, line in enumerate(lines[1:], start=1) if line.rstrip() == "---"), None)
    if end is None:
        return None, [Problem(len(lines), "the header has no end: a line --- is missing")]
    node, problem = _compose("\n".join(lines[1:end]))
    if problem is not None:
        return None, [problem]
    header = _Header()
    values = header.mapping(node, _FIELDS, "")
    body = "\n".join(lines[end + 1 :]).strip()
    if not body:
        header.problems.append(Problem(end + 2, "the instructions are missing: nothing follows the header"))
    if header.problems:
        return None, sorted(header.problems, key=lambda p: p.line)
    return _profile(values, body, text), []


def _profile(values: dict[str, Any], body: str, text: str) -> Profile:
    requires = values.get("requirements", {})
    return Profile(
        id=values["id"],
        version=values["version"],
        name=values["name"],
        description=values.get("description", ""),
        event=values["trigger"]["event"],
        context=tuple(
            ContextPart(
                kind=part["kind"],
                required=part.get("required", False),
                max_bytes=part.get("max-bytes", 16_384),
            )
            for part in values["context"]
        ),
        authority=tuple(values.get("authority-requests", ())),
        reply_shape=values.get("reply-shape", ""),
        local_only=requires.get("destination", {}).get("locality", "any") == "local-only",
        capabilities=tuple(requires.get("capabilities", ())),
        limits=Limits(
            **{
                ("timeout_s" if key == "timeout" else key.replace("-", "_")): value
                for key, value in values.get("limits", {}).items()
            }
        ),
        body=body,
        hash=content_hash(text),
        text=text,
    )


def _compose(header: str) -> tuple[Node | None, Problem | None]:
    import yaml

    try:
        for event in yaml.parse(header, yaml.SafeLoader):
            if isinstance(event, yaml.events.AliasEvent) or getattr(event, "anchor", None):
                return None, Problem(event.start_mark.line + 2, "anchors and aliases are not allowed")
        return yaml.compose(header, yaml.SafeLoader), None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        what = getattr(error, "problem", None) or str(error).split("\n")[0]
        return None, Problem((mark.line if mark else 0) + 2, f"the header is no YAML: {what}")
    except RecursionError:
        return None, Problem(2, "the header is nested too deeply")


class _Wrong(Exception):
    """A value is not what its field takes."""


Check = Callable[["_Header", "Node", str], Any]


class _Header:
    """Reads nodes into values and keeps what was wrong, with lines of the file."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def wrong(self, node: Node, what: str) -> None:
        self.problems.append(Problem(node.start_mark.line + 2, what))

    def mapping(self, node: Node | None, fields: dict[str, tuple[bool, Check]], path: str) -> dict[str, Any]:
        import yaml

        if not isinstance(node, yaml.MappingNode):
            if node is None:
                self.problems.append(Problem(2, "the header is empty"))
            else:
                self.wrong(node, f"{path or 'the header'} must be keys with values")
            return {}
        values: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key = key_node.value if isinstance(key_node, yaml.ScalarNode) else "?"
            name = f"{path}.{key}" if path else key
            if key not in fields:
                self.wrong(key_node, f"{name} is not known; known: {', '.join(fields)}")
            elif key in values:
                self.wrong(key_node, f"{name} is there twice")
            else:
                values[key] = self._value(fields[key][1], value_node, name)
        for key, (required, _) in fields.items():
            if required and key not in values:
                self.wrong(node, f"{f'{path}.{key}' if path else key} is missing")
        return values

    def _value(self, check: Check, node: Node, name: str) -> Any:
        try:
            return check(self, node, name)
        except _Wrong as wrong:
            self.wrong(node, str(wrong))
            return None


def _text(limit: int, pattern: str = "") -> Check:
    def check(header: _Header, node: Node, name: str) -> str:
        value = _scalar(node, "str", name, "text")
        if not value.strip():
            raise _Wrong(f"{name} is empty")
        if len(value) > limit:
            raise _Wrong(f"{name} has more than {limit} characters")
        if pattern and not re.fullmatch(pattern, value):
            raise _Wrong(f"{name} must look like {pattern}")
        return value

    return check


def _one_of(*allowed: str) -> Check:
    def check(header: _Header, node: Node, name: str) -> str:
        value = _scalar(node, "str", name, "text")
        if value not in allowed:
            raise _Wrong(f"{name} must be {' or '.join(allowed)}")
        return value

    return check


def _number(least: int, most: int) -> Check:
    def check(header: _Header, node: Node, name: str) -> int:
        value = int(_scalar(node, "int", name, "a whole number"), 0)
        if not least <= value <= most:
            raise _Wrong(f"{name} must be {least:,} to {most:,}")
        return value

    return check


def _flag(header: _Header, node: Node, name: str) -> bool:
    return _scalar(node, "bool", name, "true or false").lower() in ("true", "yes", "on")


_DURATION = re.compile(r"(\d{1,6})(ms|s|m)")


def _duration(header: _Header, node: Node, name: str) -> float:
    found = _DURATION.fullmatch(getattr(node, "value", "") if isinstance(getattr(node, "value", ""), str) else "")
    if found is None:
        raise _Wrong(f"{name} must be a duration such as 90s or 2m")
    seconds = int(found[1]) * {"ms": 0.001, "s": 1, "m": 60}[found[2]]
    if not 0.05 <= seconds <= 600:
        raise _Wrong(f"{name} must be 50ms to 10m")
    return float(seconds)


def _list(check: Check, most: int = 8) -> Check:
    def read_list(header: _Header, node: Node, name: str) -> list[Any]:
        import yaml

        if not isinstance(node, yaml.SequenceNode):
            raise _Wrong(f"{name} must be a list")
        if len(node.value) > most:
            raise _Wrong(f"{name} has more than {most} entries")
        return [header._value(check, each, f"{name}[{number}]") for number, each in enumerate(node.value)]

    return read_list


def _map(fields: dict[str, tuple[bool, Check]]) -> Check:
    return lambda header, node, name: header.mapping(node, fields, name)


def _scalar(node: Node, tag: str, name: str, what: str) -> str:
    import yaml

    if not isinstance(node, yaml.ScalarNode) or node.tag != f"tag:yaml.org,2002:{tag}":
        raise _Wrong(f"{name} must be {what}")
    return str(node.value)


def _format(header: _Header, node: Node, name: str) -> int:
    if _scalar(node, "int", name, "1") != "1":
        raise _Wrong(f"{name} must be 1")
    return 1


_FIELDS: dict[str, tuple[bool, Check]] = {
    "format-version": (True, _format),
    "kind": (True, _one_of(KIND)),
    "id": (True, _text(60, "[a-z0-9][a-z0-9-]*")),
    "version": (True, _text(40)),
    "name": (True, _text(80)),
    "description": (False, _text(400)),
    "type": (True, _one_of("helper")),
    "role": (True, _one_of("follower")),
    "execution": (True, _one_of("managed-turn")),
    "trigger": (True, _map({"event": (True, _one_of(*SIGNALS))})),
    "context": (
        True,
        _list(
            _map(
                {
                    "kind": (True, _one_of(MESSAGES, CLAIMS)),
                    "required": (False, _flag),
                    "max-bytes": (False, _number(256, 65_536)),
                }
            )
        ),
    ),
    "output": (True, _map({"kind": (True, _one_of("intervention"))})),
    "authority-requests": (False, _list(_one_of(SEND_MESSAGE))),
    "reply-shape": (False, _text(1_000)),
    "requirements": (
        False,
        _map(
            {
                "capabilities": (False, _list(_text(60, "[a-z0-9][a-z0-9.-]*"))),
                "destination": (False, _map({"locality": (True, _one_of("local-only", "any"))})),
            }
        ),
    ),
    "limits": (
        False,
        _map(
            {
                "timeout": (False, _duration),
                "max-hops": (False, _number(1, 4)),
                "max-depth": (False, _number(1, 4)),
                "max-input-bytes": (False, _number(1_024, 262_144)),
                "max-output-bytes": (False, _number(64, 16_384)),
                "max-tokens": (False, _number(16, 16_384)),
                "max-retries": (False, _number(0, 3)),
                "max-concurrency": (False, _number(1, 8)),
            }
        ),
    ),
    "failure": (
        False,
        _map(
            {
                key: (False, _one_of(RECORD_UNAVAILABLE))
                for key in ("missing-required-context", "unavailable-capability", "timeout", "malformed-output")
            }
        ),
    ),
}
