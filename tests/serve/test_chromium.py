"""The same in a real browser: typed with its keys, read off its terminal, pictured, and never speaking to anyone else.

``MILK_TEST_PICTURES=FOLDER`` keeps the pictures.
"""

from __future__ import annotations

import os
import struct
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.chromium import Tab, binary, browsing

pytestmark = [
    pytest.mark.chromium,
    pytest.mark.e2e,
    pytest.mark.slow,
    pytest.mark.skipif(binary() is None, reason="no Chromium here (Debian's package chromium)"),
]
READY = "to ● "
WALK = {
    "F1": "enter does it · esc closes",
    "F2": "memory · 1 fact",
    "F3": "if I escalated now",
    "F4": "working set",
    "ctrl+o": "sessions of this directory",
    "ctrl+p": "find a command",
    "ctrl+r": "enter chooses · esc closes",
    "F8": "finds settings",
    "/theme": "enter chooses · esc closes",
    "/permissions": "permissions here",
    "/stats": "statistics",
}
"""What only that screen shows, by its key or its command."""


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    folder = Path(os.environ.get("MILK_TEST_PICTURES") or tmp_path / "pictures")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture
async def tab() -> AsyncIterator[Tab]:
    async with browsing() as opened:
        await opened.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
        yield opened
        assert opened.hosts <= {"127.0.0.1"}, opened.requests


def pixels(file: Path) -> tuple[int, int]:
    width, height = struct.unpack(">II", file.read_bytes()[16:24])
    return width, height


async def test_a_person_asks_escalates_and_resizes(serve, place, tab: Tab, pictures: Path) -> None:
    async with serve() as server:
        await tab.open(server.address)
        await tab.sees(READY)
        assert await tab.evaluate("location.href") == server.base + "/", "the key is out of the address"
        assert await tab.evaluate("document.cookie") == "", "no script can read the cookie"
        await tab.type("hello SCN:tag percept tea is at five SCN:say The **tea** is hot.")
        await tab.press("Enter")
        await tab.sees("The tea is hot.")
        await tab.sees("● fast · ")
        await tab.type("one")
        await tab.press("shift+Enter")
        await tab.type("two")
        await tab.sees(lambda screen: "❯ one" in screen and "two" in screen)
        await tab.press("ctrl+c")
        await tab.type("design it SCN:say Use a key. 漢字 too.")
        await tab.press("ctrl+g")
        await tab.sees("escalated to ")
        await tab.sees(lambda screen: screen.count("Use a key.") == 2)
        await tab.picture(pictures / "browser.png")
        assert pixels(pictures / "browser.png") == (1200, 800)
        for width, height in ((700, 500), (1600, 1000)):
            await tab.resize(width, height)
            wanted = (width // 9, height // 20)
            await tab.sees(lambda screen, wanted=wanted: wanted == tab.shown.size and "Use a key." in screen)
            await tab.sees(lambda screen: "commands" in screen.splitlines()[-1])
        assert "hello" in await tab.evaluate("document.title")
        assert not tab.problems
        await tab.call("Page.navigate", url="about:blank")
        await place.wait_until_closed("milk_tui --primary")


async def test_a_copy_is_said_to_be_one_when_the_browser_took_it_and_a_paste_is_one_block(serve, tab: Tab) -> None:
    async with serve() as server:
        await tab.open(server.address)
        await tab.sees(READY)
        await tab.type("copy me")
        await tab.call("Browser.setPermission", permission={"name": "clipboard-write"}, setting="denied")
        await tab.press("shift+Home", "ctrl+c")
        await tab.sees("7 characters kept inside milk-tui")
        await tab.call("Browser.setPermission", permission={"name": "clipboard-write"}, setting="granted")
        await tab.press("ctrl+c")
        await tab.sees("7 characters copied (browser)")
        await tab.press("End")
        await tab.type(" and ")
        await tab.press("ctrl+v")
        await tab.sees("❯ copy me and copy me")
        assert not tab.problems


async def test_every_screen_can_be_walked_through(serve, tab: Tab, pictures: Path) -> None:
    async with serve() as server:
        await tab.open(server.address)
        await tab.sees(READY)
        await tab.type("walk SCN:tag percept the queue retries SCN:say Done.")
        await tab.press("Enter")
        await tab.sees("Done.")
        for key, words in WALK.items():
            if key.startswith("/"):
                await tab.type(key)
                await tab.press("Enter")
            else:
                await tab.press(key)
            await tab.sees(words)
            await tab.picture(pictures / f"browser-{key.strip('/')}.png")
            await tab.press("Escape")
            await tab.sees(lambda screen, words=words: words not in screen and "Ask, or / for commands" in screen)
        assert not tab.problems


async def test_the_page_says_how_it_ended(serve, tab: Tab, pictures: Path) -> None:
    async with serve() as server:
        await tab.open(server.address)
        await tab.sees(READY)
        await tab.press("ctrl+q")
        await tab.says("document.getElementById('why').textContent", "milk-tui was left; everything is saved.")
        await tab.picture(pictures / "browser-ended.png")
        tab.shown.screen.reset()
        await tab.press("Enter")
        await tab.sees(READY)
        assert not tab.problems
