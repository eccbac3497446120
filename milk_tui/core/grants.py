"""What a permission covers: rules for grants and answers (``quality.md`` "permissions"). Pure.

A grant is bound to one agent, one tool and one directory. It covers the exact arguments that were shown, or, when the
person chose so, the pattern that was shown: a request belongs to it when it names the very same pattern. Patterns are
compared as text and never expanded, so that a grant can't reach further than its words.
"""

from __future__ import annotations

import json

from msgspec import Struct
from msgspec.structs import replace

from milk_tui.core.permissions import PermissionRequest, Scope, Verdict

NOBODY = "nobody"
"""``Verdict.by`` when no person answered."""
NO_PERSON = "no person is there to ask, and nothing granted it before"
WITHDRAWN = "the request was withdrawn"


class Grant(Struct, frozen=True, kw_only=True):
    """One permission that holds beyond the request that it was given for."""

    id: int = 0
    agent_name: str
    tool: str
    arguments: str = ""
    """The exact arguments, canonical; empty when ``pattern`` says what is covered."""
    pattern: str = ""
    directory: str = ""
    session_id: str | None = None
    """The session that it holds for; ``None``: always, until it is revoked."""
    title: str = ""
    """What was asked when it was given."""
    created_ms: int = 0
    used_ms: int | None = None
    uses: int = 0

    @property
    def scope(self) -> Scope:
        return Scope.ALWAYS if self.session_id is None else Scope.SESSION

    @property
    def covered(self) -> str:
        """What it covers, as it was shown."""
        return self.pattern or self.arguments


def canonical(arguments: str) -> str:
    """The arguments in one spelling, so that equal ones are equal as text; what is no JSON stays as it is."""
    try:
        value = json.loads(arguments) if arguments.strip() else {}
    except (ValueError, RecursionError):
        return arguments
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def covers(grant: Grant, request: PermissionRequest, session_id: str) -> bool:
    """Whether a request may be granted by it. Questions never are, and what must be asked every time never is."""
    if request.questions or grant.scope not in request.scopes:
        return False
    if grant.session_id is not None and grant.session_id != session_id:
        return False
    if (grant.agent_name.lower(), grant.tool, grant.directory) != (
        request.agent_name.lower(),
        request.tool,
        request.directory,
    ):
        return False
    if grant.pattern:
        return grant.pattern == request.pattern
    return bool(grant.arguments) and grant.arguments == canonical(request.arguments)


def granted(request: PermissionRequest, verdict: Verdict, session_id: str, now_ms: int) -> Grant | None:
    """The grant that an answer makes; ``None`` for a denial, for "once" and for questions."""
    if not verdict.allowed or request.questions or verdict.scope is Scope.ONCE:
        return None
    wide = verdict.wide and bool(request.pattern)
    return Grant(
        agent_name=request.agent_name,
        tool=request.tool,
        arguments="" if wide else canonical(request.arguments),
        pattern=request.pattern if wide else "",
        directory=request.directory,
        session_id=session_id if verdict.scope is Scope.SESSION else None,
        title=request.title,
        created_ms=now_ms,
    )


def bounded(request: PermissionRequest, verdict: Verdict) -> Verdict:
    """The answer without what the request did not offer: never longer, never wider than what was shown.

    An answer to questions that answers none of them is a denial.
    """
    if request.questions:
        asked = {question.text for question in request.questions}
        answers = {text: said for text, said in verdict.answers.items() if text in asked and said.strip()}
        allowed = verdict.allowed and bool(answers)
        return replace(verdict, allowed=allowed, scope=Scope.ONCE, wide=False, answers=answers)
    if verdict.scope not in request.scopes:
        verdict = replace(verdict, scope=Scope.ONCE)
    return replace(verdict, wide=verdict.wide and bool(request.pattern) and verdict.scope is not Scope.ONCE)


def said_by(verdict: Verdict) -> str:
    """Who decided and for how long, in a few words, for the record of a call."""
    if not verdict.allowed:
        return f"denied · {verdict.by}"
    return f"{verdict.by} · {verdict.scope.value}" if verdict.by == "person" else verdict.by
