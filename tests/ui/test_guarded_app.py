"""What holds for all that the program shows: no text is markup, an error shows no values, no text draws by itself."""

from __future__ import annotations

import pytest
import textual.timer

from milk_tui.ui.guarded_app import GuardedApp
from tests.data.hostile import short_items
from tests.hostile.watch import in_words
from tests.secrets.keys import KEYS, drawn
from tests.support.polling import until


async def test_a_timer_that_the_machine_is_late_for_runs_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """For a while every look at the clock finds it a hundredth of a second on: another thread had the interpreter."""
    app = GuardedApp()
    async with app.run_test():
        real, late = textual.timer._time.get_time, iter(range(40))
        monkeypatch.setattr(textual.timer._time, "get_time", lambda: real() + next(late, 40) / 100)
        ran: list[str] = []
        app.set_timer(0.001, lambda: ran.append("at once"))
        app.set_timer(0.005, lambda: ran.append("soon"))
        await until(lambda: len(ran) == 2, 5, "both timers")
        assert set(ran) == {"at once", "soon"}


async def test_an_error_that_ends_the_program_shows_no_values(open_desk, monkeypatch: pytest.MonkeyPatch) -> None:
    own, typed = drawn(40), KEYS[0].secret
    monkeypatch.setenv("SHOP_API_KEY", own)

    def fail() -> None:
        kept = (own, typed)
        raise RuntimeError(f"\x1b]0;x\x07 refused {kept[0]} and {kept[1]}")

    with pytest.raises(RuntimeError):
        async with open_desk() as desk:
            monkeypatch.setattr(desk.app, "_close_messages_no_wait", lambda: None)
            try:
                fail()
            except RuntimeError as error:
                desk.app._handle_exception(error)
            (told,) = map(str, desk.app._exit_renderables)
            assert "RuntimeError" in told and "test_guarded_app.py" in told
            assert own not in told and typed not in told and "\x1b" not in told


async def test_a_notice_is_text_whatever_is_in_it(open_desk) -> None:
    async with open_desk() as desk:
        for item in short_items():
            desk.app.notify(item.text, title=item.text, timeout=600, markup=True)
        await desk.until(lambda: len(desk.app._notifications) == len(short_items()), "notices")
        notices = list(desk.app._notifications)
        assert not any(notice.markup for notice in notices)
        assert not [n for n in notices if in_words(n.message.replace("\n", "")) or in_words(n.title.replace("\n", ""))]
