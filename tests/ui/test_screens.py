"""Inspector, perception, sessions, help and palette at the keyboard."""

from __future__ import annotations

import pytest

from milk_tui.core.records import BrickKind, Layer, PerceptionEntry
from milk_tui.ui import actions, help, inspector_rows, perception
from milk_tui.ui.inspector_rows import NeedAge
from milk_tui.ui.paint import plain
from tests.ui.samples import NOW, brick, receipt, segment

FACT = "SCN:tag need fix the double charge SCN:tag percept retries live in the queue SCN:say It is the queue."


def shown(rows, width: int = 60) -> str:
    return "\n".join(plain(line).rstrip() for row in rows for line in row.lines(width))


def test_bricks_show_their_numbers() -> None:
    text = shown(
        inspector_rows.brick_rows(
            [
                brick(BrickKind.NEED, "ship it", turn_id=3, author="user", version=2),
                brick(BrickKind.BRIEF, "too deep", delivered_leg=9),
                brick(BrickKind.PRIMARY_SUMMARY, "x" * 6_000, collapsed=4, cut=2, dropped=7),
            ],
            12_000,
            NeedAge(5),
        ),
        100,
    )
    assert "5 turns old, may be done already · version 2 by user, turn 3" in text
    assert "delivered with leg 9" in text
    assert "▰▰▰▰▰▱▱▱▱▱ 6.0k/12.0k" in text
    assert "4 tool calls collapsed · 2 texts cut · 7 turns dropped" in text
    assert "escalation's summary\n  nothing done yet" in text


def test_a_long_brick_is_cut_in_the_list_and_says_so() -> None:
    text = shown(inspector_rows.brick_rows([brick(BrickKind.BRIEF, "line\n" * 50)], 12_000, None))
    assert text.count("line\n") == inspector_rows.PREVIEW_LINES
    assert "43 more lines: enter shows all" in text


def test_a_receipt_says_what_was_sent_and_why_the_rest_was_not() -> None:
    text = shown(
        inspector_rows.receipt_detail_rows(
            receipt(
                segment("identity", "you are …", stable=True, why="who it is"),
                segment("current_need", "ship it", why="set by user"),
                segment("frame", why="none was written"),
            )
        )
    )
    assert "■ identity  9  fixed" in text
    assert "■ current need  7\n" in text
    assert "□ frame  left out\n    none was written" in text


def test_perception_entries_say_who_when_and_why() -> None:
    text = shown(
        perception.entry_rows(
            [
                PerceptionEntry(
                    layer=Layer.FRAME,
                    key="decided",
                    value="use a queue",
                    reason="retries",
                    writer="claude",
                    turn_id=4,
                    updated_ms=NOW,
                ),
                PerceptionEntry(layer=Layer.FRAME, key="removed", value=""),
                PerceptionEntry(layer=Layer.INVARIANT, key="stack", value="python", proposed=True),
            ]
        )
    )
    assert "decided\n  use a queue\n  because retries\n  claude · turn 4 · " in text
    assert "stack (proposed)" in text
    assert "removed" not in text


def test_help_finds_by_key_command_and_words() -> None:
    keymap = actions.Keymap({})

    def ids(words: str) -> list[str]:
        return [row.key for row in help.help_rows(words, keymap) if row.selectable]

    assert ids("ctrl+g") == ["escalate"]
    assert ids("hand back") == ["hand-back"]
    assert ids("/learn") == ["learn"]
    assert ids("no such thing") == []
    assert set(ids("")) == set(actions.BY_ID)


async def test_the_inspector_shows_what_an_escalation_would_send_and_what_was_sent(open_desk) -> None:
    async with open_desk() as desk:
        await desk.say(FACT)
        await desk.sees("It is the queue.")
        await desk.idle()
        await desk.press("f3")
        await desk.sees("IF I ESCALATED NOW", "■ current need", "fix the double charge", "primary's summary", "□ frame")
        await desk.press("f6", "end")
        await desk.sees("RECEIPTS", "● qwen")
        await desk.press("enter")
        await desk.sees("sent to qwen, turn 1", "■ identity")
        await desk.press("enter")
        await desk.sees("esc closes")
        await desk.press("escape", "escape", "escape")
        await desk.sees("Ask, or / for commands")


async def test_the_inspector_says_how_to_get_an_escalation_agent(open_desk, home) -> None:
    from tests.ui.conftest import configure

    configure(home, '[session]\nprimary = "qwen"\n[agents.qwen]\nmodel = "scripted/fast"\n')
    async with open_desk() as desk:
        await desk.press("f3")
        await desk.sees("IF I ESCALATED NOW", "--escalation")


async def test_a_receipt_in_the_conversation_opens_in_the_inspector(open_desk) -> None:
    async with open_desk() as desk:
        desk.app.main.prompt.set_text("deep SCN:say done")
        await desk.press("ctrl+g")
        await desk.sees("[F3]")
        await desk.idle()
        row = next(y for y, line in enumerate(desk.text.split("\n")) if "[F3]" in line)
        await desk.pilot.click("#transcript", offset=(8, row - 2))
        await desk.sees("sent to claude, turn 1", "■ identity")


