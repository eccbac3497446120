"""``http_get``: one page or file, bounded in size and time; addresses of this machine and of private networks are
refused unless the person grants them, wherever a redirect leads."""

from __future__ import annotations

import asyncio
import ipaddress
import re
import socket
from dataclasses import dataclass
from html.parser import HTMLParser
from typing import Annotated, Any
from urllib.parse import urljoin, urlsplit, urlunsplit

from msgspec import Meta

from milk_tui.core.text import clean, one_line
from milk_tui.core.tool_calls import ToolOutcome
from milk_tui.tools.base import OUTPUT_CHARS, Access, Arguments, Ask, Call, Prepared, Refused, cut, tool
from milk_tui.tools.site import Site
from milk_tui.tools.texts import binary

FAMILY = "web"
LARGEST = 2_000_000
REDIRECTS = 5
NAME_S = 10.0
"""Seconds in which a name must be known."""
_PORTS = {"http": 80, "https": 443}
_MOVED = frozenset({301, 302, 303, 307, 308})
_SKIPPED = frozenset({"script", "style", "noscript", "template", "svg", "head"})
_LINES = frozenset({"p", "div", "br", "li", "tr", "h1", "h2", "h3", "h4", "h5", "h6", "section", "article", "pre"})


class HttpGet(Arguments, frozen=True, kw_only=True):
    url: Annotated[str, Meta(description="An http or https address.")]


@dataclass(frozen=True, slots=True)
class Target:
    """An address, and where its name leads: that one is called, whatever the name says a moment later."""

    url: str
    host: str
    port: int
    ip: str
    private: bool

    @property
    def where(self) -> str:
        return f"{self.host}:{self.port}"


async def target_of(url: str) -> Target:
    """Look the address up. Raises ``Refused``."""
    parts = urlsplit(url.strip())
    try:
        host, port = parts.hostname or "", parts.port or _PORTS.get(parts.scheme, 0)
    except ValueError as error:
        raise Refused(f"{one_line(url, 200)} is no address: {error}.") from error
    if parts.scheme not in _PORTS or not host:
        raise Refused(f"{one_line(url, 200)} is no http or https address.")
    if parts.username or parts.password:
        raise Refused("An address with a name and password in it is not called.")
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(NAME_S):
            found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise Refused(f"{one_line(host, 200)} is not known: {error}.") from error
    addresses = [str(entry[4][0]).partition("%")[0] for entry in found]
    private = any(not _public(address) for address in addresses)
    return Target(urlunsplit(parts._replace(fragment="")), host, port, addresses[0], private)


def _public(address: str) -> bool:
    """Whether an address is one of the open internet."""
    ip = ipaddress.ip_address(address)
    if isinstance(ip, ipaddress.IPv6Address):
        inner = ip.ipv4_mapped or ip.sixtofour or (ip.teredo[1] if ip.teredo else None)
        if inner is not None:
            return _public(str(inner))
        if ip in ipaddress.ip_network("64:ff9b::/96"):
            return _public(str(ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)))
    return ip.is_global and not ip.is_multicast


async def _prepare(site: Site, said: HttpGet) -> Prepared:
    target = await target_of(said.url)
    scheme = urlsplit(target.url).scheme
    note = ", an address of this machine or of a private network" if target.private else ""
    ask = Ask(f"get {target.url}{note}", pattern=f"GET {scheme}://{target.where}/*")

    async def run(call: Call) -> ToolOutcome:
        async with asyncio.timeout(site.limits.http_s):
            return await _get(target)

    return Prepared(run, ask)


async def _get(target: Target) -> ToolOutcome:
    import httpx

    allowed = target
    async with httpx.AsyncClient(trust_env=False, follow_redirects=False, timeout=httpx.Timeout(15.0)) as client:
        for _ in range(REDIRECTS + 1):
            try:
                async with client.stream("GET", **_call(target)) as answer:
                    location = answer.headers.get("location")
                    if answer.status_code not in _MOVED or not location:
                        return await _answer(target, answer)
            except httpx.HTTPError as error:
                said = one_line(str(error), 200) or type(error).__name__
                raise Refused(f"{target.where} can't be reached: {said}.") from error
            target = await _redirected(allowed, target, location)
    raise Refused(f"{allowed.url} leads from one address to the next, more than {REDIRECTS} times.")


