"""The screen in a browser, over the page's real websocket: what a person does there, and who is kept out."""

from __future__ import annotations

import asyncio
import os
import signal

import aiohttp
import pytest

from tests.support.polling import until
from tests.support.web_page import Page

READY = "to ● "
SCREEN = "milk_tui --primary"
"""What the command of a page's program holds."""
pytestmark = pytest.mark.e2e


async def test_a_page_is_the_whole_program(serve, place) -> None:
    async with serve() as server:
        async with Page(server) as page:
            await page.sees(READY)
            await page.send("Why? SCN:tag percept retries live in the queue SCN:say The handler **retries**.\r")
            await page.sees("The handler retries.")
            await page.sees("retries live in the queue")
            await page.send("design it SCN:say Use a key.")
            await page.press("ctrl+g")
            await page.sees("escalated to ")
            await page.sees("Use a key.")
            for cols, rows in ((60, 20), (150, 50)):
                await page.resize(cols, rows)
                await page.sees(lambda screen: "Use a key." in screen and "F1 help" in screen)
            assert any(said[0] == "title" and "Why?" in said[1] for said in page.told)
            await page.send("a draft to keep")
            await page.sees("❯ a draft to keep")
        async with Page(server, cols=100, rows=30) as page:
            await page.sees("Use a key.")
            await page.sees("❯ a draft to keep")
        server.process.terminate()
        assert await server.process.wait() == 0
    place.wait_alone()


async def test_keys_with_a_modifier_and_pastes_arrive_as_in_a_terminal(serve) -> None:
    async with serve() as server, Page(server) as page:
        await page.sees(READY)
        await page.send("one\x1b[13;2utwo")
        await page.sees(lambda screen: "❯ one" in screen and "two" in screen)
        await page.press("ctrl+c")
        await page.sees(lambda screen: "❯ one" not in screen)
        await page.send("\x1b[200~" + "log line\r" * 40_001 + "\x1b[201~")
        await page.sees("40,001 lines")


async def test_a_closed_page_ends_its_program_and_no_other(serve, place) -> None:
    async with serve() as server, Page(server) as stays:
        async with Page(server) as leaves:
            await leaves.sees(READY)
            await stays.sees(READY)
            assert len(place.pids(SCREEN)) == 2
        await until(lambda: len(place.pids(SCREEN)) == 1, what="one screen left")
        await stays.send("still SCN:say Still here.\r")
        await stays.sees("Still here.")


async def test_what_needs_a_terminal_is_said_to_need_one(serve) -> None:
    async with serve() as server, Page(server) as page:
        await page.sees(READY)
        await page.send("in the prompt")
        await page.press("f5")
        await page.sees("can't be shown in a browser")
        await page.sees("❯ in the prompt")


@pytest.mark.parametrize("takes", [True, False, None])
async def test_a_copy_is_called_one_only_when_the_browser_took_it(serve, takes: bool | None) -> None:
    async with serve() as server, Page(server) as page:
        page.takes_copies = takes
        await page.sees(READY)
        await page.send("copy me")
        await page.send("\x1b[1;2H\x03")
        await page.sees("7 characters copied (browser)" if takes else "7 characters kept inside milk-tui")
        assert page.clipboard == (["copy me"] if takes else [])
        await page.sees("❯ copy me")


async def test_exposed_it_warns_and_answers_to_the_address_it_was_reached_at(serve) -> None:
    async with serve("--host", "0.0.0.0", "--expose") as server, aiohttp.ClientSession() as web:
        assert any("warning" in line and "unencrypted" in line for line in server.printed)
        port = server.base.rpartition(":")[2]
        for host, status in (("127.0.0.1", 303), ("localhost", 303), ("0.0.0.0", 403), ("rebound.example", 403)):
            url = f"http://127.0.0.1:{port}/?token={server.token}"
            async with web.get(url, headers={"Host": f"{host}:{port}"}, allow_redirects=False) as answer:
                assert answer.status == status, host


