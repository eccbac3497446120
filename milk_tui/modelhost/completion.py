"""One answer: ask litellm, pass on what comes, bound every wait, name every failure."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec

from milk_tui.core.records import ErrorKind
from milk_tui.modelhost import shaping
from milk_tui.modelhost.failures import StreamProblem
from milk_tui.modelhost.output import Output
from milk_tui.modelhost.protocol import CompleteRequest, Delta, Done, Thinking, UsageGiven
from milk_tui.modelhost.thinking import ThinkingBlocks, ThinkSplitter
from milk_tui.modelhost.toolcalls import ToolCalls
from milk_tui.modelhost.usage import cost_of, usage_of, was_reported

MAX_ANSWER = 16 * 1024 * 1024
"""Characters of the longest answer, reasoning and tool arguments counted: an endless stream ends here."""

_TAIL_S = 5.0
"""Seconds that the usage may take after the answer has ended."""

_STOPS = {"length": "length", "tool_calls": "tool_calls", "function_call": "tool_calls"}


class Completion:
    """The state of one answer. ``run`` ends with its ``Done`` written; it raises what went wrong."""

    def __init__(self, number: int, request: CompleteRequest, out: Output) -> None:
        self._begun = False
        self._number = number
        self._request = request
        self._out = out
        self._splitter = ThinkSplitter()
        self._calls = ToolCalls()
        self._blocks = ThinkingBlocks()
        self._usage: Any = None
        self._finish = ""
        self._size = 0

    async def run(self, litellm: Any) -> None:
        request = self._request
        loop = asyncio.get_running_loop()
        times = request.timeouts
        stream = None
        try:
            async with asyncio.timeout_at(loop.time() + times.first_s) as limit:
                answer = await litellm.acompletion(**shaping.arguments(litellm, request))
                if request.stream:
                    stream = answer
                    await self._follow(stream, limit)
                else:
                    self._take_whole(answer)
        except TimeoutError:
            if not self._finish:
                raise StreamProblem(ErrorKind.TIMEOUT, self._too_slow()) from None
        finally:
            if stream is not None:
                await stream.aclose()
        if stream is not None:
            self._check_whole(stream)
            self._usage = self._usage if was_reported(stream) else None
        self._finish_up(litellm)

    async def _follow(self, stream: Any, limit: asyncio.Timeout) -> None:
        """Pass on the chunks as they come, moving the limit ahead.

        Not with every chunk: a moved timer costs as much as a chunk. After the end of the answer only the usage is
        waited for, and not for long.
        """

        idle = self._request.timeouts.idle_s
        now = asyncio.get_running_loop().time
        due = 0.0
        async for chunk in stream:
            came = self._take(chunk)
            if self._finish:
                limit.reschedule(now() + min(idle, _TAIL_S))
            elif came and now() >= due:
                limit.reschedule(now() + idle)
                due = now() + idle / 20
            if self._out.full:
                await self._out.drain()

    def _take(self, chunk: Any) -> bool:
        """Pass on one chunk; True when it had something of the answer in it."""

        usage = _field(chunk, "usage")
        if usage is not None:
            self._usage = usage
        if not chunk.choices:
            return False
        choice = chunk.choices[0]
        if choice.finish_reason:
            self._finish = choice.finish_reason
        delta = choice.delta
        thought = _field(delta, "reasoning_content")
        if thought:
            self._pass(True, thought)
        blocks = _field(delta, "thinking_blocks")
        if blocks:
            self._blocks.add([dict(block) for block in blocks])
        content = delta.content
        if content:
            self._grow(len(content))
            for inside, text in self._splitter.feed(content):
                self._pass(inside, text, counted=True)
        calls = _field(delta, "tool_calls")
        for call in calls or ():
            function = call.function
            self._grow(len(function.arguments or ""))
            self._calls.add(call.index, call.id, function.name, function.arguments)
        return bool(content or thought or calls)

    def _take_whole(self, answer: Any) -> None:
        """An answer that came in one piece."""

        self._usage = getattr(answer, "usage", None)
        choice = answer.choices[0]
        self._finish = choice.finish_reason or ""
        message = choice.message
        if getattr(message, "reasoning_content", None):
            self._pass(True, message.reasoning_content)
        self._blocks.add([dict(b, index=n) for n, b in enumerate(getattr(message, "thinking_blocks", None) or ())])
        for inside, text in self._splitter.feed(message.content or ""):
            self._pass(inside, text)
        for place, call in enumerate(message.tool_calls or ()):
            self._calls.add(place, call.id, call.function.name, call.function.arguments)

    def _pass(self, inside: bool, text: str, *, counted: bool = False) -> None:
        if not counted:
            self._grow(len(text))
        self._begun = True
        kind = Thinking if inside else Delta
        self._out.send(kind(id=self._number, text=text))

    def _grow(self, size: int) -> None:
        self._size += size
        if self._size > MAX_ANSWER:
            raise StreamProblem(ErrorKind.BAD_ANSWER, f"the answer is longer than {MAX_ANSWER:,} characters.")

    def _check_whole(self, stream: Any) -> None:
        """litellm takes a stream without any event for an empty answer: a web page, a whole answer, an early
        end."""

        ended = getattr(stream, "received_finish_reason", True) or getattr(stream, "received_any_finish_reason", False)
        if ended or self._usage is not None:
            return
        if self._begun or self._calls:
            raise StreamProblem(ErrorKind.CUT, "the stream ended early.")
        headers = getattr(stream, "_response_headers", None) or {}
        kind = str(headers.get("content-type", "")).partition(";")[0]
        came = f"“{kind}” came" if kind and kind != "text/event-stream" else "nothing came"
        raise StreamProblem(ErrorKind.BAD_ANSWER, f"{came} instead of a stream of events.")

    def _finish_up(self, litellm: Any) -> None:
        for inside, text in self._splitter.close():
            self._pass(inside, text, counted=True)
        usage = usage_of(self._usage)
        if usage.known:
            cost = cost_of(litellm, self._request.model, self._usage)
            usage = msgspec.structs.replace(usage, cost_usd=cost)
        self._out.send(UsageGiven(id=self._number, usage=usage))
        if self._finish == "content_filter":
            raise StreamProblem(ErrorKind.REFUSED, "its filter stopped the answer.")
        for call in self._calls.finish(self._number):
            self._out.send(call)
        stop = "tool_calls" if self._calls and self._finish != "length" else _STOPS.get(self._finish, "finished")
        self._out.send(Done(id=self._number, stop=stop, thinking_blocks=self._blocks.finish()))

    def _too_slow(self) -> str:
        times = self._request.timeouts
        if self._begun or self._calls:
            return f"nothing came for {times.idle_s:g} s."
        return f"nothing came within {times.first_s:g} s."


def _field(record: Any, name: str) -> Any:
    """A field that may not be there, without the cost of asking litellm's classes for one that is not."""

    value = record.__dict__.get(name)
    if value is None:
        more = getattr(record, "__pydantic_extra__", None)
        value = more.get(name) if more else None
    return value
