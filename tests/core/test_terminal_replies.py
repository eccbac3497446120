"""A terminal's answers are read out of whatever comes with them, and nothing else is taken for one."""

from __future__ import annotations

import base64

from hypothesis import given
from hypothesis import strategies as st

from milk_tui.core.terminal_replies import is_answered, read

ALL = (
    b"\x1bP>|foot(1.16)\x1b\\"
    b"\x1b]11;rgb:1515/1717/1c1c\x1b\\"
    b"\x1b[?25u\x1b[?2004;2$y\x1b[?1004;1$y\x1b[?1006;0$y"
    b"\x1bP1$r0;48:2::1:2:3m\x1b\\\x1bP0$r\x1b\\"
    b"\x1b[12;5R\x1b[12;3R"
    b"\x1b]52;c;" + base64.b64encode("Ω".encode()) + b"\x07"
    b"\x1b[?62;22c"
)


def test_every_answer_is_read() -> None:
    found = read(ALL)
    assert found.version == "foot(1.16)"
    assert found.background == "1515/1717/1c1c"
    assert found.kitty == 25
    assert found.modes == {2004: 2, 1004: 1, 1006: 0}
    assert (found.knows(2004), found.knows(1006), found.knows(7)) == (True, False, False)
    assert found.styles == ["0;48:2::1:2:3m", ""]
    assert found.columns == [5, 3]
    assert found.clipboard == "Ω"
    assert found.attributes == "62;22"
    assert is_answered(ALL) and not is_answered(ALL[:-1])


def test_keys_between_the_answers_do_no_harm() -> None:
    keys = (b"a", b"\x1b[A", b"\x1b\r", b"\x1b[27;2;13~", b"\xf0\x9f\x99\x82", b"\x1b[200~x\x1b[201~", b"\x1b[<0;3;4M")
    pieces = [piece for piece in ALL.replace(b"\x1b[", b"|\x1b[").replace(b"\x1bP", b"|\x1bP").split(b"|") if piece]
    mixed = b"".join(piece + keys[number % len(keys)] for number, piece in enumerate(pieces))
    assert read(mixed).modes == read(ALL).modes
    assert read(mixed).columns == [5, 3]


@given(st.lists(st.sampled_from([*ALL.split(b"\x1b"), b"\x1b", b"\x1b\\", b"\x07", b"\x1b[", b"9" * 50, b"\xff"])))
def test_whatever_comes_is_read_without_an_error(pieces: list[bytes]) -> None:
    found = read(b"".join(pieces))
    assert all(0 <= column < 100_000 for column in found.columns)
    assert is_answered(b"".join(pieces)) == (found.attributes is not None)


@given(st.binary(max_size=300))
def test_noise_is_no_answer(data: bytes) -> None:
    if b"\x1b" not in data:
        assert read(data) == read(b"")
