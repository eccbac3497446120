"""What an agent with tools of its own asks, made fit to be read by the person: title, body, diff."""

from __future__ import annotations

import difflib
import uuid
from pathlib import Path
from typing import Any

import msgspec

from milk_tui.agents.base import LegRequest
from milk_tui.core.permissions import PermissionAsker, PermissionRequest, Question, Scope, Verdict
from milk_tui.core.text import clean, one_line

BODY_CHARS = 200_000
"""The longest body that is shown; a longer one says how much was left out."""
OLD_FILE_BYTES = 1_000_000
"""The largest file that a new text is compared with."""
NOBODY = "Nobody is there to allow it."

_EDITS = ("Edit", "MultiEdit", "edit", "str_replace")
_PATHS = ("file_path", "notebook_path", "path", "filePath", "filepath")


async def ask(asker: PermissionAsker | None, request: PermissionRequest) -> Verdict:
    """The person's answer; with nobody to ask it is no."""
    if asker is None:
        return Verdict(allowed=False, reason=NOBODY, by="nobody")
    return await asker(request)


def refusal(verdict: Verdict) -> str:
    """What the agent is told when the answer is no."""
    return one_line(verdict.reason, 500) or ("The person said no." if verdict.by == "person" else NOBODY)


def request_for(
    leg: LegRequest,
    agent_name: str,
    tool: str,
    arguments: dict[str, Any],
    *,
    call_id: str = "",
    outside: bool = False,
    title: str = "",
    diff: str = "",
) -> PermissionRequest:
    """The request for one call of one of the runtime's own tools. ``outside``: beyond the session's directory, where
    nothing is allowed for longer than once. ``title`` and ``diff``: the runtime's own, for a tool that we don't know.
    """
    says, body, language = _shown(tool, arguments, leg.directory)
    if diff:
        body, language = diff, "diff"
    scopes = (Scope.ONCE,) if outside or _beyond(arguments, leg.directory) else tuple(Scope)
    return PermissionRequest(
        id=uuid.uuid4().hex,
        role=leg.role,
        agent_name=agent_name,
        tool=one_line(clean(tool), 80),
        arguments=_json(arguments),
        title=one_line(clean(says or title or tool), 200),
        body=_bounded(clean(body)),
        language=language,
        directory=leg.directory,
        scopes=scopes,
        call_id=call_id,
    )


def questions_of(arguments: dict[str, Any]) -> tuple[Question, ...]:
    """The questions of an AskUserQuestion call; other shapes give none."""
    found = []
    asked = arguments.get("questions")
    for told in asked if isinstance(asked, list) else ():
        if not isinstance(told, dict) or not isinstance(told.get("question"), str):
            continue
        offered = told.get("options")
        options = [o for o in offered if isinstance(o, dict)] if isinstance(offered, list) else []
        found.append(
            Question(
                text=clean(told["question"]),
                header=one_line(clean(str(told.get("header") or "")), 40),
                choices=tuple(clean(str(o.get("label") or "")) for o in options if o.get("label")),
                multiple=bool(told.get("multiSelect")),
            )
        )
    return tuple(found)


def _shown(tool: str, arguments: dict[str, Any], directory: str) -> tuple[str, str, str]:
    """Title, body and language of a call; an unknown tool's title is empty and its body the arguments."""
    command = arguments.get("command")
    path = next((str(arguments[name]) for name in _PATHS if isinstance(arguments.get(name), str)), "")
    if isinstance(command, str) and command.strip():
        return f"run {one_line(command, 160)}", command, "bash"
    if tool in _EDITS and path:
        return f"edit {path}", _edits(path, arguments), "diff"
    content = arguments.get("content")
    if tool in ("Write", "write", "create_file") and path and isinstance(content, str):
        return f"write {path}", unified(path, _old(path, directory), content), "diff"
    if tool == "ExitPlanMode" and isinstance(arguments.get("plan"), str):
        return "begin with the plan", str(arguments["plan"]), "markdown"
    if tool == "WebFetch" and isinstance(arguments.get("url"), str):
        return f"fetch {arguments['url']}", _json(arguments, indent=True), "json"
    title = f"{tool} {path}" if path else ""
    return title, _json(arguments, indent=True), "json"


def _edits(path: str, arguments: dict[str, Any]) -> str:
    edits = arguments.get("edits") if isinstance(arguments.get("edits"), list) else [arguments]
    pairs = [
        (str(e.get("old_string") or e.get("oldString") or ""), str(e.get("new_string") or e.get("newString") or ""))
        for e in edits or ()
        if isinstance(e, dict)
    ]
    return "\n".join(unified(path, old, new) for old, new in pairs)


def unified(path: str, old: str, new: str) -> str:
    """A unified diff; the file's name stands in its head."""
    lines = difflib.unified_diff(old.splitlines(), new.splitlines(), path, path, lineterm="")
    return "\n".join(lines)


def _old(path: str, directory: str) -> str:
    """What a file holds that is to be written; empty for a new one, and for one too large to compare."""
    file = Path(directory or ".", path)
    try:
        if not file.is_file() or file.stat().st_size > OLD_FILE_BYTES:
            return ""
        return file.read_text("utf-8", "replace")
    except OSError:
        return ""


def _beyond(arguments: dict[str, Any], directory: str) -> bool:
    """Whether one of the call's paths leads out of the session's directory, links followed."""
    if not directory:
        return False
    for name in _PATHS:
        path = arguments.get(name)
        if isinstance(path, str) and path:
            try:
                top = Path(directory).resolve()
                if not (top / Path(path).expanduser()).resolve().is_relative_to(top):
                    return True
            except (OSError, ValueError, RuntimeError):
                return True
    return False


def _json(arguments: dict[str, Any], *, indent: bool = False) -> str:
    try:
        encoded = msgspec.json.encode(arguments, order="sorted")
    except (TypeError, ValueError, RecursionError):
        return "{}"
    return (msgspec.json.format(encoded) if indent else encoded).decode()


def _bounded(body: str) -> str:
    if len(body) <= BODY_CHARS:
        return body
    return f"{body[:BODY_CHARS]}\n… {len(body) - BODY_CHARS:,} more characters"
