"""Which agent a turn goes to, and why (``semantics.md`` §8).

``decide`` asks ``RULES`` in order; the first that answers wins. A rule is a function of the state alone, so
that what needs a model or a clock (weights, a classifier) is worked out before and given as state.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from milk_tui.core.cuts import plain
from milk_tui.core.errors import ConfigError
from milk_tui.core.records import Role, RouteDecision, ScorePart, Session
from milk_tui.core.routing_signals import Score, Signals, score
from milk_tui.core.text import one_line

REASON_CHARS = 280
SCANNED_CHARS = 20_000
"""Hard rules look at the beginning of a prompt only; the rest is pasted material, not a wish."""

ESCALATE_PHRASES = (
    "escalate this",
    "please escalate",
    "escalate to {escalation}",
    "ask {escalation}",
    "let {escalation} do",
    "hand this to {escalation}",
    "ask the escalation agent",
    "use the escalation agent",
    "ask the deep agent",
    "use the deep agent",
)
LOCAL_PHRASES = (
    "don't escalate",
    "do not escalate",
    "no escalation",
    "without escalating",
    "stay local",
    "keep it local",
    "keep this local",
    "ask {primary}",
    "let {primary} do",
    "don't ask {escalation}",
    "do not ask {escalation}",
    "without {escalation}",
)

_STICKY_RULES = ("hard", "self-escalation", "repeat", "signals", "classifier", "loop")
"""Escalations that the router or the primary made: only these stick."""
_EMPHASIS = " \t*_"
_QUESTION_MARKS = ("?", "？", "؟")


class Rule(Struct, frozen=True):
    """One phrase of a hard rule, as it is shown and as it is looked for."""

    phrase: str
    pattern: re.Pattern[str]


class HardRules(Struct, frozen=True, kw_only=True):
    """The compiled lists. ``local`` wins over ``escalate``: "do not escalate" speaks of escalating too."""

    escalate: tuple[Rule, ...] = ()
    local: tuple[Rule, ...] = ()


class Explicit(Struct, frozen=True, kw_only=True):
    """The person said for this turn who is to work on it; the reason is theirs and may be empty."""

    role: Role
    reason: str = ""


class RouteState(Struct, frozen=True, kw_only=True):
    """Everything that decides where a turn goes."""

    prompt: str
    primary: str
    """The primary's name."""
    escalation: str | None = None
    """The escalation agent's name; ``None`` when none is configured."""
    explicit: Explicit | None = None
    pinned: Role | None = None
    waiting: Role | None = None
    sticky: Role | None = None
    down: dict[Role, str] = field(default_factory=dict)
    """Agents that can't work, and why; an agent that still loads is not down."""
    rules: HardRules = field(default_factory=HardRules)
    repeated: bool = False
    """The person says again what the primary has just answered (``routing_repeat``)."""
    signals: Signals | None = None
    """The weighted lists; ``None`` when the person doesn't want them."""
    classified: Role | None = None
    """What the classifier said; ``None`` when it is off, was not needed, or gave no usable answer."""

    @property
    def score(self) -> Score:
        """What the prompt's signals add up to."""
        return score(self.prompt, self.signals) if self.signals is not None else Score()

    def name(self, role: Role) -> str:
        return self.primary if role is Role.PRIMARY else self.escalation or "the escalation agent"

    def missing(self, role: Role) -> str:
        """Why an agent can't work; empty when it can."""
        if role is Role.ESCALATION and self.escalation is None:
            return "no deeper agent is configured"
        return f"{self.name(role)} is down ({self.down[role]})" if role in self.down else ""

    @property
    def nobody(self) -> bool:
        """True when no agent can work: the prompt is kept and nothing is sent."""
        return bool(self.missing(Role.PRIMARY) and self.missing(Role.ESCALATION))


def hard_rules(
    primary: str,
    escalation: str | None,
    *,
    escalate: Sequence[str] = (),
    local: Sequence[str] = (),
    extend: bool = True,
) -> HardRules:
    """The rules from lists of phrases, added to the built-in ones or (``extend`` false) instead of them.

    A phrase is words, matched whole, case ignored, any white space between them; ``{primary}`` and
    ``{escalation}`` stand for the agents' names. ``/…/`` is a regular expression. Raises ConfigError for one
    that is none.
    """
    names = {"primary": primary, "escalation": escalation}
    return HardRules(
        escalate=_compiled((*(ESCALATE_PHRASES if extend else ()), *escalate), names),
        local=_compiled((*(LOCAL_PHRASES if extend else ()), *local), names),
    )


