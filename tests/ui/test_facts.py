"""Facts on the screen: seen, pinned, forgotten and brought back, filtered, explained (issue 2, point 12)."""

from __future__ import annotations

import pytest
from textual.app import App, ComposeResult

from milk_tui.core.records import Consumer, PerceptScope, PerceptStatus
from milk_tui.ui import fact_rows, themes
from milk_tui.ui.fact_list import FactList
from milk_tui.ui.paint import LookBook, plain
from tests.ui.samples import percept

QUEUE = "SCN:tag percept retries live in the queue worker SCN:tag percept prices are integers SCN:say ok"


def shown(rows, width: int = 40) -> list[str]:
    return [plain(line).rstrip() for row in rows for line in row.lines(width)]


def test_facts_stand_in_groups_the_weightiest_first() -> None:
    rows = fact_rows.rows(
        [
            percept(1, "light", weight=300),
            percept(2, "heavy", weight=800),
            percept(3, "everywhere", scope=PerceptScope.GLOBAL),
            percept(4, "always", pinned=True, weight=1000),
        ]
    )
    assert [line.strip() for line in shown(rows)] == [
        "★ PINNED 1",
        "★ always",
        "#000000 ● qwen ▰▰▰▰ 1.00",
        "SESSION 2",
        "heavy",
        "#000000 ● qwen ▰▰▰▱ 0.80",
        "light",
        "#000000 ● qwen ▰▱▱▱ 0.30",
        "GLOBAL 1",
        "everywhere",
        "#000000 ● qwen ▰▰▰▱ 0.70",
    ]


def test_a_row_says_whom_the_fact_is_for_and_what_became_of_it() -> None:
    rows = fact_rows.rows(
        [
            percept(1, "for one", consumer=Consumer.ESCALATION),
            percept(2, "old", status=PerceptStatus.SUPERSEDED, superseded_by="1c000000-1"),
            percept(3, "gone", status=PerceptStatus.FORGOTTEN),
            percept(4, "fresh", status=PerceptStatus.STAGED),
        ]
    )
    text = "\n".join(shown(rows, 60))
    for part in ("→◆", "→ #1c0000", "forgotten, u undoes", "new"):
        assert part in text
    assert "SESSION 2" in text


def test_a_long_fact_takes_two_rows_and_hostile_text_does_no_harm() -> None:
    row = fact_rows.rows([percept(1, "word " * 200 + "\x1b[31m\u202e[bold]x")])[1]
    assert row.height(40) == len(row.lines(40)) == 3
    assert "\x1b" not in "".join(shown([row]))


@pytest.mark.parametrize("width", [10, 28, 40, 120])
@pytest.mark.parametrize("text", ["短い" * 30, "a", "", "x" * 300, "e\u0301 " * 50])
def test_heights_are_what_is_drawn(width: int, text: str) -> None:
    row = fact_rows.rows([percept(1, text)])[1]
    assert row.height(width) == len(row.lines(width))


class ListApp(App[None]):
    CSS_PATH = themes.style_sheets("looks", "main")

    def __init__(self) -> None:
        super().__init__()
        self.look_book = LookBook()
        self.asked: list[tuple[str, str]] = []

    def compose(self) -> ComposeResult:
        yield FactList(id="facts")
        yield self.look_book

    def on_mount(self) -> None:
        self.list.focus()

    @property
    def list(self) -> FactList:
        return self.query_one(FactList)

    def on_fact_list_asked(self, event: FactList.Asked) -> None:
        self.asked.append((event.what, event.percept.content))


async def test_ten_thousand_facts_scroll_and_only_a_page_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    app = ListApp()
    drawn: list[str] = []
    lines = fact_rows.FactRow.lines

    def counted(self, width):
        drawn.append(self.key)
        return lines(self, width)

    monkeypatch.setattr(fact_rows.FactRow, "lines", counted)
    async with app.run_test(size=(40, 30)) as pilot:
        app.list.show({p.id: p for p in (percept(n, f"fact {n}") for n in range(10_000))})
        await pilot.press("end")
        await pilot.pause()
        assert app.list.percept is not None
        assert app.list.percept.content == "fact 0"
        await pilot.press("pageup", "up", "home")
        await pilot.pause()
        assert app.list.percept.content == "fact 9999"
        assert len(set(drawn)) < 100


