"""The prompt: writing, sending, waiting prompts, and what is attached to it."""

from __future__ import annotations

import pytest

from milk_tui.ui.actions import Where
from tests.e2e.conftest import Place
from tests.e2e.keyboard.home import WRITTEN, opened
from tests.e2e.keyboard.steps import CLEAR, READ, REST, Step, command, key, press, see, to, walk_through, write

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

PASTED = "\n".join(f"pasted {number}" for number in range(1_500))
STEPS = (
    write("SCN:say hello from it"),
    key("send", "● fast ·", " hello from it", "in ·"),
    REST,
    write("one"),
    key("newline", "❯ one │ │ │ ╰"),
    write("two"),
    key("newline", "❯ one │ │ two │ │ │ ╰", nth=1),
    write("three"),
    key("newline", "❯ one │ │ two │ │ three │ │ │ ╰", nth=2),
    key("copy", "cleared", gone="three"),
    Step(lambda walk: walk.screen.paste(PASTED), "paste"),
    see("⟦"),
    key("open-paste", "❯ pasted 0", gone="⟦"),
    key("page-down", "❯ pasted 10 "),
    key("page-up", "❯ pasted 0 "),
    CLEAR,
    write("from here"),
    key("editor", f"❯ {WRITTEN}"),
    CLEAR,
    command("editor", "", f"❯ {WRITTEN}"),
    CLEAR,
    key("history-search", at="SCN:say hello from it"),
    press("enter", "❯ SCN:say hello", gone="type what it said"),
    CLEAR,
    command("history-search", "", "type what it said"),
    press("escape", gone="type what it said"),
    command("attach", "app.py", "❯ @app.py"),
    CLEAR,
    command("attach", "", "❯ @", "app.py"),
    CLEAR,
    command("attach-image", "", "no program to read the clipboard was found", "name it with @"),
    CLEAR,
    command("run-command", "echo fourty-two", "your command asks", "run echo fourty-two"),
    to(Where.PERMISSION),
    READ,
    key("allow-once", "│ fourty-two", "exit code 0"),
    REST,
    write("SCN:say slowly SCN:stall"),
    press("enter", "fast answers"),
    write("a waiting prompt"),
    press("enter", "1 prompt waits"),
    key("queue", "waiting prompts", at="a waiting prompt"),
    press("escape", gone="waiting prompts"),
    command("queue", "", "waiting prompts"),
    press("x", gone="a waiting prompt"),
    press("escape", gone="waiting prompts"),
    write("another one"),
    press("enter", "1 prompt waits"),
    command("take-back", "", "❯ another one", gone="1 prompt waits"),
    CLEAR,
    key("escape", "stopped; what came until then is kept", gone="fast answers"),
    REST,
    command("escape", "", "nothing runs"),
    write("SCN:say again SCN:stall"),
    press("enter", "fast answers"),
    command("escape", "", gone="fast answers"),
)


def prepare(place: Place) -> None:
    (place.project / "app.py").write_text("x = 1\n")


def test_the_prompt(place: Place) -> None:
    prepare(place)
    with opened(place) as walk:
        walk_through(walk, STEPS)
