"""Cutting a byte stream into lines."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from milk_tui.modelhost.lines import LineCutter


@given(st.lists(st.binary(max_size=6).map(lambda b: b.replace(b"\n", b"")), max_size=8), st.data())
def test_the_lines_are_the_same_however_the_stream_is_cut(lines: list[bytes], data: st.DataObject) -> None:
    stream = b"".join(line + b"\n" for line in lines) + b"rest"
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=8)))
    cutter = LineCutter()
    found: list[bytes] = []
    for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        found += cutter.feed(stream[start:end])
    assert found == lines


def test_a_line_that_is_too_long_is_dropped_and_the_next_one_is_read() -> None:
    cutter = LineCutter(limit=4)
    assert cutter.feed(b"ok\n12345") == [b"ok"]
    assert cutter.feed(b"6789" * 1000) == []
    assert cutter.feed(b"\nnext\n") == [b"next"]
    assert cutter.dropped == 1