async def test_the_cursor_stays_on_its_fact_when_others_come() -> None:
    app = ListApp()
    facts = {p.id: p for p in (percept(n, f"fact {n}", weight=500) for n in range(20))}
    async with app.run_test(size=(40, 12)) as pilot:
        app.list.show(facts)
        await pilot.press("down", "down", "down", "p")
        before = app.asked[-1][1]
        new = percept(99, "heaviest", weight=990)
        app.list.show({**facts, new.id: new}, [new.id])
        await pilot.press("x")
        assert app.asked[-1] == ("forget", before)


async def test_a_new_fact_flashes_for_a_moment_and_nothing_polls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("milk_tui.ui.fact_list.FLASH_S", 0.05)
    app = ListApp()
    async with app.run_test(size=(40, 12)) as pilot:
        one, two = percept(1, "one"), percept(2, "two")
        app.list.show({one.id: one})
        assert app.list._timer is None
        app.list.show({one.id: one, two.id: two}, [two.id])
        assert app.list._flashing == {two.id}
        await pilot.pause(0.2)
        assert not app.list._flashing
        assert app.list._timer is None


async def test_pin_forget_and_undo_by_key(open_desk) -> None:
    async with open_desk() as desk:
        await desk.say(QUEUE)
        await desk.sees("SESSION 2")
        await desk.idle()
        facts = desk.app.main.sidebar.pane.facts
        facts.focus()
        await desk.press("p")
        await desk.sees("★ PINNED 1", "SESSION 1")
        await desk.press("p")
        await desk.sees("SESSION 2")
        await desk.press("x")
        await desk.sees("forgotten, u undoes", "SESSION 1")
        await desk.press("u")
        await desk.sees("SESSION 2")
        await desk.gone("forgotten, u undoes")


async def test_pin_forget_and_undo_by_command(open_desk) -> None:
    async with open_desk() as desk:
        await desk.say("/learn the shop sells milk")
        await desk.sees("the shop sells milk", "remembered #")
        percept_id = next(iter(desk.app.state.percepts.values())).short_id
        await desk.say(f"/pin {percept_id}")
        await desk.sees("★ PINNED 1")
        await desk.say(f"/forget {percept_id}")
        await desk.sees("forgotten, u undoes")
        await desk.say("/restore")
        await desk.gone("forgotten, u undoes")
        await desk.say("/forget #ffffff")
        await desk.sees("There is no fact #ffffff")


async def test_a_secret_is_refused_and_can_be_kept_on_purpose(open_desk) -> None:
    async with open_desk() as desk:
        secret = "the key is sk-ant-api03-" + "a1B2" * 12
        await desk.say(f"/learn {secret}")
        await desk.until(lambda: desk.app.main.box.query_one("#prompt-note").display, "a refusal")
        assert not desk.app.state.percepts
        await desk.say(f"/learn !{secret}")
        await desk.until(lambda: desk.app.state.percepts, "kept")


async def test_the_filter_finds_as_one_types_and_escape_shows_all_again(open_desk) -> None:
    async with open_desk() as desk:
        await desk.say(QUEUE)
        await desk.sees("SESSION 2")
        await desk.idle()
        desk.app.main.sidebar.pane.facts.focus()
        await desk.press("slash", *"prices")
        await desk.sees("for “prices”")
        assert desk.app.main.sidebar.pane.facts.percept.content == "prices are integers"
        await desk.press("enter")
        await desk.until(lambda: desk.app.main.sidebar.pane.facts.has_focus)
        await desk.press("escape")
        await desk.gone("for “prices”")
        await desk.sees("SESSION 2")


async def test_details_tell_where_a_fact_is_from_and_lead_there(open_desk) -> None:
    async with open_desk() as desk:
        await desk.say(QUEUE)
        await desk.sees("SESSION 2")
        await desk.idle()
        for number in range(8):
            await desk.say(rf"filler {number} SCN:repeat 8 line\n\n")
            await desk.idle()
        assert "▌ SCN:tag" not in desk.text
        desk.app.main.sidebar.pane.facts.focus()
        await desk.press("enter")
        await desk.sees("stated by qwen (primary)", "WEIGHT OVER TIME", "captured by primary", "go to turn")
        await desk.press("end", "enter")
        await desk.sees("▌ SCN:tag percept retries")


async def test_the_full_list_lives_too(open_desk) -> None:
    async with open_desk((80, 24)) as desk:
        await desk.press("f2")
        await desk.sees("memory · 0 facts", "nothing remembered yet")
        await desk.app.control.conductor.learn("a fact from elsewhere")
        await desk.sees("memory · 1 fact", "a fact from elsewhere")
        await desk.press("p")
        await desk.sees("★ PINNED 1")
        await desk.press("f2")
        await desk.sees("Ask, or / for commands")
