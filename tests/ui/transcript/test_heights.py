"""The list of entries finds rows and entries as a plain list of heights would."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from milk_tui.ui.transcript.heights import Heights
from milk_tui.ui.transcript.model import Entries, estimate
from milk_tui.ui.transcript.parts import Entry, EntryKind

rows = st.integers(1, 40)


@settings(max_examples=200, deadline=None)
@given(st.lists(rows, min_size=1, max_size=600), st.data())
def test_every_row_belongs_to_the_item_that_covers_it(heights, data):
    made = Heights(heights)
    row = data.draw(st.integers(0, sum(heights) - 1))
    index, inside = made.locate(row)
    assert made.top(index) + inside == row
    assert 0 <= inside < heights[index]


@settings(max_examples=200, deadline=None)
@given(
    st.lists(rows, max_size=300),
    st.lists(st.tuples(st.sampled_from(["set", "append", "insert", "delete"]), st.integers(0, 400), rows), max_size=40),
)
def test_changes_keep_the_sums(heights, changes):
    plain, made = list(heights), Heights(heights)
    for what, index, value in changes:
        if what == "append":
            plain.append(value)
            made.append(value)
        elif what == "insert":
            index %= len(plain) + 1
            plain.insert(index, value)
            made.insert(index, value)
        elif plain and what == "set":
            plain[index % len(plain)] = value
            made[index % len(plain)] = value
        elif plain:
            del plain[index % len(plain)]
            made.delete(index % (len(plain) + 1))
    assert made.total == sum(plain)
    assert [made.top(i) for i in range(len(plain) + 1)] == [sum(plain[:i]) for i in range(len(plain) + 1)]


def test_rows_outside_belong_to_the_nearest_item():
    made = Heights([3, 2])
    assert made.locate(-5) == (0, 0)
    assert made.locate(99) == (1, 1)


def entry(key: int, kind: EntryKind = EntryKind.LEG, chars: int = 0) -> Entry:
    return Entry(key, kind, chars)


def test_keys_stay_right_through_insert_and_remove():
    entries = Entries()
    entries.load(entry(key) for key in range(5))
    entries.insert(2, entry(99))
    entries.remove(0)
    assert [e.key for e in entries] == [1, 99, 2, 3, 4]
    assert [entries.index(e.key) for e in entries] == [0, 1, 2, 3, 4]
    assert len(entries.heights) == 5


def test_of_entries_with_one_key_the_last_one_counts():
    entries = Entries()
    entries.load([entry(1, chars=5), entry(2), entry(1, chars=7)])
    assert [(e.key, e.chars) for e in entries] == [(2, 0), (1, 7)]


def test_neighbours_are_found_by_kind():
    entries = Entries()
    entries.load(entry(key, EntryKind.PROMPT if key % 3 == 0 else EntryKind.LEG) for key in range(9))
    is_prompt = lambda entry: entry.kind is EntryKind.PROMPT  # noqa: E731
    assert entries.neighbour(4, is_prompt, -1) == 3
    assert entries.neighbour(4, is_prompt, 1) == 6
    assert entries.neighbour(0, is_prompt, -1) is None


def test_a_longer_text_is_guessed_higher_and_a_wider_view_lower():
    long = Entry(1, EntryKind.LEG, chars=4_000)
    assert estimate(long, 80) > estimate(Entry(1, EntryKind.LEG, chars=40), 80)
    assert estimate(long, 200) <= estimate(long, 40)


@given(
    st.lists(st.tuples(st.integers(0, 9_000), st.integers(0, 300), st.integers(0, 9)), max_size=20), st.integers(1, 200)
)
def test_all_are_guessed_as_one_is(sizes, width):
    entries = Entries()
    entries.width = width
    entries.load(Entry(key, EntryKind.LEG, *size) for key, size in enumerate(sizes))
    assert [entries.heights[i] for i in range(len(entries))] == [estimate(e, width) for e in entries]
