"""A made-up embedded model: random bytes in small wheels on a local index, and a publisher on the loopback."""

from __future__ import annotations

import hashlib
import random
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from milk_tui.embedded.catalogue import Carrier, EmbeddedModel
from milk_tui.embedded.settings import EmbeddedSettings

CONTENT = random.Random(8412).randbytes(300_000)


def model(content: bytes = CONTENT, carriers: tuple[Carrier, ...] = (), publisher_url: str = "") -> EmbeddedModel:
    return EmbeddedModel(
        size="tiny",
        title="Made-up",
        licence="MIT",
        licence_url="",
        bytes=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
        publisher_url=publisher_url,
        carriers=carriers,
        resident_bytes=0,
        prompt_tokens_s=1,
        answer_tokens_s=1,
        note="",
    )


def settings(folder: Path, index: Path | None = None) -> EmbeddedSettings:
    made = EmbeddedSettings(models_dir=folder / "models", runtime_dir=folder / "run", publisher=False)
    if index is None:
        return made
    return replace(made, pip_args=("--no-index", "--find-links", str(index)))


def wheel(folder: Path, name: str, data: bytes, version: str = "1.0") -> Path:
    """A wheel that carries ``data`` and whose code would be noticed if it were ever run."""
    folder.mkdir(parents=True, exist_ok=True)
    package = name.replace("-", "_")
    path = folder / f"{package}-{version}-py3-none-any.whl"
    info = f"{package}-{version}.dist-info"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"{package}/__init__.py", "raise SystemExit('a carrier was imported')")
        archive.writestr(f"{package}/data/part.bin", data)
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    return path


def carried(index: Path, content: bytes = CONTENT, parts: int = 3, hashes: bool = True) -> tuple[Carrier, ...]:
    """Carriers of ``content`` in ``index``."""
    step = -(-len(content) // parts)
    carriers = []
    for number in range(parts):
        path = wheel(index, f"made-up-part{number + 1}", content[number * step : (number + 1) * step])
        digest = hashlib.sha256(path.read_bytes()).hexdigest() if hashes else ""
        carriers.append(Carrier(f"made-up-part{number + 1}", "1.0", path.stat().st_size, digest))
    return tuple(carriers)


@dataclass
class Publisher:
    """A loopback server of one file; the fields say how it behaves."""

    content: bytes = CONTENT
    cut_after: int | None = None
    """Close the connection after so many bytes of the body."""
    stall_after: int | None = None
    ranges: bool = True
    redirect: str = ""
    status: int = 200
    url: str = ""
    asked: list[str] = field(default_factory=list)
    """The ``Range`` header of each request, empty when there was none."""
    stalled: threading.Event = field(default_factory=threading.Event)
    left: threading.Event = field(default_factory=threading.Event)
    """Set when a client of a stalled answer has closed its connection."""


@contextmanager
def publisher(**behaviour: object) -> Iterator[Publisher]:
    """The server, running until the block ends."""
    state = Publisher(**behaviour)  # type: ignore[arg-type]

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None:
            pass

        def do_GET(self) -> None:
            wanted = self.headers.get("Range", "")
            state.asked.append(wanted)
            self.close_connection = True
            if state.redirect:
                self.send_response(302)
                self.send_header("Location", state.redirect)
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            start = int(wanted.removeprefix("bytes=").removesuffix("-")) if wanted and state.ranges else 0
            body = state.content[start:]
            self.send_response(206 if start and state.status == 200 else state.status)
            self.send_header("Content-Length", str(len(body)))
            if start:
                total = len(state.content)
                self.send_header("Content-Range", f"bytes {start}-{total - 1}/{total}")
            self.end_headers()
            self._send(body)

        def _send(self, body: bytes) -> None:
            end = state.cut_after if state.cut_after is not None else state.stall_after
            self.wfile.write(body if end is None else body[:end])
            self.wfile.flush()
            if state.stall_after is not None:
                state.stalled.set()
                try:
                    gone = self.connection.recv(1) == b""
                except OSError:
                    gone = True
                if gone:
                    state.left.set()

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    state.url = f"http://127.0.0.1:{server.server_port}/model.gguf"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
