"""What the model host and its client say to each other: one JSON object a line (``architecture.md``,
Processes).

Requests go down the host's standard input, answers come up its standard output. A request has an ``id``
that the client chose; every answer to it carries the same ``id``. A ``complete`` request is answered by
any number of ``Delta``, ``Thinking`` and ``ToolCallMade``, at most one ``UsageGiven`` and at the very end
exactly one ``Done`` or ``Failed``; nothing about the id follows. Lines may be large (an answer of 1 MB
may come as one delta).
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct, field

from milk_tui.core.records import ErrorKind, LegError, Message, Usage

MAX_LINE = 64 * 1024 * 1024
"""Bytes of the longest line that either side accepts; a longer one is dropped and logged."""


class Timeouts(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Seconds to wait: for the connection, for the first piece of an answer, between two pieces."""

    connect_s: float = 10.0
    first_s: float = 120.0
    idle_s: float = 60.0


class ToolDef(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A tool as the model is told about it; ``parameters`` is a JSON Schema object."""

    name: str
    description: str = ""
    parameters: dict[str, Any] = field(default_factory=dict)


class CompleteRequest(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One answer to ask a model for. ``model`` is litellm's name for it.

    The key comes from the environment variable named by ``api_key_env``, read by the host, or from
    ``api_key`` (the embedded server's). With an ``api_base`` of one's own and neither, no key of the
    environment is sent there.
    """

    model: str
    messages: tuple[Message, ...]
    tools: tuple[ToolDef, ...] = ()
    tool_choice: str = ""
    temperature: float | None = None
    max_tokens: int | None = None
    stop: tuple[str, ...] = ()
    response_format: dict[str, Any] | None = None
    extra_body: dict[str, Any] = field(default_factory=dict)
    """Fields put into the request's body as they are (``grammar``, ``cache_prompt``, … of llama.cpp's
    server)."""
    params: dict[str, Any] = field(default_factory=dict)
    """More of litellm's own parameters: ``PARAMS`` and no others."""
    api_base: str = ""
    api_key: str = ""
    api_key_env: str = ""
    stream: bool = True
    timeouts: Timeouts = field(default_factory=Timeouts)
    cache_ttl: str = ""
    """``5m`` or ``1h``: set cache breakpoints at the messages' ``cache_point`` where the provider has
    them."""
    thinking_blocks: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    """``Done.thinking_blocks`` of the assistant message at that index of ``messages``, given back
    unchanged."""

    def __repr__(self) -> str:
        return f"CompleteRequest(model={self.model!r}, messages={len(self.messages)}, tools={len(self.tools)})"


PARAMS = frozenset(
    {
        "frequency_penalty",
        "logit_bias",
        "num_ctx",
        "parallel_tool_calls",
        "presence_penalty",
        "reasoning_effort",
        "seed",
        "service_tier",
        "thinking",
        "top_k",
        "top_p",
    }
)
"""What ``CompleteRequest.params`` may name."""


class Request(Struct, frozen=True, kw_only=True, tag_field="op", omit_defaults=True):
    id: int


class Complete(Request, frozen=True, kw_only=True, tag="complete"):
    request: CompleteRequest


class Cancel(Request, frozen=True, kw_only=True, tag="cancel"):
    """Stop the request ``id`` and close its connection; it ends with a ``Done`` of ``stop = "cancelled"``."""


class Count(Request, frozen=True, kw_only=True, tag="count"):
    """How many tokens ``text`` has for ``model``."""

    model: str
    text: str


class Models(Request, frozen=True, kw_only=True, tag="models"):
    """The models of a provider: of the server at ``api_base`` when it is given, else those that litellm
    knows."""

    provider: str
    api_base: str = ""
    api_key_env: str = ""


class Info(Request, frozen=True, kw_only=True, tag="info"):
    """What is known about a model without asking it."""

    model: str
    api_base: str = ""


class Known(Request, frozen=True, kw_only=True, tag="known"):
    """The models of these providers that can hold a conversation, as far as litellm knows them; nothing is sent."""

    providers: tuple[str, ...]


class Ping(Request, frozen=True, kw_only=True, tag="ping"):
    pass


AnyRequest = Complete | Cancel | Count | Models | Info | Known | Ping


class HostEvent(Struct, frozen=True, kw_only=True, tag_field="ev", omit_defaults=True):
    """Base of all answers; ``id`` is the request's, 0 for what the host says by itself."""

    id: int = 0


class Delta(HostEvent, frozen=True, kw_only=True, tag="delta"):
    """A piece of the answer, as the model sent it (not cleaned: a tag or an escape may be cut anywhere)."""

    text: str


class Thinking(HostEvent, frozen=True, kw_only=True, tag="thinking"):
    """A piece of the reasoning."""

    text: str


class ToolCallMade(HostEvent, frozen=True, kw_only=True, tag="tool_call"):
    """A whole tool call; ``arguments`` is the text as the model wrote it, which may be broken JSON or
    empty."""

    index: int
    call_id: str
    name: str
    arguments: str


class UsageGiven(HostEvent, frozen=True, kw_only=True, tag="usage"):
    """Tokens as the provider reported them; fields it did not report are unknown (``None``)."""

    usage: Usage


class Done(HostEvent, frozen=True, kw_only=True, tag="done"):
    """The answer is whole. ``stop``: finished | length | tool_calls | cancelled."""

    stop: str = "finished"
    thinking_blocks: list[dict[str, Any]] = field(default_factory=list)
    """Signed reasoning that the provider wants back with the next request of the same tool loop."""


class Failed(HostEvent, frozen=True, kw_only=True, tag="error"):
    """The request failed. ``message`` and ``hint`` are one line each, cleaned, free of secrets."""

    kind: ErrorKind
    message: str
    hint: str = ""
    retry_after_s: float | None = None

    def leg_error(self) -> LegError:
        return LegError(kind=self.kind, message=self.message, hint=self.hint, retry_after_s=self.retry_after_s)


class Counted(HostEvent, frozen=True, kw_only=True, tag="counted"):
    """``estimated`` is True when the model's own tokenizer is not known here."""

    tokens: int
    estimated: bool


class ModelList(HostEvent, frozen=True, kw_only=True, tag="models"):
    names: tuple[str, ...]


class ModelInfo(HostEvent, frozen=True, kw_only=True, tag="info"):
    """``None`` means unknown."""

    window_tokens: int | None = None
    output_tokens: int | None = None
    tools: bool | None = None
    images: bool | None = None
    priced: bool = False


class KnownModel(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A hosted model as litellm has it in its list: tokens, and dollars for one of them; ``None`` means unknown."""

    name: str
    provider: str
    window_tokens: int | None = None
    input_usd: float | None = None
    output_usd: float | None = None
    tools: bool | None = None


class KnownModels(HostEvent, frozen=True, kw_only=True, tag="known"):
    models: tuple[KnownModel, ...]


class Pong(HostEvent, frozen=True, kw_only=True, tag="pong"):
    ready: bool


class HostReport(HostEvent, frozen=True, kw_only=True, tag="state"):
    """The host about itself. ``state``: starting | ready | failed."""

    state: str
    detail: str = ""


AnyAnswer = (
    Delta
    | Thinking
    | ToolCallMade
    | UsageGiven
    | Done
    | Failed
    | Counted
    | ModelList
    | ModelInfo
    | KnownModels
    | Pong
    | HostReport
)

_encoder = msgspec.json.Encoder()
_request_decoder = msgspec.json.Decoder(AnyRequest)
_answer_decoder = msgspec.json.Decoder(AnyAnswer)


def encode(message: Request | HostEvent) -> bytes:
    """One line, with its line feed. A lone surrogate (half a character) becomes U+FFFD: JSON can't carry
    it."""

    try:
        return _encoder.encode(message) + b"\n"
    except UnicodeEncodeError:
        return _encoder.encode(_whole_characters(msgspec.to_builtins(message))) + b"\n"


def _whole_characters(value: Any) -> Any:
    match value:
        case str():
            return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        case dict():
            return {_whole_characters(k): _whole_characters(v) for k, v in value.items()}
        case list() | tuple():
            return [_whole_characters(v) for v in value]
        case _:
            return value


def decode_request(line: bytes) -> AnyRequest:
    """Raises ``msgspec.DecodeError`` (also for a wrong shape) when the line is not a request."""

    return _request_decoder.decode(line)


def decode_answer(line: bytes) -> AnyAnswer:
    """Raises ``msgspec.DecodeError`` (also for a wrong shape) when the line is not an answer."""

    return _answer_decoder.decode(line)
