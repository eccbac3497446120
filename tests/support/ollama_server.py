"""A loopback server that speaks Ollama's chat, list and description of models.

In a test: ``async with OllamaServer() as server`` and ``api_base=server.url``; elsewhere:
``python -m tests.support.ollama_server --port N``.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from aiohttp import web

from tests.support.loopback import Loopback, Wire
from tests.support.openai_shape import conversation
from tests.support.scenario import Call, Conversation, Reply, Say, Think


class OllamaServer(Loopback):
    """Chat as lines of JSON, ``/api/tags`` and ``/api/show``."""

    models = ("qwen2.5-coder:7b", "llama3.2:3b")
    window = 32_768

    def routes(self) -> list[web.RouteDef]:
        return [
            web.post("/api/chat", self._chat),
            web.post("/api/show", self._show),
            web.get("/api/tags", self._tags),
        ]

    def conversation(self, body: dict[str, Any]) -> Conversation:
        return conversation(body)

    def refusal(self, reply: Reply) -> dict[str, Any]:
        model = self.requests[-1].body.get("model", "")
        missing = f'model "{model}" not found, try pulling it first'
        return {"error": reply.message or (missing if reply.status == 404 else "the server failed")}

    def failure(self, message: str) -> str:
        return json.dumps({"error": message}) + "\n"

    async def _tags(self, request: web.Request) -> web.Response:
        return web.json_response({"models": [{"name": name, "model": name, "size": 1} for name in self.models]})

    async def _show(self, request: web.Request) -> web.Response:
        described = {"general.architecture": "qwen2", "qwen2.context_length": self.window}
        return web.json_response({"template": "{{ .Tools }}", "model_info": described, "capabilities": ["tools"]})

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        body, reply = await self.receive(request)
        await self.waiting(reply)
        if reply.status != 200:
            return await self.refuse(reply)
        async with self.streaming(request, reply) as wire:
            await self._stream(wire, body, reply)
        return wire.response

    async def _stream(self, wire: Wire, body: dict[str, Any], reply: Reply) -> None:
        async def send(message: dict[str, Any], **fields: Any) -> None:
            line = {"model": body.get("model", ""), "created_at": "2026-01-01T00:00:00Z", "done": False}
            said = {"role": "assistant", "content": "", **message}
            await wire.write(json.dumps({**line, "message": said, **fields}) + "\n")

        for step in reply.steps:
            await asyncio.sleep(reply.delay_s)
            match step:
                case Say(text):
                    await send({"content": text})
                case Think(text):
                    await send({"thinking": text})
                case Call(name=name, arguments=arguments):
                    await send({"tool_calls": [{"function": {"name": name, "arguments": json.loads(arguments)}}]})
                case _:
                    if await self.misbehave(wire, step):
                        return
        counts = {"prompt_eval_count": len(json.dumps(body["messages"])) // 4, "eval_count": len(reply.text) // 4 + 1}
        await send({}, done=True, done_reason=reply.finish or "stop", **(counts if reply.usage else {}))


if __name__ == "__main__":
    sys.exit(OllamaServer.serve())
