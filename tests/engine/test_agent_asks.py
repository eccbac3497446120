from __future__ import annotations

import json

import pytest

from milk_tui.core.permissions import PermissionRequest, Scope
from milk_tui.core.records import Role
from milk_tui.engine.agent_asks import with_class


def asked(arguments: dict[str, object], **fields: object) -> PermissionRequest:
    values = {
        "id": "1",
        "role": Role.PRIMARY,
        "agent_name": "claude",
        "tool": "Bash",
        "title": "run",
        "language": "bash",
    }
    return PermissionRequest(arguments=json.dumps(arguments), **values | fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("arguments", "pattern"),
    [
        ({"command": "pytest -q", "description": "test it", "timeout": 5}, "pytest *"),
        ({"command": "git diff HEAD"}, "git diff *"),
        ({"command": "pytest; rm -rf /"}, ""),
        ({"command": "pytest -q", "dangerouslyDisableSandbox": True}, ""),
        ({"command": "pytest -q", "run_in_background": True}, ""),
        ({"command": ["pytest"]}, ""),
    ],
)
def test_a_plain_command_may_be_granted_as_a_class(arguments: dict[str, object], pattern: str) -> None:
    assert with_class(asked(arguments)).pattern == pattern


def test_nothing_else_is_widened() -> None:
    for request in (
        asked({"command": "pytest"}, language="diff"),
        asked({"command": "pytest"}, scopes=(Scope.ONCE,)),
        asked({"command": "pytest"}, pattern="mine"),
        PermissionRequest(
            id="1", role=Role.PRIMARY, agent_name="a", tool="t", arguments="{", title="t", language="bash"
        ),
    ):
        assert with_class(request) == request
