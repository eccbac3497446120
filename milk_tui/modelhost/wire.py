"""What a provider's server may not do to the connection: lead it elsewhere, send a line without end, break the text.

litellm and the clients below it follow a redirect to any host, the prompt in the body and Anthropic's key in a header
of its own, and they gather a line until it ends. So every response passes here first.
"""

from __future__ import annotations

import codecs
import functools
import sys
from collections.abc import AsyncIterator, Callable
from typing import Any

from milk_tui.core.records import ErrorKind
from milk_tui.modelhost.failures import StreamProblem

LIBRARIES = ("httpx", "httpx2")
"""The HTTP clients that litellm and the providers' own libraries use."""
REDIRECTS = 3
LONGEST_LINE = 64 * 1024 * 1024
"""Bytes of one line, unpacked: of an answer that comes in one piece, the whole of it."""


def install() -> None:
    """Let the clients that are imported keep to the rules; a second call changes nothing."""

    for name in LIBRARIES:
        library = sys.modules.get(name)
        if library is not None and not hasattr(library.AsyncClient.send, "__wrapped__"):
            library.AsyncClient.send = _kept(library.AsyncClient.send)


def _kept(send: Callable[..., Any]) -> Callable[..., Any]:
    """``AsyncClient.send`` that follows no redirect to another server and bounds what comes."""

    @functools.wraps(send)
    async def kept(client: Any, request: Any, *, stream: bool = False, **more: Any) -> Any:
        follow = more.pop("follow_redirects", None)
        follows = follow if isinstance(follow, bool) else client.follow_redirects
        response = await send(client, request, stream=True, follow_redirects=False, **more)
        for _ in range(REDIRECTS):
            following = response.next_request
            if following is None or not follows:
                break
            await response.aclose()
            if not _same_server(request.url, following.url):
                raise StreamProblem(ErrorKind.BAD_ANSWER, f"it leads to {_named(following.url)}, another server.")
            response = await send(client, following, stream=True, follow_redirects=False, **more)
        _bound(response)
        if not stream:
            try:
                await response.aread()
            except BaseException:
                await response.aclose()
                raise
        return response

    return kept


def _same_server(one: Any, other: Any) -> bool:
    """The same host and port; from http to https on the usual ports is the same server too."""

    if one.host != other.host:
        return False
    same = (one.scheme, _port(one)) == (other.scheme, _port(other))
    return same or ((_port(one), _port(other)) == (80, 443) and (one.scheme, other.scheme) == ("http", "https"))


def _port(url: Any) -> int | None:
    return url.port or {"http": 80, "https": 443}.get(url.scheme)


def _named(url: Any) -> str:
    return f"{url.scheme}://{url.host}" + (f":{url.port}" if url.port else "")


def _bound(response: Any) -> None:
    """Count what comes, unpacked; in a stream of events replace what is no UTF-8, as a lenient reader does."""

    plain = response.aiter_bytes
    events = response.headers.get("content-type", "").startswith("text/event-stream")

    async def bounded(chunk_size: int | None = None) -> AsyncIterator[bytes]:
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        since = 0
        async for data in plain(chunk_size):
            end = max(data.rfind(b"\n"), data.rfind(b"\r")) if events else -1
            since = len(data) - 1 - end if end >= 0 else since + len(data)
            if since > LONGEST_LINE:
                raise StreamProblem(ErrorKind.BAD_ANSWER, f"a line of more than {LONGEST_LINE >> 20} MB came.")
            yield decoder.decode(data).encode() if events else data
        if events and (rest := decoder.decode(b"", final=True)):
            yield rest.encode()

    response.aiter_bytes = bounded
