"""The model host as the rest of the program sees it: start it, ask it, survive it (``architecture.md``,
Processes)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from milk_tui.core.errors import MilkError
from milk_tui.core.records import ErrorKind
from milk_tui.modelhost import protocol
from milk_tui.modelhost.process import HostLog
from milk_tui.modelhost.protocol import (
    AnyAnswer,
    CompleteRequest,
    Counted,
    Done,
    Failed,
    HostEvent,
    ModelInfo,
    ModelList,
)
from milk_tui.modelhost.supervisor import HostState, Limits, StateCallback, Supervisor

__all__ = ["HostState", "Limits", "ModelHost", "ModelHostError"]

_Answer = TypeVar("_Answer", bound=HostEvent)
_Maker = Callable[[int], protocol.Request]
"""Makes a request of its number."""


class ModelHostError(MilkError):
    """A question to the host (``count``, ``models``, ``info``) got no answer; ``kind`` says why."""

    def __init__(self, kind: ErrorKind, what: str, hint: str = "") -> None:
        super().__init__(what, hint)
        self.kind = kind


@dataclass(slots=True)
class _Pending:
    """A request without its last answer; ``sent`` once its line is on the way to the running process."""

    events: asyncio.Queue[AnyAnswer] = field(default_factory=asyncio.Queue)
    sent: bool = False
    ended: bool = False


class ModelHost:
    """One model host process, kept alive. All of it belongs to one event loop.

    ``command``: the arguments to run instead of the real host. ``env``: variables on top of this process's
    own. ``on_state(state, detail)`` is called at every change of ``state``.
    """

    def __init__(
        self,
        log_path: Path | str,
        command: Sequence[str] | None = None,
        env: Mapping[str, str] | None = None,
        on_state: StateCallback | None = None,
        *,
        limits: Limits | None = None,
    ) -> None:
        self.limits = limits or Limits()
        self._log_path = Path(log_path)
        self._supervisor = Supervisor(
            HostLog(self._log_path), command, env, self.limits, on_state, self._take, self._fail_sent
        )
        self._pending: dict[int, _Pending] = {}
        self._last_id = 0
        self._closed = False

    @property
    def state(self) -> HostState:
        return self._supervisor.state

    @property
    def detail(self) -> str:
        """One line about the state: why it failed, where the log is; empty when there is nothing to say."""
        return self._supervisor.detail

    @property
    def pid(self) -> int | None:
        """Of the running process; ``None`` when there is none."""
        return None if self._supervisor.process is None else self._supervisor.process.pid

    async def start(self) -> None:
        """Start the host in the background and return at once; nothing to do when it runs.

        From ``failed`` it begins anew, with all its restarts to use again.
        """

        if not self._closed:
            await self._supervisor.start()

    async def complete(self, request: CompleteRequest) -> AsyncGenerator[HostEvent, None]:
        """The events of one answer; the last is a ``Done`` or a ``Failed``, whatever happens.

        Waits while the host starts. Closing the iterator or cancelling its task stops the request and its
        connection.
        """

        number, pending = self._register()
        try:
            if not await self._up(pending):
                yield self._not_running()
                return
            await self._supervisor.send(protocol.Complete(id=number, request=request))
            while not pending.ended:
                event = await pending.events.get()
                pending.ended = isinstance(event, Done | Failed)
                yield event
        finally:
            self._forget(number, pending)

    async def count(self, model: str, text: str) -> Counted:
        """How many tokens ``text`` has. Raises ``ModelHostError``."""

        return await self._ask(lambda number: protocol.Count(id=number, model=model, text=text), Counted)

    async def models(self, provider: str, *, api_base: str = "", api_key_env: str = "") -> tuple[str, ...]:
        """Names of a provider's models, as litellm wants them. Raises ``ModelHostError``."""

        def request(number: int) -> protocol.Models:
            return protocol.Models(id=number, provider=provider, api_base=api_base, api_key_env=api_key_env)

        return (await self._ask(request, ModelList)).names

    async def info(self, model: str, *, api_base: str = "") -> ModelInfo:
        """What is known about a model. Raises ``ModelHostError``."""

        return await self._ask(lambda number: protocol.Info(id=number, model=model, api_base=api_base), ModelInfo)

    async def known(self, providers: Sequence[str]) -> tuple[protocol.KnownModel, ...]:
        """The providers' models that hold conversations, with windows and prices. Raises ``ModelHostError``."""

        wanted = tuple(providers)
        answer = await self._ask(lambda number: protocol.Known(id=number, providers=wanted), protocol.KnownModels)
        return answer.models

    async def aclose(self) -> None:
        """End the host for good: running requests end with ``host_died``, its group is gone when this
        returns."""

        self._closed = True
        await self._supervisor.aclose()
        self._fail_sent("The model host was stopped.")

    def _register(self) -> tuple[int, _Pending]:
        self._last_id += 1
        pending = self._pending[self._last_id] = _Pending()
        self._supervisor.set_busy(True)
        return self._last_id, pending

    def _forget(self, number: int, pending: _Pending) -> None:
        self._pending.pop(number, None)
        self._supervisor.set_busy(bool(self._pending))
        if pending.sent and not pending.ended:
            self._supervisor.post(protocol.Cancel(id=number))

    async def _up(self, pending: _Pending) -> bool:
        """Wait for a process; from here on its death ends the request."""

        pending.sent = not self._closed and await self._supervisor.wait_up()
        return pending.sent

    async def _ask(self, make: _Maker, kind: type[_Answer]) -> _Answer:
        number, pending = self._register()
        try:
            async with asyncio.timeout(self.limits.call_s):
                if not await self._up(pending):
                    raise self._error(self._not_running())
                await self._supervisor.send(make(number))
                event = await pending.events.get()
            pending.ended = True
        except TimeoutError:
            raise ModelHostError(ErrorKind.TIMEOUT, "The model host did not answer in time.") from None
        finally:
            self._forget(number, pending)
        if isinstance(event, kind):
            return event
        if isinstance(event, Failed):
            raise self._error(event)
        raise ModelHostError(ErrorKind.INTERNAL, "The model host answered a question that was not asked.")

    def _take(self, answer: AnyAnswer) -> None:
        pending = self._pending.get(answer.id)
        if pending is not None:
            pending.events.put_nowait(answer)

    def _fail_sent(self, why: str) -> None:
        for number, pending in self._pending.items():
            if pending.sent and not pending.ended:
                hint = f"Send the prompt again; the log is {self._log_path}."
                pending.events.put_nowait(Failed(id=number, kind=ErrorKind.HOST_DIED, message=why, hint=hint))

    def _not_running(self) -> Failed:
        hint = self.detail or f"The log is {self._log_path}."
        return Failed(kind=ErrorKind.HOST_DIED, message="The model host is not running.", hint=hint)

    @staticmethod
    def _error(failed: Failed) -> ModelHostError:
        return ModelHostError(failed.kind, failed.message, failed.hint)
