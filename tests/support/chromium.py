"""A real headless Chromium for tests, driven over its DevTools protocol.

The page's terminal draws on a canvas, so what it shows is read from its websocket, through an emulator; what it looks
like is a picture. Every request of the page is kept.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import itertools
import json
import os
import shutil
import signal
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import aiohttp

from tests.support.web_page import Emulated

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--disable-sync",
    "--disable-features=Translate,OptimizationHints,MediaRouter",
    "--metrics-recording-only",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    "--remote-debugging-port=0",
)
CODES = {
    "Enter": (13, "Enter"),
    "Escape": (27, "Escape"),
    "Tab": (9, "Tab"),
    "Home": (36, "Home"),
    "End": (35, "End"),
    "Backspace": (8, "Backspace"),
    "Delete": (46, "Delete"),
    "PageUp": (33, "PageUp"),
    "PageDown": (34, "PageDown"),
    "ArrowLeft": (37, "ArrowLeft"),
    "ArrowUp": (38, "ArrowUp"),
    "ArrowRight": (39, "ArrowRight"),
    "ArrowDown": (40, "ArrowDown"),
    **{f"F{number}": (111 + number, f"F{number}") for number in range(1, 13)},
}
ALT, CTRL, SHIFT = 1, 2, 8


def binary() -> str | None:
    """The path of a Chromium, or ``None`` where there is none."""
    return next((found for name in NAMES if (found := shutil.which(name))), None)


class Tab:
    """One tab; ``requests`` has the address of everything that its page asked for."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse, cols: int = 120, rows: int = 40) -> None:
        self.shown = Emulated(cols, rows)
        self.tap: Callable[[bytes], object] = self.shown.feed
        """Is given everything that the page's terminal is given."""
        self.copied: list[str] = []
        """Every text of the page that the browser took for its clipboard, oldest first."""
        self.requests: list[str] = []
        self.problems: list[str] = []
        """What the page's console complains of."""
        self.asked: list[str] = []
        """The kinds of the browser's own questions; each is answered with yes."""
        self._socket = socket
        self._offered: dict[int, str] = {}
        self._numbers = itertools.count(1)
        self._answers: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._reading = asyncio.create_task(self._read())

    async def _read(self) -> None:
        async for message in self._socket:
            said = message.json()
            if "id" in said:
                self._answers.pop(said["id"]).set_result(said)
                continue
            about = said["params"]
            match said["method"]:
                case "Network.requestWillBeSent":
                    self.requests.append(about["request"]["url"])
                case "Network.webSocketCreated":
                    self.requests.append(about["url"])
                case "Network.webSocketFrameReceived" if about["response"]["opcode"] == 2:
                    self.tap(base64.b64decode(about["response"]["payloadData"]))
                case "Network.webSocketFrameReceived" | "Network.webSocketFrameSent":
                    self._told(about["response"]["payloadData"])
                case "Page.javascriptDialogOpening":
                    self.asked.append(about["type"])
                    self._answering = asyncio.create_task(self.call("Page.handleJavaScriptDialog", accept=True))
                case "Runtime.exceptionThrown":
                    details = about["exceptionDetails"]
                    self.problems.append(details.get("exception", {}).get("description", details["text"]))
                case "Log.entryAdded" if about["entry"]["level"] == "error":
                    self.problems.append(about["entry"]["text"])

    def _told(self, message: str) -> None:
        """What the page and its server tell each other beside what the terminal shows."""
        match json.loads(message):
            case ["resize", {"width": int(width), "height": int(height)}]:
                self.shown.screen.resize(height, width)
            case ["copy", int(number), str(text)]:
                self._offered[number] = text
            case ["copied", int(number), True, *_]:
                self.copied.append(self._offered[number])

    @property
    def hosts(self) -> set[str]:
        """Who the page asked for anything."""
        return {host for address in self.requests if (host := urlsplit(address).hostname)}

    async def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """One command of the protocol; ``AssertionError`` when it fails."""
        number = next(self._numbers)
        answer = self._answers[number] = asyncio.get_running_loop().create_future()
        await self._socket.send_json({"id": number, "method": method, "params": parameters})
        said = await asyncio.wait_for(answer, 30)
        assert "error" not in said, f"{method}: {said.get('error')}"
        return dict(said["result"])

    async def open(self, address: str, *, width: int = 1200, height: int = 800) -> None:
        for domain in ("Network", "Page", "Runtime", "Log"):
            await self.call(f"{domain}.enable")
        await self.resize(width, height)
        await self.call("Page.navigate", url=address)

    async def resize(self, width: int, height: int) -> None:
        await self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False
        )

    async def evaluate(self, expression: str) -> Any:
        said = await self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in said, said
        return said["result"].get("value")

    async def says(self, expression: str, wanted: object, timeout_s: float = 30.0) -> None:
        """Wait until the page's ``expression`` is ``wanted``."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + timeout_s
        while (said := await self.evaluate(expression)) != wanted:
            assert loop.time() < deadline, f"{expression} is {said!r}, not {wanted!r}"
            await asyncio.sleep(0.05)

    async def type(self, text: str) -> None:
        """Type it as a person does: a key for each character."""
        for character in text:
            common: dict[str, Any] = {"key": character, "unmodifiedText": character, "text": character}
            if character == " " or (character.isascii() and character.isalnum()):
                common |= {"windowsVirtualKeyCode": ord(character.upper()), "modifiers": SHIFT * character.isupper()}
            await self.call("Input.dispatchKeyEvent", type="keyDown", **common)
            await self.call("Input.dispatchKeyEvent", type="keyUp", key=character)

    async def press(self, *keys: str) -> None:
        """Keys by the browser's names, with ``ctrl+``, ``alt+``, ``shift+`` before them."""
        for key in keys:
            *held, name = key.split("+")
            modifiers = sum({"ctrl": CTRL, "alt": ALT, "shift": SHIFT}[modifier] for modifier in held)
            if name in CODES:
                number, code = CODES[name]
            else:
                number, code = ord(name.upper()), f"Key{name.upper()}"
            event = {"key": name, "code": code, "windowsVirtualKeyCode": number, "modifiers": modifiers}
            text: dict[str, Any] = {"text": "\r"} if name == "Enter" else {}
            commands = {"commands": ["paste"]} if key == "ctrl+v" else {}
            await self.call(
                "Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", **event, **text, **commands
            )
            await self.call("Input.dispatchKeyEvent", type="keyUp", **event)

    async def picture(self, file: Path) -> None:
        """Write what the tab looks like, as PNG."""
        said = await self.call("Page.captureScreenshot", format="png")
        await asyncio.to_thread(file.write_bytes, base64.b64decode(said["data"]))

    async def sees(self, wanted: str | Callable[[str], object], timeout_s: float = 30.0) -> str:
        """Wait until the text is on the page's terminal, or the predicate holds for it."""
        holds = (lambda screen: wanted in screen) if isinstance(wanted, str) else wanted
        loop = asyncio.get_running_loop()
        deadline = loop.time() + timeout_s
        while not holds(self.shown.text):
            if loop.time() > deadline:
                size = "{} x {}".format(*self.shown.size)
                said = f"{wanted!r} not within {timeout_s:g} s on {size}; {self.problems}\n{self.shown.text}"
                raise AssertionError(said)
            await asyncio.sleep(0.05)
        return self.shown.text


@asynccontextmanager
async def browsing(*, cols: int = 120, rows: int = 40) -> AsyncIterator[Tab]:
    """A Chromium with nothing in it, and its one tab."""
    found = binary()
    assert found is not None
    folder = Path(tempfile.mkdtemp(prefix="milk-chromium-"))
    process = await asyncio.create_subprocess_exec(
        found,
        *FLAGS,
        f"--user-data-dir={folder}",
        "about:blank",
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        port = await _port(folder / "DevToolsActivePort")
        async with aiohttp.ClientSession() as session:
            async with session.get(f"http://127.0.0.1:{port}/json/list") as answer:
                (page,) = [tab for tab in await answer.json() if tab["type"] == "page"]
            async with session.ws_connect(page["webSocketDebuggerUrl"], max_msg_size=0) as socket:
                yield Tab(socket, cols, rows)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)


async def _port(file: Path) -> int:
    loop = asyncio.get_running_loop()
    deadline = loop.time() + 60
    while True:
        with contextlib.suppress(OSError, IndexError, ValueError):
            return int((await asyncio.to_thread(file.read_text)).split()[0])
        assert loop.time() < deadline, "Chromium does not say where it listens"
        await asyncio.sleep(0.05)
