"""What a session used, turn by turn: the figures behind the statistics screen. Pure.

What nobody reported is ``None``, which is not 0 (``style.md``, "meters that lie").
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct

from milk_tui.core.records import LegStatus, Role, Usage
from milk_tui.core.token_sizes import share


class LegFigures(Struct, frozen=True, kw_only=True, gc=False):
    """What one leg took and reported."""

    leg_id: int
    turn_id: int
    role: Role
    agent: str
    model: str
    status: LegStatus
    seconds: float | None = None
    """From its begin to its end; ``None`` while it runs."""
    escalated: bool = False
    tools: int = 0
    sent: int | None = None
    """Input tokens, cached ones included."""
    written: int | None = None
    """Output tokens."""
    cached: int | None = None
    cost_usd: float | None = None

    @property
    def tokens(self) -> int | None:
        """Sent and written; ``None`` when neither was reported."""
        if self.sent is None and self.written is None:
            return None
        return (self.sent or 0) + (self.written or 0)


class RouteCount(Struct, frozen=True, kw_only=True):
    """How many turns a rule of routing sent to a role."""

    rule: str
    role: str
    turns: int


class FactCount(Struct, frozen=True, kw_only=True):
    """How many facts of the session somebody brought, by what became of them."""

    producer: str
    status: str
    facts: int


class Statistics(Struct, frozen=True, kw_only=True):
    """A session's figures; legs oldest first."""

    turns: int = 0
    """Prompts, those that were never answered too."""
    legs: tuple[LegFigures, ...] = ()
    routes: tuple[RouteCount, ...] = ()
    facts: tuple[FactCount, ...] = ()
    learned: tuple[tuple[int, int], ...] = ()
    """Turn and how many facts were learned in it, in the order of the turns."""


class AgentTotal(Struct, frozen=True, kw_only=True):
    """All legs of one agent in one role. ``unknown`` legs answered and did not say what they used or cost."""

    role: Role
    agent: str
    models: tuple[str, ...]
    legs: int
    answered: int
    usage: Usage
    cached_share: float | None
    tokens_unknown: int
    cost_unknown: int
    seconds: float


def totals(legs: Iterable[LegFigures]) -> list[AgentTotal]:
    """By agent and role, the one with the most legs first."""
    found: dict[tuple[Role, str], list[LegFigures]] = {}
    for leg in legs:
        found.setdefault((leg.role, leg.agent), []).append(leg)
    return sorted((_total(role, agent, own) for (role, agent), own in found.items()), key=lambda each: -each.legs)


def _total(role: Role, agent: str, legs: Sequence[LegFigures]) -> AgentTotal:
    usage = Usage()
    for leg in legs:
        usage = usage.plus(
            Usage(
                input_tokens=leg.sent,
                output_tokens=leg.written,
                cached_tokens=leg.cached,
                cost_usd=leg.cost_usd,
            )
        )
    answered = [leg for leg in legs if leg.status in (LegStatus.DONE, LegStatus.EMPTY)]
    return AgentTotal(
        role=role,
        agent=agent,
        models=tuple(dict.fromkeys(leg.model for leg in legs)),
        legs=len(legs),
        answered=len(answered),
        usage=usage,
        cached_share=cached_share(legs),
        tokens_unknown=sum(leg.tokens is None for leg in answered),
        cost_unknown=sum(leg.cost_usd is None for leg in answered),
        seconds=sum(leg.seconds or 0.0 for leg in legs),
    )


def cached_share(legs: Iterable[LegFigures]) -> float | None:
    """Which part of what was sent came from a cache, over the legs that reported both; ``None``: none did."""
    known = [leg for leg in legs if leg.cached is not None and leg.sent]
    return share(sum(leg.cached or 0 for leg in known), sum(leg.sent or 0 for leg in known)) if known else None


class Span(NamedTuple):
    """Neighbouring turns that share a column, and the value of each role over them.

    A role that did not work there is missing; ``None``: it worked and nobody reported the value.
    """

    first: int
    last: int
    values: Mapping[Role, float | None]
    turns: int


Value = Callable[[Sequence[LegFigures]], float | None]
"""The value of some legs of one role in one span."""


def spans(legs: Iterable[LegFigures], most: int, value: Value) -> list[Span]:
    """At most ``most`` columns over the turns that have legs, oldest first."""
    by_turn: dict[int, list[LegFigures]] = {}
    for leg in legs:
        by_turn.setdefault(leg.turn_id, []).append(leg)
    turns = sorted(by_turn)
    number = min(len(turns), max(1, most))
    made: list[Span] = []
    for at in range(number):
        own = turns[at * len(turns) // number : (at + 1) * len(turns) // number]
        by_role: dict[Role, list[LegFigures]] = {}
        for turn in own:
            for leg in by_turn[turn]:
                by_role.setdefault(leg.role, []).append(leg)
        made.append(Span(own[0], own[-1], {role: value(found) for role, found in by_role.items()}, len(own)))
    return made


def tokens_per_turn(legs: Sequence[LegFigures]) -> float | None:
    return _per_turn(legs, lambda leg: leg.tokens)


def cost_per_turn(legs: Sequence[LegFigures]) -> float | None:
    return _per_turn(legs, lambda leg: leg.cost_usd)


def _per_turn(legs: Sequence[LegFigures], of: Callable[[LegFigures], float | None]) -> float | None:
    """The mean over the turns for which it is known."""
    known: dict[int, float] = {}
    for leg in legs:
        if (number := of(leg)) is not None:
            known[leg.turn_id] = known.get(leg.turn_id, 0.0) + number
    return sum(known.values()) / len(known) if known else None
