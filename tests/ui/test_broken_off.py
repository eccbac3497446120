"""A turn that ended between two agents, as after a kill: the conversation says so, and what to do."""

from __future__ import annotations

from typing import Any

import pytest

SAID = "the turn ended before the next agent was asked"


async def ended(open_desk: Any, turn: str, leg: str) -> str:
    """What is on the screen of the next start after a turn and its leg ended like that."""
    async with open_desk() as desk:
        await desk.say("SCN:say half of it")
        await desk.idle()
        store = desk.app.control.workspace.store
        await store.write(lambda db: db.execute("update turns set status = ?", (turn,)))
        await store.write(lambda db: db.execute("update legs set status = ?", (leg,)))
    async with open_desk() as desk:
        await desk.sees("half of it")
        text: str = desk.text
        if "/retry" in text:
            await desk.say("/retry")
            await desk.idle()
            asked = desk.app.control.workspace.store.read_sync(lambda c: c.execute("select id from legs").fetchall())
            assert len(asked) == 2
        return text


@pytest.mark.parametrize("turn", ["interrupted", "failed"])
async def test_a_turn_whose_last_agent_answered_and_nobody_went_on(open_desk: Any, turn: str) -> None:
    text = await ended(open_desk, turn, "done")
    assert SAID in " ".join(text.replace("│", " ").split()) and "/retry asks again" in text


async def test_an_agent_that_was_interrupted_itself_says_it_once(open_desk: Any) -> None:
    text = await ended(open_desk, "interrupted", "interrupted")
    assert SAID not in " ".join(text.replace("│", " ").split())
    assert text.count("/retry asks again") == 1


async def test_a_turn_at_its_end_says_nothing_of_it(open_desk: Any) -> None:
    assert "/retry" not in await ended(open_desk, "done", "done")
