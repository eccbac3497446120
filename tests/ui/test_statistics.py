"""The statistics screen: what a session used, at every size, without a mouse, and before anything was asked."""

from __future__ import annotations

import random

import pytest
from rich.cells import cell_len

from milk_tui.core.records import LegStatus, Role
from milk_tui.core.statistics import FactCount, LegFigures, RouteCount, Statistics
from milk_tui.ui import plot
from milk_tui.ui import statistics_rows as rows
from milk_tui.ui.bar_cells import Look
from milk_tui.ui.paint import plain
from milk_tui.ui.statistics import CACHED, COST, TOKENS

NAMES = {Role.PRIMARY: "qwen", Role.ESCALATION: "claude"}


def legs(number: int) -> list[LegFigures]:
    rng = random.Random(1)
    return [
        LegFigures(
            leg_id=turn,
            turn_id=turn,
            role=Role.ESCALATION if turn % 5 == 0 else Role.PRIMARY,
            agent="claude" if turn % 5 == 0 else "qwen",
            model="m",
            status=LegStatus.DONE,
            sent=rng.randrange(100, 9_000),
            written=rng.randrange(10, 900),
            cached=rng.randrange(0, 100) if turn % 3 else None,
            cost_usd=rng.random() if turn % 5 == 0 else None,
        )
        for turn in range(1, number + 1)
    ]


@pytest.mark.parametrize("kind", [TOKENS, COST, CACHED])
@pytest.mark.parametrize(("width", "height"), [(10, 3), (38, 8), (60, 14), (120, 20), (240, 30)])
@pytest.mark.parametrize("number", [1, 7, 10_000])
@pytest.mark.parametrize("cursor", [None, 0])
def test_a_plot_fits_its_place(kind: plot.Kind, width: int, height: int, number: int, cursor: int | None) -> None:
    look = Look(width, height, NAMES, cursor, plain=False)
    found = plot.columns(kind, legs(number), look)
    lines = plot.plot(kind, found, look)
    assert 3 <= len(lines) <= height
    bars = lines[1:-1]
    assert all(cell_len(plain(line)) <= width for line in bars if not plain(line).startswith(("●", "◆")))


def test_a_plot_says_its_unit_its_scale_and_its_turns() -> None:
    look = Look(60, 11, NAMES, None, plain=False)
    drawn = [plain(line) for line in plot.plot(CACHED, plot.columns(CACHED, legs(8), look), look)]
    assert drawn[0].startswith("● qwen") and "of what was sent" in drawn[0]
    assert drawn[1].startswith(" 100 %") and "0 %" in drawn[4]
    assert "turn 1" in drawn[-1] and "turn 8" in drawn[-1]
    assert "?" in "".join(drawn), "what was not reported is said to be unknown"


def test_what_nobody_reports_is_said_in_words() -> None:
    look = Look(60, 11, NAMES, None, plain=False)
    drawn = [plain(line) for line in plot.plot(COST, plot.columns(COST, legs(3), look), look)]
    assert "nobody reports it" in drawn[0]


def test_without_fine_characters_a_plot_is_ascii() -> None:
    look = Look(60, 11, NAMES, 2, plain=True)
    assert all(plain(line).isascii() for line in plot.plot(TOKENS, plot.columns(TOKENS, legs(9), look), look))


def test_the_lists_say_routes_and_facts() -> None:
    found = Statistics(
        turns=9,
        legs=tuple(legs(9)),
        routes=(
            RouteCount(rule="primary", role="primary", turns=8),
            RouteCount(rule="pin", role="escalation", turns=1),
        ),
        facts=(
            FactCount(producer="user", status="live", facts=3),
            FactCount(producer="primary", status="gone", facts=1),
        ),
        learned=((2, 3), (9, 1)),
    )
    shown = [
        plain(line)
        for row in (*rows.total_rows(found), *rows.route_rows(found, NAMES), *rows.fact_rows(found))
        for line in row.lines(60)
    ]
    text = "\n".join(shown)
    for words in ("9 turns · 9 answers", "no other rule", "pinned by you", "by you", "4 facts", "≥ $"):
        assert words in text, text
    assert all(cell_len(line) <= 60 for line in shown)


@pytest.mark.parametrize("size", [(40, 12), (80, 24), (120, 40), (250, 70)])
async def test_it_opens_by_command_shows_every_pane_by_key_and_leads_to_the_turn(open_desk, size) -> None:
    async with open_desk(size=size) as desk:
        await desk.say("/cost")
        await desk.sees("statistics", "nothing was asked yet")
        await desk.press("escape")
        await desk.say("/learn the port is 8413")
        await desk.say("SCN:say an answer")
        await desk.until(lambda: desk.app.main.conversation.transcript.document.entries.items, "an entry")
        await desk.idle()
        await desk.say("/stats")
        await desk.sees("1 turn", "1 answer")
        seen = set()
        for _ in desk.app.screen.panes:
            seen.add(desk.app.screen.current.id)
            await desk.press("f6")
        assert len(seen) == 6
        await desk.press("f6")
        await desk.until(lambda: desk.app.screen.current.id == "tokens-pane", "the plot")
        await desk.sees("qwen", "turn 1")
        await desk.press("left", "right", "home", "end", "enter")
        await desk.until(lambda: desk.app.screen is desk.app.main, "the conversation")


async def test_status_says_how_everything_is(open_desk) -> None:
    async with open_desk() as desk:
        await desk.say("SCN:say an answer")
        await desk.idle()
        await desk.say("/status")
        await desk.sees("primary: qwen", "escalation: claude", "model host", "helper: quiet", "context")
        await desk.press("escape")
        await desk.until(lambda: desk.app.screen is desk.app.main, "the conversation")
