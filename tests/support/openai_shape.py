"""Reading requests that have OpenAI's shape, without a server."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from tests.support.scenario import Conversation, Reply, Think, newest_prompt


def conversation(body: dict[str, Any]) -> Conversation:
    messages = body.get("messages", [])
    newest = max((i for i, m in enumerate(messages) if m["role"] == "user"), default=-1)
    after = messages[newest + 1 :]
    answers = [i for i, m in enumerate(after) if m["role"] == "assistant"]
    results = [_text(m["content"]) for m in after[answers[-1] :] if m["role"] == "tool"] if answers else []
    return Conversation(
        prompt=newest_prompt(_text(messages[newest]["content"])) if newest >= 0 else "",
        system="\n".join(_text(m["content"]) for m in messages if m["role"] in ("system", "developer")),
        round=len(answers),
        results=tuple(results),
        messages=len(messages),
        schema=_schema(body.get("response_format")),
    )


REMEMBERED = 16
"""How many of the newest requests a cache still holds."""


def usage(body: dict[str, Any], reply: Reply, earlier: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Characters / 4; cached is what this request shares with an earlier one from its beginning."""

    sent = json.dumps(body["messages"])
    shared = max((_shared(sent, json.dumps(other.get("messages"))) for other in earlier), default=0)
    thought = sum(len(s.text) for s in reply.steps if isinstance(s, Think)) // 4
    output = len(reply.text) // 4 + thought
    return {
        "prompt_tokens": len(sent) // 4,
        "completion_tokens": output,
        "total_tokens": len(sent) // 4 + output,
        "prompt_tokens_details": {"cached_tokens": shared // 4},
        "completion_tokens_details": {"reasoning_tokens": thought},
    }


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content or [])


def _schema(response_format: Any) -> dict[str, Any] | None:
    match response_format:
        case {"type": "json_schema", "json_schema": {"schema": dict(schema)}}:
            return schema
        case {"type": "json_schema" | "json_object", "schema": dict(schema)}:
            return schema
        case {"type": "json_object"}:
            return {"type": "object", "properties": {"text": {"type": "string"}}}
        case _:
            return None


def _shared(one: str, other: str) -> int:
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[:middle] == other[:middle]:
            low = middle
        else:
            high = middle - 1
    return low
