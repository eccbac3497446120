"""What an agent asks is answered over the prompt (``quality.md`` "permissions"): never by keys meant for the prompt."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable

import pytest
from textual import events

from milk_tui.core.permissions import PermissionRequest, Question, Scope, Verdict
from milk_tui.core.records import Role
from milk_tui.store import grants
from milk_tui.ui.permission_dialog import PermissionDialog
from tests.ui.conftest import Desk

DIFF = "--- a/shop.py\n+++ b/shop.py\n@@ -1,2 +1,2 @@\n-charge(order)\n+charge(order, key=order.id)\n"


def request(number: int = 1, **more: object) -> PermissionRequest:
    values = {
        "id": f"r{number}",
        "role": Role.PRIMARY,
        "agent_name": "qwen",
        "tool": "run_command",
        "arguments": json.dumps({"command": "pytest -q", "timeout_s": 30}),
        "title": "run pytest -q",
        "body": "pytest -q",
        "language": "bash",
        "directory": "/work/shop",
        "pattern": "pytest *",
    }
    return PermissionRequest(**{**values, **more})  # type: ignore[arg-type]


class Asked:
    """The program with agents that ask."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.permissions = desk.app.control.conductor.permissions  # type: ignore[union-attr]

    async def ask(self, *requests: PermissionRequest) -> list[asyncio.Task[Verdict]]:
        asking = [asyncio.create_task(self.permissions.ask(each)) for each in requests]
        await self.desk.until(lambda: len(self.permissions.pending) >= len(requests), "requests")
        await self.desk.until(lambda: self.dialog is not None and self.dialog.request is not None, "the dialog")
        return asking

    @property
    def dialog(self) -> PermissionDialog | None:
        return self.desk.app.main.permission

    async def settled(self) -> None:
        """The dialog has the keyboard, and keys mean it."""
        await self.desk.until(
            lambda: self.dialog is not None and self.dialog.has_focus and self.dialog.settled, "the dialog's keys"
        )

    async def answered(self, asking: Awaitable[Verdict]) -> Verdict:
        return await asyncio.wait_for(asking, 10)


async def test_a_request_shows_who_what_where_and_every_argument(open_desk) -> None:
    async with open_desk() as desk:
        asked = Asked(desk)
        await asked.ask(request())
        await desk.sees("● qwen asks", "run pytest -q", "run_command · in /work/shop", '"timeout_s": 30')
        await desk.sees("y once", "s this session", "a always", "w cover every pytest *", "n deny")
        await desk.sees("qwen asks: run pytest -q")


@pytest.mark.parametrize(
    ("keys", "scope", "kept"),
    [
        ("y", Scope.ONCE, ""),
        ("s", Scope.SESSION, '{"command"'),
        ("wa", Scope.ALWAYS, "pytest *"),
    ],
)
async def test_the_keys_answer(open_desk, keys: str, scope: Scope, kept: str) -> None:
    async with open_desk() as desk:
        asked = Asked(desk)
        (asking,) = await asked.ask(request())
        await asked.settled()
        for key in keys:
            await desk.press(key)
            await desk.until(lambda key=key: asking.done() or key != "w" or asked.dialog.wide, "the key to count")
        verdict = await asked.answered(asking)
        assert (verdict.allowed, verdict.scope) == (True, scope)
        await desk.gone("qwen asks")
        assert desk.app.main.prompt.has_focus
        found = await desk.app.control.workspace.store.read(lambda conn: grants.all_of(conn))
        assert [grant.covered.startswith(kept) for grant in found] == ([True] if kept else [])


async def test_a_denial_takes_a_reason(open_desk) -> None:
    async with open_desk() as desk:
        asked = Asked(desk)
        (asking,) = await asked.ask(request())
        await asked.settled()
        await desk.press("n")
        await desk.until(lambda: asked.dialog.line.has_focus, "the line for the reason")
        await desk.press(*"use", "space", *"make", "enter")
        verdict = await asked.answered(asking)
        assert (verdict.allowed, verdict.reason) == (False, "use make")


