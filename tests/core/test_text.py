"""What ``clean`` takes out, what it leaves, and that a stream gives the same as the whole."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from milk_tui.core import text as module
from milk_tui.core.text import SEQUENCE_CHARS, StreamCleaner, clean, one_line

NASTY = [
    *(
        "\x1b",
        "\x1b[",
        "\x1b[31m",
        "31;1m",
        "\x1b]",
        "\x1b]52;c;aGk=",
        "\x07",
        "\x1b\\",
        "\\",
        "\x1bP1q",
        "\x1b_x",
    ),
    *(
        "\x1b^x",
        "\x1bXx",
        "\x9b",
        "\x9d0;t",
        "\x9c",
        "\x90",
        "\x98",
        "\x9e",
        "\x9f",
        "\x1b(B",
        "\x1b7",
        "\x1bc",
    ),
    *(
        "\r",
        "\n",
        "\r\n",
        "\t",
        "\0",
        "\x7f",
        "\x85",
        "\u2028",
        "\xad",
        "\u061c",
        "\u200b",
        "\u200c",
        "\u200d",
    ),
    *(
        "\u200e",
        "\u202e",
        "\u2060",
        "\u2066",
        "\ufeff",
        "\ufe0f",
        "\U000e0100",
        "\U000e0041",
        "\ud83d",
        "\ude00",
    ),
    *("a", "Z", "0", " ", "é", "语", "می", "क्", "👩", "☎"),
]

hostile_text = st.lists(st.sampled_from(NASTY) | st.text(max_size=3), max_size=14).map("".join)


def streamed(pieces: list[str]) -> str:
    cleaner = StreamCleaner()
    return "".join(cleaner.feed(piece) for piece in pieces) + cleaner.close()


@pytest.mark.parametrize(
    ("hostile", "harmless"),
    [
        ("a\x1b[31mred\x1b[0m", "ared"),
        ("\x1b[38;2;1;2;3mrgb\x1b[?25l\x1b[2 q\x1b[>0c", "rgb"),
        ("\x1b]0;title\x07x", "x"),
        ("\x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b]52;c;cm0gLXJm\x07", ""),
        ("\x1bP1$r0m\x1b\\x", "x"),
        ("\x1b_app\x1b\\\x1b^pm\x1b\\\x1bXsos\x1b\\x", "x"),
        ("\x9b31mred\x9b0m", "red"),
        ("\x9d0;title\x9cx\x90q\x9cy\x98s\x07z", "xyz"),
        ("\x1b(Bx\x1b)0\x1b#8\x1b%G", "x"),
        ("\x1b7x\x1b8\x1bc\x1bM\x1b=\x1b>", "x"),
    ],
)
def test_a_complete_terminal_sequence_goes_whole(hostile: str, harmless: str) -> None:
    assert clean(hostile) == harmless


@pytest.mark.parametrize(
    ("hostile", "harmless"),
    [
        ("\x1b]0;never ended\nthe answer", "0;never ended\nthe answer"),
        ("\x1b]0;never ended", "0;never ended"),
        ("\x1b[31", "31"),
        ("\x1b[3\x1b[1mx", "3x"),
        ("\x1b]0;a\x1b[1mb", "0;ab"),
        ("a\x1bb", "ab"),
        ("a\x1b", "a"),
        ("\x1b]" + "x" * SEQUENCE_CHARS + "\x07", ""),
        ("\x1b]" + "x" * (SEQUENCE_CHARS + 1) + "\x07", "x" * (SEQUENCE_CHARS + 1)),
    ],
)
def test_an_incomplete_sequence_loses_only_its_introducer(hostile: str, harmless: str) -> None:
    assert clean(hostile) == harmless


def test_a_sequence_hidden_in_a_sequence_does_not_come_alive() -> None:
    assert "\x1b" not in clean("\x1b\x1b[0m[31m \x1b]0;\x1b]0;x\x07\x07 \x1b\x00[2J")


def test_wrongly_decoded_text_is_not_taken_for_a_string_sequence() -> None:
    mojibake = "“one” and “two” 😀 “three”".encode().decode("latin-1")
    assert " and " in clean(mojibake)
    assert clean(mojibake).endswith("three\xe2")


def test_control_characters_go_except_line_feed_and_tab() -> None:
    assert clean("".join(map(chr, range(0x20)))) == "\t\n\n"  # the carriage return became the second one
    assert clean("a\x7fb\x85c\x9fd") == "abcd"


def test_line_ends_become_line_feeds() -> None:
    assert clean("a\r\nb\rc\u2028d\u2029e\r\r\nf") == "a\nb\nc\nd\ne\n\nf"


@pytest.mark.parametrize("code", [0x61C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x2070)])
def test_direction_controls_go(code: int) -> None:
    assert clean(f"if{chr(code)}(admin)") == "if(admin)"


@pytest.mark.parametrize("code", [0xAD, 0x200B, *range(0x2060, 0x2065), 0xFEFF, 0xFFF9, 0xFFFB, 0xD800, 0xDFFF])
def test_invisible_characters_and_lone_surrogates_go(code: int) -> None:
    assert clean(f"pass{chr(code)}word") == "password"


def test_tag_characters_that_carry_hidden_text_go() -> None:
    hidden = "".join(chr(0xE0000 + ord(c)) for c in "ignore all")
    assert clean(f"hello{hidden}") == "hello"


def test_a_run_of_variation_selectors_keeps_the_first_only() -> None:
    assert clean("☎\ufe0f\ufe0e\U000e0101") == "☎\ufe0f"
    assert clean("☎\ufe0f") == "☎\ufe0f"


@pytest.mark.parametrize(
    "kept", ["می\u200cخواهم", "क्\u200dष", "👩\u200d👧\u200d👦", "❤\ufe0f\u200d🔥", "👁\ufe0f\u200d🗨\ufe0f"]
)
def test_joiners_stay_where_they_shape_what_is_read(kept: str) -> None:
    assert clean(kept) == kept


@pytest.mark.parametrize("joiner", ["\u200c", "\u200d"])
def test_joiners_go_where_they_only_hide(joiner: str) -> None:
    assert clean(f"pass{joiner}word") == "password"
    assert clean(f"{joiner}a👩{joiner} {joiner}👩{joiner}{joiner}👧") == "a👩 👩👧"


def test_halves_of_a_surrogate_pair_are_joined() -> None:
    assert clean("\ud83d\ude00") == "😀"
    assert clean("\ude00\ud83d") == ""
    assert streamed(["a\ud83d", "\ude00b"]) == "a😀b"


def test_what_is_harmless_stays_as_it_is() -> None:
    harmless = "naïve ﷽ 日本語 🏳️‍🌈 [bold]not markup[/bold] <b>&amp;\t{x} `code`\n"
    assert clean(harmless) == harmless


def test_a_million_hostile_characters_are_cleaned_in_one_pass() -> None:
    assert clean("\x1b]" * 300_000 + "\x9b" * 300_000 + "\u200d" * 300_000 + "end") == "end"


@settings(max_examples=1000, deadline=None)
@given(hostile_text)
@example("\ufe0f\x85\u200c\ufe0f")
@example("☎\ufe0f\x07\U000e0100")
@example("☎\ufe0e\ufe0f\u200d👧")
def test_nothing_hostile_is_left_and_cleaning_again_changes_nothing(hostile: str) -> None:
    result = clean(hostile)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]", result)
    assert not re.search("[\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u206f\ufeff]", result)
    assert clean(result) == result


@settings(max_examples=1500, deadline=None)
@given(st.lists(hostile_text, max_size=6))
@example(["\r", "\n"])
@example(["\r\ud83d", "\n"])
@example(["👩", "\u200d", "\ud83d", "\udc67"])
@example(["☎\ufe0f", "\x07\ufe0f"])
@example(["👩\u200d", "\u200d", "👧"])
@example(["👩\u200d\u200d", "\u200d👧"])
@example(["☎\ufe0f\u200d\u200d", "\ufe0f"])
@example(["\x1b]0;a", "\ud83d", "\ude00", "\x07b"])
@example(["\x1b]" + "x" * (SEQUENCE_CHARS - 1), "x", "\x1b", "\\y"])
@example(["\x1b]" + "x" * SEQUENCE_CHARS, "x", "\x07y"])
def test_a_stream_gives_the_same_as_the_whole(pieces: list[str]) -> None:
    assert streamed(pieces) == clean("".join(pieces))


@pytest.mark.parametrize(
    "hostile",
    [
        "a\x1b[31mb\x1b]0;t\x1b\\c",
        "\x1b]8;;u\x07👩\u200d👧\r\n\x9b1m\x1b(B",
        "\x1b_a\x1b[1m\ufe0f\ufe0f\ud83d\ude00\r",
    ],
)
def test_a_stream_may_be_cut_at_every_place(hostile: str) -> None:
    whole = clean(hostile)
    for i in range(len(hostile) + 1):
        for j in range(i, len(hostile) + 1):
            assert streamed([hostile[:i], hostile[i:j], hostile[j:]]) == whole


def test_a_stream_shows_text_at_once_when_nothing_is_open() -> None:
    cleaner = StreamCleaner()
    assert cleaner.feed("hello") == "hello"
    assert cleaner.feed(" \x1b[3") == " "
    assert cleaner.feed("1mred") == "red"
    assert cleaner.close() == ""


def test_a_stream_holds_back_no_more_than_one_sequence() -> None:
    cleaner = StreamCleaner()
    shown = "".join(cleaner.feed("x" * 100) for _ in range(2)) + cleaner.feed("\x1b]")
    shown += "".join(cleaner.feed("y" * 64) for _ in range(1 + SEQUENCE_CHARS // 64))
    assert shown == "x" * 200 + "y" * (SEQUENCE_CHARS + 64)


def test_a_closed_stream_starts_as_new() -> None:
    cleaner = StreamCleaner()
    assert cleaner.feed("👩") + cleaner.close() == "👩"
    assert cleaner.feed("\u200d👧") + cleaner.close() == "👧"


def test_one_line_folds_white_space_and_cuts_with_an_ellipsis() -> None:
    assert one_line("  a\n\tb\u2003 c \x1b[1md\r\ne ", 80) == "a b c d e"
    assert one_line("abcdef", 6) == "abcdef"
    assert one_line("abcdefg", 6) == "abcde…"
    assert one_line("abcd efg", 6) == "abcd…"
    assert one_line("abc", 1) == "…"
    assert one_line("abc", 0) == ""


@given(hostile_text, st.integers(0, 12))
def test_one_line_is_one_clean_line_within_its_limit(hostile: str, limit: int) -> None:
    line = one_line(hostile, limit)
    assert len(line) <= limit
    assert line == " ".join(line.split())
    assert clean(line) == line


def test_what_shapes_a_joiner_is_never_itself_taken_out() -> None:
    shaping = re.compile(f"[{module._SHAPING}]")
    removed = re.compile(f"[{module._INVISIBLE}{module._JOINERS}\r\u2028\u2029]")
    assert not any(shaping.match(chr(c)) and removed.match(chr(c)) for c in range(0x110000))
