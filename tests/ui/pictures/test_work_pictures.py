"""How calls, differences and what an agent asks look. ``pytest --snapshot-update`` draws them anew."""

from __future__ import annotations

import asyncio
import json

import pytest
from pytest_textual_snapshot import SVGImageExtension
from textual.app import App, ComposeResult

from milk_tui.core.permissions import PermissionRequest, Question, Scope
from milk_tui.core.records import Role, ToolStatus
from milk_tui.tools.changes import text_diff
from milk_tui.ui import themes
from milk_tui.ui.actions import Keymap
from milk_tui.ui.paint import LookBook
from milk_tui.ui.permission_dialog import PermissionDialog
from milk_tui.ui.transcript import Tool
from tests.ui.transcript.support import STYLES, Source, TranscriptApp, leg, prompt

OLD = "def charge(order):\n    for attempt in range(3):\n        pay(order)\n    return order\n"
NEW = (
    "def charge(order):\n    key = order.key\n    for attempt in range(3):\n        pay(order, key)\n    return order\n"
)
CHANGE = text_diff("shop/charge.py", OLD, NEW)
EDIT = {"path": "shop/charge.py", "old_text": "pay(order)", "new_text": "pay(order, key)"}


@pytest.fixture(autouse=True)
def drawn_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SVGImageExtension, "file_extension", "svg", raising=False)
    monkeypatch.delenv("NO_COLOR", raising=False)


class Calls(TranscriptApp):
    """A leg with calls of every kind; the edit is unfolded, and a command runs."""

    CSS_PATH = STYLES

    def __init__(self) -> None:
        super().__init__()
        for theme in themes.THEMES:
            self.register_theme(theme)
        self.theme = themes.DARK.name

    def on_mount(self) -> None:
        ok, failed, denied = ToolStatus.OK, ToolStatus.FAILED, ToolStatus.DENIED
        edited = f"edited shop/charge.py: {CHANGE.counts}\n{CHANGE.text}"
        tools = (
            Tool(1, "read_file", '{"path": "shop/charge.py"}', "[shop/charge.py, 4 lines]\n" + OLD, ok, took="<1 s"),
            Tool(2, "grep", '{"pattern": "pay\\\\(", "glob": "*.py"}', "a.py:1:pay(\nb.py:2:pay(", ok, took="<1 s"),
            Tool(3, "run_command", '{"command": "pytest -q"}', "1 failed\n[exit code 1 · 3.2 s]", failed, took="3 s"),
            Tool(4, "write_file", '{"path": "../notes.txt", "content": "x"}', "The person denied this.", denied),
            Tool(5, "edit_file", json.dumps(EDIT), edited, ok, took="<1 s", allowed_by="person · once"),
            Tool(6, "run_command", '{"command": "pytest -q"}', "collecting …\n12 passed so far\n", ToolStatus.RUNNING),
        )
        made = [prompt(1, "fix the double charge"), leg(1, "I look first.", *tools)]
        self.transcript.load([entry for entry, _ in made], Source({entry.key: body for entry, body in made}))
        self.transcript.document.toggle(("leg", 1), ("tool", 5))
        self.transcript.refresh()


@pytest.mark.parametrize("size", [(130, 44), (80, 44), (40, 24)])
def test_calls_and_the_difference_of_an_edit(snap_compare, size: tuple[int, int]) -> None:
    assert snap_compare(Calls(), terminal_size=size)


class Asks(App[None]):
    """The dialog alone, as the main screen has it."""

    CSS_PATH = themes.style_sheets("looks", "main", "permission")
    ENABLE_COMMAND_PALETTE = False

    def __init__(self, *asked: PermissionRequest, keys: tuple[str, ...] = ()) -> None:
        super().__init__()
        for theme in themes.THEMES:
            self.register_theme(theme)
        self.theme = themes.DARK.name
        self.look_book = LookBook()
        self.dialog = PermissionDialog(Keymap({}))
        self.dialog.show(asked)

    def compose(self) -> ComposeResult:
        yield self.look_book
        yield self.dialog

    def on_mount(self) -> None:
        self.dialog.focus()


def asked(number: int = 1, **more: object) -> PermissionRequest:
    values = {
        "id": f"r{number}",
        "role": Role.PRIMARY,
        "agent_name": "qwen",
        "tool": "edit_file",
        "arguments": json.dumps(EDIT),
        "title": "edit shop/charge.py (+2 −1)",
        "body": CHANGE.text,
        "language": "diff",
        "directory": "/work/shop",
        "pattern": "shop/*",
    }
    return PermissionRequest(**{**values, **more})  # type: ignore[arg-type]


def settled(*keys: str):
    async def run(pilot) -> None:
        await pilot.pause()
        pilot.app.dialog._since = 0
        for key in keys:
            await pilot.press(key)
        await asyncio.sleep(0)
        await pilot.pause()

    return run


@pytest.mark.parametrize("size", [(120, 36), (80, 24), (40, 12)])
def test_an_edit_is_asked_about(snap_compare, size: tuple[int, int]) -> None:
    assert snap_compare(Asks(asked(1), asked(2)), terminal_size=size, run_before=settled())


def test_a_command_is_asked_about_with_its_pattern(snap_compare) -> None:
    command = "pytest -q tests/shop  # only these"
    request = asked(
        agent_name="claude",
        role=Role.ESCALATION,
        tool="run_command",
        arguments=json.dumps({"command": command, "timeout_s": 300}),
        title=f"run {command}",
        body=command,
        language="bash",
        pattern="pytest *",
    )
    assert snap_compare(Asks(request), terminal_size=(80, 20), run_before=settled("w"))


def test_what_is_asked_every_time(snap_compare) -> None:
    request = asked(title="edit /etc/hosts (+1 −0), outside the working directory", pattern="", scopes=(Scope.ONCE,))
    assert snap_compare(Asks(request), terminal_size=(80, 24), run_before=settled("n"))


def test_questions(snap_compare) -> None:
    question = Question(
        text="Which checks shall I run?", header="checks", choices=("lint", "types", "tests"), multiple=True
    )
    other = Question(text="What is the branch called?")
    request = asked(tool="AskUserQuestion", arguments="{}", questions=(question, other))
    assert snap_compare(Asks(request), terminal_size=(80, 16), run_before=settled("1", "3"))
