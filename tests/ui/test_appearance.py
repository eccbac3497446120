"""Theme, title and alerts: what the terminal and the person decide, and what the terminal is told."""

from __future__ import annotations

import time

import pytest
from textual import events

from milk_tui import paths
from milk_tui.core.records import Role
from milk_tui.engine.launch import Launch
from milk_tui.ui import attention
from milk_tui.ui.app import MilkApp
from milk_tui.ui.first_look import FirstLook
from milk_tui.ui.state import RunningLeg, SessionState
from tests.support.terminal import Terminal


async def test_a_theme_that_was_chosen_is_kept_and_automatic_gives_it_back(open_desk, home) -> None:
    async with open_desk() as desk:
        await desk.say("/theme milk-contrast")
        await desk.until(lambda: desk.app.theme == "milk-contrast", "the theme")
        await desk.until(lambda: 'theme = "milk-contrast"' in paths.config_file().read_text(), "the config")
    async with open_desk() as desk:
        assert desk.app.theme == "milk-contrast"
        desk.app.ground_is(False)
        assert desk.app.theme == "milk-contrast"
        await desk.say("/theme automatic")
        await desk.until(lambda: desk.app.theme == "milk-light", "the terminal's")
        await desk.until(lambda: "theme" not in paths.config_file().read_text(), "the config")
    assert "qwen" in paths.config_file().read_text()


async def test_a_theme_that_is_none_is_said_and_not_kept(open_desk) -> None:
    async with open_desk() as desk:
        await desk.say("/theme plaid")
        await desk.sees("there is no theme plaid")
        assert "plaid" not in paths.config_file().read_text()


async def test_without_a_choice_the_theme_follows_the_terminal(open_desk) -> None:
    async with open_desk() as desk:
        assert desk.app.theme == "milk-dark"
        desk.app.ground_is(False)
        assert desk.app.theme == "milk-light"
        desk.app.ground_is(True)
        assert desk.app.theme == "milk-dark"


async def test_no_colour_is_stronger_than_any_choice(home) -> None:
    app = MilkApp(Launch(directory=home / "shop"), FirstLook(theme="nord", no_colour=True))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert app.theme == "milk-ansi"
        assert not app.use_theme("nord")
        filters = app.get_line_filters()
        strips = [strip.apply_filter(each, app.styles.background) for each in filters for strip in _strips(app)]
        colours = {
            segment.style.color.name for strip in strips for segment in strip if segment.style and segment.style.color
        }
        assert colours <= {"default"}
        await app.control.close()


def _strips(app: MilkApp):
    return app.screen._compositor.render_strips()


def running(**more: object) -> SessionState:
    state = SessionState()
    state.running = RunningLeg(leg_id=1, turn_id=1, role=Role.PRIMARY, agent_name="qwen", started=0.0)
    for name, value in more.items():
        setattr(state, name, value)
    return state


def test_the_title_says_first_what_goes_on() -> None:
    assert attention.title(SessionState()) == "milk"
    assert attention.title(running()) == "… qwen · milk"
    assert attention.title(running(), plain=True) == "qwen answers · milk"
    assert attention.title(running(asked={"r": None})) == "▲ asks · milk"


@pytest.mark.parametrize("text", ["\x1b]0;evil\x07", "a\nb\x07c", "\x9d2;x\x9c", "x" * 9_000])
def test_no_text_ends_a_title_or_an_alert(text: str) -> None:
    for sequence in (attention.titled(text), attention.alert("message", text, {})):
        assert sequence.endswith("\x07")
        assert not set(sequence[1:-1]) & {"\x1b", "\x07", "\x9c", "\x9d", "\n"}
        assert len(sequence) < 200


def test_how_an_alert_is_told() -> None:
    assert attention.alert("bell", "there", {}) == "\x07"
    assert attention.alert("message", "there", {}) == "\x1b]9;milk: there\x07"
    assert attention.alert("both", "there", {}) == "\x1b]9;milk: there\x07\x07"
    assert attention.alert("off", "there", {}) == ""
    assert attention.alert("message", "there", {"TMUX": "/tmp/x"}) == "\x1bPtmux;\x1b\x1b]9;milk: there\x07\x1b\\"


async def test_only_a_person_who_looks_elsewhere_is_called_and_only_after_a_long_answer(open_desk, monkeypatch) -> None:
    async with open_desk() as desk:
        called: list[str] = []
        monkeypatch.setattr(desk.app._driver, "write", called.append)
        desk.app.answer_begins()
        desk.app._waited_since = time.monotonic() - 60
        desk.app.turn_is_over("done")
        assert not called, "the terminal is looked at"
        desk.app.post_message(events.AppBlur())
        await desk.until(lambda: not desk.app.app_focus, "looks elsewhere")
        desk.app.answer_begins()
        desk.app.turn_is_over("done")
        assert not called, "a short answer"
        for status, bells in (("cancelled", 0), ("done", 1), ("failed", 2)):
            desk.app.answer_begins()
            desk.app._waited_since = time.monotonic() - 60
            desk.app.turn_is_over(status)
            assert sum("\x07" in text for text in called) == bells, status


def test_the_terminal_gets_its_own_title_back(home) -> None:
    seen = bytearray()
    with Terminal.python("-m", "milk_tui", cwd=home / "shop") as terminal:
        feed = terminal._stream.feed
        terminal._stream.feed = lambda data: (seen.extend(data), feed(data))[1]
        terminal.wait_for("to ● qwen")
        terminal.press("ctrl+q")
        assert terminal.wait_exit() == 0
    assert seen.count(attention.KEEP_TITLE.encode()) == 1
    assert seen.count(attention.GIVE_BACK_TITLE.encode()) == 1
    assert seen.index(b"\x1b[22;0t") < seen.index(b"\x1b]2;milk") < seen.index(b"\x1b[23;0t")