async def test_behind_a_proxy_its_pages_are_let_in_and_its_cookie_is_secure(serve) -> None:
    proxy = "https://milk.example"
    async with serve("--public", proxy) as server, aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as web:
        assert server.address.startswith(f"{proxy}/?token=")
        (port,) = [line for line in server.printed if "127.0.0.1:" in line]
        base = f"http://127.0.0.1:{port.partition('127.0.0.1:')[2].split()[0]}"
        host = {"Host": "milk.example"}
        async with web.get(f"{base}/?token={server.token}", headers=host, allow_redirects=False) as answer:
            made = answer.headers["Set-Cookie"]
            assert answer.status == 303 and "Secure" in made
        cookie = {"Cookie": made.partition(";")[0]}
        async with web.get(base, headers={**host, **cookie}) as answer:
            assert "wss://milk.example" in answer.headers["Content-Security-Policy"]
        async with web.ws_connect(f"{base}/ws", headers={**host, **cookie, "Origin": proxy}):
            pass
        with pytest.raises(aiohttp.WSServerHandshakeError):
            await web.ws_connect(f"{base}/ws", headers={**host, **cookie, "Origin": "https://other.example"})


async def test_a_page_says_that_the_program_was_left(serve, place) -> None:
    async with serve() as server, Page(server) as page:
        await page.sees(READY)
        await page.press("ctrl+q")
        await until(lambda: page.closed)
        assert page.told[-1] == ["ended", "milk-tui was left; everything is saved."]
    place.wait_alone()


async def test_no_program_outlives_a_server_that_is_killed(serve, place) -> None:
    async with serve() as server, Page(server) as page:
        await page.sees(READY)
        await page.send("what was typed")
        await page.sees("❯ what was typed")
        server.process.kill()
        await server.process.wait()
        place.wait_alone()
    async with serve() as server, Page(server) as page:
        await page.sees("❯ what was typed")


async def test_a_terminal_that_closes_ends_the_server_and_its_pages(serve, place) -> None:
    async with serve() as server, Page(server) as page:
        await page.sees(READY)
        await page.send("what was typed")
        await page.sees("❯ what was typed")
        assert server.process.stdout is not None
        server.process._transport.get_pipe_transport(1).close()  # type: ignore[attr-defined]
        server.process.send_signal(signal.SIGHUP)
        assert await asyncio.wait_for(server.process.wait(), 30) == 0
        await until(lambda: page.closed)
        assert not place.pids(SCREEN)


@pytest.mark.slow
async def test_a_program_that_does_not_end_is_killed(serve, place) -> None:
    async with serve() as server:
        async with Page(server) as page:
            await page.sees(READY)
            (pid,) = place.pids(SCREEN)
            os.kill(pid, signal.SIGSTOP)
        await until(lambda: not place.pids(SCREEN), timeout_s=40)


async def test_pages_are_counted(serve) -> None:
    async with serve("--screens", "1") as server, Page(server) as page:
        await page.sees(READY)
        async with Page(server) as another:
            await until(lambda: another.closed)
            assert another.told == [
                ["ended", "1 pages are open already, which is the most. Close one, then open again."]
            ]


async def test_messages_that_make_no_sense_are_left_out(serve) -> None:
    async with serve() as server, Page(server) as page:
        await page.sees(READY)
        for message in ("", "{", "[]", "null", "5", '["stdin"]', '["stdin", 5]', '["resize", 1]', '["what", {}]'):
            await page._socket.send_str(message)
        await page._socket.send_bytes(b"\x00\xff")
        await page.say("resize", {"width": -5, "height": 10**12})
        await page.say("resize", {"width": "a", "height": None})
        await page.say("copied", 99, True, "\x1b]0;x\x07")
        await page.resize(100, 30)
        await page.send("fine SCN:say All well.\r")
        await page.sees("All well.")


async def test_the_programs_flags_are_passed_on(serve) -> None:
    agents = ("--primary", "openai/other", "--escalation", "openai/deep")
    async with serve(agents=agents) as server, Page(server) as page:
        await page.sees("to ● other")


OTHER = "http://elsewhere.example"


