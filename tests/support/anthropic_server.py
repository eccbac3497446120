"""A loopback server that speaks Anthropic's messages.

In a test: ``async with AnthropicServer() as server`` and ``api_base=server.url``; elsewhere:
``python -m tests.support.anthropic_server --port N``.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from aiohttp import web

from tests.support.loopback import Loopback, Wire
from tests.support.openai_shape import REMEMBERED
from tests.support.scenario import Call, Conversation, Reply, Say, Step, Think, newest_prompt
from tests.support.wire_faults import wreck

_ERRORS = {
    400: ("invalid_request_error", "Bad request."),
    401: ("authentication_error", "invalid x-api-key"),
    403: ("permission_error", "Your key may not use this model."),
    404: ("not_found_error", "model: {model}"),
    429: ("rate_limit_error", "This request would exceed your rate limit."),
    529: ("overloaded_error", "Overloaded"),
}
_FINISH = {"length": "max_tokens", "content_filter": "refusal", "stop": "end_turn", "tool_calls": "tool_use"}
_KINDS = {Say: "text", Think: "thinking", Call: "tool_use"}


class AnthropicServer(Loopback):
    """Messages, streamed or not."""

    def routes(self) -> list[web.RouteDef]:
        return [web.post("/v1/messages", self._messages)]

    def conversation(self, body: dict[str, Any]) -> Conversation:
        messages = body.get("messages", [])
        newest = max((i for i, m in enumerate(messages) if m["role"] == "user" and _text(m)), default=-1)
        after = messages[newest + 1 :]
        answers = [i for i, m in enumerate(after) if m["role"] == "assistant"]
        return Conversation(
            prompt=newest_prompt(_text(messages[newest])) if newest >= 0 else "",
            system=_joined(body.get("system", "")),
            round=len(answers),
            results=tuple(r for m in after[answers[-1] :] for r in _results(m)) if answers else (),
            messages=len(messages),
        )

    def refusal(self, reply: Reply) -> dict[str, Any]:
        kind, text = _ERRORS.get(reply.status, ("api_error", "Internal server error"))
        message = reply.message or text.format(model=self.requests[-1].body.get("model", ""))
        return {"type": "error", "error": {"type": kind, "message": message}}

    def failure(self, message: str) -> str:
        error = {"type": "overloaded_error", "message": message}
        return f"event: error\ndata: {json.dumps({'type': 'error', 'error': error})}\n\n"

    async def _messages(self, request: web.Request) -> web.StreamResponse:
        body, reply = await self.receive(request)
        await self.waiting(reply)
        if reply.wire:
            await wreck(request, reply.wire)
            return web.Response()
        if reply.status != 200:
            return await self.refuse(reply)
        if reply.content_type:
            return web.Response(text="<html>Welcome to the portal</html>", content_type=reply.content_type)
        if not body.get("stream"):
            return web.json_response(self._whole(body, reply))
        async with self.streaming(request, reply) as wire:
            await self._stream(wire, body, reply)
        return wire.response

    async def _stream(self, wire: Wire, body: dict[str, Any], reply: Reply) -> None:
        async def send(kind: str, **fields: Any) -> None:
            await wire.write(f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n")

        usage = self._usage(body, reply)
        message = {**self._head(body, reply), "content": [], "stop_reason": None, "stop_sequence": None}
        await send("message_start", message={**message, "usage": {**usage, "output_tokens": 1}})
        await send("ping")
        index, kind = -1, ""
        for number, step in enumerate(reply.steps):
            if reply.delay_s:
                await asyncio.sleep(reply.delay_s)
            if type(step) not in _KINDS:
                if await self.misbehave(wire, step):
                    return
                continue
            if kind != _KINDS[type(step)] or isinstance(step, Call):
                if kind:
                    await send("content_block_stop", index=index)
                index, kind = index + 1, _KINDS[type(step)]
                block = self._block(step, number)
                await send("content_block_start", index=index, content_block=block)
            for delta in _deltas(step):
                await send("content_block_delta", index=index, delta=delta)
            if isinstance(step, Think) and not _more_thinking(reply.steps, number):
                signature = {"type": "signature_delta", "signature": f"signed-{index}"}
                await send("content_block_delta", index=index, delta=signature)
        if kind:
            await send("content_block_stop", index=index)
        stop = {"stop_reason": _stop(reply), "stop_sequence": None}
        await send("message_delta", delta=stop, usage={"output_tokens": usage["output_tokens"]})
        if reply.linger:
            await asyncio.Event().wait()
        await send("message_stop")

    def _block(self, step: Step, number: int) -> dict[str, Any]:
        match step:
            case Call(name=name):
                return {
                    "type": "tool_use",
                    "id": f"toolu_{len(self.requests)}_{number}",
                    "name": name,
                    "input": {},
                }
            case Think():
                return {"type": "thinking", "thinking": "", "signature": ""}
            case _:
                return {"type": "text", "text": ""}

    def _head(self, body: dict[str, Any], reply: Reply) -> dict[str, Any]:
        return {
            "id": f"msg_{len(self.requests)}",
            "type": "message",
            "role": "assistant",
            "model": reply.model or body.get("model", ""),
        }

    def _whole(self, body: dict[str, Any], reply: Reply) -> dict[str, Any]:
        content: list[dict[str, Any]] = []
        if reply.text:
            content.append({"type": "text", "text": reply.text})
        for number, call in enumerate(reply.calls):
            content.append({**self._block(call, number), "input": json.loads(call.arguments or "{}")})
        stop = {"stop_reason": _stop(reply), "stop_sequence": None}
        return {**self._head(body, reply), "content": content, **stop, "usage": self._usage(body, reply)}

    def _usage(self, body: dict[str, Any], reply: Reply) -> dict[str, Any]:
        """Characters / 4. Text up to the last breakpoint is written to the cache, or read when an earlier
        request had the same text up to a breakpoint."""

        flat = _flat(body)
        marks = _prefixes(flat)
        earlier = {mark for r in self.requests[-REMEMBERED:-1] for mark in _prefixes(_flat(r.body))}
        read = max((len(mark) for mark in marks if mark in earlier), default=0)
        written = max((len(mark) for mark in marks), default=0) - read
        total = sum(len(text) for text, _ in flat)
        output = sum(len(s.text) for s in reply.steps if isinstance(s, Say | Think))
        return {
            "input_tokens": (total - read - written) // 4,
            "cache_read_input_tokens": read // 4,
            "cache_creation_input_tokens": written // 4,
            "output_tokens": output // 4,
        }


def _stop(reply: Reply) -> str:
    return _FINISH[reply.finish or ("tool_calls" if reply.calls else "stop")]


def _deltas(step: Step) -> list[dict[str, Any]]:
    match step:
        case Say(text):
            return [{"type": "text_delta", "text": text}]
        case Think(text):
            return [{"type": "thinking_delta", "thinking": text}]
        case Call(arguments=arguments):
            half = len(arguments) // 2
            parts = [p for p in (arguments[:half], arguments[half:]) if p]
            return [{"type": "input_json_delta", "partial_json": part} for part in parts]
        case _:
            return []


def _more_thinking(steps: tuple[Step, ...], number: int) -> bool:
    return number + 1 < len(steps) and isinstance(steps[number + 1], Think)


def _text(message: dict[str, Any]) -> str:
    return _joined(message["content"])


def _joined(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "".join(block.get("text", "") for block in content if block.get("type") == "text")


def _results(message: dict[str, Any]) -> list[str]:
    if isinstance(message["content"], str):
        return []
    blocks = [b for b in message["content"] if b.get("type") == "tool_result"]
    return [b["content"] if isinstance(b["content"], str) else _joined(b["content"]) for b in blocks]


def _flat(body: dict[str, Any]) -> list[tuple[str, bool]]:
    """The request as text pieces in their order, each with whether a cache breakpoint follows it."""

    def pieces(content: Any) -> list[tuple[str, bool]]:
        if isinstance(content, str):
            return [(content, False)]
        marked = [(block, "cache_control" in block) for block in content]
        return [(json.dumps({**b, "cache_control": 0}, sort_keys=True), mark) for b, mark in marked]

    flat = pieces(body.get("tools", []))
    flat += pieces(body.get("system", ""))
    for message in body.get("messages", []):
        flat += pieces(message["content"])
    return flat


def _prefixes(flat: list[tuple[str, bool]]) -> list[str]:
    found, text = [], ""
    for piece, mark in flat:
        text += piece
        if mark:
            found.append(text)
    return found


if __name__ == "__main__":
    sys.exit(AnthropicServer.serve())
