"""An agent on any model that litellm knows, asked through the model host."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from milk_tui.agents import rounds as many_rounds
from milk_tui.agents.base import Caps, LegRequest, ToolSpec
from milk_tui.agents.choosing import shortened, the_choice
from milk_tui.agents.events import (
    AgentEvent,
    EscalationAsked,
    LegEnd,
    Retrying,
    TextDelta,
    ThinkDelta,
    UsageReported,
)
from milk_tui.agents.images import refuses_images, without_images
from milk_tui.agents.litellm_settings import LitellmSettings
from milk_tui.agents.ollama_window import window_for
from milk_tui.agents.text_form import TextForm, refuses_grammar
from milk_tui.agents.tool_round import ToolRound, plain_call
from milk_tui.core import context
from milk_tui.core.errors import MilkError
from milk_tui.core.records import ContextPlan, ErrorKind, LegError, Message
from milk_tui.modelhost.protocol import (
    CompleteRequest,
    Delta,
    Done,
    Failed,
    HostEvent,
    ModelInfo,
    Thinking,
    ToolCallMade,
    ToolDef,
    UsageGiven,
)

_TOOLS = re.compile(r"(?i)\btools?\b|\btool_choice\b|\bfunction[ _-]call")
_REFUSAL = re.compile(
    r"(?i)support|unknown|unexpected|unrecogni[sz]ed|extra|requires?|not (?:available|enabled|allowed)"
)
_WORD_TOKENS = 12
_AGAIN = (ErrorKind.UNREACHABLE, ErrorKind.SERVER, ErrorKind.CUT)


class Host(Protocol):
    """What the agent needs of ``milk_tui.modelhost.client.ModelHost``."""

    def complete(self, request: CompleteRequest) -> AsyncIterator[HostEvent]: ...

    async def info(self, model: str, *, api_base: str = "") -> ModelInfo: ...


@dataclass(slots=True)
class _Answer:
    """What one request brought."""

    text: list[str] = field(default_factory=list)
    calls: list[ToolCallMade] = field(default_factory=list)
    done: Done | None = None
    failed: Failed | None = None
    begun: bool = False


class LitellmAgent:
    """One model as an ``Agent``. ``caps`` changes when more is learnt, such as a window; a model that takes no tools is
    given them as text.

    A granted ``escalate`` call ends the leg: after its ``ToolResult`` come ``EscalationAsked`` and
    ``LegEnd``, and the model is not asked again. Whether it is granted is the outcome that ``run_tool``
    gives.
    """

    def __init__(self, name: str, model: str, host: Host, settings: LitellmSettings | None = None) -> None:
        self.name = name
        self.model = model
        self.settings = settings or LitellmSettings()
        self.caps = Caps(
            tools=self.settings.tools is not False, images=None, window_tokens=self.settings.window_tokens
        )
        self._host = host
        self._learning: asyncio.Task[None] | None = None
        self._as_text = self.settings.tools == "text"
        self._grammar = self.settings.grammar

    async def run(self, request: LegRequest) -> AsyncGenerator[AgentEvent, None]:
        """The leg's events; see ``Agent``. The first leg has the model looked up beside it, for the legs to come."""

        if self._learning is None:
            self._learning = asyncio.create_task(self.warm(request.plan))
        try:
            async with aclosing(self._leg(request)) as events:
                async for event in events:
                    yield event
        except Exception as error:
            what = f"Driving {self.model} failed: {type(error).__name__}."
            yield LegEnd("error", LegError(kind=ErrorKind.INTERNAL, message=what, hint="Try again."))

    async def warm(self, plan: ContextPlan) -> None:
        """Learn what is known about the model; nothing is sent to it."""

        try:
            info = await self._host.info(self.model, api_base=self.settings.api_base)
        except MilkError:
            return
        self._as_text = self._as_text or (info.tools is False and self.settings.tools is None)
        self.caps = replace(
            self.caps,
            window_tokens=self.settings.window_tokens or info.window_tokens,
            images=self.caps.images if info.images is None else info.images,
            cost=info.priced,
        )

    async def choose(self, instruction: str, text: str, choices: Sequence[str]) -> str:
        """One word of the model; see ``agents.choosing.Chooser``. A host that is not there raises MilkError."""

        asked = CompleteRequest(
            model=self.model,
            messages=(
                Message(role="system", content=instruction),
                Message(role="user", content=f"[request]\n{shortened(text)}\n[/request]\n\nOne word:"),
            ),
            temperature=0.0,
            max_tokens=_WORD_TOKENS,
            params=self.settings.params,
            extra_body=self.settings.extra_body,
            api_base=self.settings.api_base,
            api_key=self.settings.api_key,
            api_key_env=self.settings.api_key_env,
            timeouts=self.settings.timeouts,
        )
        answer = _Answer()
        async with aclosing(_stream(self._host, asked, answer)) as events:
            async for _ in events:
                pass
        return "" if answer.failed else the_choice("".join(answer.text), choices)

    async def leave(self, session_id: str) -> None:
        """Nothing runs for one session alone."""

    async def aclose(self) -> None:
        """Nothing of its own is open: the host has the connections."""

        if self._learning is not None:
            self._learning.cancel()
            await asyncio.gather(self._learning, return_exceptions=True)

    async def _leg(self, request: LegRequest) -> AsyncGenerator[AgentEvent, None]:
        running: list[Message] = []
        signed: dict[str, list[dict[str, Any]]] = {}
        used: set[str] = set()
        rounds = 0
        while True:
            answer = _Answer()
            async with aclosing(self._ask(request, running, signed, answer)) as events:
                async for event in events:
                    yield event
            if answer.failed is not None:
                yield LegEnd("error", answer.failed.leg_error())
                return
            if not answer.calls:
                yield LegEnd(_stopped(answer))
                return
            made = ToolRound([plain_call(made, used) for made in answer.calls])
            async with aclosing(made.run(request)) as events:
                async for event in events:
                    yield event
            reason = made.escalation()
            if reason is not None:
                yield EscalationAsked(reason)
                yield LegEnd()
                return
            running += made.messages("".join(answer.text))
            if answer.done is not None and answer.done.thinking_blocks:
                signed[made.calls[0].id] = answer.done.thinking_blocks
            rounds += 1
            if rounds % self.settings.max_rounds == 0:
                match await many_rounds.ask(request, self.name, rounds):
                    case many_rounds.Then.ESCALATE:
                        yield EscalationAsked(f"{self.name} called tools {rounds} times without an answer")
                        yield LegEnd()
                        return
                    case many_rounds.Then.STOP:
                        yield LegEnd("error", many_rounds.stopped(self.name, rounds))
                        return

    async def _ask(
        self,
        request: LegRequest,
        running: Sequence[Message],
        signed: dict[str, list[dict[str, Any]]],
        answer: _Answer,
    ) -> AsyncGenerator[AgentEvent, None]:
        """One answer, asked for again where that is harmless: nothing of it had come."""

        retries = 0
        while True:
            tools = tuple(request.tools) if self.caps.tools else ()
            sent = context.messages(request.plan, request.prompt, running, request.images)
            sent = sent if self.caps.images is not False else without_images(sent)
            form = TextForm(tools, constrained=self._grammar) if tools and self._as_text else None
            asked = self._request(form.messages(sent) if form else sent, signed, () if form else tools)
            answer.failed = None
            stream = _stream(self._host, form.request(asked) if form else asked, answer)
            async with aclosing(form.read(stream) if form else stream) as events:
                async for event in events:
                    yield event
            if form is not None:
                answer.text[:] = form.shown
                answer.calls += [
                    ToolCallMade(index=at, call_id=f"text_{at + 1}", name=call.name, arguments=call.arguments)
                    for at, call in enumerate(form.calls)
                ]
            failed = answer.failed
            if failed is None or answer.begun:
                return
            if self.caps.images is not False and any(m.images for m in sent) and refuses_images(failed):
                self.caps = replace(self.caps, images=False)
                yield Retrying(retries + 1, 0.0, f"{self.model} takes no images: asked again without them.")
                continue
            if form is not None and self._grammar and refuses_grammar(failed):
                self._grammar = False
                yield Retrying(retries + 1, 0.0, f"{self.model} takes no grammar: asked again without it.")
                continue
            if tools and form is None and _refuses_tools(failed):
                self._as_text = True
                yield Retrying(retries + 1, 0.0, f"{self.model} takes no tools: asked again with tools as text.")
                continue
            delay = self._delay(failed, retries)
            if delay is None:
                return
            retries += 1
            yield Retrying(retries, delay, failed.message)
            await asyncio.sleep(delay)

    def _delay(self, failed: Failed, retries: int) -> float | None:
        """Seconds until the next try; ``None`` when the error is the person's to see."""

        delays = self.settings.retry_delays_s
        if retries >= len(delays):
            return None
        wait = failed.retry_after_s
        if wait is not None and wait > self.settings.retry_after_s:
            return None
        if failed.kind is ErrorKind.RATE_LIMIT:
            return wait
        return max(delays[retries], wait or 0.0) if failed.kind in _AGAIN else None

    def _request(
        self,
        messages: Sequence[Message],
        signed: dict[str, list[dict[str, Any]]],
        tools: Sequence[ToolSpec],
    ) -> CompleteRequest:
        settings = self.settings
        sent = tuple(messages) if tools else without_tools(messages)
        blocks = {
            at: signed[message.tool_calls[0].id]
            for at, message in enumerate(sent)
            if message.tool_calls and message.tool_calls[0].id in signed
        }
        return CompleteRequest(
            model=self.model,
            messages=sent,
            tools=tuple(
                ToolDef(name=tool.name, description=tool.description, parameters=tool.parameters) for tool in tools
            ),
            temperature=settings.temperature,
            max_tokens=settings.max_tokens,
            extra_body=settings.extra_body,
            params=self._params(sent),
            api_base=settings.api_base,
            api_key=settings.api_key,
            api_key_env=settings.api_key_env,
            timeouts=settings.timeouts,
            cache_ttl=settings.cache_ttl,
            thinking_blocks=blocks,
        )

    def _params(self, messages: Sequence[Message]) -> dict[str, Any]:
        settings = self.settings
        if not self.model.startswith("ollama") or "num_ctx" in settings.params:
            return settings.params
        size = settings.window_tokens or window_for(messages, settings.max_tokens, self.caps.window_tokens)
        return {**settings.params, "num_ctx": size}


