"""What is looked for in the output of a terminal is found however the output is cut into pieces."""

from __future__ import annotations

import pytest

from tests.hostile.watch import Output

OURS = b"\x1b]2;milk\x07a\x1b[1;3;38;2;1;2;3mb\x1b]8;id=72-1;https://ev.example/q\x1b\\\xe2\x94\x82link\x1b]8;;\x1b\\\x1b(B\x1b[?2026l"


def read(*pieces: bytes) -> Output:
    output = Output()
    for piece in (*pieces, b" and more"):
        output.feed(piece)
    return output


def test_what_we_write_is_no_harm_wherever_it_is_cut() -> None:
    for cut in range(len(OURS)):
        output = read(OURS[:cut], OURS[cut:])
        assert output.harm == []
        assert (output.titles, output.links) == (["milk"], ["https://ev.example/q"])


@pytest.mark.parametrize(
    "theirs", [b"\x1b]52;c;aGk=\x07", b"\x1b]0;owned\x1b\\", b"\x1b[5;5r", b"\x1bc", b"\x1bP+q544e\x1b\\", b"\x1b[?9h"]
)
def test_what_others_want_to_write_is_harm_wherever_it_is_cut(theirs: bytes) -> None:
    for cut in range(len(theirs) + 1):
        assert read(b"before" + theirs[:cut], theirs[cut:]).harm