async def test_keys_typed_ahead_answer_nothing_and_are_not_lost(open_desk) -> None:
    async with open_desk() as desk:
        asked = Asked(desk)
        (asking,) = await asked.ask(request())
        await desk.until(lambda: asked.dialog.has_focus)
        asked.dialog._since += 60
        await desk.press("y")
        await desk.until(lambda: desk.app.main.prompt.full_text == "y", "the key in the prompt")
        await desk.press("e", "s")
        assert desk.app.main.prompt.full_text == "yes"
        assert not asking.done()


async def test_a_word_typed_without_looking_answers_nothing_and_stands_in_the_prompt(open_desk) -> None:
    async with open_desk() as desk:
        asked = Asked(desk)
        (asking,) = await asked.ask(request())
        await asked.settled()
        await desk.press("y", "e")
        await desk.until(lambda: desk.app.main.prompt.full_text == "ye", "the word in the prompt")
        await desk.press("s")
        assert desk.app.main.prompt.full_text == "yes"
        assert not asking.done()


async def test_while_the_person_writes_the_prompt_keeps_the_keyboard(open_desk) -> None:
    async with open_desk() as desk:
        asked = Asked(desk)
        await desk.write("yes and")
        (asking,) = await asked.ask(request())
        await desk.press("y", "n", "enter")
        assert not asking.done()
        assert asked.dialog is not None
        assert not asked.dialog.has_focus
        await desk.sees("F6 answers")


async def test_a_prompt_that_was_just_sent_or_cleared_is_not_at_rest(open_desk) -> None:
    async with open_desk() as desk:
        asked = Asked(desk)
        await asked.ask(request(1))
        await asked.settled()
        await desk.press("escape")
        await desk.write("y")
        await desk.press("backspace", "y", "backspace")
        assert desk.app.main.prompt.has_focus
        assert [each.id for each in asked.permissions.pending] == ["r1"]


async def test_f6_goes_to_the_dialog_and_escape_back_to_the_prompt(open_desk) -> None:
    async with open_desk() as desk:
        asked = Asked(desk)
        await desk.write("half a thought")
        (asking,) = await asked.ask(request())
        await desk.press("f6")
        assert asked.dialog.has_focus
        await desk.press("escape")
        assert desk.app.main.prompt.has_focus
        assert not asking.done()
        await desk.press("f6")
        await asked.settled()
        await desk.press("y")
        assert (await asked.answered(asking)).allowed
        assert desk.app.main.prompt.full_text == "half a thought"


async def test_the_next_request_does_not_take_the_key_of_the_one_before(open_desk) -> None:
    async with open_desk() as desk:
        asked = Asked(desk)
        first, second = await asked.ask(
            request(1), request(2, arguments='{"command": "rm x"}', title="run rm x", pattern="")
        )
        await desk.sees("1 of 2", "1 more")
        await asked.settled()
        await desk.press("y")
        assert (await asked.answered(first)).allowed
        await desk.sees("run rm x")
        asked.dialog._since += 60
        await desk.press("y")
        assert not second.done()
        asked.dialog._since -= 120
        asked.dialog.focus()
        await desk.pilot.pause()
        asked.dialog._since = 0
        await desk.press("y")
        assert (await asked.answered(second)).allowed


async def test_a_withdrawn_request_disappears(open_desk) -> None:
    async with open_desk() as desk:
        asked = Asked(desk)
        (asking,) = await asked.ask(request())
        await desk.sees("qwen asks")
        asking.cancel()
        await desk.gone("qwen asks")
        assert asked.dialog is None


async def test_what_must_be_asked_every_time_offers_nothing_that_lasts(open_desk) -> None:
    async with open_desk() as desk:
        asked = Asked(desk)
        await asked.ask(request(scopes=(Scope.ONCE,), pattern="", body=DIFF, language="diff", tool="write_file"))
        await desk.sees("asked every time", "+charge(order, key=order.id)", "y once")
        assert "a always" not in desk.text


