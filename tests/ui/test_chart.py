"""The chart of contexts over the turns: what is unknown is not drawn as nothing, what is estimated says so."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from milk_tui.core.records import Role
from milk_tui.core.token_sizes import Measure
from milk_tui.ui import chart
from milk_tui.ui.bar_cells import Look
from milk_tui.ui.chart import columns
from milk_tui.ui.paint import cells, plain

NAMES = {Role.PRIMARY: "qwen", Role.ESCALATION: "claude"}


def leg(turn: int, role: Role = Role.PRIMARY, **more: object) -> Measure:
    return Measure(**{"leg_id": turn, "turn_id": turn, "role": role, "chars": 4_000, **more})  # type: ignore[arg-type]


def drawn(measures: list[Measure], width: int = 40, height: int = 9, **more: object) -> list[str]:
    look = Look(width, height, NAMES, **more)  # type: ignore[arg-type]
    return [plain(line).rstrip() for line in chart.chart(columns(measures, look.room), look)]


def test_bars_grow_with_the_context_and_the_largest_is_labelled() -> None:
    lines = drawn(
        [leg(1, input_tokens=500, cached_tokens=0), leg(2, input_tokens=2_000, cached_tokens=1_500)], height=5
    )
    assert lines == [
        "● qwen  2.0k tok now · cached 60 %",
        "  2.0k     ███",
        "     0 ▄▄▄ ███",
        "cached 0   ▆▆▆",
        "       turn 1 turn 2"[: len(lines[4])],
    ]


def test_what_nobody_reported_is_hatched_and_its_cached_part_is_a_question() -> None:
    lines = drawn([leg(1), leg(2, input_tokens=1_000, cached_tokens=500)], height=5)
    assert "▒▒▒ ███" in lines[2]
    assert lines[3].startswith("cached ?")
    assert drawn([leg(1)])[0] == "● qwen  ~1.0k tok now · cached ?"


def test_each_agent_has_its_own_bars_on_the_same_turns() -> None:
    lines = drawn([leg(1), leg(2, Role.ESCALATION), leg(3)], height=11)
    heads = [line for line in lines if line[0] in "●◆"]
    assert [head.split()[1] for head in heads] == ["qwen", "claude"]
    shares = [line for line in lines if line.startswith("cached")]
    assert [share[7:].find("?") for share in shares] == [0, 4]


def test_without_room_for_both_the_first_is_drawn() -> None:
    lines = drawn([leg(1), leg(1, Role.ESCALATION)], height=4)
    assert [line[0] for line in lines[:1]] == ["●"] and len(lines) == 4


def test_a_long_session_has_as_many_columns_as_there_is_room() -> None:
    found = columns([leg(turn) for turn in range(1, 10_001)], 50)
    assert len(found) == 50
    assert (found[0].first, found[0].last, found[-1].last) == (1, 200, 10_000)


def test_turns_that_share_a_column_show_their_largest_context_and_their_share_in_sum() -> None:
    (column,) = columns([leg(1, input_tokens=900, cached_tokens=0), leg(2, input_tokens=100, cached_tokens=100)], 1)
    assert column.largest(Role.PRIMARY).turn_id == 1
    assert column.share(Role.PRIMARY) == 0.1
    assert column.largest(Role.ESCALATION) is None and column.share(Role.ESCALATION) is None


def test_a_terminal_without_unicode_gets_ascii() -> None:
    measures = [leg(1), leg(2, Role.ESCALATION, input_tokens=10, cached_tokens=5)]
    text = "\n".join(drawn(measures, plain=True, cursor=0))
    assert text.isascii() and "===" in text


def test_the_column_that_is_pointed_at_is_told_in_words() -> None:
    look = Look(60, 9, NAMES, cursor=0)
    (column,) = columns([leg(7, input_tokens=2_000, cached_tokens=1_200)], look.room)
    assert [plain(line) for line in chart.told(column, look)] == ["turn 7 qwen 2.0k tok · cache 1.2k read, ? written"]
    assert "▲ turn 7" in drawn([leg(7)], cursor=0)[-1]


def test_nothing_sent_is_no_chart() -> None:
    assert drawn([]) == []


@pytest.mark.parametrize(("read", "written", "words"), [(None, None, "?"), (0, None, "0 read, ? written")])
def test_unknown_is_a_question_mark(read, written, words) -> None:
    assert chart.cache_words(read, written) == words


MEASURES = st.lists(
    st.builds(
        leg,
        st.integers(1, 40),
        st.sampled_from(Role),
        input_tokens=st.none() | st.integers(0, 10**7),
        cached_tokens=st.none() | st.integers(0, 10**7),
        tools=st.integers(0, 1),
    ),
    max_size=30,
)


@given(MEASURES, st.integers(12, 90), st.integers(0, 20), st.booleans(), st.none() | st.integers(0, 40))
def test_it_fits_whatever_it_is_given(measures, width, height, plain_, cursor) -> None:
    look = Look(width, height, NAMES, cursor, plain_)
    lines = chart.chart(columns(measures, look.room), look)
    assert len(lines) <= height
    bars = [line for line in lines if not plain(line).startswith(("●", "◆", "*", "#"))]
    assert all(cells(line) <= width for line in bars)