async def test_every_version_of_a_brick_is_there(open_desk) -> None:
    async with open_desk() as desk:
        for need in ("first need", "second need"):
            await desk.say(f"/need {need}")
            await desk.sees(need)
        await desk.press("f3")
        await desk.sees("second need")
        await desk.press("home", "enter")
        await desk.sees("version 2 by user", "version 1 by user", "first need")


async def test_sessions_are_listed_resumed_and_renamed(open_desk) -> None:
    async with open_desk() as desk:
        await desk.say("alpha SCN:say one")
        await desk.sees("one")
        await desk.idle()
        await desk.press("ctrl+n")
        await desk.sees("new session")
        await desk.say("beta SCN:say two")
        await desk.sees("│  two")
        await desk.idle()
        await desk.press("ctrl+o")
        await desk.sees("sessions of this directory", "+ new session", "alpha SCN:say one", "beta SCN:say two")
        await desk.press(*"alpha")
        await desk.gone("+ new session")
        await desk.press("ctrl+r")
        await desk.sees("rename the session")
        await desk.press("home", "ctrl+k", *"renamed", "enter")
        await desk.sees("renamed")
        await desk.press(*"renamed", "enter")
        await desk.sees("milk · renamed", "│  one")
        assert "│  two" not in desk.text


async def test_sessions_of_other_directories_are_one_key_away(open_desk, home) -> None:
    (home / "other").mkdir()
    async with open_desk() as desk:
        await desk.say("alpha SCN:say one")
        await desk.sees("│  one")
        await desk.idle()
    from milk_tui.engine.launch import Launch
    from milk_tui.ui.app import MilkApp
    from tests.ui.conftest import Desk

    app = MilkApp(Launch(directory=home / "other"))
    async with app.run_test(size=(120, 40)) as pilot:
        desk = Desk(app, pilot)
        await desk.ready()
        await desk.press("ctrl+o")
        await desk.sees("sessions of this directory")
        assert "alpha" not in desk.text
        await desk.press("tab")
        await desk.sees("sessions of every directory", "alpha")
        await desk.press(*"alpha", "enter")
        await desk.sees("│  one")
        await app.control.close()


async def test_each_session_keeps_its_draft(open_desk) -> None:
    async with open_desk() as desk:
        await desk.say("alpha SCN:say one")
        await desk.sees("│  one")
        await desk.idle()
        await desk.write("draft of alpha")
        await desk.press("ctrl+n")
        await desk.sees("milk · new session")
        assert desk.app.main.prompt.text == ""
        await desk.press("ctrl+o")
        await desk.sees("alpha")
        await desk.press(*"alpha", "enter")
        await desk.sees("│  one")
        assert desk.app.main.prompt.text == "draft of alpha"


async def test_help_runs_what_is_chosen(open_desk) -> None:
    async with open_desk() as desk:
        await desk.press("f1")
        await desk.sees("ON THE MAIN SCREEN", "escalate")
        await desk.press(*"perception", "enter")
        await desk.sees("no slice is open yet")


async def test_the_palette_finds_and_runs_commands(open_desk) -> None:
    async with open_desk() as desk:
        await desk.press("ctrl+p")
        await desk.sees("find a command", "/bricks")
        await desk.press(*"sidebar")
        await desk.sees("/sidebar")
        await desk.press("enter")
        await desk.until(lambda: desk.app.main.has_class("-no-sidebar"), "the sidebar is hidden")


async def test_the_palette_puts_a_command_that_needs_more_into_the_prompt(open_desk) -> None:
    async with open_desk() as desk:
        await desk.press("ctrl+p", *"learn", "enter")
        await desk.until(lambda: desk.app.main.prompt.text == "/learn ")


async def test_earlier_prompts_are_searched(open_desk) -> None:
    async with open_desk() as desk:
        for word in ("apples", "pears"):
            await desk.say(f"about {word} SCN:say ok")
            await desk.idle()
        await desk.press("ctrl+r")
        await desk.sees("earlier prompts")
        await desk.press(*"apples", "enter")
        await desk.until(lambda: desk.app.main.prompt.text == "about apples SCN:say ok")


@pytest.mark.parametrize("command", ["help", "sessions", "memory", "bricks", "perception", "palette", "history"])
async def test_every_screen_has_a_command(open_desk, command: str) -> None:
    async with open_desk() as desk:
        await desk.say(f"/{command}")
        await desk.until(lambda: desk.app.screen is not desk.app.main, command)
        await desk.press("escape")
        await desk.until(lambda: desk.app.screen is desk.app.main, "back")
        assert desk.app.main.prompt.has_focus


async def test_full_screens_replace_one_another(open_desk) -> None:
    async with open_desk() as desk:
        await desk.press("f2", "f3", "f4")
        await desk.sees("no slice is open yet")
        assert len(desk.app.screen_stack) == 2
        await desk.press("f4")
        assert desk.app.screen is desk.app.main