async def test_a_click_answers_and_one_that_comes_too_early_does_not(open_desk) -> None:
    async with open_desk() as desk:
        asked = Asked(desk)
        (asking,) = await asked.ask(request())
        await desk.sees("y once")
        asked.dialog._since += 60
        await desk.pilot.click(asked.dialog.choices, offset=(1, asked.dialog.choices.size.height - 1))
        assert not asking.done()
        asked.dialog._since = 0
        await desk.pilot.click(asked.dialog.choices, offset=(1, asked.dialog.choices.size.height - 1))
        assert (await asked.answered(asking)).scope is Scope.ONCE


async def test_questions_are_answered_in_the_same_place(open_desk) -> None:
    async with open_desk() as desk:
        asked = Asked(desk)
        questions = (
            Question(text="Which database?", header="storage", choices=("Postgres", "SQLite")),
            Question(text="Which checks?", choices=("lint", "types", "tests"), multiple=True),
            Question(text="What is it called?"),
        )
        (asking,) = await asked.ask(request(questions=questions, tool="AskUserQuestion", arguments="{}"))
        await desk.sees("has a question", "question 1 of 3", "Which database?", "1 Postgres", "2 SQLite")
        await asked.settled()
        await desk.press("2")
        await desk.sees("Which checks?", "[ ] lint")
        asked.dialog._since = 0
        await desk.press("1", "3")
        await desk.sees("[x] lint", "[ ] types", "[x] tests")
        await desk.press("enter")
        await desk.sees("What is it called?")
        asked.dialog._since = 0
        await desk.press("t", *"shop", "enter")
        verdict = await asked.answered(asking)
        assert verdict.answers == {
            "Which database?": "SQLite",
            "Which checks?": "lint, tests",
            "What is it called?": "shop",
        }


async def test_a_long_request_scrolls_and_leaves_the_answers_in_sight(open_desk) -> None:
    async with open_desk((40, 12)) as desk:
        asked = Asked(desk)
        body = "\n".join(f"echo line {number}" for number in range(200))
        await asked.ask(request(body=body, arguments=json.dumps({"command": body})))
        await asked.settled()
        await desk.sees("y once", "n deny")
        await desk.press(*["pagedown"] * 60)
        await desk.sees("echo line 199")


async def test_commands_answer_too(open_desk) -> None:
    async with open_desk() as desk:
        asked = Asked(desk)
        await desk.write("x")
        first, second = await asked.ask(request(1), request(2, arguments="{}", pattern=""))
        await desk.until(lambda: asked.dialog.settled)
        await desk.say("/allow once")
        assert (await asked.answered(first)).scope is Scope.ONCE
        await desk.until(lambda: asked.dialog is not None and asked.dialog.settled)
        await desk.say("/deny not now")
        assert (await asked.answered(second)).reason == "not now"


@pytest.mark.parametrize("by_key", [True, False])
async def test_a_command_that_is_begun_at_the_dialog_is_written_in_the_prompt(open_desk, by_key: bool) -> None:
    async with open_desk() as desk:
        asked = Asked(desk)
        (asking,) = await asked.ask(request())
        await asked.settled()
        if by_key:
            await desk.press("escape", "f6")
            await asked.settled()
        for key in ("slash", *"deny"):
            desk.app.post_message(events.Key(key, {"slash": "/"}.get(key, key)))
        await desk.until(lambda: desk.app.main.prompt.text == "/deny", "the command")
        assert not asking.done()
        await desk.press("space", *"later")
        await desk.until(lambda: asked.dialog.settled, "time to read")
        await desk.press("enter")
        assert (await asked.answered(asking)).reason == "later"


async def test_hostile_text_is_shown_and_does_nothing(open_desk) -> None:
    async with open_desk() as desk:
        asked = Asked(desk)
        hostile = "echo [bold]x[/] \x1b]52;c;aGk=\x07\u202egnp.exe \x1b[2J"
        await asked.ask(request(title=f"run {hostile}", body=hostile, arguments=json.dumps({"command": hostile})))
        await desk.sees("[bold]x[/]", "\\u001b]52;c;aGk=\\u0007\\u202egnp.exe")
