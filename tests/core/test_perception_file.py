"""The file form loses nothing: not a comment, not an unknown section, not an entry; the dense line says the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from milk_tui.core import perception, perception_file
from milk_tui.core.records import Layer, PerceptionEntry
from milk_tui.core.text import clean

DOCUMENTS = sorted((Path(__file__).parent.parent / "data" / "perception").glob("*.md"))
PIECES = [
    *"ab1. -*[]:\n\t#<é_?/İ~%|;{}\\A",
    "reason:",
    "[reason: x]",
    "[blocked on y]",
    "- ",
    "1. ",
    "key: ",
    "## Frame\n",
    "\n## Working set\n",
    "\n## Invariants\n- ",
    "\n## Other\n",
    "<!-- c -->\n",
    "<!--",
    "-->",
    "\n  - ",
    "\nkey: v\n",
    "\ndecided: x\n",
    "the ",
    "handler ",
    "src/handler.py ",
    "src/a.py ",
    "TheHandler ",
    "work{f:a}",
]
words = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)


def _entry(layer: Layer, key: str, value: str, reason: str, blocker: str, stale: str) -> PerceptionEntry:
    return perception.normal(
        PerceptionEntry(layer=layer, key=key, value=value, reason=reason, blocker=blocker, stale=stale)
    )


entries = st.lists(st.builds(_entry, st.sampled_from(list(Layer)), words, words, words, words, words), max_size=5)


def by_key(said) -> dict:
    return {(entry.layer, entry.key): entry for entry in said if entry.value}


@settings(max_examples=1000, deadline=None)
@given(st.one_of(words, st.text(max_size=200)))
def test_every_text_is_written_as_it_was_read(text):
    assert perception_file.render(perception_file.parse(text)) == clean(text)


@settings(max_examples=300, deadline=None)
@given(words, entries, st.booleans())
def test_a_document_that_is_brought_up_to_date_says_exactly_what_is_wanted(text, wanted, dense):
    written = perception_file.render(perception_file.updated(perception_file.parse(text), wanted, dense=dense))
    assert by_key(perception_file.entries(perception_file.parse(written))) == by_key(wanted)
    again = perception_file.updated(perception_file.parse(written), wanted, dense=dense)
    assert perception_file.render(again) == written


@settings(max_examples=300, deadline=None)
@given(entries)
def test_the_dense_line_reads_back_as_the_same_entries(wanted):
    working = tuple(by_key(e for e in wanted if e.layer is Layer.WORKING).values())
    line = perception.dense(working)
    assert "\n" not in line
    assert perception.parse(Layer.WORKING, line) == working


@settings(deadline=None)
@given(words)
def test_what_looks_like_the_dense_notation_never_breaks_reading(text):
    perception.parse(Layer.WORKING, f"work{{{text}}}")


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.stem)
def test_the_dense_line_has_at_most_six_tenths_of_the_characters(path):
    text = path.read_text()
    working = [e for e in perception_file.entries(perception_file.parse(text)) if e.layer is Layer.WORKING]
    prose = perception.render(working)
    line = perception.dense(working)
    assert len(line) <= 0.6 * len(prose)
    assert perception.parse(Layer.WORKING, line) == tuple(working)


def test_there_are_ten_documents_to_measure_with():
    assert len(DOCUMENTS) == 10


POINTS = (Path(__file__).parent.parent / "data" / "perception" / "points.md").read_text()


def test_the_document_of_the_source_is_read_layer_by_layer():
    said = by_key(perception_file.entries(perception_file.parse(POINTS)))
    assert said[(Layer.INVARIANT, "forbidden")].value == "writes to ./vendor/, edits to migrations < 0042"
    assert [item.reason for item in perception.items(said[(Layer.FRAME, "decided")])] == [
        "legal, no fractional currency",
        "replay safety",
    ]
    assert said[(Layer.FRAME, "open")].blocker == "product"
    assert said[(Layer.WORKING, "next")].value.splitlines()[1] == "minimal implementation"


def test_a_change_rewrites_the_lines_of_its_entry_alone_and_comments_and_unknown_sections_stay():
    text = (
        POINTS.replace("story:", "<!-- ask the product team -->\nstory:") + "\n## Links\n- wiki: http://example.com\n"
    )
    document = perception_file.parse(text)
    wanted = by_key(perception_file.entries(document))
    story = (Layer.FRAME, "story")
    wanted[story] = PerceptionEntry(layer=Layer.FRAME, key="story", value="points for everybody")
    written = perception_file.render(perception_file.updated(document, wanted.values()))
    before, after = text.splitlines(), written.splitlines()
    assert [line for line in after if line not in before] == ["story: points for everybody"]
    assert [line for line in before if line not in after] == [
        'story: "When a user completes a lesson, they earn N points visible on the dashboard."'
    ]


def test_a_new_document_has_the_form_of_the_source():
    said = perception_file.entries(perception_file.parse(POINTS))
    written = perception_file.render(perception_file.updated(perception_file.parse(""), said))
    assert written.splitlines()[:4] == [
        "# perception.md",
        "",
        "## Invariants",
        "- stack: TypeScript / Bun / Postgres 16",
    ]
    assert "\nnext:\n  1. failing test for double-award\n  2. minimal" in written
    assert perception_file.entries(perception_file.parse(written)) == said


def test_hostile_files_are_text():
    text = "## Frame\nstory: \x1b]52;c;evil\x07ok\u202e\n" + "x: " + "y" * 1_000_000
    said = by_key(perception_file.entries(perception_file.parse(text)))
    assert said[(Layer.FRAME, "story")].value == "ok"
