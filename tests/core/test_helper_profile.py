from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from milk_tui.core.helper_profile import Limits, ProfileError, parse, read
from milk_tui.engine.helper.profiles import BUILT_IN

TEXT = (BUILT_IN / "recall.md").read_text()


def line_of(part: str, text: str) -> int:
    return next(number for number, line in enumerate(text.split("\n"), start=1) if part in line)


def problems(text: str) -> list[tuple[int, str]]:
    found, wrong = read(text)
    assert found is None
    return [(p.line, p.what) for p in wrong]


@pytest.mark.parametrize("name", ["recall", "recall-after-tools"])
def test_the_built_in_profiles_are_valid(name):
    profile = parse((BUILT_IN / f"{name}.md").read_text())
    assert profile.id == name and profile.limits == Limits() and profile.authority == ("send-message",)


def test_every_declared_limit_is_read():
    text = TEXT
    for before, after in [
        ("timeout: 2m", "timeout: 90s"),
        ("max-hops: 1", "max-hops: 2"),
        ("max-depth: 1", "max-depth: 3"),
        ("max-input-bytes: 65536", "max-input-bytes: 2048"),
        ("max-output-bytes: 4096", "max-output-bytes: 512"),
        ("max-tokens: 2048", "max-tokens: 64"),
        ("max-retries: 0", "max-retries: 2"),
        ("max-concurrency: 1", "max-concurrency: 4"),
        ("locality: any", "locality: local-only"),
    ]:
        assert before in text
        text = text.replace(before, after)
    profile = parse(text)
    assert profile.local_only
    assert profile.limits == Limits(
        timeout_s=90, max_hops=2, max_depth=3, max_input_bytes=2048, max_output_bytes=512, max_tokens=64,
        max_retries=2, max_concurrency=4,
    )  # fmt: skip


def test_the_hash_is_that_of_the_whole_text():
    assert parse(TEXT).hash != parse(TEXT.replace("1.0.0", "1.0.1")).hash
    assert parse(TEXT).hash == parse(TEXT).hash


@pytest.mark.parametrize(
    ("before", "after", "part", "said"),
    [
        ("max-hops: 1", "max-hop: 1", "max-hop", "limits.max-hop is not known"),
        ("max-tokens: 2048", "max-tokens: many", "max-tokens", "limits.max-tokens must be a whole number"),
        ("max-tokens: 2048", "max-tokens: 999999", "max-tokens", "limits.max-tokens must be 16 to 16,384"),
        ("timeout: 2m", "timeout: 2 hours", "timeout: 2 h", "limits.timeout must be a duration"),
        ("required: true", "required: perhaps", "required", "context[0].required must be true or false"),
        ("event: session.turn-started", "event: session.opened", "event:", "trigger.event must be"),
        ("  - send-message", "  - write-memory", "write-memory", "authority-requests[0] must be send-message"),
        ("locality: any", "locality: nearby", "locality", "locality must be local-only or any"),
        ("format-version: 1", "format-version: 2", "format-version", "format-version must be 1"),
        ("id: recall", "id: Recall me", "id:", "id must look like"),
        ("role: follower", "role: follower\nrole: leader", "role: leader", "role is there twice"),
        ("kind: intervention", "kind: &a intervention", "&a", "anchors and aliases are not allowed"),
        ("limits:", "limits: [", "limits", "the header is no YAML"),
    ],
)
def test_a_mistake_is_named_with_its_line(before, after, part, said):
    text = TEXT.replace(before, after, 1)
    assert text != TEXT
    found = problems(text)
    assert any(said in what for _, what in found), found
    if "YAML" not in said:
        assert line_of(part, text) in [line for line, what in found if said in what]


def test_all_mistakes_are_told_at_once_in_the_order_of_the_lines():
    text = TEXT.replace("max-hops: 1", "max-hop: 1").replace("role: follower", "role: boss")
    lines = [line for line, _ in problems(text)]
    assert lines == sorted(lines) and len(lines) == 2
    with pytest.raises(ProfileError, match=r"mine.md:\d+: role must be follower; mine.md:\d+: limits.max-hop"):
        parse(text, "mine.md")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "the header is missing"),
        ("no header", "the header is missing"),
        ("---\nid: x\n", "has no end"),
        ("---\n---\nbody", "the header is empty"),
        ("---\n- a\n---\nbody", "must be keys with values"),
        (TEXT.split("---\n")[0] + "---\n" + TEXT.split("---\n")[1] + "---\n\n", "the instructions are missing"),
        (TEXT + "x" * 70_000, "more than 65,536 bytes"),
    ],
)
def test_what_is_no_profile_says_why(text, said):
    assert any(said in what for _, what in problems(text))


@given(st.text(max_size=400), st.integers(0, len(TEXT)))
def test_no_text_makes_reading_fail(junk, at):
    for text in (junk, "---\n" + junk + "\n---\nbody", TEXT[:at] + junk + TEXT[at:]):
        found, wrong = read(text)
        assert (found is None) == bool(wrong)
        assert all(p.line >= 1 for p in wrong)
