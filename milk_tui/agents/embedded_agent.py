"""An agent on the embedded model, driven as small models need (``dependencies.md``, "The embedded model").

One bound decision when the turn may be handed over, one free answer, then two bound questions beside it:
what the person wants, and whether a sentence of the prompt is a fact worth keeping. Without tools, without
tags.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Protocol

from milk_tui.agents import embedded_facts, embedded_prompts
from milk_tui.agents.base import Caps, LegRequest
from milk_tui.agents.embedded_prompts import Task
from milk_tui.agents.events import (
    AgentEvent,
    EscalationAsked,
    FactSuggested,
    LegEnd,
    NeedSuggested,
    Progress,
    TextDelta,
    ThinkDelta,
    UsageReported,
)
from milk_tui.core.errors import MilkError
from milk_tui.core.records import ContextPlan, ErrorKind, LegError, Message, Usage
from milk_tui.core.text import clean, one_line
from milk_tui.core.words import words
from milk_tui.modelhost.protocol import (
    CompleteRequest,
    Delta,
    Done,
    Failed,
    HostEvent,
    Thinking,
    Timeouts,
    UsageGiven,
)

_TIMEOUTS = Timeouts(connect_s=10.0, first_s=300.0, idle_s=120.0)
"""A long prompt takes minutes on a slow machine, and requests of other programs may come first."""

_NEED_CHARS = 120
_NEED_SHARE = 0.6
_REASON_CHARS = 140


_READING = "reading the prompt"
"""Said when the model is ready: a small machine takes seconds until the first word."""


class Endpoint(Protocol):
    @property
    def base_url(self) -> str: ...
    @property
    def api_key(self) -> str: ...
    @property
    def model(self) -> str: ...


class Status(Protocol):
    @property
    def phase(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def fraction(self) -> float | None: ...


class Manager(Protocol):
    """Makes the model ready (``milk_tui.embedded.manager.EmbeddedManager``)."""

    async def ready(self, size: str, on_status: Callable[[Any], None] | None = None) -> Endpoint:
        """Raises ``MilkError``; its ``kind`` and ``cancelled`` say more where they are set."""
        ...


class Host(Protocol):
    """Asks a model (``milk_tui.modelhost.client.ModelHost``)."""

    def complete(self, request: CompleteRequest) -> AsyncIterator[HostEvent]: ...


@dataclass(frozen=True, slots=True)
class _Reply:
    """What a bound question brought; empty when it failed, which is never an error of the leg."""

    text: str = ""
    usage: Usage | None = None


class EmbeddedAgent:
    """The embedded model as an ``Agent``; ``name`` is the user's, ``size`` small, tiny or medium."""

    def __init__(self, name: str, size: str, manager: Manager, host: Host) -> None:
        self.name = name
        self.model = f"embedded:{size}"
        self.caps = Caps(
            tools=False, tags=False, window_tokens=embedded_prompts.WINDOW_TOKENS, system=embedded_prompts.SYSTEM
        )
        self._size = size
        self._manager = manager
        self._host = host
        self._legs = 0

    async def run(self, request: LegRequest) -> AsyncGenerator[AgentEvent, None]:
        """The leg's events; see ``Agent``."""
        self._legs += 1
        try:
            async with aclosing(self._leg(request)) as events:
                async for event in events:
                    yield event
        except MilkError as error:
            yield _end_of(error)
        finally:
            self._legs -= 1

    async def warm(self, plan: ContextPlan) -> None:
        """Make the model ready and put the texts that every leg begins with into its prompt cache."""
        try:
            endpoint = await self._manager.ready(self._size)
        except MilkError:
            return  # the manager has said so; the first leg tries again and reports it
        texts = (
            embedded_prompts.decision(self._size).messages("Hi!"),
            embedded_prompts.fill(plan, "Hi!").messages,
            embedded_prompts.NEED.messages("Hi!"),
            embedded_prompts.fact(self._size).messages("Hi!"),
        )
        for messages in texts:
            if self._legs:
                return  # the person waits: the leg itself fills the cache
            request = self._request(endpoint, messages, max_tokens=1, extra_body={"cache_prompt": True})
            async with aclosing(_stream(self._host, request)) as events:
                async for _ in events:
                    pass

    async def leave(self, session_id: str) -> None:
        """Nothing runs for one session alone."""

    async def aclose(self) -> None:
        """Nothing of its own is open: the manager holds the lease, the host the connections."""

    async def _leg(self, request: LegRequest) -> AsyncGenerator[AgentEvent, None]:
        async with aclosing(self._made_ready()) as steps:
            async for step in steps:
                if isinstance(step, Progress):
                    yield step
                else:
                    endpoint = step
        escalate = ""
        if request.may_escalate:
            reply, escalate = await self._decide(endpoint, request.own_words)
            if reply.usage is not None:
                yield UsageReported(reply.usage)
        end = LegEnd()
        if not escalate:
            async with aclosing(self._answer(endpoint, request)) as events:
                async for event in events:
                    if isinstance(event, LegEnd):
                        end = event
                    else:
                        yield event
        if end.error is None:
            async with aclosing(self._beside(endpoint, request)) as events:
                async for event in events:
                    yield event
        if escalate:
            yield EscalationAsked(escalate)
        yield end

    async def _made_ready(self) -> AsyncGenerator[Progress | Endpoint, None]:
        """Progress while the model is fetched and loaded, the endpoint at the end."""
        said: asyncio.Queue[Progress | None] = asyncio.Queue()

        def tell(status: Status) -> None:
            text = _READING if status.phase == "ready" else status.text
            said.put_nowait(Progress(text, status.fraction))

        job = asyncio.ensure_future(self._manager.ready(self._size, tell))
        job.add_done_callback(lambda _: said.put_nowait(None))
        try:
            while (progress := await said.get()) is not None:
                yield progress
            yield await job
        finally:
            if not job.done():
                job.cancel()
                await asyncio.wait([job])

    async def _decide(self, endpoint: Endpoint, prompt: str) -> tuple[_Reply, str]:
        """Whether to hand over, and the reason for it; what can't be read means: answer."""
        if embedded_prompts.estimate_tokens(prompt) > embedded_prompts.PROMPT_TOKENS:
            return _Reply(), "the prompt is longer than the embedded model can read"
        reply = await self._ask(endpoint, embedded_prompts.decision(self._size), prompt)
        if reply.text != "hard":
            return reply, ""
        return reply, f"too hard for a small embedded model: {one_line(clean(prompt), _REASON_CHARS)}"

    async def _answer(self, endpoint: Endpoint, request: LegRequest) -> AsyncGenerator[AgentEvent, None]:
        """The answer as it is written.

        A server that has gone, or a window filled too full, is tried once more while nothing is shown.
        """
        share = 1.0
        for last_try in (False, True):
            filled = embedded_prompts.fill(request.plan, request.prompt, share=share)
            if filled.notice:
                yield Progress(filled.notice)
            asked = self._request(
                endpoint,
                filled.messages,
                max_tokens=embedded_prompts.ANSWER_TOKENS,
                temperature=0.2,
                extra_body={"cache_prompt": True, "repeat_penalty": 1.05},
            )
            shown = False
            async with aclosing(_stream(self._host, asked)) as events:
                async for event in events:
                    match event:
                        case Delta(text=text):
                            shown = True
                            yield TextDelta(text)
                        case Thinking(text=text):
                            yield ThinkDelta(text)
                        case UsageGiven(usage=usage):
                            yield UsageReported(usage)
                        case Done(stop=stop):
                            yield LegEnd(stop if stop in ("cancelled", "length") else "finished")
                            return
                        case Failed():
                            failed = event
            if shown or last_try or failed.kind not in _WORTH_ANOTHER_TRY:
                yield LegEnd("error", failed.leg_error())
                return
            if failed.kind is ErrorKind.CONTEXT_TOO_LONG:
                share = 0.5
            else:
                endpoint = await self._manager.ready(self._size)

    async def _beside(self, endpoint: Endpoint, request: LegRequest) -> AsyncGenerator[AgentEvent, None]:
        """At most one fact in the person's own words; the need when there is none or the topic is another."""
        fact = None
        for candidate in embedded_facts.candidates(request.own_words):
            kept = candidate.asked
            if not kept and (self._size != "tiny" or embedded_facts.is_about_us(candidate.text)):
                reply = await self._ask(endpoint, embedded_prompts.fact(self._size), candidate.text)
                kept = reply.text == "fact"
                if reply.usage is not None:
                    yield UsageReported(reply.usage)
            if kept and embedded_facts.holds(candidate.text, request.own_words):
                fact = candidate
                yield FactSuggested(candidate.text)
                break
        asking = embedded_facts.without(request.own_words, [fact] if fact else [])
        if names_a_need(asking, request.need):
            reply = await self._ask(endpoint, embedded_prompts.NEED, asking)
            if reply.usage is not None:
                yield UsageReported(reply.usage)
            yield NeedSuggested(checked_need(reply.text, asking))

    async def _ask(self, endpoint: Endpoint, task: Task, text: str) -> _Reply:
        request = self._request(
            endpoint,
            task.messages(clean(text)),
            max_tokens=task.max_tokens,
            temperature=0.0,
            extra_body=task.extra_body(),
        )
        parts: list[str] = []
        usage: Usage | None = None
        async with aclosing(_stream(self._host, request)) as events:
            async for event in events:
                match event:
                    case Delta(text=piece):
                        parts.append(piece)
                    case UsageGiven(usage=given):
                        usage = given
                    case Failed():
                        return _Reply(usage=usage)
        return _Reply("".join(parts).strip(), usage)

    def _request(
        self,
        endpoint: Endpoint,
        messages: tuple[Message, ...],
        *,
        max_tokens: int,
        extra_body: dict[str, Any],
        temperature: float = 0.0,
    ) -> CompleteRequest:
        return CompleteRequest(
            model=f"openai/{endpoint.model}",
            messages=messages,
            temperature=temperature,
            max_tokens=max_tokens,
            api_base=endpoint.base_url,
            api_key=endpoint.api_key,
            extra_body=extra_body,
            timeouts=_TIMEOUTS,
        )


