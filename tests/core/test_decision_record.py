from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from milk_tui.core.decision_record import LARGEST, Record, file_name, first_sentences, parse, render, superseded

TEXT = """# Payment retries live in the queue worker

Date: 2026-04-14
Replaces: 2025-11-02-retry-in-handler.md, [older](old/2024-01-01-x.md)

Retries moved out of the handler. Do not retry charges inside a request.
"""


def test_a_record_has_title_date_body_and_what_it_replaces():
    record = parse("a.md", TEXT.encode())
    assert (record.title, record.date, record.problem) == ("Payment retries live in the queue worker", "2026-04-14", "")
    assert record.replaces == ("2025-11-02-retry-in-handler.md", "2024-01-01-x.md")
    assert record.body.startswith("Retries moved out")


@pytest.mark.parametrize(
    "text",
    [
        "---\ndate: 2026-04-14\ntitle: Retries\n---\n\nBody.",
        "**Date:** 2026-04-14\n\n# Retries\n\nBody.",
        "# Retries\n\n- Date: 2026-04-14\n\nBody.",
        "\ufeff# Retries\r\n\r\nDate: 2026-04-14\r\n\r\nBody.\r\n",
    ],
)
def test_other_ways_to_write_the_header_are_read(text):
    record = parse("a.md", text.encode())
    assert (record.title, record.date, record.body, record.problem) == ("Retries", "2026-04-14", "Body.", "")


def test_a_date_in_the_name_stands_in_for_one_in_the_text():
    assert parse("2026-04-14-x.md", b"# X\n\nBody.").date == "2026-04-14"


@pytest.mark.parametrize(
    ("name", "raw", "why"),
    [
        ("README.md", b"# About\n\nThese are our decisions.", "it has no date"),
        ("a.md", b"# X\n\nDate: last spring\n", "its date can't be read: last spring"),
        ("a.md", b"# X\n\nDate: 2026-13-40\n", "its date can't be read"),
        ("a.md", b"Date: 2026-04-14\n\nno title", "it has no title"),
        ("a.md", b"", "it has no title"),
        ("a.md", b"# X\nDate: 2026-04-14\n" + b"x" * (LARGEST + 10), "it has more than 64 KB"),
        ("a.md", b"\xff\xfe\x00\x00", "it has no title"),
    ],
)
def test_what_is_no_record_says_why(name, raw, why):
    assert why in parse(name, raw).problem


@pytest.mark.parametrize(
    "line", ["Superseded by: b.md", "Status: superseded by b.md", "**Superseded by**: [the new one](b.md)"]
)
def test_a_record_may_say_itself_that_it_no_longer_holds(line):
    record = parse("a.md", f"# X\n\nDate: 2026-04-14\n{line}\n\nBody.".encode())
    assert (record.ended, record.superseded_by) == (True, "b.md")


def test_what_another_record_replaces_is_superseded_by_the_newest_that_says_so():
    old = Record(name="a.md", date="2025-01-01")
    one = Record(name="b.md", date="2025-02-01", replaces=("a",))
    two = Record(name="c.md", date="2025-03-01", replaces=("A.md", "c.md"))
    broken = Record(name="d.md", date="2025-04-01", replaces=("a.md",), problem="x")
    assert superseded([two, old, broken, one]) == {"a.md": "c.md"}


def test_what_is_written_is_read_back():
    text = render(
        "Retries\x1b[2J live [x](y)",
        date="2026-04-14",
        why="charged twice",
        body="Body.",
        replaces=["a.md"],
        fact="a1b2c3d4",
    )
    record = parse(file_name("Retries live", "2026-04-14"), text.encode())
    assert (record.date, record.replaces, record.fact, record.problem) == ("2026-04-14", ("a.md",), "a1b2c3", "")
    assert "charged twice" in record.body and "\x1b" not in text


def test_a_file_name_is_a_plain_slug_and_never_taken():
    assert file_name("Größe & Preis: /etc/../x", "2026-04-14") == "2026-04-14-groe-preis-etc-x.md"
    assert file_name("漢字", "2026-04-14") == "2026-04-14-decision.md"
    assert file_name("X", "2026-04-14", ["2026-04-14-X.md"]) == "2026-04-14-x-2.md"


@given(st.binary(max_size=600), st.text(max_size=20))
def test_no_file_makes_reading_fail(raw, name):
    record = parse(name, raw)
    assert record.problem or (record.title and record.date)
    assert len(first_sentences(record, 100)) <= 100
