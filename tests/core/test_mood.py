"""What is stated, and what is only asked, planned, supposed, quoted or told of the past."""

from __future__ import annotations

import pytest

from milk_tui.core.mood import Mood
from milk_tui.core.polarity import denials
from milk_tui.core.statements import parse

MOODS = [
    ("We use Postgres.", Mood.STATED),
    ("Never write to the archive bucket.", Mood.STATED),
    ("If the queue is full, retry three times.", Mood.STATED),
    ("The user said that they prefer tabs.", Mood.STATED),
    ("We chose ScyllaDB for orders.", Mood.STATED),
    ("Should we move to Postgres 17?", Mood.ASKED),
    ("It is an open question whether the timeout should be 60 s.", Mood.ASKED),
    ("¿Usamos Postgres?", Mood.ASKED),
    ("If we moved to GraphQL, caching would be harder.", Mood.SUPPOSED),
    ("We plan to move the portal in autumn.", Mood.SUPPOSED),
    ("The portal will be moved to Stockholm.", Mood.SUPPOSED),
    ("Mona suggested moving to ScyllaDB.", Mood.SUPPOSED),
    ("I think the limit is 60.", Mood.TENTATIVE),
    ("The limit is probably 60.", Mood.TENTATIVE),
    ("Vielleicht ist das Limit 60.", Mood.TENTATIVE),
    ('The manual of the vendor says "the arm stops above 40 N".', Mood.QUOTED),
    ("According to the blog post the limit is 60.", Mood.QUOTED),
    ("The timeout used to be 10 s.", Mood.PAST),
    ("Until last spring search was served by Algolia.", Mood.PAST),
    ("Originally the site was hosted in the office.", Mood.PAST),
    ("We deployed version 4.1 on 3 May.", Mood.HAPPENED),
    ("The incident lasted 20 minutes.", Mood.HAPPENED),
    ("The timeout used to be 10 s, it was raised to 30 s.", Mood.STATED),
]


@pytest.mark.parametrize(("text", "mood"), MOODS)
def test_a_text_has_a_mood(text, mood):
    assert parse(text).mood is mood


@pytest.mark.parametrize(
    "text",
    [
        "Do not use the cache.",
        "Don't use the cache.",
        "The cache is never used.",
        "We can't use the cache.",
        "Der Cache wird nicht benutzt.",
        "Le cache n'est pas utilisé.",
        "El caché no se usa.",
        "Кэш не используется.",
        "The cache is no longer used.",
        "Le cache n'est plus utilisé.",
        "缓存不再使用。",
    ],
)
def test_a_denial_is_seen(text):
    assert parse(text).denies


@pytest.mark.parametrize(
    "text",
    [
        "Use the cache.",
        "Not only the cache is used.",
        "It is done no later than Friday.",
        "The cache is on R2 now, not on S3.",
        "Use the cache because it is not slow.",
    ],
)
def test_an_affirmation_is_not_taken_for_a_denial(text):
    assert not parse(text).denies


def test_two_denials_are_none():
    assert denials("never without a review") == 2
    assert not parse("Never merge without a review.").denies


def test_opposites_are_one_word_with_two_signs():
    assert parse("The cache is enabled.").signs == {"enable": False}
    assert parse("The cache is disabled.").signs == {"enable": True}
    assert parse("The lamp is off by default.").signs == {"enable": True}
    assert parse("It takes off at nine.").signs == {}
