"""Tokens as reported, or unknown."""

from __future__ import annotations

from types import SimpleNamespace

from milk_tui.core.records import Usage
from milk_tui.modelhost.usage import usage_of, was_reported


def test_what_was_not_reported_is_unknown_not_nothing() -> None:
    assert usage_of(None) == Usage()
    assert usage_of(SimpleNamespace(prompt_tokens=0, completion_tokens=0)) == Usage()
    reported = usage_of(SimpleNamespace(prompt_tokens=12, completion_tokens=0))
    assert reported == Usage(input_tokens=12, output_tokens=0)


def test_cache_and_reasoning_tokens_are_read_where_they_are() -> None:
    reported = SimpleNamespace(
        prompt_tokens=100,
        completion_tokens=20,
        prompt_tokens_details=SimpleNamespace(cached_tokens=64, cache_write_tokens=None),
        completion_tokens_details=SimpleNamespace(reasoning_tokens=5),
        cache_creation_input_tokens=32,
    )
    assert usage_of(reported) == Usage(
        input_tokens=100, output_tokens=20, cached_tokens=64, cache_write_tokens=32, reasoning_tokens=5
    )


def test_a_count_that_the_library_made_up_is_not_a_report() -> None:
    chunk = SimpleNamespace
    assert not was_reported(chunk(chunks=[chunk(), chunk(usage=None)]))
    assert was_reported(chunk(chunks=[chunk(), chunk(usage=object())]))