def _compiled(phrases: Iterable[str], names: dict[str, str | None]) -> tuple[Rule, ...]:
    rules: list[Rule] = []
    for phrase in phrases:
        if len(phrase) > 2 and phrase.startswith("/") and phrase.endswith("/"):
            rules.append(Rule(phrase, _regular_expression(phrase)))
            continue
        words = _filled(phrase, names)
        if words:
            pattern = r"\s+".join(re.escape(word).replace("'", "['’]") for word in words.split())
            rules.append(Rule(words, re.compile(rf"(?<!\w){pattern}(?!\w)", re.IGNORECASE)))
    return tuple(rules)


def _regular_expression(phrase: str) -> re.Pattern[str]:
    try:
        return re.compile(phrase[1:-1], re.IGNORECASE)
    except re.error as error:
        raise ConfigError(
            f"The routing rule {phrase} is no regular expression: {error}.", "Correct it under [routing]."
        ) from None


def _filled(phrase: str, names: dict[str, str | None]) -> str:
    """The phrase with the agents' names in it; empty when it speaks of an agent that there isn't."""
    for key, name in names.items():
        if f"{{{key}}}" in phrase:
            if not name:
                return ""
            phrase = phrase.replace(f"{{{key}}}", name)
    return phrase.strip()


_ASKED = "you asked for it, for this turn"


def decide(state: RouteState) -> RouteDecision:
    """Where the turn goes. An agent that can't work is replaced by the other one, visibly."""
    found = next((decision for rule in RULES if (decision := rule(state))), None)
    return _fallen_back(state, found or _primary(state))


def _explicit(state: RouteState) -> RouteDecision | None:
    if state.explicit is None:
        return None
    return asked(state.explicit)


def asked(explicit: Explicit) -> RouteDecision:
    """What the person said about one turn; kept with it while it waits."""
    reason = one_line(plain(explicit.reason), REASON_CHARS) or _ASKED
    return RouteDecision(role=explicit.role, rule="explicit", reason=reason, one_turn=True)


def asked_before(route: RouteDecision | None) -> Explicit | None:
    """What the person had said about a turn that waited; ``None`` when they left it to the rules."""
    if route is None or route.rule != "explicit":
        return None
    return Explicit(role=route.role, reason="" if route.reason == _ASKED else route.reason)


def _pin(state: RouteState) -> RouteDecision | None:
    if state.pinned is None:
        return None
    return RouteDecision(role=state.pinned, rule="pin", reason=f"you pinned {state.name(state.pinned)}")


def _waiting(state: RouteState) -> RouteDecision | None:
    if state.waiting is None:
        return None
    reason = f"{state.name(state.waiting)} asked and waits for your answer"
    return RouteDecision(role=state.waiting, rule="waiting", reason=reason)


def _sticky(state: RouteState) -> RouteDecision | None:
    if state.sticky is None:
        return None
    reason = f"{state.name(state.sticky)} keeps the session until you hand back"
    return RouteDecision(role=state.sticky, rule="sticky", reason=reason)


def _hard(state: RouteState) -> RouteDecision | None:
    prompt = state.prompt[:SCANNED_CHARS]
    for role, rules in ((Role.PRIMARY, state.rules.local), (Role.ESCALATION, state.rules.escalate)):
        for rule in rules:
            if found := rule.pattern.search(prompt):
                said = one_line(found.group(), 60)
                part = ScorePart(rule.phrase, 1.0, said)
                return RouteDecision(role=role, rule="hard", reason=f"the prompt says “{said}”", parts=(part,))
    return None


def _repeated(state: RouteState) -> RouteDecision | None:
    if not state.repeated or state.escalation is None:
        return None
    reason = f"you ask again what {state.primary} has just answered"
    return RouteDecision(role=Role.ESCALATION, rule="repeat", reason=reason)


def _signals(state: RouteState) -> RouteDecision | None:
    """Enough on one side. Without an escalation agent there is nothing to decide."""
    if state.signals is None or state.escalation is None:
        return None
    found, threshold = state.score, state.signals.threshold
    if abs(found.total) < threshold or not found.parts:
        return None
    role = Role.ESCALATION if found.total > 0 else Role.PRIMARY
    reason = f"its signals add up to {signed(found.total)} (from {signed(threshold)} on it is escalated)"
    return RouteDecision(role=role, rule="signals", reason=reason, parts=found.parts)


