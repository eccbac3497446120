"""The web server: the page, what the page needs, and one program for each page.

``textual_serve`` has the page's terminal and the packets; what it lacks is here: the door (``access.py``), limits, no
word to any other host, and an end for every program (``textual-notes.md`` §6).
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import socket
from collections.abc import Awaitable, Callable, Sequence
from http import HTTPStatus
from pathlib import Path
from typing import Any

import aiohttp_jinja2
import jinja2
from aiohttp import WSCloseCode, WSMsgType, web
from textual_serve.server import Server

from milk_tui.core.text import clean, one_line
from milk_tui.serve.access import EVERYWHERE, Gate, in_address
from milk_tui.serve.process import ScreenProcess

PAGE = Path(__file__).parent / "page"
MESSAGE_BYTES = 16_000_000
"""The longest message of a page: a paste is one."""
HEARTBEAT_S = 15.0
CLOSE_S = 2.0
"""Seconds in which a page says that it heard the end."""
SMALLEST, LARGEST = (20, 5), (500, 300)
"""Cells, columns before rows."""
WEBSOCKETS = {"/ws": True, "/ws/light": False}
"""Where a page's terminal connects, and whether its browser likes dark pages."""
OWN_FILES = {"page.js": "text/javascript", "page.css": "text/css"}
THEIR_FILES = {
    "terminal.js": ("js/textual.js", "text/javascript"),
    "terminal.css": ("css/xterm.css", "text/css"),
    "mono.ttf": ("fonts/RobotoMono-VariableFont_wght.ttf", "font/ttf"),
    "mono-italic.ttf": ("fonts/RobotoMono-Italic-VariableFont_wght.ttf", "font/ttf"),
}
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=(), clipboard-read=()",
    "Cache-Control": "no-store",
}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; font-src 'self'; img-src 'self' data:; "
    "connect-src 'self'{sockets}; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)
