"""From a request to the arguments of litellm's ``acompletion``: messages, cache breakpoints, keys, limits."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any
from urllib.parse import urlsplit

from milk_tui.core.records import ErrorKind, Message
from milk_tui.core.tool_calls import as_object
from milk_tui.modelhost.failures import StreamProblem
from milk_tui.modelhost.protocol import PARAMS, CompleteRequest

_BREAKPOINTS = 4
"""Cache breakpoints that Anthropic takes in one request."""
_NO_KEY_NEEDED = ("ollama/", "ollama_chat/")


def arguments(litellm: Any, request: CompleteRequest) -> dict[str, Any]:
    """Keyword arguments for ``litellm.acompletion``. Raises ``StreamProblem`` when a named key is not set, and for an
    address that is none."""

    import httpx

    if request.api_base and not is_address(request.api_base):
        raise StreamProblem(ErrorKind.BAD_REQUEST, f"api_base {request.api_base!r} is no http address.")

    times = request.timeouts
    reading = max(times.first_s, times.idle_s) + 30.0
    given: dict[str, Any] = {
        "model": request.model,
        "messages": messages(request, cached=has_breakpoints(litellm, request.model)),
        "stream": request.stream,
        "num_retries": 0,
        "max_retries": 0,
        "timeout": httpx.Timeout(reading, connect=times.connect_s),
        **{name: value for name, value in request.params.items() if name in PARAMS},
    }
    if request.stream:
        given["stream_options"] = {"include_usage": True}
    if request.tools:
        given["tools"] = [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.parameters or {"type": "object", "properties": {}},
                },
            }
            for tool in request.tools
        ]
        if request.tool_choice:
            given["tool_choice"] = request.tool_choice
    optional = {
        "temperature": request.temperature,
        "max_tokens": request.max_tokens,
        "stop": list(request.stop) or None,
        "response_format": request.response_format,
        "extra_body": dict(request.extra_body) or None,
        "api_base": request.api_base or None,
        "api_key": key(request, os.environ),
    }
    return {**given, **{name: value for name, value in optional.items() if value is not None}}


def is_address(base: str) -> bool:
    """Whether something can be asked there: http or https, a host, a port that there is."""

    try:
        parts = urlsplit(base)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def key(request: CompleteRequest, environment: Mapping[str, str]) -> str | None:
    """The key to send; ``None`` leaves it to litellm, which looks for the provider's own variable.

    An address of one's own gets no key that was not named for it: not the one of the provider whose
    protocol it speaks.
    """

    if request.api_key_env:
        value = environment.get(request.api_key_env, "").strip()
        if not value:
            raise StreamProblem(ErrorKind.AUTH, f"The environment variable {request.api_key_env} is not set.")
        return value
    if request.api_key:
        return request.api_key
    if request.api_base and not request.model.startswith(_NO_KEY_NEEDED):
        return "none"
    return None


def has_breakpoints(litellm: Any, model: str) -> bool:
    """Whether the provider reads cache breakpoints in messages."""

    try:
        provider = litellm.get_llm_provider(model)[1]
    except Exception:
        return False
    return provider == "anthropic" or (
        provider in ("bedrock", "bedrock_converse", "vertex_ai", "openrouter") and "claude" in model
    )


def messages(request: CompleteRequest, *, cached: bool) -> list[dict[str, Any]]:
    """The messages in OpenAI's shape.

    Neighbours of the same role become one (many chat templates take one system message and strictly
    alternating roles), in a way that leaves an earlier byte as it was when messages are added.
    ``cached``: as content blocks, with breakpoints at the cache points.
    """

    marks = _marks(request) if cached and request.cache_ttl else {}
    shaped: list[dict[str, Any]] = []
    numbered = list(enumerate(request.messages))
    for role, run in groupby(numbered, key=lambda item: item[1].role):
        neighbours = list(run)
        if role in ("system", "user"):
            shaped.append(_joined(role, neighbours, marks) if cached else _text(role, neighbours))
        else:
            shaped += [_single(message, at, request, marks) for at, message in neighbours]
    return shaped


def _marks(request: CompleteRequest) -> dict[int, dict[str, str]]:
    """The breakpoint at each message that gets one: the first three cache points and the last."""

    points = [at for at, message in enumerate(request.messages) if message.cache_point and message.content]
    if len(points) > _BREAKPOINTS:
        points = [*points[: _BREAKPOINTS - 1], points[-1]]
    control = {"type": "ephemeral"} if request.cache_ttl == "5m" else {"type": "ephemeral", "ttl": request.cache_ttl}
    return dict.fromkeys(points, control)


def _text(role: str, neighbours: Sequence[tuple[int, Message]]) -> dict[str, Any]:
    text = "\n\n".join(message.content for _, message in neighbours if message.content)
    seen = [_image(image) for _, message in neighbours for image in message.images]
    return {"role": role, "content": [*seen, _block(text, None)] if seen else text}


def _image(url: str) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": url}}


def _joined(
    role: str, neighbours: Sequence[tuple[int, Message]], marks: Mapping[int, dict[str, str]]
) -> dict[str, Any]:
    blocks: list[dict[str, Any]] = []
    for at, message in neighbours:
        blocks += map(_image, message.images)
        if message.content:
            blocks.append(_block(message.content, marks.get(at)))
    return {"role": role, "content": blocks}


def _block(text: str, mark: dict[str, str] | None) -> dict[str, Any]:
    block: dict[str, Any] = {"type": "text", "text": text}
    return {**block, "cache_control": mark} if mark else block


def _single(message: Message, at: int, request: CompleteRequest, marks: Mapping[int, dict[str, str]]) -> dict[str, Any]:
    mark = marks.get(at)
    shaped: dict[str, Any] = {"role": message.role, "content": message.content}
    if mark:
        shaped["content"] = [_block(message.content, mark)]
    if message.tool_call_id is not None:
        shaped["tool_call_id"] = message.tool_call_id
    if message.tool_calls:
        shaped["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": as_object(call.arguments)},
            }
            for call in message.tool_calls
        ]
    blocks = request.thinking_blocks.get(at)
    if blocks:
        shaped["thinking_blocks"] = blocks
    return shaped
