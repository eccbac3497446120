"""The tool calls of one leg: each stored as it happens, shown, and with it who allowed it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from milk_tui import own_keys
from milk_tui.core import grants, tags
from milk_tui.core.permissions import PermissionRequest, Verdict
from milk_tui.core.records import Session, ToolCall, ToolStatus
from milk_tui.core.text import clean
from milk_tui.engine import events, exchanges, peers
from milk_tui.engine.agent_asks import with_class
from milk_tui.engine.events import AnyEvent
from milk_tui.engine.order import Desk, Order
from milk_tui.store import private_calls, tool_calls
from milk_tui.store.clock import now_ms
from milk_tui.tools import my_memory

if TYPE_CHECKING:
    from sqlite_utils import Database


@dataclass(slots=True)
class LegCalls:
    """Calls by the ids that the agent gave them."""

    desk: Desk
    session: Session
    order: Order
    leg_id: int
    publish: Callable[..., None]
    """``LegRun._publish``: the kind of an event and its values beside session and leg."""
    _stored: dict[str, int] = field(default_factory=dict)
    _names: dict[int, str] = field(default_factory=dict)
    _allowed: dict[str, str] = field(default_factory=dict)

    @property
    def any(self) -> bool:
        return bool(self._stored)

    async def started(self, call_id: str, name: str, arguments: str, position: int) -> None:
        """``position``: characters of the leg's text that came before."""
        arguments = own_keys.out(tags.mask(arguments, self.session.nonces))
        private = my_memory.private(name)
        shown = my_memory.shown_arguments(arguments) if private else arguments

        def start(db: Database) -> ToolCall:
            kept = " ".join(clean(call_id).split())
            call = tool_calls.start(db, self.leg_id, call_id=kept, name=name, arguments=shown, position=position)
            if private:
                private_calls.keep(db, call.id, arguments)
            return call

        call = await self.desk.store.write(start)
        self._stored[call_id] = call.id
        self._names[call.id] = name
        self._publish(events.ToolStarted, tool_id=call.id, name=name, arguments=shown)

    async def finished(self, call_id: str, ok: bool, content: str) -> bool:
        """False for a call that never started."""
        tool_id = self._stored.get(call_id)
        if tool_id is None:
            return False
        name = self._names[tool_id]
        allowed_by = self._allowed.get(call_id, "")
        status = self.status(call_id, ok)
        content = own_keys.out(tags.mask(clean(content), self.session.nonces))
        if ok and self.order.peer is not None and name == peers.tool_name(self.order.peer.name):
            await self.desk.store.write(partial(self._peer_answered, tool_id=tool_id, answer=content))
        if my_memory.private(name):
            await self.desk.store.write(partial(private_calls.answered, tool_id=tool_id, result=content))
            content = my_memory.shown_result(content)
        ended = await self.desk.store.write(
            partial(tool_calls.finish, tool_id=tool_id, status=status, result=content, allowed_by=allowed_by)
        )
        seconds = (ended.ended_ms - ended.started_ms) / 1000 if ended and ended.ended_ms else None
        self._publish(events.ToolFinished, tool_id=tool_id, status=status, result=content, seconds=seconds)
        return True

    def status(self, call_id: str, ok: bool) -> ToolStatus:
        """How a call ended: one that was not allowed is no failure of the tool."""
        denied = self._allowed.get(call_id, "").startswith("denied")
        return ToolStatus.OK if ok else ToolStatus.DENIED if denied else ToolStatus.FAILED

    def printed(self, call_id: str, text: str) -> None:
        """A piece of what a running call prints."""
        if (tool_id := self._stored.get(call_id)) is not None:
            shown = own_keys.out(tags.mask(clean(text), self.session.nonces))
            self._publish(events.ToolOutput, tool_id=tool_id, text=shown)

    async def ask(self, request: PermissionRequest) -> Verdict:
        """The verdict for a request of this leg's agent, kept with the call that it is for."""
        desk = self.desk.permissions
        if self.order.agent.caps.own_tools:
            request = with_class(request)
        verdict = await desk.ask(request) if desk else Verdict(allowed=False, by=grants.NOBODY, reason=grants.NO_PERSON)
        if request.call_id:
            self._allowed[request.call_id] = grants.said_by(verdict)
            if (tool_id := self._stored.get(request.call_id)) is not None:
                await self.desk.store.write(partial(tool_calls.begin, tool_id=tool_id))
        return verdict

    def _peer_answered(self, db: Database, tool_id: int, answer: str) -> None:
        peer = self.order.peer
        assert peer is not None
        exchanges.task_returned(db, self.session, tool_id, peer.name, answer, now=now_ms())

    def _publish(self, kind: Callable[..., AnyEvent], **values: object) -> None:
        self.publish(kind, **values)
