"""The whole screen over a real workspace and database; the model host is the scripted one."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot

from milk_tui.engine.launch import Launch
from milk_tui.recall import semantic
from milk_tui.recall.encoder import SemanticMissingError
from milk_tui.ui import app as ui_app
from milk_tui.ui.app import MilkApp
from tests.support.polling import until

CONFIG = """
[session]
primary = "qwen"
escalation = "claude"
[agents.qwen]
model = "scripted/fast"
window_tokens = 32000
[agents.claude]
model = "scripted/deep"
"""


class Desk:
    """The running program, as a person at the keyboard has it."""

    def __init__(self, app: MilkApp, pilot: Pilot[int]) -> None:
        self.app = app
        self.pilot = pilot

    @property
    def text(self) -> str:
        """The screen, one line a row."""
        return "\n".join(strip.text.rstrip() for strip in self.app.screen._compositor.render_strips())

    async def press(self, *keys: str) -> None:
        for key in keys:
            await self.pilot.press(key)
        await self.pilot.pause()

    async def write(self, text: str) -> None:
        """Type into the prompt."""
        names = {" ": "space", "/": "slash", "\n": "ctrl+j"}
        for character in text:
            if (character.isalnum() and character.isascii()) or character in names:
                await self.pilot.press(names.get(character, character))
            else:
                self.app.main.prompt.insert_text(character)
                await self.pilot.pause()
        await self.pilot.pause()

    async def say(self, text: str) -> None:
        """Send a prompt."""
        self.app.main.prompt.set_text(text)
        await self.press("enter")

    async def until(self, predicate: Callable[[], object], what: str = "") -> None:
        try:
            await until(predicate, what=what)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.text}") from None
        await self.pilot.pause()

    async def sees(self, *texts: str) -> None:
        for text in texts:
            await self.until(lambda text=text: text in self.text, f"{text!r} on the screen")

    async def gone(self, text: str) -> None:
        await self.until(lambda: text not in self.text, f"{text!r} gone")

    async def ready(self) -> None:
        """The session is open and its agents are known."""
        await self.until(lambda: self.app.state.agents["primary"].state not in ("unknown",), "agents")

    async def idle(self) -> None:
        """Nothing runs and nothing waits."""
        await self.until(
            lambda: self.app.state.running is None and not self.app.state.queue and self.app.state.ready,
            "nothing runs",
        )


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of the program's own with two scripted agents; nothing is found by itself."""
    monkeypatch.setenv("MILK_TUI_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("MILK_TUI_PROBE_PORTS", "none")
    monkeypatch.setenv("MILK_TUI_HOST_COMMAND", f"{sys.executable} -m tests.support.scripted_host")
    monkeypatch.setattr(ui_app, "START_AFTER_S", 0.0)
    monkeypatch.setattr(semantic, "locate", not_installed)
    for name in [name for name in os.environ if name.endswith("_API_KEY") or name == "NO_COLOR"]:
        monkeypatch.delenv(name)
    configure(tmp_path, CONFIG)
    (tmp_path / "shop").mkdir()
    return tmp_path


def not_installed(_: str) -> Path:
    """Loading the model that finds facts by meaning takes as long as most tests here; none of them needs it."""
    raise SemanticMissingError("It is left out here.", "")


def configure(home: Path, text: str) -> None:
    """Write the config file of a home."""
    folder = home / "home" / "config"
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "config.toml"
    file.write_text(text, encoding="utf-8")
    file.chmod(0o600)


class PictureApp(MilkApp):
    """For those who start the program and don't end it: what it started ends with its screen."""

    async def on_unmount(self) -> None:
        await self.control.close()


Opener = Callable[..., "asyncio.Future[Desk]"]


@pytest.fixture
def open_desk(home: Path, caplog: pytest.LogCaptureFixture):
    """``async with open_desk(size=…, ready=True, **launch) as desk``."""

    @asynccontextmanager
    async def opened(size: tuple[int, int] = (120, 40), *, ready: bool = True, **launch: object) -> AsyncIterator[Desk]:
        app = MilkApp(Launch(directory=home / "shop", **launch))  # type: ignore[arg-type]
        async with app.run_test(size=size, notifications=True) as pilot:
            desk = Desk(app, pilot)
            try:
                if ready:
                    await desk.ready()
                yield desk
                assert not [record for record in caplog.records if record.levelno >= logging.ERROR]
            finally:
                await app.control.close()

    return opened
