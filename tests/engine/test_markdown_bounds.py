"""What is written to be slow is shown as it was written, whole."""

from __future__ import annotations

import pytest

from milk_tui.engine.markdown_bounds import MOST_INLINE
from milk_tui.engine.session_html import _rendered
from milk_tui.ui.transcript.splitter import parser

SLOW = ("![", "[", "[a][", "_a*", "[[a]", "![[]()", "~~a", "`a")


@pytest.mark.parametrize("unit", SLOW)
def test_a_page_holds_all_of_it(unit: str) -> None:
    text = unit * (1_000_000 // len(unit))
    page = _rendered(text)
    assert page == f"<p>{text}</p>\n"


@pytest.mark.parametrize("unit", SLOW)
def test_the_conversation_has_it_line_by_line(unit: str) -> None:
    text = unit * 20_000
    (_, inline, _) = parser(True).parse(f"{text}\n{text}")
    assert [token.type for token in inline.children or []] == ["text", "softbreak", "text"]
    assert [token.content for token in inline.children or [] if token.content] == [text, text]


def test_what_is_not_as_long_is_read() -> None:
    text = f"**bold** {'word ' * (MOST_INLINE // 5 - 10)}"
    assert len(text) < MOST_INLINE
    assert _rendered(text).startswith("<p><strong>bold</strong> word")
    assert _rendered(f"# {text} {text}\n\n**bold** again").endswith("<p><strong>bold</strong> again</p>\n")
