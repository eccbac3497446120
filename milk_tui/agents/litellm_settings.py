"""How one litellm model is to be asked."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from milk_tui.modelhost.protocol import Timeouts


@dataclass(frozen=True, slots=True)
class LitellmSettings:
    """Settings of an agent; unset (``None``, empty) leaves a choice to the provider. Times are seconds."""

    api_base: str = ""
    api_key_env: str = ""
    api_key: str = ""
    temperature: float | None = None
    max_tokens: int | None = None
    window_tokens: int | None = None
    tools: bool | Literal["text"] | None = None
    """``None``: try, and remember when the model does not take any; ``text``: always as text."""
    grammar: bool = False
    """True when the server takes a grammar of llama.cpp's, which keeps tools as text to their form."""
    timeouts: Timeouts = field(default_factory=Timeouts)
    cache_ttl: str = "5m"
    params: dict[str, Any] = field(default_factory=dict)
    """litellm's own, such as ``reasoning_effort`` (``modelhost.protocol.PARAMS``)."""
    extra_body: dict[str, Any] = field(default_factory=dict)
    max_rounds: int = 25
    """Rounds of tool calls in one leg, after which the person is asked whether it may go on."""
    retry_delays_s: tuple[float, ...] = (0.5, 2.0)
    """Before each retry of a server that could not be reached or failed before the first token."""
    retry_after_s: float = 20.0
    """The longest wait that a rate limit may ask for and still be waited for."""
