"""When the next prompt is said to pay for the whole prefix: only where that is likely, and something was cached."""

from __future__ import annotations

import pytest

from milk_tui.core.prefix_cache import Sent, cold, expires_in_ms, kept_ms

MINUTE = 60_000


def sent(**changed: object) -> Sent:
    kept = {
        "model": "anthropic/claude",
        "at_ms": 0,
        "tokens": 9_000,
        "estimated": False,
        "cached": True,
        "prefix": "who you are",
        "chars": 36_000,
        **changed,
    }
    return Sent(**kept)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("last", "model", "prefix", "minutes", "asked", "why"),
    [
        (sent(), "anthropic/claude", "who you are", 1, "5m", ""),
        (sent(), "anthropic/claude", "who you are", 5, "5m", "expired"),
        (sent(), "anthropic/claude", "who you are", 30, "1h", ""),
        (sent(), "anthropic/other", "who you are", 1, "5m", "model"),
        (sent(), "anthropic/claude", "who you were", 1, "5m", "prefix"),
        (sent(), "anthropic/claude", None, 1, "5m", ""),
        (sent(model="ollama_chat/qwen"), "ollama_chat/qwen", "who you are", 10_000, "5m", ""),
        (sent(model="openai/gpt"), "openai/gpt", "who you are", 11, "5m", "expired"),
        (sent(cached=False), "anthropic/claude", "who you were", 90, "5m", ""),
        (sent(tokens=200), "anthropic/other", "who you were", 90, "5m", ""),
        (None, "anthropic/claude", "who you are", 90, "5m", ""),
    ],
)
def test_a_prefix_is_cold_when_it_likely_is(
    last: Sent | None, model: str, prefix: str | None, minutes: int, asked: str, why: str
) -> None:
    found = cold(last, model=model, prefix=prefix, asked=asked, now_ms=minutes * MINUTE)
    assert (found.why if found else "") == why


@pytest.mark.parametrize(
    ("tokens", "chars", "said"),
    [
        (9_000, 36_000, (6_750, True)),
        (4_000, 16_000, None),
        (4_500, 18_000, None),
        (4_600, 18_400, (2_350, True)),
        (3_000, 36_000, (3_000, False)),
        (2_000, 36_000, None),
    ],
    ids=["a long thread", "a short one", "half", "more than half", "too little to be kept", "the first turns"],
)
def test_of_a_change_behind_the_beginning_what_follows_is_paid_and_said_when_it_is_the_most(
    tokens: int, chars: int, said: tuple[int, bool] | None
) -> None:
    static = "instructions ".ljust(9_000, "x")
    last = sent(tokens=tokens, chars=chars, prefix=f"{static}frame one")
    found = cold(last, model="anthropic/claude", prefix=f"{static}another", asked="5m", now_ms=0)
    assert (found and (found.tokens, found.estimated)) == said


def test_the_time_until_then_is_known_where_the_provider_s_time_is() -> None:
    assert expires_in_ms(sent(), model="anthropic/claude", asked="5m", now_ms=MINUTE) == 4 * MINUTE
    assert expires_in_ms(sent(), model="anthropic/claude", asked="5m", now_ms=6 * MINUTE) is None
    assert expires_in_ms(sent(model="ollama/x"), model="ollama/x", asked="5m", now_ms=0) is None
    assert kept_ms("gpt-without-provider", "5m") is None
