"""The publisher's own file: HTTPS, resumed where it stopped, ended at once on cancel."""

from __future__ import annotations

import functools
import http.client
import re
import socket
import ssl
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

from milk_tui import __version__
from milk_tui.embedded.cancel import CancelToken
from milk_tui.embedded.catalogue import EmbeddedModel
from milk_tui.embedded.fetch import CHUNK, FetchError, FetchProgress, Report, write_all
from milk_tui.embedded.settings import EmbeddedSettings
from milk_tui.paths import for_owner

_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
_STAGE = "downloading from the publisher"


def fetch_published(
    model: EmbeddedModel, part: Path, settings: EmbeddedSettings, report: Report, token: CancelToken
) -> None:
    """Fill ``part`` with the publisher's file, going on from its present end; the caller verifies the hash.

    Raises ``FetchError`` when the publisher can't be reached within ``connect_timeout_s``, refuses, or
    offers a file of another length; what has arrived stays in ``part``.
    """
    sockets: list[socket.socket] = []

    def interrupt() -> None:
        for sock in sockets:
            try:
                socket.socket.shutdown(sock, socket.SHUT_RDWR)
            except OSError:
                pass

    with token.interrupting(interrupt):
        try:
            _download(model, part, settings, report, token, sockets.append)
        except (OSError, http.client.HTTPException, ValueError) as error:
            token.check()
            raise FetchError(f"The publisher of {model.title} could not be reached: {_reason(error)}.") from error


def _download(
    model: EmbeddedModel,
    part: Path,
    settings: EmbeddedSettings,
    report: Report,
    token: CancelToken,
    on_socket: Callable[[socket.socket], None],
) -> None:
    have = part.stat().st_size if part.exists() else 0
    if have > model.bytes:
        part.unlink()
        have = 0
    if have == model.bytes:
        return
    report(FetchProgress("asking the publisher"))
    _require_https(model.publisher_url)
    request = urllib.request.Request(model.publisher_url, headers={"User-Agent": f"milk-tui/{__version__}"})
    if have:
        request.add_header("Range", f"bytes={have}-")
    opener = _opener(settings, on_socket)
    with opener.open(request, timeout=settings.connect_timeout_s) as response:
        start = _start_of(response, have, model)
        with open(part, "r+b" if start else "wb", opener=for_owner) as out:
            out.seek(start)
            _copy(response, out, start, model, report, token)


def _copy(
    response: http.client.HTTPResponse,
    out: IO[bytes],
    start: int,
    model: EmbeddedModel,
    report: Report,
    token: CancelToken,
) -> None:
    done = start
    while True:
        token.check()
        chunk = response.read1(CHUNK)
        if not chunk:
            break
        done += len(chunk)
        if done > model.bytes:
            raise FetchError(f"The publisher's file of {model.title} is longer than {model.bytes:,} bytes.")
        write_all(out, chunk)
        report(FetchProgress(_STAGE, done, model.bytes))
    token.check()
    if done < model.bytes:
        raise FetchError(f"The connection to the publisher of {model.title} ended early.")


def _start_of(response: http.client.HTTPResponse, have: int, model: EmbeddedModel) -> int:
    """Where the body begins in the file; a server that ignores the range sends it all again."""
    if response.status == 206:
        match = re.fullmatch(r"bytes (\d+)-\d+/(\d+)", response.headers.get("Content-Range", ""))
        if match and int(match[1]) == have and int(match[2]) == model.bytes:
            return have
        raise FetchError(f"The publisher of {model.title} answered with another part than asked for.")
    length = response.headers.get("Content-Length")
    if length is not None and int(length) != model.bytes:
        raise FetchError(f"The publisher's file of {model.title} is {int(length):,} bytes, not {model.bytes:,}.")
    return 0


def _opener(settings: EmbeddedSettings, on_socket: Callable[[socket.socket], None]) -> urllib.request.OpenerDirector:
    """An opener whose connections have a short time to connect, a longer one to read, and can be cut."""

    class Watched:
        sock: Any

        def connect(self) -> None:
            super().connect()  # type: ignore[misc]
            self.sock.settimeout(settings.read_timeout_s)
            on_socket(self.sock)

    class Https(Watched, http.client.HTTPSConnection):
        pass

    class Http(Watched, http.client.HTTPConnection):
        pass

    class HttpsHandler(urllib.request.HTTPSHandler):
        def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
            return self.do_open(functools.partial(Https, context=ssl.create_default_context()), req)

    class HttpHandler(urllib.request.HTTPHandler):
        def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
            return self.do_open(Http, req)

    return urllib.request.build_opener(HttpsHandler, HttpHandler, _SafeRedirects)


class _SafeRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: Any, newurl: str
    ) -> urllib.request.Request | None:
        _require_https(newurl)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _require_https(url: str) -> None:
    parts = urlsplit(url)
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in _LOOPBACK):
        raise ValueError("only HTTPS is used")


def _reason(error: Exception) -> str:
    match error:
        case urllib.error.HTTPError():
            return f"it answered {error.code}"
        case urllib.error.URLError():
            return str(error.reason)
        case _:
            return str(error) or type(error).__name__