def _classifier(state: RouteState) -> RouteDecision | None:
    if state.classified is None or state.escalation is None:
        return None
    word = "escalate" if state.classified is Role.ESCALATION else "local"
    reason = f"{state.primary}, asked where it belongs, says: {word}"
    return RouteDecision(role=state.classified, rule="classifier", reason=reason, parts=state.score.parts)


def _primary(state: RouteState) -> RouteDecision:
    parts = state.score.parts if state.escalation is not None else ()
    reason = "not enough speaks for an escalation" if parts else "nothing speaks for an escalation"
    return RouteDecision(role=Role.PRIMARY, rule="primary", reason=reason, parts=parts)


def signed(value: float) -> str:
    """``+3``, ``−1.5``, ``0``."""
    return f"{value:+g}".replace("-", "−") if value else "0"


def wants_classifier(state: RouteState) -> bool:
    """True when no rule before the classifier says where the turn goes, and it would make a difference."""
    if state.missing(Role.ESCALATION) or state.missing(Role.PRIMARY):
        return False
    return next((d for rule in RULES if (d := rule(state))), None) is None


RULES: tuple[Callable[[RouteState], RouteDecision | None], ...] = (
    _explicit,
    _pin,
    _waiting,
    _sticky,
    _hard,
    _repeated,
    _signals,
    _classifier,
)
"""In this order. None answers: the primary."""


def _fallen_back(state: RouteState, decision: RouteDecision) -> RouteDecision:
    missing = state.missing(decision.role)
    if not missing:
        return decision
    other = decision.role.other
    if not state.missing(other):
        reason = f"{missing}: {state.name(other)} answers instead"
        return replace(decision, role=other, rule="fall-back", reason=reason, one_turn=True)
    if state.escalation is None:
        role, reason = Role.PRIMARY, f"{state.missing(Role.PRIMARY)} and there is no other agent"
    else:
        role, reason = decision.role, f"{missing}, and {state.missing(other)}"
    return replace(decision, role=role, rule="fall-back", reason=f"{reason}: the prompt is kept", one_turn=True)


def self_escalation(
    state: RouteState, by: Role, reason: str, via: str, *, escalated_already: bool = False
) -> RouteDecision | None:
    """The decision for a second leg of the turn, when the agent ``by`` asked for it (``via``: tool or tag).

    ``None`` when it means nothing: only the primary escalates, and once a turn. When the escalation agent
    can't work the turn stays where it is, with a reason to show (rule ``fall-back``).
    """
    if by is not Role.PRIMARY or escalated_already:
        return None
    missing = state.missing(Role.ESCALATION)
    if missing:
        reason = f"{state.primary} wanted to escalate, but {missing}"
        return RouteDecision(role=Role.PRIMARY, rule="fall-back", reason=reason, one_turn=True)
    said = one_line(plain(reason), REASON_CHARS) or f"{state.primary} gave no reason"
    part = ScorePart("self-escalation", 1.0, f"by {via}")
    return RouteDecision(role=Role.ESCALATION, rule="self-escalation", reason=said, parts=(part,))


def fall_back(state: RouteState, failed: Role, why: str) -> RouteDecision | None:
    """The other agent's turn after ``failed`` broke down before it said anything; ``None`` when it can't
    either.
    """
    other = failed.other
    if state.missing(other):
        return None
    reason = f"{state.name(failed)} failed ({one_line(plain(why), 120)}): {state.name(other)} answers instead"
    return RouteDecision(role=other, rule="fall-back", reason=reason, one_turn=True)


def waiting_after(answer: str) -> bool:
    """True when the last line with something on it ends in a question mark; emphasis around it doesn't
    count.
    """
    for line in reversed(answer.splitlines()):
        if line.strip():
            return line.rstrip(_EMPHASIS).endswith(_QUESTION_MARKS)
    return False


def after_answer(session: Session, decision: RouteDecision, role: Role, answer: str) -> Session:
    """The session after an answered leg of ``role``: who waits, who keeps it.

    An escalation that ends in a question waits, a one-turn one too. It keeps the session only when the
    router or the primary made it. A primary's leg changes neither.
    """
    if role is Role.PRIMARY:
        return session
    sticks = decision.rule in _STICKY_RULES and not decision.one_turn
    return replace(
        session,
        waiting=Role.ESCALATION if waiting_after(answer) else None,
        sticky=Role.ESCALATION if sticks else session.sticky,
    )


def handed_back(session: Session) -> Session:
    """The session after the person handed back: nobody waits, nothing sticks, no pin on the escalation
    agent.
    """
    pinned = None if session.pinned_agent is Role.ESCALATION else session.pinned_agent
    return replace(session, waiting=None, sticky=None, pinned_agent=pinned)
