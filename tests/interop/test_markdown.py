"""Facts as Markdown and back: nothing in a fact is markup, nothing of the markup is in a fact."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from milk_tui.core.percepts import normalise
from milk_tui.interop.markdown import escaped, plain

marks = st.text(alphabet=st.sampled_from("ab1 `*_~[]()<>\\#-.!&;/|:=\"'→"), max_size=40)


@settings(max_examples=500)
@given(st.one_of(marks, st.text(max_size=60)))
def test_what_is_written_is_read_again(text: str) -> None:
    text = normalise(text).replace("\ue000", "")
    assert plain(escaped(text)) == text


@given(st.one_of(marks, st.text(max_size=60)))
def test_any_line_can_be_read(line: str) -> None:
    assert isinstance(plain(line), str)


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("**Run** `pytest -q` before *every* push", "Run `pytest -q` before every push"),
        ("**Run `a` now** and *see `b`*", "Run `a` now and see `b`"),
        ("[Docs](docs/a.md) — see [site](https://x.y/z)", "Docs — see site (https://x.y/z)"),
        ("![logo](logo.png) here", "logo here"),
        ("see <https://a.b/c>", "see https://a.b/c"),
        ("Use **kwargs and *args", "Use **kwargs and *args"),
        ("a * b * c", "a * b * c"),
        ("snake_case_name and _this_", "snake_case_name and this"),
        ("~~old~~ new", "old new"),
        ("<!-- hidden --> shown", " shown"),
        ("`a*b*` \\*x\\*", "`a*b*` *x*"),
        ("a &amp; b&nbsp;c", "a & b c"),
        ("one<br>two", "one two"),
    ],
)
def test_what_people_write_is_read_as_it_is_shown(line: str, text: str) -> None:
    assert plain(line) == text


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("# no heading", "\\# no heading"),
        ("1. no list", "1\\. no list"),
        ("- no list", "\\- no list"),
        ("<script>alert(1)</script>", "\\<script\\>alert(1)\\</script\\>"),
        ("keep `a*b` and snake_case", "keep `a*b` and snake_case"),
        ("[x](javascript:alert(1))", "\\[x\\](javascript:alert(1))"),
    ],
)
def test_a_fact_is_never_markup(text: str, line: str) -> None:
    assert escaped(text) == line
