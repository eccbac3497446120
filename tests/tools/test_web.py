"""``http_get``: bounded, asked, and never led to this machine or a private network without being asked for it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from milk_tui.core.permissions import Verdict
from milk_tui.tools.web import _public, text_of
from tests.tools.conftest import Bench


class Web:
    """A server on loopback; ``pages`` maps a path to a whole answer."""

    def __init__(self) -> None:
        self.pages: dict[str, bytes] = {}
        self.seen: list[str] = []
        self.port = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        self.seen.append(head)
        path = head.split()[1]
        writer.write(self.pages.get(path, b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n"))
        if path == "/slow":
            await asyncio.sleep(30)
        writer.close()

    def page(self, path: str, body: bytes, kind: str = "text/plain", status: str = "200 OK", **headers: str) -> str:
        lines = [f"HTTP/1.1 {status}", f"content-type: {kind}", f"content-length: {len(body)}", "connection: close"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        self.pages[path] = "\r\n".join(lines).encode() + b"\r\n\r\n" + body
        return f"http://127.0.0.1:{self.port}{path}"


@pytest.fixture
async def web() -> AsyncIterator[Web]:
    made = Web()
    server = await asyncio.start_server(made.serve, "127.0.0.1", 0)
    made.port = server.sockets[0].getsockname()[1]
    yield made
    server.close()


async def test_an_address_of_this_machine_is_asked_for_as_one(bench: Bench, web: Web) -> None:
    url = web.page("/a", b"hello")
    outcome = await bench("http_get", url=url)
    assert outcome.content.startswith("[200 OK · text/plain · 5 bytes · ")
    assert outcome.content.endswith("\nhello")
    (asked,) = bench.asked
    assert asked.title == f"get {url}, an address of this machine or of a private network"
    assert asked.pattern == f"GET http://127.0.0.1:{web.port}/*"


async def test_denied_means_not_called(bench: Bench, web: Web) -> None:
    bench.verdict = Verdict(allowed=False, by="nobody", reason="no person is there to ask")
    await bench.refuses("http_get", "no person is there", url=web.page("/a", b"hello"))
    assert web.seen == []


async def test_a_redirect_to_another_private_address_is_not_followed(bench: Bench, web: Web) -> None:
    url = web.page("/a", b"", status="302 Found", location="http://127.0.0.1:1/b")
    await bench.refuses("http_get", "leads to 127.0.0.1:1", "was not called", url=url)
    url = web.page("/c", b"", status="301 Moved", location="http://169.254.169.254/latest/meta-data")
    await bench.refuses("http_get", "was not called", url=url)


async def test_a_redirect_on_the_same_host_is_followed_a_few_times(bench: Bench, web: Web) -> None:
    web.page("/b", b"there")
    url = web.page("/a", b"", status="302 Found", location="/b")
    assert (await bench("http_get", url=url)).content.endswith("there")
    url = web.page("/loop", b"", status="302 Found", location="/loop")
    await bench.refuses("http_get", "more than 5 times", url=url)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "ftp://x/",
        "file:///etc/passwd",
        "http://",
        "http://u:p@127.0.0.1/",
        "http://[::1",
        "http://127.0.0.1:99999/",
    ],
)
async def test_what_is_no_web_address_is_refused_without_asking(bench: Bench, url: str) -> None:
    await bench.refuses("http_get", url=url)
    assert bench.asked == []


async def test_size_time_and_kind_are_bounded(bench: Bench, web: Web) -> None:
    outcome = await bench("http_get", url=web.page("/large", b"x" * 3_000_000))
    assert "cut at 2,000,000" in outcome.content
    assert len(outcome.content) < 31_000
    await bench.refuses("http_get", "no text", url=web.page("/png", b"\x89PNG\r\n\0", "image/png"))
    bench.site.limits = type(bench.site.limits)(http_s=0.3)
    web.pages["/slow"] = b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n"
    await bench.refuses("http_get", url=f"http://127.0.0.1:{web.port}/slow")


async def test_a_failure_of_the_server_is_told(bench: Bench, web: Web) -> None:
    await bench.refuses("http_get", "404", url=f"http://127.0.0.1:{web.port}/missing")
    await bench.refuses("http_get", "can't be reached", url="http://127.0.0.1:1/")


async def test_a_page_becomes_text_without_scripts_and_escapes(bench: Bench, web: Web) -> None:
    page = b"<html><head><title>t</title></head><body><h1>Hi</h1><script>bad()</script><p>one &amp; two\x1b[2J</p>"
    outcome = await bench("http_get", url=web.page("/p", page, "text/html; charset=utf-8"))
    assert outcome.content.split("\n")[1:] == ["Hi", "one & two"]
    assert text_of("<p>a<p>b") == "a\nb"


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("a<![foo[x]]>b", "ab"),
        ("a<![>b", "ab"),
        ("a<![if !IE]>b<![endif]>c", "abc"),
        ("a < b <i>c</i> d", "a < b c d"),
        ("a &lt;b&gt;", "a <b>"),
        ("<b>a</b> b <i", "a b"),
        ("a", "a"),
        ("", ""),
        ("a" + "<a " * 200_000, "a"),
        ('a<a b="' * 200_000 + "c", "a"),
        ("a<!--" * 200_000, "a"),
        ("<" * 200_000 + "p>a", "<" * 199_999 + "\na"),
        ("<![" * 200_000 + ">a", "a"),
    ],
    ids=lambda value: value[:16],
)
def test_a_page_that_is_none_is_read_as_far_as_it_is_one(page: str, text: str) -> None:
    assert text_of(page) == text


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("93.184.216.34", True),
        ("2606:2800:220:1:248:1893:25c8:1946", True),
        ("127.0.0.1", False),
        ("0.0.0.0", False),
        ("10.1.2.3", False),
        ("192.168.0.1", False),
        ("172.16.0.1", False),
        ("169.254.169.254", False),
        ("100.64.0.1", False),
        ("224.0.0.1", False),
        ("::1", False),
        ("fe80::1", False),
        ("fd00::1", False),
        ("::ffff:127.0.0.1", False),
        ("64:ff9b::7f00:1", False),
        ("2002:7f00:1::", False),
    ],
)
def test_which_addresses_are_of_the_open_internet(address: str, public: bool) -> None:
    assert _public(address) is public
