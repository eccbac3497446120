"""How large a context to ask Ollama for: by itself it takes a few thousand tokens and silently drops the beginning,
which is where an agent's instructions stand."""

from __future__ import annotations

from collections.abc import Sequence

from milk_tui.core.records import Message

_LEAST = 8_192
_ANSWER = 2_048
_CHARS_PER_TOKEN = 3
"""On the safe side: code has fewer characters to a token than prose."""


def window_for(messages: Sequence[Message], max_tokens: int | None, known: int | None) -> int:
    """Tokens: a power of two, so that the model is rarely loaded again, and at most its ``known`` window."""

    chars = sum(len(m.content) + sum(len(call.arguments) for call in m.tool_calls) for m in messages)
    need = chars // _CHARS_PER_TOKEN + (max_tokens or _ANSWER)
    size = _LEAST
    while size < need:
        size *= 2
    return min(size, known) if known else size