async def _redirected(allowed: Target, target: Target, location: str) -> Target:
    """Where a redirect leads. Raises ``Refused`` for one that the person didn't allow."""
    following = await target_of(urljoin(target.url, location))
    if following.private and following.where != allowed.where:
        raise Refused(
            f"{target.url} leads to {following.where}, an address of this machine or of a private network; "
            "it was not called."
        )
    if following.host != allowed.host and not following.private:
        raise Refused(f"{target.url} leads to {following.url}, on another host. Get that address itself, if need be.")
    return following


def _call(target: Target) -> dict[str, Any]:
    """The request to the very address that was looked up, under the name that was asked for."""
    parts = urlsplit(target.url)
    ip = f"[{target.ip}]" if ":" in target.ip else target.ip
    usual = target.port == _PORTS[parts.scheme]
    host = f"[{target.host}]" if ":" in target.host else target.host
    return {
        "url": urlunsplit(parts._replace(netloc=f"{ip}:{target.port}")),
        "headers": {
            "host": host if usual else f"{host}:{target.port}",
            "user-agent": "milk-tui",
            "accept": "text/*, application/json, */*;q=0.5",
        },
        "extensions": {"sni_hostname": target.host},
    }


async def _answer(target: Target, answer: object) -> ToolOutcome:
    from httpx import Response

    assert isinstance(answer, Response)
    data = bytearray()
    whole = True
    async for chunk in answer.aiter_bytes(1 << 16):
        data += chunk
        if len(data) > LARGEST:
            whole = False
            break
    kind = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
    head = f"[{answer.status_code} {one_line(answer.reason_phrase, 60)} · {one_line(kind, 80) or 'unknown kind'}"
    head += f" · {len(data):,} bytes" + ("" if whole else f", cut at {LARGEST:,}") + f" · {one_line(target.url, 300)}]"
    if found := binary(bytes(data)):
        return ToolOutcome(f"{head}\nThe answer is {found}: no text.", ok=False)
    text = bytes(data).decode(answer.charset_encoding or "utf-8", "replace") if data else ""
    if kind in ("text/html", "application/xhtml+xml"):
        text = text_of(text)
    return ToolOutcome(f"{head}\n{cut(clean(text), OUTPUT_CHARS)}", ok=answer.is_success)


_NO_TAG = re.compile(r"<(?![A-Za-z/!?])")
_SECTION = re.compile(r"<!\[[^>]*>")


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._skipped = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._skipped += tag in _SKIPPED
        if tag in _LINES:
            self.parts.append("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag in _SKIPPED and self._skipped:
            self._skipped -= 1

    def handle_data(self, data: str) -> None:
        if not self._skipped:
            self.parts.append(data)


def text_of(html: str) -> str:
    """The readable text of a page. A tag that never ends is no text; the parser would look for its end again and again,
    from each ``<`` behind it. Marked sections are none either: browsers know no such thing, and the parser fails at
    those that it doesn't know."""
    ended = html.rfind(">") + 1
    rest, _, _ = html[ended:].partition("<")
    reader = _Reader()
    reader.feed(_NO_TAG.sub("&lt;", _SECTION.sub("", html[:ended])) + rest)
    reader.close()
    lines = (" ".join(line.split()) for line in "".join(reader.parts).split("\n"))
    return "\n".join(line for line in lines if line)


TOOLS = (
    tool(
        "http_get",
        "Get a text from the web: a page, a file, an API's answer. The person is asked first.",
        HttpGet,
        _prepare,
        family=FAMILY,
        access=Access.NETWORK,
        timeout_s=40.0,
    ),
)
