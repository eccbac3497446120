"""What is written and not sent belongs to its session, and is kept as long as it is neither sent nor taken away."""

from __future__ import annotations

import sqlite3

from milk_tui.store import Store, sessions
from milk_tui.ui.actions import BY_ID
from tests.support.polling import until


async def stored(desk) -> str:
    """The draft that is in the database."""
    control = desk.app.control
    session = await control.workspace.store.read(lambda conn: sessions.get(conn, control.session_id))
    return session.draft


async def test_every_session_has_its_own_however_it_is_left(open_desk) -> None:
    async with open_desk() as desk:
        await desk.say("alpha SCN:say one")
        await desk.idle()
        first = desk.app.control.session_id
        await desk.write("for the first")
        await desk.app.perform(BY_ID["fork-session"])
        await desk.until(lambda: desk.app.control.session_id != first and desk.app.state.ready, "the copy")
        await desk.until(lambda: desk.app.main.prompt.text == "", "an empty prompt")
        await desk.write("for the copy")
        await desk.app.switch_session(first)
        await desk.until(lambda: desk.app.main.prompt.text == "for the first", "its draft")


async def test_what_is_typed_on_while_a_session_opens_is_for_that_one(open_desk) -> None:
    async with open_desk() as desk:
        await desk.say("alpha SCN:say one")
        await desk.idle()
        first = desk.app.control.session_id
        await desk.write("old")
        prompt, control = desk.app.main.prompt, desk.app.control
        show = control._read_session

        async def typed_meanwhile(conductor) -> None:
            prompt.insert_text(" and new")
            await show(conductor)

        control._read_session = typed_meanwhile
        await desk.app.switch_session(new=True)
        await desk.until(lambda: control.session_id != first and prompt.text == " and new", "what was typed since")
        control._read_session = show
        await desk.app.switch_session(first)
        await desk.until(lambda: prompt.text == "old", "what was typed before")


async def test_undo_brings_back_nothing_of_another_session(open_desk) -> None:
    async with open_desk() as desk:
        await desk.say("alpha SCN:say one")
        await desk.idle()
        await desk.write("old")
        await desk.app.switch_session(new=True)
        await desk.until(lambda: desk.app.main.prompt.text == "", "an empty prompt")
        await desk.press("ctrl+z", "ctrl+z")
        assert desk.app.main.prompt.text == ""


async def test_a_prompt_that_is_stored_is_no_draft_any_more_from_that_moment_on(open_desk) -> None:
    async with open_desk() as desk:
        control = desk.app.control
        await control.save_draft("alpha SCN:s")
        await control.submit("alpha SCN:say one")
        assert await stored(desk) == ""
        await control.save_draft("alpha SCN:s")
        assert await stored(desk) == "alpha SCN:s"


async def test_another_draft_stays_when_a_prompt_is_stored(open_desk) -> None:
    async with open_desk() as desk:
        control = desk.app.control
        await control.save_draft("something else")
        await control.submit("alpha SCN:say one")
        assert await stored(desk) == "something else"


async def test_it_is_saved_while_somebody_types_on_without_a_pause(open_desk) -> None:
    async with open_desk() as desk:
        typed = 0

        async def saved() -> bool:
            return len(await stored(desk)) >= 2

        while not await saved():
            await desk.pilot.press("x")
            typed += 1
            assert typed < 2_000


async def test_a_lost_terminal_is_told_twice_and_what_was_written_is_saved_all_the_same(open_desk) -> None:
    """By a signal and by the terminal itself, before anything was done about the first."""
    async with open_desk() as desk:
        await desk.say("alpha SCN:say so far SCN:stall")
        await desk.sees("so far")
        desk.app.main.prompt.set_text("half a thought")
        database, session = desk.app.control.workspace.store.path, desk.app.control.session_id
        desk.app.terminal_lost()
        desk.app.terminal_lost()
        await until(lambda: desk.app._exit, what="the end")
        assert desk.app.control.workspace is None, "left before everything was let go"
        store = Store.open(database)
        try:
            assert store.read_sync(lambda conn: sessions.get(conn, session)).draft == "half a thought"
            assert [status for (status,) in store.read_sync(statuses)] == ["cancelled"]
        finally:
            store.close()


def statuses(conn: sqlite3.Connection) -> list[tuple[str]]:
    return [tuple(row) for row in conn.execute("select status from turns")]
