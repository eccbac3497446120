"""``python -m tests.screenshots [--to FOLDER]``: make the pictures of the README."""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import re
import shlex
import sys
import tempfile
import time
import uuid
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.screenshots import conversation
from tests.support.polling import until

if TYPE_CHECKING:
    from milk_tui.ui.app import MilkApp

ROOT = Path(__file__).parent.parent.parent
BEGAN_MS = 1_767_967_320_000
"""9 January 2026, 14:02 UTC."""
DAY_MS = 86_400_000
LEG_MS = {"primary": 4_000, "escalation": 19_000}
"""How long an agent seems to work."""
_NOT_OURS = re.compile(r"\s*@font-face \{.*?\}|\s*<!--.*?-->", re.DOTALL)
"""Fonts that a viewer would fetch."""


class Clock:
    """The time of day in this process: it is moved by hand, and a millisecond whenever it is asked for in full."""

    def __init__(self) -> None:
        self.ms = BEGAN_MS
        time.time_ns = self._full
        time.time = lambda: self.ms / 1000

    def _full(self) -> int:
        self.ms += 1
        return self.ms * 1_000_000


def set_ids() -> None:
    """The ids of sessions and facts are the same in every run."""
    numbers = random.Random(8413)
    uuid.uuid4 = lambda: uuid.UUID(int=numbers.getrandbits(128), version=4)


def settle_in(root: Path) -> Path:
    """A home and a project folder for the program; returns the project."""
    home, script, project = root / "milk", root / "script", root / "code" / "shop"
    (home / "config").mkdir(parents=True)
    (project / "payments").mkdir(parents=True)
    (project / "payments" / "handler.py").write_text(conversation.HANDLER)
    config = home / "config" / "config.toml"
    config.write_text(conversation.CONFIG)
    config.chmod(0o600)
    script.write_text("")
    host = [sys.executable, "-m", "tests.support.scripted_host", "--script", str(script)]
    os.environ.update(
        HOME=str(root),
        MILK_TUI_HOME=str(home),
        MILK_TUI_PROBE_PORTS="none",
        MILK_TUI_HOST_COMMAND=shlex.join(host),
        PYTHONPATH=str(ROOT),
        TZ="UTC",
        ANTHROPIC_API_KEY="none-is-needed",
    )
    for name in ("NO_COLOR", "MILK_TUI_CONFIG", "MILK_TUI_DATABASE"):
        os.environ.pop(name, None)
    time.tzset()
    return project


def learn(*arguments: str) -> None:
    """A fact from the shell."""
    from milk_tui.cli.root import cli

    cli.main(["memory", "learn", *arguments], prog_name="milk-tui", standalone_mode=False)


class Photographer:
    """Drives the program and draws what it shows."""

    def __init__(self, project: Path, folder: Path, clock: Clock) -> None:
        self._project = project
        self._script = project.parents[1] / "script"
        self._folder = folder
        self._clock = clock

    @asynccontextmanager
    async def program(self, cols: int, rows: int, **launch: Any):
        from milk_tui.engine.launch import Launch
        from milk_tui.ui.app import MilkApp

        app = MilkApp(Launch(directory=self._project, **launch))
        async with app.run_test(size=(cols, rows)) as pilot:
            await until(lambda: app.state.agents["primary"].state == "ready" and app.state.host == "ready")
            await pilot.pause()
            yield app, pilot
            await app.control.close()

    async def ask(self, app: MilkApp, pilot: Any, prompt: str, *, asked: str = "") -> None:
        """Send a prompt and wait for its end; when an agent asks something, take the picture ``asked`` and allow it."""
        from milk_tui.engine.events import LegStarted, TurnFinished

        ended = []

        def hear(event: object) -> None:
            match event:
                case LegStarted(role=role):
                    self._clock.ms += LEG_MS[role]
                case TurnFinished():
                    ended.append(event)

        self._clock.ms += 40_000
        leave = app.control.conductor.listen(hear)
        app.main.prompt.set_text(prompt)
        await pilot.press("enter")
        if asked:
            await until(lambda: app.state.asked)
            app.main.permission.focus()  # now and not when it would take the keyboard by itself
            await self.take(app, pilot, asked)
            app.main.permission._since = 0.0
            await pilot.press("y")
            await until(lambda: not app.state.asked)
        await until(lambda: ended and app.state.running is None)
        leave()
        await pilot.pause()

    async def rest(self, app: MilkApp, pilot: Any) -> str:
        """The picture of the screen when nothing changes on it any more."""
        before, svg = "", "not yet"
        while svg != before:
            await pilot.pause(0.25)
            before, svg = svg, app.export_screenshot(title="milk")
        return svg

    async def take(self, app: MilkApp, pilot: Any, name: str) -> None:
        svg = _NOT_OURS.sub("", await self.rest(app, pilot))
        svg = svg.replace("<text ", '<text xml:space="preserve" ')
        svg = svg.replace("font-family: Fira Code", "font-family: Fira Code, DejaVu Sans Mono, Menlo")
        (self._folder / f"{name}.svg").write_text(f"{svg.strip()}\n", encoding="utf-8")

    async def all(self) -> None:
        for days, (prompt, answer) in zip((5, 2, 1), conversation.BEFORE, strict=True):
            self._clock.ms = BEGAN_MS - days * DAY_MS
            self._script.write_text(f"SCN:say {answer}\n")
            async with self.program(120, 44, new=True) as (app, pilot):
                await self.ask(app, pilot, prompt)
        self._clock.ms = BEGAN_MS
        self._script.write_text("".join(f"{line}\n" for line in conversation.replies()))
        async with self.program(120, 52, new=True) as (app, pilot):
            await self.ask(app, pilot, conversation.WHY)
            await self.ask(app, pilot, conversation.FIX, asked="escalation")
            await self.take(app, pilot, "main")
        await self.one("memory", 120, 32, "f2")
        await self.one("inspector", 120, 40, "f3")
        await self.one("perception", 120, 32, "f4")
        await self.one("sessions", 120, 32, "ctrl+o")
        await self.one("light", 120, 40, theme="milk-light")
        await self.one("narrow", 60, 24)

    async def one(self, name: str, cols: int, rows: int, *keys: str, theme: str = "") -> None:
        """The session once more, in another terminal."""
        async with self.program(cols, rows) as (app, pilot):
            if theme:
                app.theme = theme
            await self.rest(app, pilot)
            await pilot.press(*keys)
            await self.take(app, pilot, name)
            self._clock.ms += 60_000


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.screenshots", description=__doc__)
    parser.add_argument("--to", type=Path, default=ROOT / "screenshots")
    folder: Path = parser.parse_args(arguments).to
    folder.mkdir(parents=True, exist_ok=True)
    clock = Clock()
    set_ids()
    with tempfile.TemporaryDirectory(prefix="milk-") as root:
        project = settle_in(Path(root).resolve())
        os.chdir(project)
        learn("--global", "--pin", conversation.PINNED)
        for fact in conversation.GLOBAL:
            learn("--global", fact)
        asyncio.run(Photographer(project, folder.resolve(), clock).all())
        os.chdir(ROOT)
    return 0


if __name__ == "__main__":
    sys.exit(main())
