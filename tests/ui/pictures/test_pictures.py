"""How the inspector and the perception look, at three sizes. ``pytest --snapshot-update`` draws them anew."""

from __future__ import annotations

import time

import pytest
from pytest_textual_snapshot import SVGImageExtension

from milk_tui import paths
from milk_tui.core.token_sizes import estimate
from milk_tui.engine.launch import Launch
from milk_tui.ui.inspector import PLAN, InspectorScreen
from milk_tui.ui.perception import PerceptionScreen
from milk_tui.ui.receipt_rows import Given
from tests.support.polling import until
from tests.ui.conftest import PictureApp
from tests.ui.pictures import made_session
from tests.ui.samples import Role, receipt

SIZES = [(120, 40), (80, 24), (40, 12)]


@pytest.fixture(autouse=True)
def drawn_alike(monkeypatch: pytest.MonkeyPatch):
    """Pictures are SVG files, and the clock is that of Greenwich."""
    monkeypatch.setattr(SVGImageExtension, "file_extension", "svg", raising=False)
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def app(home) -> PictureApp:
    """The program on the made session; what belongs to other screens is not drawn."""
    made_session.make(paths.database_file(), home / "shop")
    return PictureApp(Launch(directory=home / "shop"))


def showing(screen_type: type, key: str, *then: str):
    """Open a screen, settle it, press keys on it."""

    async def run(pilot) -> None:
        app = pilot.app
        await until(lambda: app.state.agents["primary"].state == "ready" and app.state.host == "ready", what="agents")
        await pilot.press(key)
        await until(lambda: isinstance(app.screen, screen_type), what=key)
        screen = app.screen
        screen.footer.display = False
        await until(lambda: not [worker for worker in app.workers if worker.node is screen], what="all that is read")
        if isinstance(screen, InspectorScreen):
            fix_plan(screen)
        for pressed in then:
            await pilot.press(pressed)
            await pilot.pause()
            await until(lambda: not [worker for worker in app.workers if worker.node is screen], what="rest")
        await pilot.pause(0.2)

    return run


def fix_plan(screen: InspectorScreen) -> None:
    """A plan of the pictures' own: the real one has the sizes of texts that change with the program."""
    given = made_session.segments(10, Role.ESCALATION)
    texts = {segment.text: estimate(segment.chars) for segment in given}
    screen.plan.show(Given.of_receipt(receipt(*given), texts), cap=24_000)
    screen.frame(PLAN).border_title = "if I escalated now · first: everything"


@pytest.mark.parametrize("size", SIZES)
def test_the_inspector(snap_compare, app, size) -> None:
    assert snap_compare(app, terminal_size=size, run_before=showing(InspectorScreen, "f3"))


def test_the_chart_alone_in_a_narrow_terminal(snap_compare, app) -> None:
    assert snap_compare(app, terminal_size=(60, 20), run_before=showing(InspectorScreen, "f3", "f6", "f6"))


@pytest.mark.parametrize("size", [(130, 36), (80, 24)])
def test_the_difference_of_two_receipts(snap_compare, app, size) -> None:
    run = showing(InspectorScreen, "f3", "f6", "f6", "f6", "d")
    assert snap_compare(app, terminal_size=size, run_before=run)


@pytest.mark.parametrize("size", SIZES)
def test_the_perception(snap_compare, app, size) -> None:
    assert snap_compare(app, terminal_size=size, run_before=showing(PerceptionScreen, "f4"))


def test_the_perception_in_the_past(snap_compare, app) -> None:
    run = showing(PerceptionScreen, "f4", "left_square_bracket", "left_square_bracket", "left_square_bracket")
    assert snap_compare(app, terminal_size=(100, 28), run_before=run)