_log = logging.getLogger(__name__)
_Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class ScreenServer(Server):
    """Serves ``arguments`` (a program and its arguments, never through a shell) to whoever has ``gate``'s address.

    ``screens``: how many pages may be open at once.
    """

    def __init__(
        self,
        arguments: Sequence[str],
        *,
        gate: Gate,
        port: int,
        screens: int,
        environment: dict[str, str] | None = None,
    ) -> None:
        super().__init__("milk-tui", host=gate.host, port=port, title="milk", templates_path=PAGE)
        self.gate = gate
        self.screens = screens
        self._arguments = arguments
        self._environment = dict(os.environ) if environment is None else environment
        self._running: dict[ScreenProcess, web.WebSocketResponse] = {}
        self._runner: web.AppRunner | None = None

    @property
    def cookie(self) -> str:
        """The cookie's name: cookies know no ports, and two servers must not take each other's."""
        return f"milk-tui-{self.port}"

    @property
    def address(self) -> str:
        """The address to open, with its token."""
        if self.gate.public:
            return f"{self.gate.public}/?token={self.gate.token}"
        host = _outward_address() if self.host in EVERYWHERE else self.host
        return f"http://{in_address(host, self.port)}/?token={self.gate.token}"

    async def begin(self) -> None:
        """Listen. Raises OSError when the address is taken or is none of this machine's."""
        self._runner = web.AppRunner(await self._make_app(), access_log=None, shutdown_timeout=2.0)
        await self._runner.setup()
        site = web.TCPSite(self._runner, self.host, self.port)
        await site.start()
        if self.port == 0:
            self.port = self._runner.addresses[0][1]

    async def end(self) -> None:
        """Close every page and let every program save and leave."""
        pages = [page.close(code=WSCloseCode.GOING_AWAY, message=b"stopped") for page in self._running.values()]
        await asyncio.gather(*pages, *(process.stop() for process in self._running))
        if self._runner is not None:
            await self._runner.cleanup()

    async def _make_app(self) -> web.Application:
        app = web.Application(middlewares=[self._look], client_max_size=0)
        aiohttp_jinja2.setup(app, loader=jinja2.FileSystemLoader(PAGE), autoescape=True)
        app.add_routes(
            [
                web.get("/", self.handle_index, name="index"),
                *(web.get(path, self.handle_websocket) for path in WEBSOCKETS),
                web.get("/page/{name}", self.handle_file, name="file"),
            ]
        )
        return app

    @web.middleware
    async def _look(self, request: web.Request, handler: _Handler) -> web.StreamResponse:
        """Every request passes here; what is refused says no more than why."""
        response = await self._refused(request) or await self._answered(request, handler)
        if not response.prepared:
            response.headers.update(HEADERS)
            response.headers["Content-Security-Policy"] = POLICY.format(sockets=self._sockets(request, response))
        return response

    def _sockets(self, request: web.Request, response: web.StreamResponse) -> str:
        """Where the page's socket may lead, for browsers that don't count it to the page's own place."""
        if response.status == HTTPStatus.FORBIDDEN:
            return ""
        if self.gate.public:
            return f" {self.gate.public.replace('http', 'ws', 1)}"
        return f" ws://{request.host}"

    async def _answered(self, request: web.Request, handler: _Handler) -> web.StreamResponse:
        try:
            return await handler(request)
        except web.HTTPException as said:
            return web.Response(status=said.status, text=f"{said.status} {said.reason}\n")

    async def _refused(self, request: web.Request) -> web.StreamResponse | None:
        """The answer to a request that may not come in; ``None`` for one that may."""
        host, origin = request.headers.get("Host"), request.headers.get("Origin")
        reached_at = request.get_extra_info("sockname") or ("",)
        if not self.gate.knows(host, str(reached_at[0])):
            return _no("this server does not go by that name")
        to_websocket = request.path in WEBSOCKETS
        if (origin is not None or to_websocket) and not self.gate.same_origin(origin, host):
            return _no("a page of another place may not ask here")
        if request.path == "/" and "token" in request.query and self.gate.opens(request.query["token"]):
            return self._let_in(request)  # also a second time: the key is not to stay in the address
        if self.gate.admits(request.cookies.get(self.cookie)):
            return None
        return _no("open the address that milk-tui serve printed; it holds the key")

    def _let_in(self, request: web.Request) -> web.StreamResponse:
        """Leave the cookie, and take the token out of the address."""
        query = {name: value for name, value in request.query.items() if name != "token"}
        secure = self.gate.public.startswith("https")
        seen = web.Response(status=HTTPStatus.SEE_OTHER, headers={"Location": str(request.rel_url.with_query(query))})
        seen.set_cookie(self.cookie, self.gate.ticket, httponly=True, samesite="Strict", path="/", secure=secure)
        return seen

    async def handle_index(self, request: web.Request) -> web.StreamResponse:
        size = request.query.get("fontsize", "")
        shown = {
            "title": self.title,
            "font_size": min(max(int(size), 6), 60) if size.isascii() and size.isdigit() and len(size) < 4 else 15,
        }
        return aiohttp_jinja2.render_template("app_index.html", request, shown)

    async def handle_file(self, request: web.Request) -> web.StreamResponse:
        """What the page needs, by a list: there is no way to any other file."""
        name = request.match_info["name"]
        if name in OWN_FILES:
            path, kind = PAGE / name, OWN_FILES[name]
        elif name in THEIR_FILES:
            inside, kind = THEIR_FILES[name]
            path = Path(self.statics_path) / inside
        else:
            raise web.HTTPNotFound
        return web.FileResponse(path, headers={"Content-Type": kind})

    async def handle_websocket(self, request: web.Request) -> web.WebSocketResponse:
        websocket = web.WebSocketResponse(heartbeat=HEARTBEAT_S, timeout=CLOSE_S, max_msg_size=MESSAGE_BYTES)
        websocket.headers.update(HEADERS)
        await websocket.prepare(request)

        async def tell(*message: object) -> None:
            await websocket.send_str(json.dumps(message))

        if len(self._running) >= self.screens:
            await tell(
                "ended", f"{self.screens} pages are open already, which is the most. Close one, then open again."
            )
            await websocket.close(code=WSCloseCode.TRY_AGAIN_LATER)
            return websocket
        process = ScreenProcess(
            self._arguments,
            environment=self._environment,
            write_bytes=websocket.send_bytes,
            tell=tell,
            dark=WEBSOCKETS[request.path],
        )
        self._running[process] = websocket
        try:
            await process.start(*_size(request.query.get("width"), request.query.get("height")))
            assert process.ended is not None
            reading = asyncio.create_task(self._read(websocket, process))
            await asyncio.wait({reading, process.ended}, return_when=asyncio.FIRST_COMPLETED)
            if process.ended.done() and not websocket.closed:
                await tell("ended", clean(process.complaint) or "milk-tui was left; everything is saved.")
                await websocket.close()
            await asyncio.wait({reading})
        except OSError as error:
            _log.error("the program could not be started: %s", error)
            if not websocket.closed:
                await tell("ended", f"milk-tui could not be started: {one_line(str(error), 200)}")
        finally:
            await process.stop()
            self._running.pop(process, None)
        return websocket

    async def _read(self, websocket: web.WebSocketResponse, process: ScreenProcess) -> None:
        """Pass on what the page sends until it is gone; what makes no sense is left out."""
        async for message in websocket:
            if message.type is not WSMsgType.TEXT:
                continue
            try:
                said = json.loads(message.data)
            except (ValueError, RecursionError):
                continue
            await self._take(said, websocket, process)

    @staticmethod
    async def _take(said: Any, websocket: web.WebSocketResponse, process: ScreenProcess) -> None:
        match said:
            case ["stdin", str(keys)]:
                await process.send_bytes(keys.encode("utf-8", "replace"))
            case ["resize", {"width": int(width), "height": int(height)}]:
                await process.set_terminal_size(*_size(width, height))
            case ["ping", data]:
                await websocket.send_json(["pong", data])
            case ["focus"]:
                await process.focus()
            case ["blur"]:
                await process.blur()
            case ["copied", int(number), bool(took), str(why)]:
                await process.send_meta({"type": "copied", "number": number, "took": took, "why": one_line(why, 200)})


def _outward_address() -> str:
    """The address that others reach this machine at, as far as it knows; nothing is sent to find out."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        try:
            asking.connect(("192.0.2.1", 9))
            return str(asking.getsockname()[0])
        except OSError:
            return "127.0.0.1"


def _size(width: object, height: object) -> tuple[int, int]:
    """Columns and rows within bounds; what is no number is a usual terminal's."""
    found = []
    for given, usual, least, most in zip((width, height), (80, 24), SMALLEST, LARGEST, strict=True):
        text = str(given)
        number = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else usual
        found.append(min(max(number, least), most))
    return found[0], found[1]


def _no(why: str) -> web.Response:
    return web.Response(status=HTTPStatus.FORBIDDEN, text=f"milk-tui: {why}.\n")
