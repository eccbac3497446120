"""A loopback server that speaks OpenAI's chat completions.

In a test: ``async with OpenAIServer() as server`` and ``api_base=server.url``; elsewhere:
``python -m tests.support.openai_server --port N``.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from aiohttp import web

from tests.support.loopback import Loopback, Wire
from tests.support.openai_shape import REMEMBERED, conversation, usage
from tests.support.scenario import Call, Conversation, Reply, Say, Think
from tests.support.wire_faults import wreck

_ERRORS = {
    401: ("invalid_request_error", "invalid_api_key", "Incorrect API key provided: {key}."),
    403: ("permission_error", "forbidden", "Your key may not use this model."),
    404: ("invalid_request_error", "model_not_found", "The model `{model}` does not exist."),
    429: ("requests", "rate_limit_exceeded", "Rate limit reached."),
}


class OpenAIServer(Loopback):
    """Chat completions, streamed or not, and the list of models."""

    prefix = "/v1"
    models = ("loopback", "loopback-large")

    def routes(self) -> list[web.RouteDef]:
        return [
            web.post("/v1/chat/completions", self._complete),
            web.get("/v1/models", self._list),
        ]

    def conversation(self, body: dict[str, Any]) -> Conversation:
        return conversation(body)

    def refusal(self, reply: Reply) -> dict[str, Any]:
        kind, code, text = _ERRORS.get(reply.status, ("server_error", None, "The server had an error."))
        last = self.requests[-1]
        key = last.headers.get("Authorization", "").removeprefix("Bearer ")
        message = reply.message or text.format(key=key, model=last.body.get("model", ""))
        return {"error": {"message": message, "type": kind, "code": code, "param": None}}

    def failure(self, message: str) -> str:
        error = {"message": message, "type": "server_error", "code": 500}
        return f"data: {json.dumps({'error': error})}\n\n"

    async def _list(self, request: web.Request) -> web.Response:
        data = [{"id": name, "object": "model", "owned_by": "loopback", "created": 0} for name in self.models]
        return web.json_response({"object": "list", "data": data})

    async def _complete(self, request: web.Request) -> web.StreamResponse:
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
        head = {"id": f"chatcmpl-{len(self.requests)}", "object": "chat.completion.chunk", "created": 1}
        head["model"] = reply.model or body.get("model", "")

        async def send(delta: dict[str, Any], finish: str | None = None) -> None:
            choice = {"index": 0, "delta": delta, "finish_reason": finish}
            await wire.write(f"data: {json.dumps({**head, 'choices': [choice]})}\n\n")

        if not reply.late_role:
            await send({"role": "assistant", "content": ""})
        calls = 0
        for step in reply.steps:
            if reply.delay_s:
                await asyncio.sleep(reply.delay_s)
            match step:
                case Say(text):
                    await send({"content": text})
                case Think(text):
                    await send({"reasoning_content": text})
                case Call():
                    for delta in _call_deltas(step, calls, len(self.requests)):
                        await send(delta)
                    calls += 1
                case _:
                    if await self.misbehave(wire, step):
                        return
        if reply.late_role:
            await send({"role": reply.late_role})
        await send({}, reply.finish or ("tool_calls" if calls else "stop"))
        if reply.linger:
            await asyncio.Event().wait()
        if reply.usage and (body.get("stream_options") or {}).get("include_usage"):
            await wire.write(f"data: {json.dumps({**head, 'choices': [], 'usage': self._usage(body, reply)})}\n\n")
        await wire.write("data: [DONE]\n\n")

    def _whole(self, body: dict[str, Any], reply: Reply) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": reply.text}
        thought = "".join(s.text for s in reply.steps if isinstance(s, Think))
        if thought:
            message["reasoning_content"] = thought
        if reply.calls:
            message["tool_calls"] = [
                {
                    "id": f"call_{len(self.requests)}_{n}",
                    "type": "function",
                    "function": {"name": call.name, "arguments": call.arguments},
                }
                for n, call in enumerate(reply.calls)
            ]
        finish = reply.finish or ("tool_calls" if reply.calls else "stop")
        answer = {
            "id": f"chatcmpl-{len(self.requests)}",
            "object": "chat.completion",
            "created": 1,
            "model": reply.model or body.get("model", ""),
            "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        }
        return {**answer, "usage": self._usage(body, reply)} if reply.usage else answer

    def _usage(self, body: dict[str, Any], reply: Reply) -> dict[str, Any]:
        return usage(body, reply, (r.body for r in self.requests[-REMEMBERED:-1]))


def _call_deltas(call: Call, index: int, request: int) -> list[dict[str, Any]]:
    """The name first, then the arguments in two pieces, as real servers send them."""

    first = {
        "index": index,
        "id": f"call_{request}_{index}",
        "type": "function",
        "function": {"name": call.name, "arguments": ""},
    }
    half = len(call.arguments) // 2
    parts = [p for p in (call.arguments[:half], call.arguments[half:]) if p]
    return [{"tool_calls": [first]}] + [
        {"tool_calls": [{"index": index, "function": {"arguments": part}}]} for part in parts
    ]


if __name__ == "__main__":
    sys.exit(OpenAIServer.serve())
