"""Walking over rows gives what a list of all rows would give, whatever was guessed before."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from rich.style import Style

from milk_tui.ui.transcript import EntryBody, Thinking
from milk_tui.ui.transcript.document import Document
from milk_tui.ui.transcript.layout import Spot
from milk_tui.ui.transcript.markdown import Paper
from milk_tui.ui.transcript.palette import NAMES, Palette
from tests.ui.transcript.support import Source, leg, prompt

PALETTE = Palette(dict.fromkeys(NAMES, Style()))
TEXTS = [
    "",
    "short",
    "word " * 80,
    "\n\n".join(f"para {n}" for n in range(9)),
    "- a\n- b\n\n- c\n",
    "```py\n" + "x = 1\n" * 120 + "```\n\nend",
    "| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 90,
]
sessions = st.lists(st.tuples(st.booleans(), st.sampled_from(TEXTS)), min_size=1, max_size=12)


def document(session: list[tuple[bool, str]], width: int, missing: frozenset[int] = frozenset()) -> Document:
    made = [(prompt if is_prompt else leg)(n, text) for n, (is_prompt, text) in enumerate(session)]
    source = Source({entry.key: body for n, (entry, body) in enumerate(made) if n not in missing})
    built = Document(Paper(PALETTE, width))
    built.load([entry for entry, _ in made], source)
    built.set_paper(Paper(PALETTE, width))
    return built


def all_rows(built: Document) -> list[Spot]:
    return [Spot(*line[:3]) for line in built.lines(Spot(0, 0, 0), 1_000_000)]


@settings(max_examples=150, deadline=None)
@given(sessions, st.integers(10, 100), st.data())
def test_a_walk_moves_by_rows_that_are_really_there(session, width, data):
    missing = data.draw(st.frozensets(st.integers(0, len(session) - 1), max_size=3))
    rows = all_rows(document(session, width, missing))
    start = data.draw(st.integers(0, len(rows) - 1))
    steps = data.draw(st.integers(-len(rows) - 5, len(rows) + 5))
    fresh = document(session, width, missing)
    assert fresh.walk(rows[start], steps) == rows[min(max(start + steps, 0), len(rows) - 1)]
    assert fresh.last() == rows[-1]


@settings(max_examples=150, deadline=None)
@given(sessions, st.integers(10, 100))
def test_when_all_is_measured_rows_and_spots_are_one(session, width):
    built = document(session, width)
    rows = all_rows(built)
    assert built.total == len(rows)
    for number in range(0, len(rows), 7):
        assert built.spot(number) == rows[number]
        assert built.top(rows[number]) == number


@settings(max_examples=100, deadline=None)
@given(sessions, st.integers(10, 100), st.integers(10, 100), st.data())
def test_an_anchor_finds_its_row_again_at_any_width_and_back(session, width, other, data):
    built = document(session, width)
    spot = data.draw(st.sampled_from(all_rows(built)))
    anchor = built.anchor(spot)
    built.set_paper(Paper(PALETTE, other))
    there = built.find(anchor)
    assert there is not None and there.index == spot.index
    built.set_paper(Paper(PALETTE, width))
    assert built.find(anchor) == spot


@settings(max_examples=100, deadline=None)
@given(
    sessions,
    st.lists(st.tuples(st.sampled_from(["add", "drop", "fold", "stream", "finish"]), st.integers(0, 20)), max_size=15),
)
def test_the_sum_of_heights_is_the_number_of_rows_through_all_changes(session, changes):
    built = document(session, 40)
    live = 0
    for number, (what, which) in enumerate(changes):
        all_rows(built)
        keys = [entry.key for entry in built.entries]
        key = keys[which % len(keys)]
        if what == "add":
            entry, body = leg(1_000 + number, Thinking("thought\n" * which), "new text")
            built.add(entry, body, key if which % 2 else None)
        elif what == "drop" and len(keys) > 1:
            built.remove(key)
        elif what == "fold":
            built.toggle(key, ("thinking", 0))
        elif what == "stream":
            built.start(key).text(f"piece {live}\n\n- item\n")
            live += 1
            built.refresh(key)
        elif what == "finish":
            built.finish(key, EntryBody(leg(0, "final *text*")[1].parts))
    rows = all_rows(built)
    assert built.total == len(rows)
    assert [built.top(spot) for spot in rows] == list(range(len(rows)))


def test_a_key_that_is_gone_is_found_nowhere():
    built = document([(True, "a"), (False, "b")], 40)
    anchor = built.anchor(Spot(0, 0, 0))
    built.remove(("turn", 0))
    assert built.find(anchor) is None
    assert built.last().index == 0
