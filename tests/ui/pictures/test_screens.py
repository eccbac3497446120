"""How the whole program looks in four sizes of terminal, dark and light. ``pytest --snapshot-update`` draws it anew."""

from __future__ import annotations

import pytest

from milk_tui import paths
from milk_tui.engine.launch import Launch
from milk_tui.ui.first_look import FirstLook
from milk_tui.ui.inspector import InspectorScreen
from tests.support.polling import until
from tests.ui.conftest import PictureApp
from tests.ui.pictures import made_session
from tests.ui.pictures.test_memory_pictures import write
from tests.ui.pictures.test_pictures import drawn_alike, fix_plan
from tests.ui.pictures.test_work_pictures import asked

__all__ = ["drawn_alike"]
SIZES = [(60, 20), (80, 24), (120, 40), (200, 60)]
IN_TURN = [(size, dark) for size, dark in zip(SIZES, (False, True, False, True), strict=True)]
"""Where a screen differs by its size alone, the themes take turns."""


@pytest.fixture
def open_app(home, monkeypatch):
    """The program on the made session, in one of its two themes."""
    monkeypatch.setenv("HOME", str(home))
    made_session.make(paths.database_file(), home / "shop")
    write(paths.database_file())
    return lambda *, dark: PictureApp(Launch(directory=home / "shop"), FirstLook(dark=dark))


def after(*keys: str, question: bool = False, rest_s: float = 0.3):
    """Settle the main screen, ask a question or press keys, settle again."""

    async def run(pilot) -> None:
        app = pilot.app
        await until(lambda: app.state.agents["primary"].state == "ready" and app.state.host == "ready", what="agents")
        if question:
            app.state.asked["r1"] = asked(1)
            app.main._show_asked()
            await until(lambda: app.main.permission is not None and app.main.permission.has_focus, what="the question")
        for key in keys:
            await pilot.press(key)
            await pilot.pause()
        screen = app.screen
        await until(lambda: not [worker for worker in app.workers if worker.node is screen], what="all that is read")
        if isinstance(screen, InspectorScreen):
            fix_plan(screen)
        app.main.conversation.transcript.styles.scrollbar_size_vertical = 0  # heights above are estimates
        await pilot.pause(rest_s)

    return run


@pytest.mark.parametrize("dark", [True, False], ids=["dark", "light"])
@pytest.mark.parametrize("size", SIZES)
def test_the_conversation(snap_compare, open_app, size, dark: bool) -> None:
    assert snap_compare(open_app(dark=dark), terminal_size=size, run_before=after())


@pytest.mark.parametrize("key", ["f2", "f3", "f4"])
@pytest.mark.parametrize(("size", "dark"), [((60, 20), False), ((200, 60), True)], ids=["small", "large"])
def test_a_screen(snap_compare, open_app, key: str, size, dark: bool) -> None:
    assert snap_compare(open_app(dark=dark), terminal_size=size, run_before=after(key))


@pytest.mark.parametrize(("size", "dark"), IN_TURN)
def test_the_sessions(snap_compare, open_app, size, dark: bool) -> None:
    assert snap_compare(open_app(dark=dark), terminal_size=size, run_before=after("ctrl+o"))


@pytest.mark.parametrize(("size", "dark"), IN_TURN[:1] + IN_TURN[3:])
def test_the_help(snap_compare, open_app, size, dark: bool) -> None:
    assert snap_compare(open_app(dark=dark), terminal_size=size, run_before=after("f1", *"theme"))


@pytest.mark.parametrize(("size", "dark"), IN_TURN)
def test_a_question_over_the_prompt(snap_compare, open_app, size, dark: bool) -> None:
    assert snap_compare(open_app(dark=dark), terminal_size=size, run_before=after(question=True))
