"""Cutting Markdown into closed blocks gives what parsing the whole text gives."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from milk_tui.ui.transcript.splitter import IN_LIST, MAX_BLOCK, Kind, Span, Splitter, parser, split_closed

FRAGMENTS = [
    "text", "a *b* `c`", "- a", "- ", "* b", "+ c", "1. x", "1", ". y", "2) z", "10. t", "  - nested", "   - three",
    "    code", "     deep", "\t tab", "> quote", "> - in quote", ">", "```", "```python", "~~~", "````", "   ```",
    "    ```", "# head", "## two ##", "===", "---", "***", "_ _ _", "| a | b |", "|---|---|", "| 1 | 2 |", "|", "|-",
    "<div>",
    "</div>", "<!-- c", "-->", "[r]: /url", "[r]: /u 'title", "'title'", "[r]", "[x][r]", "\\", "&amp;", "  ", "\n",
    "\n", "\n", "\n\n", " ",
]  # fmt: skip
documents = st.lists(st.sampled_from(FRAGMENTS), max_size=30).map("".join)


def flat(text: str, env: dict) -> list[tuple]:
    """The block tokens of a text; lists without what only says where they were cut."""
    tokens = []
    for token in parser(False).parse(text, env):
        if token.level == 0 and token.type.endswith(("list_open", "list_close")):
            continue
        tokens.append((token.type, token.level, token.content, token.info, len(token.markup)))
    return tokens


def numbers(text: str) -> list[tuple[bool, int, int]]:
    """For every item of a top-level list: ordered, the list's first number, the item's place."""
    found = []
    for token in parser(False).parse(text, {}):
        if token.level == 0 and token.type.endswith("list_open"):
            ordered = token.type == "ordered_list_open"
            first, place = int(token.attrs.get("start", 1)) if ordered else 1, 0
        elif token.level == 1 and token.type == "list_item_open":
            found.append((ordered, first, place))
            place += 1
    return found


def split(text: str, cuts: list[int]) -> Splitter:
    splitter = Splitter()
    for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
        splitter.feed(text[start:end])
        splitter.advance()
    splitter.advance(final=True)
    return splitter


def with_cuts(texts: st.SearchStrategy[str]) -> st.SearchStrategy[tuple[str, list[int]]]:
    return texts.flatmap(
        lambda text: st.tuples(
            st.just(text), st.lists(st.integers(0, len(text)), max_size=12).map(lambda cuts: sorted(cuts))
        )
    )


@settings(max_examples=1500, deadline=None)
@given(with_cuts(documents))
@example(("1. a\n\n1", [5])).via("the last line looks closed until the rest of it arrives")
def test_blocks_of_any_chunking_parse_to_the_tokens_of_the_whole(case):
    text, cuts = case
    whole_env: dict = {}
    whole = flat(text, whole_env)
    splitter = split(text, cuts)
    pieces: list[tuple] = []
    for span in splitter.spans:
        line_end = text[span.end : span.end + 1] == "\n"
        splitter.env[IN_LIST] = span.kind is Kind.ITEM and span.number > 0
        pieces += flat(text[span.start : span.end + line_end], splitter.env)
    assert pieces == whole
    assert {k: v["href"] for k, v in splitter.env.get("references", {}).items()} == {
        k: v["href"] for k, v in whole_env.get("references", {}).items()
    }


@settings(max_examples=500, deadline=None)
@given(with_cuts(documents))
def test_items_keep_their_numbers(case):
    text, cuts = case
    items = [s for s in split(text, cuts).spans if s.kind is Kind.ITEM]
    assert [(s.list.ordered, s.list.start, s.number) for s in items if s.list] == numbers(text)


@settings(max_examples=500, deadline=None)
@given(with_cuts(documents))
def test_any_chunking_gives_the_same_blocks(case):
    text, cuts = case
    plain = lambda spans: [(s.start, s.end, s.kind, s.number, s.list and s.list.loose) for s in spans]  # noqa: E731
    assert plain(split(text, cuts).spans) == plain(split(text, []).spans)


@settings(max_examples=500, deadline=None)
@given(documents, documents)
@example("\n", "[r]: /url\n").via("a definition is no block: blank lines before it are behind us all the same")
@example("# h\n \n", "[r]: /url\n").via("likewise behind a block")
def test_a_closed_block_never_changes(before, after):
    closed, tail = split_closed(before)
    spans, later = split_closed(before + after)
    assert tail <= later
    assert [(s.start, s.end, s.kind) for s in spans[: len(closed)]] == [(s.start, s.end, s.kind) for s in closed]


@settings(max_examples=300, deadline=None)
@given(documents)
@example("[r]: /url\n[r]: /other\n").via("a definition that is there twice")
def test_the_tail_is_shown_as_if_the_text_ended_there(text):
    splitter = Splitter()
    splitter.feed(text)
    splitter.advance()
    now = [(s.start, s.end, s.kind) for s in [*splitter.spans, *splitter.tail_spans()]]
    whole = [(s.start, s.end, s.kind) for s in split(text, []).spans]
    if splitter.in_fence:
        assert [n[0] for n in now] == [w[0] for w in whole]
    else:
        assert now == whole


def test_an_item_with_a_bar_stays_an_item_whatever_follows_it():
    text = "- a\n- # |\n--|\nb | c\n"
    assert [s.kind for s in split(text, list(range(len(text)))).spans] == [s.kind for s in split(text, []).spans]
    assert [s.kind for s in split(text, []).spans[:2]] == [Kind.ITEM, Kind.ITEM]


@pytest.mark.parametrize("first", ["# a | b", "```a | b", "~~~ |", "# |", "***|", "> a | b", "- a | b", "a | b"])
@pytest.mark.parametrize("second", ["|---|---|", "|-", "---|---", "text", "```"])
def test_a_line_with_a_bar_waits_for_the_next_which_may_make_it_the_head_of_a_table(first, second):
    text = f"{first}\n{second}\n| 1 | 2 |\n\nend\n"
    plain = lambda spans: [(s.start, s.end, s.kind) for s in spans]  # noqa: E731
    assert plain(split(text, list(range(len(text)))).spans) == plain(split(text, []).spans)


def test_an_open_fence_stays_open_until_its_own_marker_comes():
    splitter = Splitter()
    for line in ["~~~~py\n", "~~~\n", "```\n", "   ~~~~~\n"]:
        assert splitter.spans == []
        splitter.feed(line)
        splitter.advance()
    assert [s.kind for s in splitter.spans] == [Kind.FENCE]


def test_the_items_of_an_open_list_are_closed_one_by_one():
    spans, tail = split_closed("- a\n- b\n- c\n")
    assert [s.kind for s in spans] == [Kind.ITEM, Kind.ITEM]
    assert tail == 8


def test_a_blank_line_between_items_makes_the_whole_list_loose():
    splitter = Splitter()
    splitter.feed("- a\n- b\n")
    splitter.advance()
    assert splitter.spans[0].list is not None and not splitter.spans[0].list.loose
    splitter.feed("\n- c\n- d\n")
    splitter.advance()
    assert splitter.spans[0].list.loose


@pytest.mark.parametrize("unit", ["x", "word ", "a line\n", "> q\n", "漢"])
def test_a_block_that_never_ends_is_cut_and_loses_nothing(unit):
    text = unit * (200_000 // len(unit))
    splitter = Splitter()
    for start in range(0, len(text), 4_000):
        splitter.feed(text[start : start + 4_000])
        splitter.advance()
        assert len(text[splitter.tail : start + 4_000]) <= 2 * MAX_BLOCK
    splitter.advance(final=True)
    shown = "".join(text[s.start : s.end] for s in splitter.spans)
    assert shown.split() == text.split() or "".join(shown.split()) == "".join(text.split())


def test_a_limit_makes_steps_and_the_result_is_the_same():
    text = "para *one*\n\n- a\n- b\n\n```\ncode\n```\n\n" * 2_000
    whole, steps = Splitter(), Splitter()
    whole.feed(text)
    steps.feed(text)
    whole.advance(final=True)
    rounds = 1
    while not steps.advance(final=True, limit=8_000):
        rounds += 1
    assert rounds > 3
    assert [(s.start, s.end) for s in steps.spans] == [(s.start, s.end) for s in whole.spans]


def test_a_span_ends_before_its_line_end():
    spans, _ = split_closed("# a\n\nb\n\n")
    assert spans == [Span(0, 3, Kind.HEADING)] or [(s.start, s.end) for s in spans] == [(0, 3), (5, 6)]
