"""What a sentence is about, what it says, and under which condition."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from milk_tui.core.sentence_parts import root
from milk_tui.core.statements import Zone, parse


def words_of(text: str, zone: Zone) -> list[str]:
    return [token.text for token in parse(text).tokens if token.zone is zone and not token.soft]


@pytest.mark.parametrize(
    ("text", "subject", "said", "condition"),
    [
        ("The request timeout is 30 s.", ["request", "timeout"], ["30 s"], []),
        ("The gateway times out after 30 s.", ["gateway", "timeout"], ["30 s"], []),
        ("Backups of the ledger run at 01:00.", ["Backups", "ledger"], ["01:00"], []),
        ("Use tabs in Go files.", [], ["tabs"], ["Go", "files"]),
        ("In staging the port is 8080.", ["port"], ["8080"], ["staging"]),
        ("timeout: 30 s", ["timeout"], ["30 s"], []),
        ("MAX_RETRIES = 4", ["MAX_RETRIES"], ["4"], []),
        ("We use Postgres because it is fast.", [], ["Postgres"], []),
    ],
)
def test_a_sentence_has_parts(text, subject, said, condition):
    assert words_of(text, Zone.SUBJECT) == subject
    assert words_of(text, Zone.OBJECT) == said
    assert words_of(text, Zone.CONDITION) == condition


def test_what_a_cue_names_as_the_old_is_apart():
    text = "We migrated the ledger from Postgres to ScyllaDB."
    assert words_of(text, Zone.OLD) == ["Postgres"]
    assert words_of(text, Zone.CONDITION) == ["ledger"]
    assert words_of(text, Zone.OBJECT) == ["ScyllaDB"]


def test_a_clause_that_only_dismisses_is_passed_over():
    assert words_of("We left Crowdin; translations live in Tolgee.", Zone.SUBJECT) == ["translations"]


@pytest.mark.parametrize(
    ("one", "other"), [("rotated", "rotation"), ("expires", "expiry"), ("writes", "writable"), ("limited", "limits")]
)
def test_words_of_one_family_have_one_root(one, other):
    assert root(one)[:4] == root(other)[:4]


def test_words_that_only_begin_alike_have_two():
    assert root("port") != root("portal")
    assert root("station") != root("statement")


@given(st.text(max_size=300))
def test_any_text_can_be_parsed(text):
    statement = parse(text)
    starts = [token.start for token in statement.tokens]
    assert starts == sorted(starts)