_WORTH_ANOTHER_TRY = frozenset({ErrorKind.UNREACHABLE, ErrorKind.CONTEXT_TOO_LONG, ErrorKind.AUTH})
"""``AUTH``: another server has taken the old one's port, its key is another."""


async def _stream(host: Host, request: CompleteRequest) -> AsyncGenerator[HostEvent, None]:
    """The host's events with a certain end: a stream that just stops is a failure."""
    events = host.complete(request)
    try:
        async for event in events:
            yield event
            if isinstance(event, Done | Failed):
                return
        yield Failed(kind=ErrorKind.CUT, message="The model host's answer ended without an end.")
    finally:
        close = getattr(events, "aclose", None)
        if close is not None:
            await close()


def names_a_need(prompt: str, need: str) -> bool:
    """True when the prompt says enough to be a need, goes on with nothing, and is not about ``need``."""
    asked = words(prompt)
    if embedded_facts.is_follow_up(prompt):
        return False
    return len(asked) >= 4 and not asked & words(need) if need else len(asked) >= 2


def checked_need(text: str, prompt: str) -> str:
    """The need as the model put it when most of its words are the person's, else the person's own line."""
    need = one_line(clean(text), _NEED_CHARS).rstrip(".")
    named = words(need)
    if named and len(named & words(prompt)) >= _NEED_SHARE * len(named):
        return need
    return one_line(clean(prompt), _NEED_CHARS)


def _end_of(error: MilkError) -> LegEnd:
    kind = getattr(error, "kind", ErrorKind.NO_AGENT)
    stopped = "cancelled" if getattr(error, "cancelled", False) else "error"
    return LegEnd(stopped, LegError(kind=kind, message=error.what, hint=error.hint))
