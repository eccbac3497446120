"""An ACP agent of which every word is an item of the collection (``tests/data/hostile``), as a process of its own.

A prompt says which: ``ITEMS say 0 40`` in its answer, thoughts, plan, calls and what it says about its session, ``ITEMS
ask 0 40 8`` (every eighth one) as what it asks for, ``ITEMS error 7 8`` as its error. Else it is as ``fake_acp``.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.data.hostile import Item, items
from tests.support.fake_acp import Fake, RpcError, main, text

HOSTILE_ACP = str(Path(__file__).resolve())
WANTED = re.compile(r"ITEMS (say|ask|error) (\d+) (\d+)(?: (\d+))?")


class Hostile(Fake):
    async def do(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        answer = await super().do(method, params)
        said = items()[len(self.turns) % len(items())].text[:2_000]
        if method == "initialize":
            answer["agentInfo"] = {"name": said, "title": said, "version": said}
            answer["authMethods"] = [{"id": said, "name": said, "description": said}]
        if method == "session/new":
            mode = {"id": said, "name": said, "description": said}
            answer["modes"] = {"currentModeId": said, "availableModes": [mode]}
            answer["models"]["availableModels"] = [{"modelId": said, "name": said, "description": said}]
        return answer

    async def prompt(self, session: str, blocks: list[dict[str, Any]]) -> dict[str, Any]:
        wanted = WANTED.search(blocks[-1]["text"])
        if wanted is None:
            return await super().prompt(session, blocks)
        for number, item in enumerate(items()[int(wanted[2]) : int(wanted[3]) : int(wanted[4] or 1)]):
            match wanted[1]:
                case "say":
                    self.tell(session, item, failed=number % 3 == 0)
                case "ask":
                    self.keep({"outcome": await self.want(session, item, number), "item": item.id})
                case "error":
                    raise RpcError(-32603, item.text)
        return {"stopReason": "end_turn", "usage": {"inputTokens": 10, "outputTokens": 7}}

    def tell(self, session: str, item: Item, *, failed: bool) -> None:
        """The item in every update that the protocol knows."""
        said = item.text
        short = said[:2_000]
        update = self.update
        update(session, "agent_thought_chunk", content=text(said))
        update(session, "agent_message_chunk", content=text(said), messageId=f"{item.id}{short}")
        update(session, "agent_message_chunk", content={"type": "resource_link", "uri": short, "name": short})
        update(session, "plan", entries=[{"content": short, "status": "in_progress", "priority": short}])
        update(session, "current_mode_update", currentModeId=short)
        update(session, "session_info_update", title=short, updatedAt=short)
        update(session, "available_commands_update", availableCommands=[{"name": short, "description": short}])
        update(session, "usage_update", used=1, size=short, cost={"amount": short, "currency": short})
        update(session, short, content=text(short))
        call: dict[str, Any] = {"toolCallId": f"{item.id}{short}", "title": short, "kind": short, "status": "pending"}
        if failed:
            call["_meta"] = {"claudeCode": {"toolName": short, "parentToolUseId": short}}
        given = {"path": short, short[:60]: short}
        update(session, "tool_call", **call, rawInput=given, locations=[{"path": short, "line": 1}])
        update(session, "tool_call_update", **{**call, "status": "in_progress"})
        diff = {"type": "diff", "path": short, "oldText": short, "newText": f"{short}\n{short}"}
        done = [{"type": "content", "content": text(said)}, diff, {"type": "terminal", "terminalId": short}]
        status = "failed" if failed else "completed"
        update(session, "tool_call_update", **{**call, "status": status}, content=done)
        other = {**call, "toolCallId": f"{item.id} raw", "status": status, "rawOutput": {short: said}}
        update(session, "tool_call", **other, rawInput={short: [short]})

    async def want(self, session: str, item: Item, number: int) -> Any:
        """Ask for the item: its names, a change of it, and options that it names."""
        short = item.text[:20_000]
        told: dict[str, Any] = {
            "title": short,
            "kind": short,
            "content": [],
            "_meta": {"claudeCode": {"toolName": short[:200]}},
        }
        if number % 2:
            told["content"] = [{"type": "diff", "path": short[:200], "oldText": short, "newText": f"{short}."}]
        return await self.permission(session, f"ask {item.id}", {"command": short, "description": short}, **told)


if __name__ == "__main__":
    sys.exit(main(Hostile))
