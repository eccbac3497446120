"""Rows fit the width in cells, lose nothing, and know which characters of the source they show."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from rich.style import Style

from milk_tui.ui.transcript.rows import Row, cells, clip, visible, wrap
from milk_tui.ui.transcript.table import fit

PLAIN = Style()
MARK = Style(reverse=True)
text = st.text(alphabet=st.sampled_from("ab c-/漢字、。「」é\u0301👍🏽⚠\ufe0f👨\u200d👩한\t"), max_size=120)


@settings(max_examples=500, deadline=None)
@given(text, st.integers(2, 30), st.integers(0, 5))
def test_wrapping_keeps_every_character_but_spaces_at_breaks(source, width, split):
    pieces = [p for p in (*visible(source[:split], PLAIN, 0), *visible(source[split:], Style(bold=True), split)) if p]
    made = wrap(pieces, width)
    assert all(sum(cells(t) for t, _, _ in row) <= width or not "".join(t for t, _, _ in row).strip() for row in made)
    shown = "".join(t for row in made for t, _, x in row if x >= 0)
    kept = [c for c in source if c not in "\u200d\ufe0f"]
    assert [c for c in shown if c != " "] == [c for c in kept if c not in " \t"]


@settings(max_examples=500, deadline=None)
@given(text, st.integers(2, 30))
def test_every_drawn_character_knows_its_place(source, width):
    for row in wrap(visible(source, PLAIN, 0), width):
        for drawn, _, x in row:
            if x >= 0 and drawn != " ":
                assert source[x : x + len(drawn)] == drawn


@settings(max_examples=300, deadline=None)
@given(text, st.integers(1, 30))
def test_clipping_fits_and_marks(source, width):
    line = visible(source, PLAIN, 0)
    made = clip(line, width)
    assert sum(cells(t) for t, _, _ in made) <= max(width, 1)
    if sum(cells(t) for t, _, _ in line) > width:
        assert made[-1][0].endswith("…")


def test_words_stay_whole_where_they_fit():
    rows = wrap(visible("the quick brown fox", PLAIN, 0), 10)
    assert ["".join(t for t, _, _ in row) for row in rows] == ["the quick", "brown fox"]


def test_closing_marks_do_not_begin_a_row():
    rows = wrap(visible("漢字漢字。漢字", PLAIN, 0), 8)
    assert ["".join(t for t, _, _ in row) for row in rows] == ["漢字漢", "字。漢字"]


def test_tabs_go_to_the_next_stop():
    assert "".join(t for t, _, _ in visible("a\tb", PLAIN, 0)) == "a   b"


def test_what_terminals_measure_differently_is_not_drawn():
    assert "".join(t for t, _, _ in visible("⚠\ufe0f 👨\u200d👩", PLAIN, 0)) == "⚠ 👨👩"


@settings(max_examples=300, deadline=None)
@given(text, st.integers(0, 60), st.integers(0, 60))
def test_a_selection_marks_whole_characters(source, first, last):
    first, last = sorted((first, last))
    pieces = visible(source, PLAIN, 0)
    row = Row(pieces, PLAIN, 0, len(source))
    strip = row.selected(200, (first, last), MARK)
    assert strip.cell_length == 200
    marked = "".join(s.text for s in strip if s.style and s.style.reverse)
    shown = "".join(t[max(first - x, 0) : max(last - x, 0)] for t, _, x in pieces if x >= 0)
    assert marked == shown


@settings(max_examples=300, deadline=None)
@given(text)
def test_the_mouse_finds_the_character_under_every_cell(source):
    row = Row([("  ", PLAIN, -1), *visible(source, PLAIN, 0)], PLAIN, 0, len(source))
    found = []
    for segment in row.aimed(200, 7):
        x, key = segment.style.meta["offset"]
        assert key == 7
        found += range(x, x + len(segment.text))[: segment.cell_length]
        if len(segment.text) == 1:
            found[-1] = x
    assert len(found) == 200
    cell = 2
    for drawn, _, x in visible(source, PLAIN, 0):
        for at, character in enumerate(drawn, x):
            for _ in range(cells(character)):
                assert x < 0 or found[cell] == at
                cell += 1


@given(st.lists(st.integers(1, 60), min_size=1, max_size=8), st.integers(1, 120))
def test_columns_fit_where_they_can(wanted, room):
    widths = fit(wanted, room)
    assert all(1 <= w <= max(n, 1) for w, n in zip(widths, wanted, strict=True))
    if room >= len(wanted):
        assert sum(widths) <= room
    if sum(wanted) <= room:
        assert widths == wanted
