"""The list of facts as a widget: it stays quick with thousands, keeps its place, flashes, and says what is wanted."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from textual.app import App, ComposeResult
from textual.events import Key

from milk_tui.core.records import PerceptScope, PerceptStatus
from milk_tui.ui import fact_rows, themes
from milk_tui.ui.fact_list import FactList
from milk_tui.ui.fact_live import AT_ONCE
from milk_tui.ui.fact_views import FoundView
from milk_tui.ui.paint import LookBook
from milk_tui.ui.row_list import RowList
from tests.support.polling import until
from tests.ui.samples import percept

MANY = 10_000


class ListApp(App[None]):
    CSS_PATH = themes.style_sheets("looks", "main")

    def __init__(self, *, all_groups: bool = False) -> None:
        super().__init__()
        self.look_book = LookBook()
        self.all_groups = all_groups
        self.asked: list[tuple[str, list[str]]] = []

    def compose(self) -> ComposeResult:
        yield FactList(id="facts", all_groups=self.all_groups)
        yield self.look_book

    def on_mount(self) -> None:
        self.list.focus()

    @property
    def list(self) -> FactList:
        return self.query_one(FactList)

    @property
    def here(self) -> str:
        return self.list.percept.content if self.list.percept is not None else ""

    def on_fact_list_asked(self, event: FactList.Asked) -> None:
        self.asked.append((event.what, [fact.content for fact in event.percepts]))


def facts_of(number: int, **more: object) -> dict:
    return {p.id: p for p in (percept(n, f"fact {n}", confirmed_ms=-n, **more) for n in range(number))}


async def test_ten_thousand_facts_scroll_and_only_a_page_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    app = ListApp()
    drawn: list[str] = []
    lines = fact_rows.FactRow.lines

    def counted(self, width, seen=fact_rows.NOTHING_SEEN):
        drawn.append(self.key)
        return lines(self, width, seen)

    monkeypatch.setattr(fact_rows.FactRow, "lines", counted)
    async with app.run_test(size=(40, 30)) as pilot:
        app.list.show(facts_of(MANY))
        await until(lambda: len(app.list.rows) == MANY + 1)
        await pilot.press("end")
        assert app.here == f"fact {MANY - 1}"
        await pilot.press("pageup", "up", "home")
        assert app.here == "fact 0"
        assert len(set(drawn)) < 100


async def test_what_changes_while_thousands_are_put_in_order_is_not_lost() -> None:
    app = ListApp()
    async with app.run_test(size=(40, 30)):
        facts = facts_of(AT_ONCE * 3)
        app.list.show(facts)
        new = percept(99_999, "meanwhile", weight=999)
        facts[new.id] = new
        gone = facts.pop(next(iter(facts)))
        app.list.show(facts, [new.id, gone.id])
        await until(lambda: len(app.list.rows) == AT_ONCE * 3 + 1)
        await until(lambda: app.list.rows[1].key == new.id)
        assert gone.id not in {row.key for row in app.list.rows}


async def test_the_cursor_stays_on_its_fact_when_others_come() -> None:
    app = ListApp()
    facts = facts_of(20, weight=500)
    async with app.run_test(size=(40, 12)) as pilot:
        app.list.show(facts)
        await pilot.press("down", "down", "down")
        before = app.here
        new = percept(99, "heaviest", weight=990)
        facts[new.id] = new
        app.list.show(facts, [new.id])
        await pilot.press("x")
        assert app.asked[-1] == ("forget", [before])


async def test_the_cursor_does_not_go_with_a_fact_that_is_forgotten() -> None:
    app = ListApp(all_groups=True)
    facts = facts_of(5)
    async with app.run_test(size=(80, 20)) as pilot:
        app.list.show(facts)
        await pilot.press("down")
        gone = app.list.percept
        facts[gone.id] = replace(gone, status=PerceptStatus.FORGOTTEN)
        app.list.show(facts, [gone.id])
        assert app.here == "fact 2"


async def test_a_new_fact_flashes_for_a_moment_and_nothing_polls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("milk_tui.ui.fact_live.FLASH_S", 0.05)
    app = ListApp()
    async with app.run_test(size=(40, 12)) as pilot:
        facts = facts_of(1)
        app.list.show(facts)
        await pilot.pause()
        assert app.list._flash_timer is None
        two = percept(2, "two")
        facts[two.id] = two
        app.list.show(facts, [two.id])
        assert app.list._flashes == {two.id}
        assert app.list._under(1, app.list.rows[1]) == "flash"
        await until(lambda: not app.list._flashes)
        await until(lambda: app.list._flash_timer is None and app.list._rest is None)


async def test_marked_facts_are_asked_for_together_in_the_order_of_their_marks() -> None:
    app = ListApp()
    async with app.run_test(size=(80, 20)) as pilot:
        app.list.show(facts_of(5))
        await pilot.press("down", "down", "space", "home", "space", "p")
        assert app.asked[-1] == ("pin", ["fact 2", "fact 0"])
        await pilot.press("e")
        assert app.asked[-1] == ("edit", ["fact 1"])
        app.list.taken_over()
        await pilot.press("x")
        assert app.asked[-1] == ("forget", ["fact 2", "fact 0"])
        assert not app.list.marks


@pytest.mark.parametrize(("key", "what"), [("m", "merge"), ("s", "supersede")])
async def test_two_facts_are_the_marked_ones_or_one_and_that_under_the_cursor(key: str, what: str) -> None:
    app = ListApp()
    async with app.run_test(size=(80, 20)) as pilot:
        app.list.show(facts_of(5))
        await pilot.press(key)
        assert app.asked[-1] == (what, [])
        await pilot.press("down", "space", "end", key)
        assert app.asked[-1] == (what, ["fact 1", "fact 4"])
        await pilot.press("space", "home", "space", "space", key)
        assert app.asked[-1] == (what, ["fact 4", "fact 0", "fact 1"])
        assert len(app.list.marks) == 3
        await pilot.press("up", "space", key)
        assert app.asked[-1] == (what, ["fact 4", "fact 0"])
        assert not app.list.marks


async def test_keys_that_were_typed_ahead_reach_what_they_were_meant_for() -> None:
    app = ListApp()
    async with app.run_test(size=(80, 20)) as pilot:
        app.list.show(facts_of(5))
        await pilot.press("slash", "x", "p")
        assert app.asked == []
        other = RowList(id="other")
        got: list[str] = []
        other.key_x = lambda: got.append("x")  # type: ignore[attr-defined]
        other.key_p = lambda: got.append("p")  # type: ignore[attr-defined]
        await app.mount(other)
        app.screen.set_focus(other)
        app.list.taken_over()
        await pilot.pause()
        assert (got, app.asked) == (["x", "p"], [])
        app.list.post_message(Key("x", "x"))
        await pilot.pause()
        assert (got, app.asked) == (["x", "p", "x"], [])


async def test_keys_that_nobody_takes_over_are_forgotten_and_the_list_goes_on(monkeypatch) -> None:
    monkeypatch.setattr("milk_tui.ui.in_order.AT_MOST_S", 0.5)
    app = ListApp()
    async with app.run_test(size=(80, 20)) as pilot:
        app.list.show(facts_of(5))
        await pilot.press("enter", "x")
        await until(lambda: app.list._held is None)
        assert [what for what, _ in app.asked] == ["details"]
        await pilot.press("x")
        assert [what for what, _ in app.asked] == ["details", "forget"]


async def test_a_click_before_a_fact_marks_it_and_two_on_it_open_it() -> None:
    app = ListApp()
    async with app.run_test(size=(80, 20)) as pilot:
        app.list.show(facts_of(5))
        await pilot.pause()
        await pilot.click(FactList, offset=(0, 3))
        assert list(app.list.marks.values()) == [1]
        assert app.list.targets[0].content == "fact 2"
        await pilot.click(FactList, offset=(0, 0))
        assert len(app.list.marks) == 1
        await pilot.click(FactList, offset=(20, 2), times=2)
        assert app.asked == [("details", ["fact 1"])]


async def test_a_view_lives_too_and_leaves_the_cursor_where_it_was() -> None:
    app = ListApp()
    facts = facts_of(9)
    async with app.run_test(size=(80, 20)) as pilot:
        app.list.show(facts)
        await pilot.press("down", "down")
        hits = [facts[id_] for id_ in list(facts)[4:6]]
        app.list.show_view(FoundView("words", [(hit, 0.5) for hit in hits]))
        assert app.here == "fact 4"
        facts[hits[0].id] = replace(hits[0], content="changed")
        app.list.show(facts, [hits[0].id])
        await until(lambda: app.here == "changed")
        app.list.show_view(None)
        assert app.here == "changed"


async def test_brackets_lead_from_group_to_group() -> None:
    app = ListApp(all_groups=True)
    async with app.run_test(size=(80, 20)):
        everywhere = percept(60, "everywhere", scope=PerceptScope.GLOBAL)
        facts = [*facts_of(4).values(), percept(50, "pin", pinned=True), everywhere]
        app.list.show({fact.id: fact for fact in facts})
        app.list.action_edge(0)
        assert app.here == "pin"
        app.list.move_group(1)
        assert app.here == "fact 0"
        app.list.move_group(1)
        assert app.here == "everywhere"
        app.list.move_group(1)
        assert app.here == "everywhere"
        app.list.move_group(-1)
        assert app.here == "fact 0"
