"""Tokens and cost, as reported or unknown: never a guess (``style.md``, "meters that lie")."""

from __future__ import annotations

from typing import Any

from milk_tui.core.records import Usage


def was_reported(stream: Any) -> bool:
    """Whether the provider said how many tokens it used; when it did not, litellm counts by itself and does
    not say so."""

    chunks = getattr(stream, "chunks", None)
    return chunks is None or any(getattr(chunk, "usage", None) is not None for chunk in chunks)


def usage_of(reported: Any) -> Usage:
    """From litellm's usage object; what the provider did not report stays ``None``."""

    if reported is None:
        return Usage()
    prompt = getattr(reported, "prompt_tokens_details", None)
    completion = getattr(reported, "completion_tokens_details", None)
    read = _number(getattr(prompt, "cached_tokens", None))
    written = _number(getattr(reported, "cache_creation_input_tokens", None))
    usage = Usage(
        input_tokens=_number(getattr(reported, "prompt_tokens", None)),
        output_tokens=_number(getattr(reported, "completion_tokens", None)),
        cached_tokens=read,
        cache_write_tokens=written if written is not None else _number(getattr(prompt, "cache_write_tokens", None)),
        reasoning_tokens=_number(getattr(completion, "reasoning_tokens", None)),
    )
    return usage if usage.input_tokens or usage.output_tokens else Usage()


def cost_of(litellm: Any, model: str, reported: Any) -> float | None:
    """US dollars by litellm's local map; ``None`` for a model that is not in it."""

    try:
        response = litellm.ModelResponse(model=model, usage=reported)
        cost = litellm.completion_cost(completion_response=response, model=model)
    except Exception:
        return None
    return float(cost) if cost else None


def _number(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
