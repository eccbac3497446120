"""A Claude Code of which every word is an item of the collection (``tests/data/hostile``), as a process of its own.

A prompt says which: ``ITEMS say 0 40`` in its answer, thoughts, calls, results and notices, ``ITEMS ask 0 40 8``
(every eighth one) as what it asks for, ``ITEMS error 7 8`` as its error. Else it is as ``fake_claude``.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.data.hostile import Item, items
from tests.support.fake_claude import Fake, event, main, record, say, system

HOSTILE_CLAUDE = str(Path(__file__).resolve())
WANTED = re.compile(r"ITEMS (say|ask|error) (\d+) (\d+)(?: (\d+))?")


class Hostile(Fake):
    async def answer(self, message: dict[str, Any]) -> None:
        prompt = [block["text"] for block in message["message"]["content"] if block["type"] == "text"][-1]
        wanted = WANTED.search(prompt)
        if wanted is None:
            await super().answer(message)
            return
        self.lifecycle(message["uuid"], "started")
        for number, item in enumerate(items()[int(wanted[2]) : int(wanted[3]) : int(wanted[4] or 1)]):
            match wanted[1]:
                case "say":
                    self.tell(item, failed=number % 3 == 0)
                case "ask":
                    record(self.args.home, {"verdict": await self.want(item, number), "item": item.id})
                case "error":
                    errors = {"errors": [item.text], "subtype": item.text[:200], "terminal_reason": item.text[:200]}
                    self.result(result=item.text, is_error=True, api_error_status=item.text[:200], **errors)
                    return
        self.result(result="")

    def tell(self, item: Item, *, failed: bool) -> None:
        """The item in every line that the protocol knows."""
        said = item.text
        short = said[:2_000]
        known = {"model": short, "claude_code_version": short, "cwd": short, "tools": [short]}
        system("init", session_id=self.id, permissionMode=short, slash_commands=[short], output_style=short, **known)
        system("api_retry", attempt=1, max_retries=3, retry_delay_ms=0, error=short, error_status=short)
        system("status", status=short)
        system(short)
        say({"type": "rate_limit_event", "rate_limit_info": {"status": short}})
        say({"type": short, "message": short})
        message_id = f"{item.id}{short}"
        event({"type": "message_start", "message": {"id": message_id, "model": short, "content": []}})
        for index, kind in enumerate(("thinking", "text")):
            event({"type": "content_block_start", "index": index, "content_block": {"type": kind}})
            half = len(said) // 2
            for piece in (said[:half], said[half:]):
                delta = {"type": f"{kind}_delta", kind: piece}
                event({"type": "content_block_delta", "index": index, "delta": delta})
            self.assistant([{"type": kind, kind: said}], message_id=message_id)
        use = {"type": "tool_use", "id": f"use {message_id}", "name": short, "input": {}}
        event({"type": "content_block_start", "index": 2, "content_block": use})
        given = {"file_path": short, "old_string": short, "new_string": f"{short}.", short[:60]: [short]}
        self.assistant([{**use, "input": given}], message_id=message_id)
        event({"type": "message_stop"})
        content = [{"type": "text", "text": said}, {"type": short, "text": short}, {"type": "image", "source": short}]
        block = {"type": "tool_result", "tool_use_id": use["id"], "content": content, "is_error": failed}
        say({"type": "user", "message": {"role": "user", "content": [block]}, "parent_tool_use_id": None})
        inside = {"type": "tool_use", "id": f"in {message_id}", "name": short, "input": {short[:60]: short}}
        self.assistant([inside], parent=short)
        self.tool_result(f"in {message_id}", said, failed=failed, parent=short)

    async def want(self, item: Item, number: int) -> Any:
        """Ask for the item, as a tool of another name and as a question."""
        short = item.text[:20_000]
        request = {"subtype": "can_use_tool", "tool_name": short[:200], "tool_use_id": f"ask {item.id}"}
        if number % 2:
            option = {"label": short[:2_000], "description": short}
            asked = {"question": short, "header": short, "options": [option, {"label": "no"}]}
            return await self.ask({**request, "tool_name": "AskUserQuestion", "input": {"questions": [asked]}})
        return await self.ask({**request, "input": {"command": short, "description": short}, "decision_reason": short})


if __name__ == "__main__":
    sys.exit(main(Hostile))
