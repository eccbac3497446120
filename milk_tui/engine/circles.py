"""Watches a running leg for circles and silence: warns, and says when it must be stopped (``semantics.md`` §8)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from milk_tui.agents import events as said
from milk_tui.core.loops import Finding, LoopKind, LoopWatch
from milk_tui.core.permissions import PermissionRequest, Question
from milk_tui.core.records import ErrorKind, LegError, Role
from milk_tui.store.clock import now_ms

if TYPE_CHECKING:
    from milk_tui.config import RoutingConfig
    from milk_tui.engine.permissions import PermissionDesk


class Circles:
    """The watch over one leg. ``tell`` shows a line at the leg, ``agent`` is its name for people."""

    def __init__(self, settings: RoutingConfig, agent: str, tell: Callable[[str], None]) -> None:
        self._settings = settings
        self._agent = agent
        self._tell = tell
        self._watch = LoopWatch()
        self._on = settings.loops != "off"
        self._loop = asyncio.get_running_loop()
        self._seen = self._loop.time()
        self._timer: asyncio.TimerHandle | None = None
        self._told: set[LoopKind] = set()
        self.found: Finding | None = None
        """Why the leg was stopped."""
        if self._on and settings.silent_seconds:
            self._timer = self._loop.call_later(settings.silent_seconds, self._look)

    def hear(self, event: said.AgentEvent) -> bool:
        """Take one event of the agent; True when the leg must be stopped now."""
        if not self._on:
            return False
        match event:
            case said.TextDelta(text):
                self._seen = self._loop.time()
                finding = self._watch.text(text)
            case said.ThinkDelta(text):
                finding = self._watch.thinking(text)
            case said.ToolStart(call_id, name, arguments):
                self._seen = self._loop.time()
                finding = self._watch.call(call_id, name, arguments)
            case said.ToolResult(call_id=call_id, content=content):
                self._seen = self._loop.time()
                finding = self._watch.result(call_id, content)
            case said.BlockReplaced():
                self._watch.rewound()
                return False
            case said.Progress() | said.Retrying():
                self._seen = self._loop.time()
                self._watch.visible()
                return False
            case _:
                return False
        return finding is not None and self._heed(finding)

    def close(self) -> None:
        """The leg has ended."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    @property
    def error(self) -> LegError | None:
        """How a leg that was stopped has ended."""
        if self.found is None:
            return None
        return LegError(
            kind=ErrorKind.BAD_ANSWER,
            message=f"{self._agent} was stopped because it {self.found.line}.",
            hint="Ask in other words, or hand over with /escalate.",
        )

    def _heed(self, finding: Finding) -> bool:
        if finding.stop and self._settings.loops == "stop":
            self.found = finding
            return True
        if finding.kind not in self._told:
            self._told.add(finding.kind)
            self._tell(f"{self._agent} {finding.line}")
        return False

    def _look(self) -> None:
        limit = self._settings.silent_seconds
        quiet = self._loop.time() - self._seen
        finding = self._watch.quiet(quiet, limit)
        if finding is not None:
            self._tell(f"{self._agent} {finding.line}")
            self._timer = None
            return
        self._timer = self._loop.call_later(max(0.1, limit - quiet), self._look)


async def offer(permissions: PermissionDesk, brief: str, agent: str, other: str) -> bool:
    """Ask the person whether ``other`` is to take over with ``brief``; False where no person is there."""
    question = Question(
        header="in circles",
        text=f"{agent} went in circles and was stopped. Hand this over to {other}? It would be told: {brief}",
        choices=(f"Yes, {other} takes over", "No"),
    )
    verdict = await permissions.ask(
        PermissionRequest(
            id=f"circles-{now_ms()}",
            role=Role.PRIMARY,
            agent_name="milk",
            tool="escalate",
            arguments="{}",
            title=f"hand over to {other}",
            questions=(question,),
        )
    )
    return verdict.allowed and verdict.answers.get(question.text) == question.choices[0]
