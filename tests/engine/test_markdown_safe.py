"""Somebody's Markdown inside ours: what is in code stays, and no text makes it slow."""

from __future__ import annotations

import pytest

from milk_tui.engine.markdown_safe import harmless


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("<b>", r"\<b>"),
        ("`<b>`", "`<b>`"),
        ("`<b>", r"`\<b>"),
        ("``<b>` <i>`` <u>", r"``<b>` <i>`` \<u>"),
        ("`<b>`` <i>", r"`\<b>`` \<i>"),
        ("`` <b> ` <i> ` <u> ``", "`` <b> ` <i> ` <u> ``"),
        ("`<a>` <b> `<c>`", r"`<a>` \<b> `<c>`"),
        ("```` <a> ``` <b>", r"```` \<a> ``` \<b>"),
    ],
)
def test_code_in_a_line_ends_at_the_next_run_of_as_many_backticks(text: str, safe: str) -> None:
    assert harmless(text) == safe


@pytest.mark.parametrize(
    "text",
    ["a" + "`" * 300_000, "a" + "` " * 100_000, "a" + "".join("`" * (n % 300 + 1) + "x" for n in range(3_000))],
    ids=["one run", "many", "of many lengths"],
)
def test_backticks_take_time_by_their_number_and_no_more(text: str) -> None:
    """(A pattern that looked for the closing run needed the square of it: minutes.)"""
    assert harmless(text) == text
