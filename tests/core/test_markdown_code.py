"""Where code is: the scanner and a CommonMark parser agree on well-formed documents."""

from __future__ import annotations

import re
from collections.abc import Iterable

from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from milk_tui.core.markdown_code import LEAD_CHARS, CodeScanner

MARK = "@"
"""In a document: a place that is asked about. The parser reads a word there, the scanner a candidate."""

_words = st.lists(
    st.sampled_from(["one", "two", MARK, "`a`", f"`{MARK}`", f"`` ` {MARK} ``", "x<y", "\\`", "2.", "*b*", "a_b"]),
    min_size=1,
    max_size=6,
).map(" ".join)
_text = st.lists(_words.map(lambda words: "w " + words), min_size=1, max_size=3).map("\n".join)
_code = st.lists(st.sampled_from(["x", f"y {MARK}", "", "~", "` z", "# c", "- d", "> e"]), max_size=4).map("\n".join)
_fence = st.tuples(st.sampled_from(["```", "````", "~~~", "~~~~~"]), st.sampled_from(["", "py", " rust x"]), _code).map(
    lambda parts: f"{parts[0]}{parts[1]}\n{parts[2]}\n{parts[0]}"
)
_heading = _words.map(lambda words: f"## h {words}")


def _in_item(marker: str, blocks: str) -> str:
    return marker + blocks.replace("\n", "\n" + " " * len(marker))


def _in_quote(blocks: str) -> str:
    return "> " + blocks.replace("\n", "\n> ")


_flow = st.recursive(
    _text | _fence | _heading,
    lambda inner: (
        st.tuples(st.sampled_from(["- ", "1. ", "10. ", "* ", "-   "]), st.lists(inner, min_size=1, max_size=3)).map(
            lambda parts: _in_item(parts[0], "\n\n".join(parts[1]))
        )
        | st.lists(inner, min_size=1, max_size=2).map(lambda blocks: _in_quote("\n\n".join(blocks)))
    ),
    max_leaves=6,
)
documents = st.lists(_flow, min_size=1, max_size=5).map("\n\n".join)


def numbered(document: str, mark: str) -> str:
    count = iter(range(len(document)))
    return re.sub(re.escape(MARK), lambda _: mark.format(next(count)), document)


def parsed_in_code(document: str) -> set[int]:
    tokens = MarkdownIt("commonmark").parse(numbered(document, "mark{}mark"))
    code = [token.content for token in _flat(tokens) if token.type in ("code_inline", "fence", "code_block")]
    return {int(number) for content in code for number in re.findall(r"mark(\d+)mark", content)}


def _flat(tokens: Iterable[Token]) -> Iterable[Token]:
    for token in tokens:
        yield token
        yield from _flat(token.children or [])


def scanned_in_code(document: str, size: int = 1_000_000) -> set[int]:
    text = numbered(document, "<m{}>")
    scanner = CodeScanner()
    outside: list[int] = []
    for start in range(0, len(text), size):
        piece = text[start : start + size]
        at = scanner.find(piece, 0)
        while at < len(piece):
            if number := re.compile(r"<m(\d+)>").match(text, start + at):
                outside.append(int(number[1]))
            at = scanner.find(piece, at + 1)
    return set(range(document.count(MARK))) - set(outside)


@settings(max_examples=1000, deadline=None)
@given(documents)
def test_the_scanner_and_a_parser_agree_on_well_formed_documents(document: str) -> None:
    assert scanned_in_code(document) == parsed_in_code(document)


@settings(max_examples=200, deadline=None)
@given(documents, st.integers(1, 9))
def test_pieces_change_nothing(document: str, size: int) -> None:
    assert scanned_in_code(document, size) == scanned_in_code(document)


def test_a_lead_longer_than_its_bound_is_text() -> None:
    for quotes, code in ((LEAD_CHARS, {0}), (LEAD_CHARS + 1, set())):
        quote = ">" * quotes
        assert scanned_in_code(f"{quote}~~~\n{quote}{MARK}\n{quote}~~~\n") == code


def test_a_document_of_every_construct_is_read_right() -> None:
    document = """\
# Title `a` @

1. First, `code @` and @:

   ```sh
   echo @

   # not a heading @
   ```

   then @.
2. Second
   - nested @
     ~~~~
     ~~~
     @
     ~~~~
     @

> quoted `@` @
> ```
> @
> ```

A ` lone tick hides @

but only there: @. ```` ``` @ ```` done @
"""
    assert scanned_in_code(document) == {1, 3, 4, 7, 9, 11, 12, 14}
