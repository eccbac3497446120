"""Whether an escalation goes beyond what the person wants to spend (``semantics.md`` §8, the spend guard).

What is not known counts as not known, never as nothing: with a limit in money, answers whose cost nobody
reported are asked about too.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from milk_tui.core.permissions import Question

HOUR_MS = 3_600_000


class Limits(Struct, frozen=True, kw_only=True):
    """What the person set; ``None``: no limit."""

    max_usd: float | None = None
    max_escalations_per_hour: int | None = None

    @property
    def any(self) -> bool:
        return self.max_usd is not None or self.max_escalations_per_hour is not None


class Spent(Struct, frozen=True, kw_only=True):
    """What was spent so far."""

    usd: float = 0.0
    """The known part of the session's cost."""
    unknown: int = 0
    """Answers in the session whose cost nobody reported, of models that do not run on this machine."""
    escalations: int = 0
    """Escalations in the last hour, in every session."""


class Answer(StrEnum):
    ONCE = "once"
    SESSION = "session"
    PRIMARY = "primary"


def reached(limits: Limits, spent: Spent) -> str:
    """Which limit an escalation now would go beyond, in words; empty when none."""
    if limits.max_usd is not None:
        if spent.usd >= limits.max_usd:
            more = f" and {_answers(spent.unknown)} of unknown cost" if spent.unknown else ""
            return f"this session has cost ${spent.usd:.2f}{more}; the limit is ${limits.max_usd:.2f}"
        if spent.unknown:
            return (
                f"{_answers(spent.unknown)} of this session have no known cost (known: ${spent.usd:.2f}), so the limit"
                f" of ${limits.max_usd:.2f} can't be checked"
            )
    most = limits.max_escalations_per_hour
    if most is not None and spent.escalations >= most:
        return f"{spent.escalations} escalations in the last hour; the limit is {most}"
    return ""


def _answers(number: int) -> str:
    return "1 answer" if number == 1 else f"{number} answers"


def question(why: str, primary: str, escalation: str) -> Question:
    """What the person is asked; the choices are in the order of ``Answer``."""
    return Question(
        header="spending",
        text=f"Escalate to {escalation} nevertheless? {why[:1].upper()}{why[1:]}.",
        choices=(
            f"Once: {escalation} works on this turn",
            "Yes, and don't ask again in this session",
            f"No: {primary} works on it",
        ),
    )


def answered(said: str, asked: Question) -> Answer:
    """What an answer means; anything that is none of the first two is a no."""
    for choice, answer in zip(asked.choices, (Answer.ONCE, Answer.SESSION), strict=False):
        if said == choice:
            return answer
    return Answer.PRIMARY