async def test_only_the_printed_address_opens_the_door(serve) -> None:
    async with serve() as server, aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as web:
        base, socket = server.base, server.base.replace("http", "ws", 1) + "/ws"
        port = base.rpartition(":")[2]
        async with web.get(server.address, allow_redirects=False) as answer:
            assert (answer.status, answer.headers["Location"]) == (303, "/")
            made = answer.headers["Set-Cookie"]
            assert "HttpOnly" in made and "SameSite=Strict" in made and server.token not in made
        cookie = {"Cookie": made.partition(";")[0]}

        async def page(url: str, **headers: str) -> int:
            async with web.get(url, headers=headers, allow_redirects=False) as answer:
                assert "Set-Cookie" not in answer.headers
                return answer.status

        async def opens(**headers: str) -> int:
            try:
                async with web.ws_connect(socket, headers=headers):
                    return 101
            except aiohttp.WSServerHandshakeError as refused:
                return refused.status

        assert await page(base + "/") == 403
        assert await page(base + "/?token=") == 403
        assert await page(base + "/?token=" + "A" * len(server.token)) == 403
        assert await page(f"{base}/?token={server.token[:-1]}") == 403
        assert await page(f"{base}/ws?token={server.token}") == 403
        assert await page(server.address, Host="elsewhere.example") == 403
        assert await page(server.address, Host=f"elsewhere.example:{port}") == 403
        assert await page(server.address, Origin=OTHER) == 403
        async with web.get(server.address, headers=cookie, allow_redirects=False) as answer:
            assert (answer.status, answer.headers["Location"]) == (303, "/"), "the key does not stay in the address"
        assert await page(base + "/", **cookie) == 200
        assert await page(base + "/", Host=f"localhost:{port}", **cookie) == 200
        assert await page(base + "/", Host=f"rebound.example:{port}", **cookie) == 403
        assert await page(base + "/", Origin=OTHER, **cookie) == 403
        assert await page(base + "/", Origin="null", **cookie) == 403
        assert await page(base + "/", Cookie=cookie["Cookie"][:-1]) == 403
        assert await page(base + "/page/page.js") == 403
        assert await page(base + "/page/page.js", **cookie) == 200
        for path in ("/page/../server.py", "/page/%2e%2e/server.py", "/page/app_index.html", "/static/", "/download/x"):
            assert await page(base + path, **cookie) == 404, path

        assert await opens() == 403
        assert await opens(Origin=base) == 403, "the cookie is missing"
        assert await opens(**cookie) == 403, "no browser leaves the origin out"
        assert await opens(Origin=OTHER, **cookie) == 403
        assert await opens(Origin="http://127.0.0.1:1", **cookie) == 403, "another program of this machine"
        assert await opens(Origin=base.replace("http", "https"), **cookie) == 403
        assert await opens(Origin=f"http://rebound.example:{port}", Host=f"rebound.example:{port}", **cookie) == 403
        assert await opens(Origin=base, **cookie) == 101


async def test_a_page_may_reach_nothing_but_its_server(serve) -> None:
    async with serve() as server, aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as web:
        async with web.get(server.address) as answer:
            policy, page = answer.headers["Content-Security-Policy"], await answer.text()
        assert "default-src 'none'" in policy and "script-src 'self';" in policy and "frame-ancestors 'none'" in policy
        assert "//" not in page, "an address of another host"
        assert policy.count("//") == 1 and server.base.replace("http", "ws", 1) in policy
        assert server.token not in page
        for name in ("page.js", "page.css", "terminal.js", "terminal.css", "mono.ttf", "mono-italic.ttf"):
            async with web.get(f"{server.base}/page/{name}") as answer:
                assert answer.status == 200 and len(await answer.read()) > 100, name
                assert answer.headers["X-Content-Type-Options"] == "nosniff"


async def test_the_key_is_printed_once_and_is_in_no_childs_environment(serve, place) -> None:
    async with serve() as server, Page(server) as page:
        await page.sees(READY)
        environments = place.environments()
        assert len(environments) > 1 and not any(server.token.encode() in names for names in environments)
        server.process.terminate()
        assert server.process.stdout is not None
        rest = (await server.process.stdout.read()).decode()
        assert server.token not in rest
        await asyncio.wait_for(server.process.wait(), 30)
