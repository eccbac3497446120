"""Tools as text for one request: what the model is told, and its answer read for calls (``core.text_tools``)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from msgspec.structs import replace

from milk_tui.agents.base import ToolSpec
from milk_tui.agents.events import AgentEvent, TextDelta
from milk_tui.core import text_tools
from milk_tui.core.records import ErrorKind, Message
from milk_tui.core.text_tools import TextCall, TextToolParser
from milk_tui.modelhost.protocol import CompleteRequest, Failed


class TextForm:
    """The form of one request: its tools are told in the system text, its answer is parsed while it streams."""

    def __init__(self, tools: Sequence[ToolSpec], *, constrained: bool) -> None:
        """``constrained``: the server takes a grammar of llama.cpp's."""
        self._tools = tools
        self._constrained = constrained
        self._parser = TextToolParser([tool.name for tool in tools])
        self.shown: list[str] = []

    @property
    def calls(self) -> list[TextCall]:
        return self._parser.calls

    def messages(self, messages: Sequence[Message]) -> tuple[Message, ...]:
        """The conversation with calls and results as text, and the tools behind the first system text."""
        told = Message(role="system", content=text_tools.instructions(self._tools))
        as_text = text_tools.as_text(messages)
        first = 1 if as_text and as_text[0].role == "system" else 0
        return (*as_text[:first], told, *as_text[first:])

    def request(self, request: CompleteRequest) -> CompleteRequest:
        """The request with what keeps a small model to the form, where the server can."""
        body = dict(request.extra_body)
        if self._constrained:
            body["grammar"] = text_tools.grammar([tool.name for tool in self._tools])
        return replace(request, stop=(*request.stop, *text_tools.STOP), extra_body=body)

    async def read(self, stream: AsyncGenerator[AgentEvent, None]) -> AsyncGenerator[AgentEvent, None]:
        """The events with the calls taken out of the text; ends when the model goes on behind them."""
        async with aclosing(stream) as events:
            async for event in events:
                if not isinstance(event, TextDelta):
                    yield event
                    continue
                if visible := self._parser.feed(event.text):
                    self.shown.append(visible)
                    yield TextDelta(visible)
                if self._parser.done:
                    break
        if rest := self._parser.close():
            self.shown.append(rest)
            yield TextDelta(rest)


def refuses_grammar(failed: Failed) -> bool:
    """True when a server did not take the grammar."""
    return failed.kind is ErrorKind.BAD_REQUEST and "grammar" in failed.message.lower()
