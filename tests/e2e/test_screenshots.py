"""The pictures in the README are of the program as it is, and making them again makes the same ones."""

from __future__ import annotations

import html
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.conftest import ROOT
from tests.e2e.looking import plain
from tests.screenshots.conversation import FIX, PINNED

pytestmark = pytest.mark.e2e


def words(picture: Path) -> str:
    """The text of a picture, row by row; where scroll bars end is none of it."""
    pieces = re.findall(r"<text[^>]*>([^<]*)</text>", picture.read_text("utf-8"))
    return plain(html.unescape(" ".join(pieces)).replace("\xa0", " "))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pictures")
    for name in ("first", "second"):
        command = [sys.executable, "-m", "tests.screenshots", "--to", str(folder / name)]
        subprocess.run(command, cwd=ROOT, check=True, timeout=120, capture_output=True)
    return folder


def test_the_main_picture_shows_an_escalation_with_what_was_sent_and_learned(made: Path) -> None:
    shown = words(made / "first" / "main.svg")
    assert all(part in shown for part in (FIX, "◆ escalated to claude", "sent ", "order_key", "remembered", "PINNED"))
    assert "SCN:" not in shown
    assert "✗" not in shown


def test_every_view_has_its_picture_and_the_repository_holds_them_all(made: Path) -> None:
    names = {picture.name for picture in (made / "first").iterdir()}
    wanted = ("main", "escalation", "memory", "inspector", "perception", "sessions", "light", "narrow")
    assert {f"{name}.svg" for name in wanted} <= names
    plots = {"strategies.svg"}
    """Made by a benchmark of its results."""
    assert names | plots == {picture.name for picture in (ROOT / "screenshots").glob("*.svg")}
    assert "if I escalated now" in words(made / "first" / "inspector.svg")
    believed = words(made / "first" / "perception.svg")
    assert all(part in believed for part in ("slice double charge", "order_key", "PROPOSED", "waits for billing"))
    memory = words(made / "first" / "memory.svg")
    assert all(part in memory for part in ("PINNED", *PINNED.split()[:3], "GLOBAL"))


def test_pictures_say_the_same_every_time_and_fetch_nothing(made: Path) -> None:
    for picture in (made / "first").iterdir():
        assert words(picture) == words(made / "second" / picture.name), picture.name
        assert re.findall(r'url\([^#)][^)]*\)|href="(?!#)', picture.read_text("utf-8")) == []
