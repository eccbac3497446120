"""Whether the next prompt will pay for the whole prefix again: a provider's cache lasts, and holds for one prefix.

What a provider keeps and how long is its own affair: where that is not known, and nothing else has changed, nothing is
said (``style.md``, "meters that lie"). Pure; times are UTC milliseconds.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

LEAST_TOKENS = 1_024
"""A prefix that is smaller is cached by nobody, and costs next to nothing."""
WORTH_SAYING = 2_048
"""Tokens from which on a changed beginning is said: in the first turns agents write the frame, which stands there."""
_MINUTE_MS = 60_000
_KEPT_MINUTES = {
    "openai": 10,
    "azure": 10,
    "deepseek": 60,
    "gemini": 5,
}
"""Minutes without a request after which a provider's own documents say that a prefix is likely gone."""
_WITH_BREAKPOINTS = ("anthropic", "bedrock", "vertex_ai")
"""Providers whose cache lasts as long as the request asks for."""
_ASKED_MINUTES = {"5m": 5, "1h": 60}


class Sent(Struct, frozen=True, kw_only=True):
    """The newest request of an agent in a session."""

    model: str
    at_ms: int
    """When its answer ended, which is when the cache was used last."""
    tokens: int
    """Its size, as reported or estimated."""
    estimated: bool
    cached: bool
    """True when the provider reported that it read from its cache, or wrote to it."""
    prefix: str
    """The stable text that it began with."""
    chars: int
    """All that was sent, in characters."""


class Cold(Struct, frozen=True, kw_only=True):
    """Why the cache will not help. ``why``: expired · model · prefix."""

    why: str
    tokens: int
    estimated: bool
    idle_ms: int


def kept_ms(model: str, asked: str) -> int | None:
    """How long a prefix is kept after its last use; ``None``: not known. ``asked``: the time that requests ask for."""
    provider = model.partition("/")[0].casefold()
    if provider in _WITH_BREAKPOINTS:
        minutes = _ASKED_MINUTES.get(asked)
    else:
        minutes = _KEPT_MINUTES.get(provider)
    return None if minutes is None else minutes * _MINUTE_MS


def cold(last: Sent | None, *, model: str, prefix: str | None, asked: str, now_ms: int) -> Cold | None:
    """Why the next request of this model will likely be paid anew, in full or for the most part; ``None``: it likely
    won't, or was never cached.

    ``prefix``: the stable text that the next request begins with; ``None``: it is not compared.
    """
    if last is None or last.tokens < LEAST_TOKENS or not last.cached:
        return None
    idle = max(0, now_ms - last.at_ms)
    whole = Cold(why="", tokens=last.tokens, estimated=last.estimated, idle_ms=idle)
    if model != last.model:
        return replace(whole, why="model")
    if (kept := kept_ms(model, asked)) is not None and idle >= kept:
        return replace(whole, why="expired")
    if prefix is None or prefix == last.prefix:
        return None
    warm = _still_warm(last, prefix)
    if 2 * warm >= last.tokens or last.tokens - warm < WORTH_SAYING:
        return None
    return replace(whole, why="prefix", tokens=last.tokens - warm, estimated=last.estimated or warm > 0)


def _still_warm(last: Sent, prefix: str) -> int:
    """Tokens, estimated, up to where the next request parts from the last: those are read from the cache all the same,
    as when nothing but the perception's frame has changed. 0 where they are too few to be kept."""
    parts = (at for at, (one, other) in enumerate(zip(prefix, last.prefix, strict=False)) if one != other)
    alike = next(parts, min(len(prefix), len(last.prefix)))
    tokens = last.tokens * alike // max(alike, last.chars, 1)
    return tokens if tokens >= LEAST_TOKENS else 0


def expires_in_ms(last: Sent | None, *, model: str, asked: str, now_ms: int) -> int | None:
    """How long the prefix is kept from now on; ``None``: not known, or nothing is kept."""
    kept = kept_ms(model, asked)
    if last is None or kept is None or last.tokens < LEAST_TOKENS or not last.cached:
        return None
    left = last.at_ms + kept - now_ms
    return left if left > 0 else None
