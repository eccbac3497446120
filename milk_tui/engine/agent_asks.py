"""What an agent with tools of its own asks, made grantable in the same classes as our own tools' requests."""

from __future__ import annotations

from msgspec.structs import replace

from milk_tui.core.permissions import PermissionRequest, Scope
from milk_tui.core.tool_calls import arguments_of
from milk_tui.tools.command_words import pattern_of

_PLAIN = frozenset({"command", "description", "timeout", "cwd", "workdir"})
"""Arguments of a shell call that change nothing about what may happen; with any other one it is granted as it is."""


def with_class(request: PermissionRequest) -> PermissionRequest:
    """The request with the class of its command, such as ``pytest *``, where it runs a plain one in the directory."""
    if request.pattern or request.questions or request.language != "bash" or Scope.SESSION not in request.scopes:
        return request
    arguments = arguments_of(request.arguments) or {}
    command = arguments.get("command")
    if not isinstance(command, str) or not set(arguments) <= _PLAIN:
        return request
    return replace(request, pattern=pattern_of(command))
