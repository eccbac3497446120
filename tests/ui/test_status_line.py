"""What the status line says: an expired cache before a prompt is sent, a retry's countdown, news without a sidebar."""

from __future__ import annotations

from milk_tui.engine import events as e
from milk_tui.ui import reduce, summary
from milk_tui.ui.paint import plain
from milk_tui.ui.state import RunningLeg, SessionState


def test_a_retry_is_counted_down_until_something_arrives() -> None:
    state = SessionState(running=RunningLeg(1, 1, "primary", "qwen", 0.0))
    notice = e.LegNotice(
        session_id="s", leg_id=1, text="Too many requests: trying again in 8 s (attempt 1)", retry_in_s=8
    )
    reduce.apply(state, notice, 10.0)
    assert "tries again in 8 s" in plain(summary.status(state, 10.0, 0))
    assert "tries again in 3 s · Too many requests" in plain(summary.status(state, 15.0, 0))
    assert "tries again ·" in plain(summary.status(state, 30.0, 0))
    reduce.apply(state, e.LegText(session_id="s", leg_id=1, text="hello"), 31.0)
    assert "again" not in plain(summary.status(state, 31.0, 0))


async def test_an_expired_cache_is_said_before_the_prompt_is_sent(open_desk) -> None:
    async with open_desk() as desk:
        await desk.say("SCN:say an answer")
        await desk.idle()
        store = desk.app.control.workspace.store
        await desk.until(lambda: desk.app.main.box.border_title, "a status")
        assert "cold cache" not in desk.text

        def make_large(db) -> None:
            db.execute("update legs set input_tokens = 9000, cached_tokens = 8000")

        await store.write(make_large)
        desk.app.look_at_cache()
        await desk.app.workers.wait_for_complete([w for w in desk.app.workers if w.group == "cache"])
        assert not desk.app.state.cold, "it begins as the one before did, and the scripted model keeps it for ever"
        await store.write(lambda db: db.execute("update legs set model = 'scripted/before'"))
        desk.app.look_at_cache()
        await desk.sees("cold cache: 9.0k tok are paid anew (another model)")
        await desk.say("SCN:say another answer")
        await desk.until(lambda: not desk.app.state.cold, "the hint is gone")


async def test_what_the_helper_is_at_is_seen_where_there_is_no_sidebar(open_desk) -> None:
    async with open_desk(size=(60, 20)) as desk:
        event = e.HelperStatus(
            session_id=desk.app.control.session_id, state="searching", text="recall helper: searching…"
        )
        desk.app.control._heard(event)
        await desk.sees("◌ recall helper: searching…")


def test_the_cached_share_is_one_of_what_is_known() -> None:
    from milk_tui.core.records import Usage

    state = SessionState(usage=Usage(input_tokens=2_000, output_tokens=10, cached_tokens=500))
    assert state.cached_share is None
    state.sent_where_cache_known = 1_000
    assert state.cached_share == 0.5
    assert "50 % cached" in plain(summary.header(state, 140))
