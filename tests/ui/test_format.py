"""What numbers, times and texts look like on the screen."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from milk_tui.core.text import one_line
from milk_tui.ui import format as f

shown_text = st.text(max_size=80).map(lambda text: one_line(text, 80))


@pytest.mark.parametrize(
    ("number", "shown"),
    [(0, "0"), (999, "999"), (1_000, "1.0k"), (12_449, "12.4k"), (999_949, "999.9k"), (999_950, "1.0M")],
)
def test_counts_are_short(number: int, shown: str) -> None:
    assert f.count(number) == shown


@pytest.mark.parametrize(
    ("fraction", "shown"),
    [
        (0, "▱▱▱▱▱"),
        (0.001, "▰▱▱▱▱"),
        (0.38, "▰▰▱▱▱"),
        (0.999, "▰▰▰▰▱"),
        (1, "▰▰▰▰▰"),
        (7, "▰▰▰▰▰"),
        (-1, "▱▱▱▱▱"),
    ],
)
def test_a_gauge_never_lies_about_nothing_and_all(fraction: float, shown: str) -> None:
    assert f.gauge(fraction) == shown


@pytest.mark.parametrize(("dollars", "shown"), [(0, "$0.00"), (0.08, "$0.08"), (0.0042, "$0.0042"), (12.5, "$12.50")])
def test_small_costs_are_not_nothing(dollars: float, shown: str) -> None:
    assert f.money(dollars) == shown


@pytest.mark.parametrize(("seconds", "shown"), [(0.4, "0 s"), (59, "59 s"), (125, "2:05"), (3725, "1:02:05")])
def test_elapsed_time(seconds: float, shown: str) -> None:
    assert f.elapsed(seconds) == shown


@pytest.mark.parametrize(
    ("minutes", "shown"), [(0, "just now"), (5, "5 min ago"), (125, "2 h ago"), (60 * 24 * 3, "3 d ago")]
)
def test_how_long_ago(minutes: int, shown: str) -> None:
    assert f.when(1_000_000_000_000, 1_000_000_000_000 + minutes * 60_000) == shown


def test_old_times_are_dates() -> None:
    assert f.when(0, 1_700_000_000_000).startswith("19")


@given(shown_text, st.integers(0, 40))
def test_a_fitted_text_is_never_wider_and_says_that_it_was_cut(text: str, cells: int) -> None:
    for fitted in (f.fit(text, cells), f.fit_left(text, cells)):
        assert cell_len(fitted) <= cells
        assert fitted == text or "…" in fitted or cells == 0


@given(shown_text, st.integers(0, 40))
def test_a_padded_text_has_exactly_its_width(text: str, cells: int) -> None:
    assert cell_len(f.pad(text, cells)) == cells


@given(shown_text, st.integers(2, 40))
def test_wrapping_loses_nothing_but_spaces(text: str, cells: int) -> None:
    rows = f.wrap(text, cells)
    assert all(cell_len(row) <= cells for row in rows)
    assert "".join(rows).replace(" ", "") == text.replace(" ", "")


@given(shown_text, st.integers(2, 40), st.integers(1, 3))
def test_wrapping_keeps_to_its_rows(text: str, cells: int, limit: int) -> None:
    rows = f.wrap(text, cells, limit)
    assert len(rows) <= limit
    assert all(cell_len(row) <= cells for row in rows)
    assert len(f.wrap(text, cells)) <= limit or rows[-1].endswith("…")


@given(shown_text, st.integers(2, 40))
def test_a_text_wider_than_a_row_fills_two(text: str, cells: int) -> None:
    assert len(f.wrap(text, cells, 2)) == (2 if cell_len(text) > cells else 1)


def test_the_home_folder_is_a_tilde(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    assert f.directory("/home/me/code") == "~/code"
    assert f.directory("/home/me") == "~"
    assert f.directory("/home/mean") == "/home/mean"
