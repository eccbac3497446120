"""How the screen starts: at once, light, and with a clear word when something is wrong (``textual-notes.md`` §4)."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from milk_tui.ui import themes
from tests.ui.conftest import CONFIG, configure

ROOT = Path(__file__).resolve().parents[2]

FIRST_PAINT = """
import sys
from pathlib import Path
from milk_tui.engine.launch import Launch
from milk_tui.ui.app import MilkApp

class First(MilkApp):
    def _painted(self):
        self.modules = sorted(sys.modules)
        self.exit(0)

app = First(Launch(directory=Path.cwd()))
app.run(headless=True, size=(120, 40))
print("\\n".join(app.modules))
"""

HEAVY = (
    "litellm",
    "sqlite_utils",
    "sqlite3",
    "tomlkit",
    "tomllib",
    "msgspec",
    "httpx",
    "aiohttp",
    "numpy",
    "xllamacpp",
    "pydantic",
    "markdown_it",
    "pygments",
    "rich.markdown",
    "rich.syntax",
    "milk_tui.store",
    "milk_tui.engine.workspace",
    "milk_tui.modelhost",
    "milk_tui.ui.transcript",
)


def test_nothing_heavy_is_imported_before_the_first_paint() -> None:
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    ran = subprocess.run(
        [sys.executable, "-c", FIRST_PAINT], env=env, capture_output=True, text=True, timeout=60, check=True
    )
    imported = set(ran.stdout.split())
    assert "milk_tui.ui.app" in imported
    assert not [name for name in imported if name.startswith(HEAVY)]


def test_the_screen_process_never_imports_litellm() -> None:
    program = (
        "import pkgutil, importlib, sys, milk_tui.ui as ui\n"
        "for m in pkgutil.walk_packages(ui.__path__, 'milk_tui.ui.'): importlib.import_module(m.name)\n"
        "import milk_tui.engine.workspace\n"
        "assert 'litellm' not in sys.modules and 'numpy' not in sys.modules"
    )
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", program], env=env, timeout=60, check=True)


def test_the_style_sheets_are_found_in_a_checkout() -> None:
    assert themes.styles_folder() == ROOT / "styles"
    assert all(Path(sheet).is_file() for sheet in themes.style_sheets("looks", "main", "dialogs", "transcript"))


def test_the_style_sheets_are_found_in_an_installed_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = tmp_path / "milk_tui" / "ui" / "themes.py"
    (tmp_path / "milk_tui" / "styles").mkdir(parents=True)
    monkeypatch.setattr(themes, "__file__", str(module))
    assert themes.styles_folder() == tmp_path / "milk_tui" / "styles"


async def test_a_config_with_a_mistake_is_said_and_the_prompt_is_kept(open_desk, home: Path) -> None:
    configure(home, CONFIG + "\n[ui]\nthemes = 1\n")
    async with open_desk(ready=False) as desk:
        await desk.sees("config.toml", "themes")
        await desk.say("my question")
        assert desk.app.main.prompt.text == "my question"


async def test_a_damaged_database_is_said_and_left_as_it_is(open_desk, home: Path) -> None:
    database = home / "home" / "data" / "milk.db"
    database.parent.mkdir(parents=True)
    database.write_bytes(b"this is no database" * 100)
    database.chmod(0o600)
    async with open_desk(ready=False) as desk:
        await desk.until(lambda: desk.app.state.problem)
        await desk.sees("milk.db")
        await desk.say("kept")
        assert desk.app.main.prompt.text == "kept"
    assert database.read_bytes() == b"this is no database" * 100


async def test_a_database_of_a_newer_program_is_said(open_desk, home: Path) -> None:
    async with open_desk() as desk:
        await desk.say("/need x")
        await desk.sees("need  x")
    path = home / "home" / "data" / "milk.db"
    with sqlite3.connect(path) as database:
        database.execute("pragma user_version = 9999")
    async with open_desk(ready=False) as desk:
        await desk.sees("newer milk-tui")


async def test_a_session_that_is_not_there_is_said(open_desk) -> None:
    async with open_desk(ready=False, session="nosuch") as desk:
        await desk.sees("There is no session “nosuch”")


async def test_without_any_model_the_screen_opens_and_says_what_to_do(open_desk, home: Path) -> None:
    configure(home, "[privacy]\nfetch_weights = false\n")
    async with open_desk(ready=False) as desk:
        await desk.until(lambda: desk.app.state.agents["primary"].state not in ("unknown", "loading"))
        await desk.say("anyone there?")
        await desk.until(
            lambda: "anyone there?" in desk.app.main.prompt.text or "not answered" in desk.text,
            "the prompt is kept",
        )


async def test_unfinished_prompts_of_the_last_run_are_shown_as_such(open_desk, home: Path) -> None:
    async with open_desk() as desk:
        await desk.say("first SCN:say Partly. SCN:stall")
        await desk.sees("Partly.")
        await desk.press("ctrl+q")
        await desk.until(lambda: desk.app.return_value == 0)
    async with open_desk() as desk:
        await desk.sees("Partly.", "first SCN:say")


async def test_what_nobody_expected_is_said_too_and_nothing_waits_for_ever(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from milk_tui.engine.launch import Launch
    from milk_tui.engine.workspace import Workspace
    from milk_tui.ui.app import MilkApp
    from tests.ui.conftest import Desk

    def broken(launch: Launch) -> Workspace:
        raise RuntimeError("a wheel came off")

    monkeypatch.setattr(Workspace, "open", broken)
    app = MilkApp(Launch(directory=home / "shop"))
    async with app.run_test(size=(120, 40)) as pilot:
        desk = Desk(app, pilot)
        await desk.sees("RuntimeError: a wheel came off", "screen.log")
        await desk.say("kept")
        assert app.main.prompt.text == "kept"
