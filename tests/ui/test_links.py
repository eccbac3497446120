"""Links of the conversation: seen whole before anything is done with them, opened and copied by keyboard and mouse."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest
from rich.style import Style

from milk_tui.core.errors import MilkError
from milk_tui.ui import links
from milk_tui.ui.transcript.rows import NOWHERE, Row
from milk_tui.ui.transcript.walk import links_of
from tests.support.polling import until
from tests.ui.test_conversation_keys import at_answer, copied

__all__ = ["copied"]

TWO = "alpha SCN:say See [the docs](https://example.com/d) and https://example.org/x."


class Opened(NamedTuple):
    file: Path
    program: Path

    @property
    def address(self) -> str:
        """What was opened; empty while nothing was."""
        return self.file.read_text() if self.file.exists() else ""


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Opened:
    """A desktop whose program for addresses writes down what it is given."""
    folder, file = tmp_path / "bin", tmp_path / "opened"
    folder.mkdir()
    program = folder / "xdg-open"
    program.write_text(f'#!/bin/sh\nprintf %s "$1" > {file}.part && mv {file}.part {file}\n')
    program.chmod(0o700)
    monkeypatch.setenv("PATH", str(folder), prepend=":")
    monkeypatch.setenv("DISPLAY", ":7")
    return Opened(file, program)


async def test_a_link_is_opened_by_keyboard_after_its_address_was_shown(open_desk, opened: Opened) -> None:
    async with open_desk() as desk:
        await at_answer(desk, TWO)
        await desk.press("j", "j", "l")
        await desk.sees("2 links", "→ example.com", "https://example.com/d", "→ example.org")
        await desk.press("down", "enter")
        await desk.until(lambda: opened.address, "the browser")
        assert opened.address == "https://example.org/x"
        await desk.sees("opened: https://example.org/x")


async def test_a_link_is_copied_by_keyboard(open_desk, copied) -> None:
    async with open_desk() as desk:
        await at_answer(desk, TWO)
        await desk.press("j", "j", "l", "y")
        await desk.until(lambda: copied, "a copy")
        assert copied == ["https://example.com/d"]


async def test_where_no_link_is_it_is_said(open_desk) -> None:
    async with open_desk() as desk:
        await at_answer(desk, "alpha SCN:say one")
        await desk.press("l")
        await desk.sees("there is no link here")


async def test_a_click_shows_where_a_link_leads(open_desk, copied) -> None:
    async with open_desk() as desk:
        await at_answer(desk, TWO)
        lines = desk.text.split("\n")
        y = next(n for n, line in enumerate(lines) if "See the docs" in line)
        await desk.pilot.click(offset=(lines[y].index("docs"), y))
        await desk.sees("1 link", "the docs", "→ example.com")
        await desk.press("c")
        await desk.until(lambda: copied, "a copy")
        assert copied == ["https://example.com/d"]


@pytest.mark.parametrize(
    ("href", "host"),
    [
        ("https://example.com/a", "example.com"),
        ("https://example.com@evil.example:8/a", "evil.example:8"),
        ("mailto:me@example.com", "me@example.com"),
        ("file:///etc/passwd", ""),
        ("javascript:alert(1)", ""),
        ("src/handler.py", ""),
        ("-x", ""),
        ("https://example.com/\x1b[31m", ""),
        ("https://exa\u202emple.com/", ""),
        ("https://[broken", ""),
        ("https://example.com/" + "x" * links.LONGEST, ""),
    ],
)
def test_only_web_and_mail_addresses_lead_somewhere(href: str, host: str) -> None:
    assert links.host(href) == host


async def test_what_is_no_web_address_is_refused_without_running_anything(opened: Opened) -> None:
    with pytest.raises(MilkError, match="not opened"):
        await links.open_outside("file:///etc/passwd")
    assert not opened.address


async def test_without_a_desktop_it_is_said_that_nothing_opens(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    with pytest.raises(MilkError, match="no browser"):
        await links.open_outside("https://example.com/")


async def test_a_browser_that_fails_is_said(opened: Opened) -> None:
    opened.program.write_text("#!/bin/sh\nexit 4\n")
    with pytest.raises(MilkError, match=r"could not open it \(4\)"):
        await links.open_outside("https://example.com/")


async def test_it_is_the_address_itself_that_is_opened_however_odd(opened: Opened) -> None:
    await links.open_outside("https://example.com/$(id)?a=b&c='d'")
    await until(lambda: opened.address)
    assert opened.address == "https://example.com/$(id)?a=b&c='d'"


def test_a_link_that_wraps_is_one_and_two_that_are_alike_are_two() -> None:
    link, plain = Style(link="https://a.example/"), Style()
    bar = ("▎ ", plain, NOWHERE)
    rows = [
        Row([bar, ("see ", plain, 0), ("the long", link, 4)], plain, 0, 12),
        Row([bar, ("text", link, 13), (" and ", plain, 17), ("again", link, 22)], plain, 13, 27),
    ]
    assert links_of(rows) == [("https://a.example/", "the long text"), ("https://a.example/", "again")]
