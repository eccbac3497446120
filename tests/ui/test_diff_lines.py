"""Comparing two texts: what is shown adds up to both of them, and its cost is bounded."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from milk_tui.ui import diff_lines
from milk_tui.ui.diff_lines import Change, compare

TEXTS = st.lists(st.sampled_from(["", "a", "b b", "use a queue", "use a lock", "\x1b[31m", "漢字"])).map("\n".join)


def changes(old: str, new: str) -> list[str]:
    return [str(pair.change) for pair in compare(old, new).pairs]


def test_equal_texts_have_no_difference() -> None:
    found = compare("a\nb", "a\nb")
    assert not found.changed and [pair.change for pair in found.pairs] == [Change.SAME] * 2
    assert compare("", "").pairs == ()


def test_lines_are_added_removed_and_changed() -> None:
    assert changes("a\nb\nc", "a\nx\nc") == ["same", "removed", "added", "same"]
    assert changes("a\nc", "a\nb\nc") == ["same", "added", "same"]
    assert changes("a\nb\nc", "a\nc") == ["same", "removed", "same"]
    assert changes("", "new") == ["added"]


def test_in_a_changed_line_the_words_that_differ_are_known() -> None:
    (pair,) = compare("the need is to ship it", "the need was to ship it soon").pairs
    assert pair.change is Change.CHANGED
    assert [pair.old.text[a:b] for a, b in pair.old.spans] == ["is"]
    assert [pair.new.text[a:b] for a, b in pair.new.spans] == ["was", " soon"]


@given(TEXTS, TEXTS)
def test_what_is_shown_is_both_texts_whole_and_in_order(old: str, new: str) -> None:
    found = compare(old, new)
    before = [pair.old for pair in found.pairs if pair.old is not None]
    after = [pair.new for pair in found.pairs if pair.new is not None]
    assert "\n".join(side.text for side in before) == old
    assert "\n".join(side.text for side in after) == new
    assert [side.number for side in before] == list(range(1, len(before) + 1))
    assert [side.number for side in after] == list(range(1, len(after) + 1))
    assert found.changed == (old != new)


def test_what_is_beyond_the_bound_is_said_to_be_left_out() -> None:
    long = "\n".join(map(str, range(diff_lines.MOST_LINES + 5)))
    found = compare(long, long + "\nend")
    assert len(found.pairs) == diff_lines.MOST_LINES
    assert found.left_out == 5 + 6 and found.changed


def test_one_endless_line_is_compared_as_a_whole() -> None:
    (removed, added) = compare("x" * 1_000_000, "y" * 1_000_000).pairs
    assert (removed.change, added.change) == (Change.REMOVED, Change.ADDED)
    assert len(added.new.text) == diff_lines.MOST_CHARS


def test_a_difference_at_the_end_of_an_endless_line_is_not_hidden() -> None:
    long = "x" * 100_000
    assert compare(long, long + "y").changed
    assert not compare(long, long).changed


def test_thousands_of_like_lines_are_compared() -> None:
    found = compare("\n".join(["same"] * 3_000), "\n".join(["same", "other"] * 1_500))
    assert found.changed and found.added >= 1_500
