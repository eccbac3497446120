"""What is offered behind a slash command: the things that there are, by what the registry says that it takes."""

from __future__ import annotations

import pytest

from milk_tui.ui.action import Takes
from milk_tui.ui.actions import ACTIONS, BY_COMMAND
from milk_tui.ui.arguments import Arguments, _part


@pytest.mark.parametrize(
    ("takes", "written", "expected"),
    [
        ((Takes.FACT,), "", ("", "", Takes.FACT)),
        ((Takes.FACT,), "#a1", ("", "#a1", Takes.FACT)),
        ((Takes.FACT,), "#a1 text", ("", "#a1 text", None)),
        ((Takes.FACT, Takes.FACT), "#a1 #b", ("#a1 ", "#b", Takes.FACT)),
        ((Takes.FACT, Takes.FACT), "#a1 #b2 ", ("#a1 ", "#b2 ", None)),
        ((Takes.ROLE_OR_AGENT, Takes.AGENT), "primary cl", ("primary ", "cl", Takes.AGENT)),
        ((Takes.SESSION,), "the long title", ("", "the long title", Takes.SESSION)),
    ],
)
def test_the_argument_that_is_being_written_is_known(
    takes: tuple[Takes, ...], written: str, expected: tuple[str, str, Takes | None]
) -> None:
    before, part, what = _part(takes, written)
    assert what is expected[2]
    if what is not None:
        assert (before, part) == expected[:2]


def test_whatever_the_registry_says_that_a_command_takes_is_found_somewhere() -> None:
    arguments = Arguments(None, lambda: ())  # type: ignore[arg-type]
    assert {takes for action in ACTIONS for takes in action.takes} <= set(arguments._found)
    for action in ACTIONS:
        assert not action.takes or (action.command and action.arguments), action.id


async def test_agents_facts_sessions_themes_files_and_what_is_set_are_offered(open_desk, home) -> None:
    (home / "shop" / "app.py").write_text("x")
    async with open_desk() as desk:
        find = desk.app.main._find_arguments
        await desk.say("/learn the port is 8413")
        await desk.until(lambda: desk.app.state.percepts, "a fact")
        await desk.say("/need find the port")
        await desk.until(lambda: desk.app.state.bricks.get("current_need"), "a need")
        fact = next(iter(desk.app.state.percepts.values()))

        assert {"primary", "escalation", "qwen", "claude"} <= {c.value for c in await find("agent", "")}
        assert [c.value for c in await find("agent", "primary cl")] == ["primary claude"]
        assert [c.value for c in await find("forget", "")] == [fact.short_id]
        assert "the port is 8413" in (await find("pin", "port"))[0].about
        assert await find("edit", f"{fact.short_id} other text") == ()
        assert "milk-light" in {c.value for c in await find("theme", "li")}
        assert await find("theme", "milk-light ") == ()
        assert [c.value for c in await find("need", "")] == ["find the port"]
        assert {c.value.rpartition(".")[2] for c in await find("save", "")} == {"md", "html", "json"}
        assert [c.value for c in await find("perception", "w")] == ["write"]
        assert await find("merge", f"{fact.short_id} ") == []
        assert await find("resume", "") == []
        assert [c.value for c in await find("add", "app")] == ["app.py"]


async def test_an_offered_argument_is_taken_with_tab_and_then_sent_with_enter(open_desk) -> None:
    async with open_desk() as desk:
        before = desk.app.theme
        await desk.write("/theme milk-li")
        await desk.until(lambda: desk.app.main.box.completion.is_open, "the list")
        await desk.press("tab")
        await desk.until(lambda: desk.app.main.prompt.text == "/theme milk-light ", "the theme")
        await desk.press("enter")
        await desk.until(lambda: desk.app.theme == "milk-light" != before, "the theme is taken")


def test_every_command_that_names_facts_offers_them() -> None:
    named = [action for action in ACTIONS if action.command and "ID" in action.arguments.split()]
    assert named and all(set(action.takes) & {Takes.FACT, Takes.GONE_FACT} for action in named)
    assert BY_COMMAND["undo"].takes == (Takes.GONE_FACT,)
