"""Markdown is drawn so that it fits, that nothing is lost, and that every character knows its place in the source."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.style import Style

from milk_tui.ui.transcript.compose import compose
from milk_tui.ui.transcript.growing import MarkdownText
from milk_tui.ui.transcript.markdown import Paper
from milk_tui.ui.transcript.palette import NAMES, Palette
from milk_tui.ui.transcript.parts import Markdown
from milk_tui.ui.transcript.render import LEAD, make_rows
from milk_tui.ui.transcript.rows import Row, cells
from tests.ui.transcript.test_splitter import FRAGMENTS

STYLES = {name: Style(meta={"name": name}) for name in NAMES}
PALETTE = Palette(STYLES)
MORE = ["**bold**", "*it", "_a_", "`co de`", "``x`y``", "[link](http://a.b/c \"t\")", "<http://auto.link>",
        "![alt](i.png)", "~~gone~~", "漢字", "⚠\ufe0f", "https://bare.example/x).", "[a", "](", "<br>", "<b>", "x" * 40,
        "a\tb"]  # fmt: skip
documents = st.lists(st.sampled_from([*FRAGMENTS, *MORE, " ", "\n"]), max_size=30).map("".join)


def drawn(source: str, width: int = 60) -> tuple[MarkdownText, list[tuple[int, Row]]]:
    """The rows of a whole text, each with the place where its block begins."""
    text = MarkdownText(source)
    text.advance(final=True)
    paper = Paper(PALETTE, width)
    paper.colours.refill()
    rows = []
    for block in compose([Markdown(source)], frozenset(), lambda: text):
        rows += [(block.start, row) for row in make_rows(paper, block)]
    return text, rows


def lines(source: str, width: int = 60) -> list[str]:
    return [row.text.removeprefix(LEAD).rstrip() for _, row in drawn(source, width)[1]]


@settings(max_examples=800, deadline=None)
@given(documents, st.integers(12, 90))
def test_what_is_drawn_is_what_the_source_says_at_its_place(source, width):
    _, rows = drawn(source, width)
    for start, row in rows:
        assert row.start <= row.end
        for text, _, x in row.pieces:
            word = text.strip()
            if x >= 0 and word and word != "&":
                at = start + x + text.index(word)
                assert source[at : at + len(word)].translate({9: " ", 10: " "}) == word


@settings(max_examples=500, deadline=None)
@given(documents, st.integers(12, 90))
def test_rows_fit_the_width(source, width):
    for _, row in drawn(source, width)[1]:
        assert cells(row.text) <= width + len(LEAD)
        assert row.text.isprintable() or not set(row.text) & set("\n\t\r\x1b")


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.sampled_from(["alpha", "beta *gamma*", "- delta", "> eps", "\n", "\n\n", "`zeta`", "# eta", "1. t"]),
        max_size=20,
    ).map("\n".join)
)
def test_no_word_is_lost(source):
    shown = " ".join(lines(source))
    for word in ("alpha", "beta", "gamma", "delta", "eps", "zeta", "eta"):
        assert shown.count(word) == source.count(word)


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("- a\n- b", [" • a", " • b"]),
        ("- a\n\n- b", [" • a", " • b"]),
        ("3. c\n3. d", [" 3. c", " 4. d"]),
        ("- a\n  - b\n    - c", [" • a", "    ◦ b", "       ▪ c"]),
        ("- [x] done\n- [ ] open", [" ☑ done", " ☐ open"]),
        ("> q\n> r", ["▎ q r"]),
        ("a  \nb", ["a", "b"]),
        ("a\nb", ["a b"]),
        ("---", ["─" * 60]),
        ("<b>x</b> <script>y</script>", ["<b>x</b> <script>y</script>"]),
        ("![a cat](cat.png)", ["[image: a cat]"]),
        ("[bold]not markup[/bold] :smile:", ["[bold]not markup[/bold] :smile:"]),
        ("```\ncode  here\n```", ["│ code  here"]),
        ("```python\nx\n```", ["│ python", "│ x"]),
        ("    indented\n\n    more", ["│ indented", "│", "│ more"]),
        ("a &amp; b \\*", ["a & b *"]),
        ("", [" "[:0]]),
    ],
)  # fmt: skip
def test_markdown_looks_like_this(source, shown):
    assert lines(source) == shown


def test_a_table_is_as_wide_as_its_cells():
    assert lines("| a | long head |\n|--:|:-:|\n| 1 | x |") == [
        "a │ long head",
        "──┼──────────",
        "1 │     x",
    ]


def test_a_table_that_is_too_wide_wraps_its_cells():
    shown = lines("| a | b |\n|---|---|\n| one two three four | five six seven eight nine |\n| x | y |", 24)
    assert all(len(line) <= 24 for line in shown)
    assert "┄" in "".join(shown)
    assert sum(line.count(word) for line in shown for word in ("one", "four", "five", "nine")) == 4


def test_a_long_table_is_drawn_in_slices_with_the_same_columns():
    rows = "\n".join(f"| {n} | {'word ' * (n % 7)} | `c{n}` |" for n in range(130))
    shown = lines(f"| n | words | code |\n|--:|---|---|\n{rows}")
    assert len(shown) == 132
    assert len({line.index("│") for line in shown if "│" in line}) == 1
    assert [int(line.split("│")[0]) for line in shown[2:]] == list(range(130))
    assert "┼" in shown[1] and not any("┼" in line for line in shown[2:])


def test_columns_that_find_no_room_are_marked():
    head = "|".join(["c"] * 30)
    shown = lines(f"|{head}|\n|{'|'.join(['---'] * 30)}|\n|{head}|", 40)
    assert shown[0].endswith("│ …")
    assert all(len(line) <= 40 for line in shown)


def test_a_long_line_of_code_wraps_with_a_mark():
    assert lines("```\n" + "x" * 70 + "\n```", 40) == ["│ " + "x" * 38, "│ ↪ " + "x" * 32]


def test_code_is_plain_first_and_has_its_colours_when_it_was_lexed():
    text = MarkdownText("```python\ndef f(): return 'x'\n```")
    text.advance(final=True)
    paper = Paper(PALETTE, 60)

    def names() -> dict[str, str]:
        row = make_rows(paper, text.blocks()[0])[1]
        return {t: s.meta.get("name", "") for t, s, x in row.pieces if x >= 0}

    assert set(names()) == {"def f(): return 'x'"}
    assert paper.colours.busy
    while paper.colours.busy:
        paper.colours.work()
    assert names()["def"] == "keyword"
    assert names()["f"] == "name"
    assert [name for t, name in names().items() if "x" in t] == ["string"]


def test_code_in_a_language_nobody_knows_stays_plain():
    text = MarkdownText("```nosuchlanguage\ndef f()\n```")
    text.advance(final=True)
    paper = Paper(PALETTE, 60)
    make_rows(paper, text.blocks()[0])
    while paper.colours.busy:
        paper.colours.work()
    assert make_rows(paper, text.blocks()[0])[1].text.strip() == "│ def f()"


def test_links_carry_their_address_and_only_it():
    style = next(s for _, row in drawn("[text](http://a.b/c) x")[1] for t, s, _ in row.pieces if t == "text")
    assert style.link == "http://a.b/c"
    after = next(s for _, row in drawn("[text](http://a.b/c) x")[1] for t, s, _ in row.pieces if t == " x")
    assert after.link is None


def test_a_bare_address_is_a_link_without_the_full_stop_behind_it():
    links = [s.link for _, row in drawn("see https://a.b/c. End")[1] for _, s, _ in row.pieces if s.link]
    assert links == ["https://a.b/c"]


@pytest.mark.parametrize("href", ["javascript:alert(1)", "vbscript:x", "data:text/html,x", "file:///etc/passwd"])
def test_addresses_that_could_run_something_are_no_links(href):
    assert not [s.link for _, row in drawn(f"[x]({href})")[1] for _, s, _ in row.pieces if s.link]


@pytest.mark.parametrize("tag", ["<milk:percept:abc123>a fact</milk:percept:abc123>", "<MILK:need:x>", "<milk:a>"])
def test_a_tag_that_was_not_captured_is_shown_as_it_is(tag):
    assert lines(f"see {tag} there") == [f"see {tag} there"]


def test_a_link_that_shows_another_address_says_where_it_leads():
    assert lines("[https://bank.com](https://evil.example/x)") == ["https://bank.com (evil.example)"]
    assert lines("[https://bank.com/a](https://bank.com/b)") == ["https://bank.com/a"]


@pytest.mark.parametrize(
    "source",
    ["&#x202e;x", "&#10;x", "&#9;x", "&#27;[31mx", "&#x9b;31mx", "<http://a.b/%E2%80%AEx>", "\\\tx", "&#x200b;x"],
)
def test_what_is_spelled_as_an_entity_does_no_harm_either(source):
    shown = "".join(lines(source))
    assert shown.endswith("x") or shown.endswith("x)")
    assert not set(shown) & set("\u202e\n\t\x1b\x9b\u200b")


def test_a_reference_defined_later_makes_the_link():
    text = MarkdownText("[x][r]\n\n")
    text.advance()
    text.feed("[r]: http://late.example\n\nend\n")
    text.advance(final=True)
    rows = make_rows(Paper(PALETTE, 40), text.blocks()[0])
    assert [s.link for row in rows for _, s, _ in row.pieces if s.link] == ["http://late.example"]


def test_looseness_of_a_list_is_one_for_all_its_items():
    text = MarkdownText("- a\n- b\n\n- c\n")
    text.advance(final=True)
    assert [b.gap for b in compose([Markdown("")], frozenset(), lambda: text)] == [1, 1, 1]


GIANTS = {
    "one line": "word " * 200_000,
    "one word": "x" * 1_000_000,
    "wide": "漢字" * 300_000,
    "fence": "```python\n" + "x = 1\n" * 100_000 + "```",
    "open fence": "```\n" + "y" * 1_000_000,
    "list": "- item\n" * 50_000,
    "table": "| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 30_000,
    "quote": "> line\n" * 50_000,
    "deep": "> " * 3_000 + "x",
    "brackets": "[" * 50_000,
    "stars": "*a_ " * 50_000,
}


@pytest.mark.parametrize("name", GIANTS)
def test_no_block_of_a_huge_text_is_more_than_a_bounded_step(name):
    source = GIANTS[name]
    text = MarkdownText(source)
    steps = 0
    while not text.advance(final=True, limit=8_000):
        steps += 1
    blocks = text.blocks()
    assert max(len(block.source) for block in blocks) <= 24_100
    assert max(block.source.count("\n") for block in blocks) <= 2_500
    for block in (blocks[0], blocks[len(blocks) // 2], blocks[-1]):
        assert make_rows(Paper(PALETTE, 80), block)
    covered = sum(len(block.source) for block in blocks)
    assert covered >= len(source.rstrip()) - len(blocks) - 20


def test_streaming_in_any_pieces_ends_like_the_whole():
    source = "# a\n\npara *x*\n- 1\n- 2\n\n```py\nx = 1\n\ny = 2\n```\n\n| a |\n|---|\n| b |\n\nend"
    for size in (1, 2, 3, 7, 50):
        text = MarkdownText()
        for start in range(0, len(source), size):
            text.feed(source[start : start + size])
            text.advance()
            assert text.blocks()
        text.advance(final=True)
        streamed = [r.text for b in text.blocks() for r in make_rows(Paper(PALETTE, 40), b)]
        whole = MarkdownText(source)
        whole.advance(final=True)
        assert streamed == [r.text for b in whole.blocks() for r in make_rows(Paper(PALETTE, 40), b)]


def test_full_slices_of_an_open_fence_stay_the_same_objects():
    text = MarkdownText("```py\n")
    text.advance()
    kept = None
    for _ in range(300):
        text.feed("line\n")
        text.advance()
        blocks = text.blocks()
        if kept is not None:
            assert blocks[0] is kept
        if len(blocks) > 1:
            kept = blocks[0]
    assert kept is not None
    text.feed("```\n")
    text.advance()
    assert text.blocks()[0] is kept


def test_very_many_small_blocks_look_the_same_in_batches():
    source = "\n\n".join(f"para {n}" for n in range(3_200)) + "\n\n" + "\n".join(f"{n}. item" for n in range(1, 201))
    text, rows = drawn(source)
    shown = [row.text.strip() for _, row in rows if row.text.strip()]
    assert shown == [*(f"para {n}" for n in range(3_200)), *(f"{n}. item" for n in range(1, 201))]
    blocks = compose([Markdown(source)], frozenset(), lambda: text)
    assert len(blocks) < 3_100
    assert sum(len(make_rows(Paper(PALETTE, 60), block)) + block.gap for block in blocks) == 3_200 * 2 + 200 + 1
