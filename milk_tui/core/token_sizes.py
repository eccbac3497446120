"""How large a context is: characters are exact, tokens are exact only where somebody counted them.

A number that nobody counted is an estimate and says so; one that nobody can know is ``None``, which is not 0
(``style.md``, "meters that lie").
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from milk_tui.core.records import Role, Usage

CHARS_PER_TOKEN = 4


class Tokens(Struct, frozen=True):
    """A number of tokens. ``estimated``: neither the model's own tokenizer nor its provider counted them."""

    number: int
    estimated: bool = True

    def plus(self, other: Tokens) -> Tokens:
        """The sum; an estimate in it makes it one."""
        return Tokens(self.number + other.number, self.estimated or other.estimated)


def estimate(chars: int) -> Tokens:
    """Characters / 4, rounded up."""
    return Tokens(-(-chars // CHARS_PER_TOKEN))


class Measure(Struct, frozen=True, kw_only=True, gc=False):
    """What one leg was given and what its provider reported; ``None`` means unknown."""

    leg_id: int
    turn_id: int
    role: Role
    chars: int
    """Segments and thread, without the prompt."""
    tools: int = 0
    """Tool calls of the leg: with them it had several requests, and what is reported is their sum."""
    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None

    @property
    def context(self) -> Tokens:
        """The size of the context: as reported when the leg was one request, else an estimate."""
        if self.input_tokens is not None and not self.tools:
            return Tokens(self.input_tokens, estimated=False)
        return estimate(self.chars)

    @property
    def cached_share(self) -> float | None:
        """Which part of what was sent came from the provider's cache, 0..1; ``None`` when it is not known."""
        return share(self.cached_tokens, self.input_tokens)


def share(cached: int | None, sent: int | None) -> float | None:
    """``cached`` of ``sent`` as 0..1; ``None`` when one of them is not known, or nothing was sent."""
    if cached is None or not sent:
        return None
    return min(1.0, cached / sent)


class CacheUse(Struct, frozen=True, kw_only=True):
    """What the provider's cache did over some legs; the sums are those of the legs that reported them."""

    legs: int = 0
    usage: Usage = Usage()
    read_unknown: int = 0
    """Legs that did not report what was read from a cache."""
    write_unknown: int = 0
    sent_where_read_known: int = 0
    """Input tokens of the legs that reported what was read: what the share is a share of."""

    @property
    def share(self) -> float | None:
        """The cached part of what was sent, over the legs that reported it."""
        return share(self.usage.cached_tokens, self.sent_where_read_known)


def cache_use(measures: Iterable[Measure]) -> CacheUse:
    """The sum over legs."""
    legs = read_unknown = write_unknown = sent = 0
    usage = Usage()
    for measure in measures:
        legs += 1
        read_unknown += measure.cached_tokens is None
        write_unknown += measure.cache_write_tokens is None
        if measure.cached_tokens is not None and measure.input_tokens is not None:
            sent += measure.input_tokens
        usage = usage.plus(
            Usage(
                input_tokens=measure.input_tokens,
                output_tokens=measure.output_tokens,
                cached_tokens=measure.cached_tokens,
                cache_write_tokens=measure.cache_write_tokens,
            )
        )
    return CacheUse(
        legs=legs,
        usage=usage,
        read_unknown=read_unknown,
        write_unknown=write_unknown,
        sent_where_read_known=sent,
    )
