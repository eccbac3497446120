"""Questions to the host that need no model to answer: tokens, names of models, what is known about one."""

from __future__ import annotations

import asyncio
import os
from typing import Any

from milk_tui.core.records import ErrorKind
from milk_tui.modelhost.protocol import (
    Count,
    Counted,
    HostEvent,
    Info,
    Known,
    KnownModel,
    KnownModels,
    ModelInfo,
    ModelList,
    Models,
)

_ASK_S = 5.0


async def answer(litellm: Any, request: Count | Models | Info | Known) -> HostEvent:
    """Raises whatever the library or the server raises; ``kind_of`` names it."""

    match request:
        case Count(id=number, model=model, text=text):
            tokens = await asyncio.to_thread(litellm.token_counter, model=model, text=text)
            return Counted(id=number, tokens=tokens, estimated=not _counted_exactly(model))
        case Models(id=number, api_base=""):
            names = litellm.models_by_provider.get(request.provider, ())
            return ModelList(id=number, names=tuple(sorted(_prefixed(request.provider, name) for name in names)))
        case Models(id=number):
            return ModelList(id=number, names=tuple(await _served(request)))
        case Info(id=number):
            return await asyncio.to_thread(_info, litellm, request)
        case Known(id=number, providers=providers):
            found = (_known(litellm, provider) for provider in dict.fromkeys(providers))
            return KnownModels(id=number, models=tuple(model for models in found for model in models))


def kind_of(error: BaseException) -> ErrorKind:
    match type(error).__name__:
        case "ConnectError" | "ConnectTimeout":
            return ErrorKind.UNREACHABLE
        case "ReadTimeout" | "PoolTimeout" | "WriteTimeout":
            return ErrorKind.TIMEOUT
        case "HTTPStatusError" | "DecodeError" | "JSONDecodeError" | "ReadError" | "RemoteProtocolError":
            return ErrorKind.BAD_ANSWER
        case _:
            return ErrorKind.INTERNAL


async def _served(request: Models) -> list[str]:
    """What the server at ``api_base`` says it has, by OpenAI's list or Ollama's."""

    import httpx

    key = os.environ.get(request.api_key_env, "") if request.api_key_env else ""
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    ollama = request.provider.startswith("ollama")
    base = request.api_base.rstrip("/")
    async with httpx.AsyncClient(timeout=_ASK_S, headers=headers) as client:
        response = await client.get(f"{base}/api/tags" if ollama else f"{base}/models")
        response.raise_for_status()
        body = response.json()
    match body:
        case {"models": [*rows]} if ollama:
            names = [row["name"] for row in rows if isinstance(row, dict) and isinstance(row.get("name"), str)]
        case {"data": [*rows]}:
            names = [row["id"] for row in rows if isinstance(row, dict) and isinstance(row.get("id"), str)]
        case _:
            names = []
    return sorted(_prefixed(request.provider, name) for name in names)


def _prefixed(provider: str, name: str) -> str:
    return name if name.startswith(f"{provider}/") else f"{provider}/{name}"


def _counted_exactly(model: str) -> bool:
    """litellm counts with one encoding, which is the model's own only for these."""

    name = model.removeprefix("openai/")
    return name.startswith("gpt-3.5") or (name.startswith("gpt-4") and not name.startswith(("gpt-4o", "gpt-4.")))


def _info(litellm: Any, request: Info) -> ModelInfo:
    try:
        known: dict[str, Any] = dict(litellm.get_model_info(request.model, api_base=request.api_base or None))
    except Exception:
        return ModelInfo(id=request.id)
    window = known.get("max_input_tokens") or known.get("max_tokens")
    return ModelInfo(
        id=request.id,
        window_tokens=window if isinstance(window, int) else None,
        output_tokens=known.get("max_output_tokens"),
        tools=known.get("supports_function_calling"),
        images=known.get("supports_vision"),
        priced=bool(known.get("input_cost_per_token")),
    )


def _known(litellm: Any, provider: str) -> list[KnownModel]:
    """The provider's models that answer to a conversation, by name."""

    found = []
    for name in sorted(litellm.models_by_provider.get(provider, ())):
        told: dict[str, Any] = litellm.model_cost.get(name) or litellm.model_cost.get(f"{provider}/{name}") or {}
        if told.get("mode") not in ("chat", "responses") or name.startswith("ft:"):
            continue
        window = told.get("max_input_tokens") or told.get("max_tokens")
        found.append(
            KnownModel(
                name=_prefixed(provider, name),
                provider=provider,
                window_tokens=window if isinstance(window, int) else None,
                input_usd=_price(told.get("input_cost_per_token")),
                output_usd=_price(told.get("output_cost_per_token")),
                tools=told.get("supports_function_calling"),
            )
        )
    return found


def _price(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
