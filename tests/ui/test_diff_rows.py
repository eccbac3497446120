"""How a difference is drawn: marks, folds, widths."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from milk_tui.ui.diff_lines import compare
from milk_tui.ui.diff_rows import difference_rows
from milk_tui.ui.paint import cells, plain

OLD = "\n".join([*(f"line {n}" for n in range(20)), "use a queue for the handler", "end"])
NEW = "\n".join([*(f"line {n}" for n in range(20)), "use a lock for the handler", "more", "end"])


def drawn(old: str, new: str, width: int = 60, **more: object) -> list[str]:
    rows = difference_rows(compare(old, new), prefix="d", **{"side_by_side": False, **more})  # type: ignore[arg-type]
    return [plain(line).rstrip() for row in rows for line in row.lines(width)]


def test_one_under_the_other_says_what_went_and_what_came() -> None:
    assert drawn(OLD, NEW) == [
        "     ⋯ 18 equal lines: enter shows them",
        "  19   line 18",
        "  20   line 19",
        "  21 - use a queue for the handler",
        "  21 + use a lock for the handler",
        "  22 + more",
        "  22   end".replace("22", "23"),
    ]


def test_side_by_side_keeps_old_left_and_new_right() -> None:
    lines = drawn(OLD, NEW, 120, side_by_side=True)
    (changed,) = [line for line in lines if "queue" in line]
    left, right = changed.split("│")
    assert left.strip() == "21 - use a queue for the handler"
    assert right.strip() == "21 + use a lock for the handler"


def test_a_folded_run_can_be_opened() -> None:
    assert "   1   line 0" in drawn(OLD, NEW, is_open=lambda key: key == "d:0:fold")
    (fold,) = [row for row in difference_rows(compare(OLD, NEW), prefix="d", side_by_side=False) if row.selectable]
    assert fold.key == "d:0:fold"


def test_keys_are_unique_whether_folds_are_open_or_not() -> None:
    for opened in (True, False):
        rows = difference_rows(compare(OLD, NEW), prefix="d", side_by_side=True, is_open=lambda key, o=opened: o)
        assert len({row.key for row in rows}) == len(rows)


WIDE = st.text(st.sampled_from("ab 漢é\u0301🙂\n"), max_size=120)


@given(WIDE, WIDE, st.integers(24, 130), st.booleans())
def test_no_line_is_wider_than_the_list_and_heights_are_true(old: str, new: str, width: int, sides: bool) -> None:
    for row in difference_rows(compare(old, new), prefix="d", side_by_side=sides, is_open=lambda key: True):
        lines = row.lines(width)
        assert len(lines) == row.height(width)
        assert all(cells(line) <= width for line in lines)


@pytest.mark.parametrize("sides", [True, False])
def test_a_long_line_is_wrapped_and_nothing_of_it_is_lost(sides: bool) -> None:
    words = " ".join(f"word{n}" for n in range(60))
    lines = drawn("", words, 50, side_by_side=sides)
    shown = "".join("".join(line.rpartition("│")[2][7:]).strip() for line in lines)
    assert shown.replace(" ", "") == words.replace(" ", "")
    assert all(cell_len(line) <= 50 for line in lines)