def without_tools(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The same conversation for a model that is given no tools: calls and results told as text.

    Many providers refuse calls in a thread when the request names no tools.
    """

    names = {call.id: call.name for message in messages for call in message.tool_calls}
    told: list[Message] = []
    for message in messages:
        if message.tool_calls:
            calls = "\n".join(f"[called {call.name} {call.arguments}]" for call in message.tool_calls)
            text = f"{message.content}\n{calls}".strip()
            told.append(Message(role=message.role, content=text, cache_point=message.cache_point))
        elif message.role == "tool":
            name = names.get(message.tool_call_id or "", "a tool")
            text = f"[result of {name}]\n{message.content}\n[/result of {name}]"
            told.append(Message(role="user", content=text, cache_point=message.cache_point))
        else:
            told.append(message)
    return tuple(told)


async def _stream(host: Host, request: CompleteRequest, answer: _Answer) -> AsyncGenerator[AgentEvent, None]:
    """The host's events as an agent's; closing it stops the request."""

    events = host.complete(request)
    try:
        async for event in events:
            match event:
                case Delta(text=text):
                    answer.begun = True
                    answer.text.append(text)
                    yield TextDelta(text)
                case Thinking(text=text):
                    answer.begun = True
                    yield ThinkDelta(text)
                case ToolCallMade():
                    answer.begun = True
                    answer.calls.append(event)
                case UsageGiven(usage=usage):
                    yield UsageReported(usage)
                case Done():
                    answer.done = event
                case Failed():
                    answer.failed = event
    finally:
        if isinstance(events, AsyncGenerator):
            await events.aclose()


def _refuses_tools(failed: Failed) -> bool:
    said = failed.message
    return failed.kind is ErrorKind.BAD_REQUEST and bool(_TOOLS.search(said) and _REFUSAL.search(said))


def _stopped(answer: _Answer) -> str:
    match answer.done:
        case Done(stop="length" | "cancelled" as stop):
            return stop
        case _:
            return "finished"
