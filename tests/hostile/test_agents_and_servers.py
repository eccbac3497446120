"""Each item as a running agent or MCP server says it, over its real protocol: what is shown, kept, given away, logged.

The programs are stand-ins of which every word is hostile (``tests/support/hostile_*.py``); all of ours is real.
"""

from __future__ import annotations

import asyncio
import io
import json
import re
import sqlite3
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest

from milk_tui.cli.masking import masked
from milk_tui.core.permissions import PermissionRequest, Scope, Verdict
from milk_tui.core.records import LegStatus
from milk_tui.engine import events, session_export, session_html
from milk_tui.store import grants
from milk_tui.ui import attention
from milk_tui.ui.transcript import Transcript
from milk_tui.ui.transcript.parts import Thinking, Tool
from tests.data.hostile import Item, items
from tests.hostile.test_screens import Drawn, screens
from tests.hostile.watch import Output, in_words, page
from tests.support.anthropic_server import AnthropicServer
from tests.support.hostile_acp import HOSTILE_ACP
from tests.support.hostile_claude import HOSTILE_CLAUDE
from tests.support.openai_server import OpenAIServer
from tests.support.scenario import Call, Reply, Say, Step, Think
from tests.ui.conftest import Desk, configure, home, open_desk

__all__ = ["home", "open_desk"]

pytestmark = pytest.mark.slow

ALL = len(items())
AT_ONCE = 60
"""Items of one turn."""
Opened = Callable[..., AbstractAsyncContextManager[Desk]]
DENIED = Verdict(allowed=False)
HOSTILE_MCP = str(Path(__file__).parents[1] / "support" / "hostile_mcp.py")
FORMS = ("text", "image", "resource", "link", "structured", "error", "refused")
SCRIPTED = '[agents.qwen]\nmodel = "scripted/fast"\nwindow_tokens = 32000\n'


def agent(home: Path, provider: str, program: str, *arguments: str) -> None:
    """The stand-in answers, and hands nothing over."""
    (home / "kept").mkdir()
    command = json.dumps([sys.executable, program, "--home", str(home / "kept"), *arguments])
    configure(
        home,
        f'[session]\nprimary = "odd"\n[routing]\nloops = "off"\n'
        f'[agents.odd]\nprovider = "{provider}"\ncommand = {command}\n',
    )


class Watch:
    """What came of it, wherever it comes out."""

    def __init__(self, desk: Desk, home: Path) -> None:
        self.desk, self.home = desk, home
        self.drawn = Drawn()
        self.events: list[events.AnyEvent] = []
        assert desk.app.control.conductor is not None
        self.conductor = desk.app.control.conductor
        self.conductor.listen(self.events.append)

    async def turn(self, prompt: str) -> None:
        turn = await self.conductor.submit(prompt)
        await self.conductor.wait_idle()
        (ended,) = [e for e in self.events if isinstance(e, events.TurnFinished) and e.turn_id == turn]
        await self.desk.pilot.pause()
        self.look("main")
        assert ended

    def look(self, where: str) -> None:
        """The screen as it is, and the title of the terminal."""
        self.drawn.screen(self.desk.app, where)
        output = Output()
        output.feed(attention.titled(attention.title(self.desk.app.state, plain=False)).encode())
        assert output.harm == [] and len(output.titles) == 1

    async def asked(self, prompt: str, expected: int, verdict: Verdict = DENIED) -> list[PermissionRequest]:
        """A turn in which everything is asked for, looked at and denied."""
        turn = await self.conductor.submit(prompt)
        seen: list[PermissionRequest] = []
        desk = self.conductor.permissions

        def ended() -> bool:
            return any(isinstance(e, events.TurnFinished) and e.turn_id == turn for e in self.events)

        while True:
            await self.desk.until(lambda: desk.pending or ended(), f"the request after {len(seen)}")
            if not desk.pending:
                break
            request = desk.pending[0]
            await self.desk.until(partial(self._asks, request), "the dialog")
            self.look(f"request {len(seen)}")
            seen.append(request)
            assert desk.answer(request.id, verdict)
        await self.conductor.wait_idle()
        assert len(seen) == expected
        return seen

    def _asks(self, request: PermissionRequest) -> bool:
        dialog = self.desk.app.main.permission
        return dialog is not None and dialog.request == request

    def _left(self, before: object) -> bool:
        return self.desk.app.screen is not before

    async def look_everywhere(self) -> None:
        transcript = self.desk.app.main.query_one(Transcript)
        for key, layout in transcript.document._layouts.items():
            folds = [("tool", part.id) for part in layout.parts if isinstance(part, Tool)]
            folds += [("group", part.id) for part in layout.parts if isinstance(part, Tool)]
            folds += [("thinking", n) for n, _ in enumerate(p for p in layout.parts if isinstance(p, Thinking))]
            transcript.document.unfold(key, folds)
        self.drawn.transcript(transcript)
        self.drawn.lists(self.desk.app, "main")
        for name, command in screens():
            before = self.desk.app.screen
            await self.desk.say(command)
            await self.desk.until(partial(self._left, before), name)
            await self.desk.pilot.pause(0.1)
            self.drawn.screen(self.desk.app, name)
            self.drawn.lists(self.desk.app, name)
            while self.desk.app.screen is not self.desk.app.main:
                await self.desk.press("escape")
        assert self.drawn.harm == [], "\n".join(self.drawn.harm[:20])
        assert self.drawn.strips > 1_000

    def check(self, granted: Sequence[str] = ()) -> None:
        """Events and what ``-p`` would print of them, the database, its exports, the logs."""
        for event in self.events:
            told = masked(event)
            if isinstance(event, events.PermissionAsked):
                del told["request"]["arguments"], told["request"]["pattern"]  # compared and run as they came
                told["request"]["questions"] = [{**q, "text": ""} for q in told["request"]["questions"]]
            line = msgspec.json.encode(told).decode()
            assert not (bad := in_words(line)), f"{sorted(bad)} in {line[:300]!r}"
            for text in strings(told):
                assert not (bad := in_words(text.replace("\n", ""))), f"{sorted(bad)} in {text[:300]!r}"
        store = self.conductor.store
        assert store.read_sync(harm) == []
        assert [grant.tool for grant in store.read_sync(grants.all_of)] == list(granted)
        session = self.conductor.session
        said = list(session_export.conversation(store, session.id))
        out = io.StringIO()
        session_html.html(out, session, said)
        read = page(out.getvalue())
        assert read.harm == [] and read.open == []
        for form in (session_export.markdown, lambda o, s, c: session_export.as_json(o, store, s, c)):
            out = io.StringIO()
            form(out, session, said)
            assert not in_words(out.getvalue().replace("\n", ""))
        logs = [file for file in self.home.rglob("*.log*") if file.is_file()]
        for file in logs:
            assert not in_words(file.read_text("utf-8").replace("\n", "")), file
        assert not list(self.home.rglob("PWNED"))

    def tools(self) -> list[tuple[str, str, str]]:
        rows = "select name, arguments, result from tool_calls order by id"
        return self.conductor.store.read_sync(lambda conn: [tuple(row) for row in conn.execute(rows)])


def strings(value: object) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for key, inner in value.items():
                yield from strings(key)
                yield from strings(inner)
        case list():
            for inner in value:
                yield from strings(inner)


def harm(conn: sqlite3.Connection) -> list[str]:
    """What a text in any table must not hold, and calls whose result could end the block that it is given in."""
    found = []
    cursor = conn.cursor()
    cursor.row_factory = None
    tables = [name for (name,) in cursor.execute("select name from sqlite_schema where type = 'table'").fetchall()]
    for table in tables:
        if "_fts" in table or "trigram" in table or table.startswith("sqlite_"):
            continue
        columns = [row[1] for row in cursor.execute(f"pragma table_info({table})").fetchall()]
        for row in cursor.execute(f"select * from {table}").fetchall():
            for column, value in zip(columns, row, strict=True):
                if isinstance(value, str):
                    bad = in_words(value.replace("\n", ""))
                    found += [f"{table}.{column}: {sorted(bad)} in {value[:80]!r}"] * bool(bad)
    return found


async def said_and_asked(watch: Watch, said: range, first_asked: int) -> None:
    """The items of ``said`` are said; every eighth of all from ``first_asked`` on is asked for, each being drawn before
    it is denied."""
    for first in said[::AT_ONCE]:
        await watch.turn(f"ITEMS say {first} {min(first + AT_ONCE, said.stop)}")
    await watch.look_everywhere()
    requests = await watch.asked(f"ITEMS ask {first_asked} {ALL} 8", len(items()[first_asked:ALL:8]))
    for request in requests:
        assert not in_words(request.title) and "\n" not in request.title
        assert not in_words(request.tool) and "\n" not in request.tool
    for number in said[::30]:
        await watch.turn(f"ITEMS error {number} {number + 1}")
    statuses = [e.status for e in watch.events if isinstance(e, events.LegFinished)]
    assert statuses.count(LegStatus.FAILED) >= len(said) // 30 - 3
    watch.check()
    calls = watch.tools()
    assert len(calls) >= 2 * len(said)
    for name, arguments, _ in calls:
        assert len(name.splitlines()) == 1 and len(name) <= 90
        json.loads(arguments)


def one_half(deep: bool, number: int) -> range:
    """Both kinds of programs share the items, which go through one door; each has all of them with ``--deep``."""
    return range(ALL) if deep else (range(ALL // 2), range(ALL // 2, ALL))[number]


async def test_an_acp_agent(open_desk: Opened, home: Path, deep: bool) -> None:
    agent(home, "acp", HOSTILE_ACP)
    async with open_desk() as desk:
        await said_and_asked(Watch(desk, home), one_half(deep, 0), 0)
        kept = [json.loads(line) for line in (home / "kept" / "acp.jsonl").read_text().splitlines()]
        outcomes = [entry["outcome"] for entry in kept if "item" in entry]
        assert {outcome.get("optionId") for outcome in outcomes} == {"reject_once!"}


async def test_claude_code(open_desk: Opened, home: Path, deep: bool) -> None:
    agent(home, "claude-cli", HOSTILE_CLAUDE)
    async with open_desk() as desk:
        await said_and_asked(Watch(desk, home), one_half(deep, 1), 4)
        kept = [json.loads(line) for line in (home / "kept" / "record.jsonl").read_text().splitlines()]
        verdicts = [entry["verdict"] for entry in kept if "item" in entry]
        assert {verdict["behavior"] for verdict in verdicts} == {"deny"}


def servers(home: Path) -> None:
    """Three of them, each with tools named after a third of the items."""
    told = []
    for first in range(0, ALL, 110):
        command = [sys.executable, HOSTILE_MCP, "--tools", str(first), str(first + 110)]
        told.append(f"[mcp.odd{first}]\ncommand = {json.dumps(command)}\n")
    configure(home, f'[session]\nprimary = "qwen"\n[routing]\nloops = "off"\n{SCRIPTED}{"".join(told)}')


async def test_an_mcp_server(open_desk: Opened, home: Path) -> None:
    pytest.importorskip("mcp")
    servers(home)
    async with open_desk() as desk:
        watch = Watch(desk, home)
        await watch.turn("hello")
        assert desk.app.control.workspace is not None
        hub = desk.app.control.workspace.mcp
        assert hub is not None
        offered = await hub.tools()
        assert len(offered) >= ALL
        for tool in offered:
            assert tool.spec.name.isascii() and tool.spec.name.replace("_", "").replace("-", "").isalnum()
            assert not in_words(tool.spec.description) and "\n" not in tool.spec.description
        some: list[tuple[str, dict[str, object]]] = [(tool.spec.name, {}) for tool in offered[::20]]
        shown = await watch.asked(calls_of(some), len(some))
        assert all(not in_words(request.title) for request in shown)
        say = "mcp__odd0__say"
        told = [(say, {"number": n, "form": FORMS[(n + turn) % len(FORMS)]}) for turn in (0, 3) for n in range(ALL)]
        first = calls_of(told[:1])
        await watch.asked(first, 1, Verdict(allowed=True, scope=Scope.SESSION, wide=True))
        for at in range(1, len(told), AT_ONCE):
            await watch.turn(calls_of(told[at : at + AT_ONCE]))
        assert len(watch.tools()) == len(some) + len(told)
        await desk.say("/mcp")
        await desk.pilot.pause(0.2)
        watch.look("servers")
        await watch.look_everywhere()
        watch.check([say])


def calls_of(calls: Sequence[tuple[str, dict[str, object]]]) -> str:
    """A prompt whose answer is these calls."""
    return "".join(f"SCN:tool {name} {json.dumps(given)}\n" for name, given in calls) + "SCN:then SCN:say done"


DEEP = "loopback-large"
MEMORY = {
    "record_memory": "fact",
    "update_current_need": "need",
    "perceive_working": "entries",
    "escalate": "reason",
    "read_file": "path",
    "run_command": "command",
}


@pytest.mark.parametrize("protocol", ["openai", "anthropic"])
async def test_a_model_behind_the_real_host(
    open_desk: Opened, home: Path, monkeypatch: pytest.MonkeyPatch, protocol: str
) -> None:
    """Names and arguments of calls, ours and unknown ones, what they remember, errors: through litellm. Each protocol
    brings one half of the items."""
    half = ["openai", "anthropic"].index(protocol)
    monkeypatch.delenv("MILK_TUI_HOST_COMMAND")
    monkeypatch.setenv("ODD_KEY", "test-key-of-no-worth")
    async with {"openai": OpenAIServer, "anthropic": AnthropicServer}[protocol]() as server:

        def respond(body: dict[str, Any]) -> Reply | None:
            talk = server.conversation(body)
            wanted = re.search(r"ITEMS (say|error) (\d+) (\d+)", talk.prompt)
            if wanted is None:
                return None
            chosen = items()[int(wanted[2]) + half : int(wanted[3]) + half : 2]
            if body["model"] == DEEP:
                return Reply(steps=(Say("it is mine now"),))
            if wanted[1] == "error":
                return Reply(status=400, message=chosen[0].text)
            if talk.round:
                return Reply(steps=tuple(Say(item.text[:20_000]) for item in chosen))
            return Reply(steps=tuple(step for item in chosen for step in called(item)))

        server.respond = respond
        configure(
            home,
            '[session]\nprimary = "odd"\nescalation = "deep"\n[routing]\nloops = "off"\n'
            + "".join(
                f'[agents.{name}]\nmodel = "{protocol}/{model}"\napi_base = "{server.url}"\napi_key_env = "ODD_KEY"\n'
                "window_tokens = 32000\n"
                for name, model in (("odd", "loopback"), ("deep", DEEP))
            ),
        )
        async with open_desk() as desk:
            watch = Watch(desk, home)
            deny = asyncio.create_task(denied(watch))
            for first in range(0, ALL, 40):
                await watch.turn(f"ITEMS say {first} {first + 40}")
                await watch.conductor.hand_back()
            for number in range(0, ALL, 40):
                await watch.turn(f"ITEMS error {number} {number + 2}")
            deny.cancel()
            await watch.look_everywhere()
            watch.check()
            for name, arguments, _ in watch.tools():
                assert re.fullmatch("[A-Za-z0-9_-]{1,64}", name)
                assert not in_words(arguments.replace("\n", ""))
            assert len(watch.tools()) >= ALL
            handed = [e for e in watch.events if isinstance(e, events.LegStarted) and e.escalated]
            assert handed and all(len(e.reason.splitlines()) <= 1 for e in handed)
            sent = json.dumps([request.body["messages"] for request in server.requests[-9:]])
            assert sent.count("unknown_") >= 8
            for name in re.findall(r'"name": "([^"]*)"', sent):
                assert re.fullmatch("[A-Za-z0-9_-]{1,64}", name), name


def called(item: Item) -> list[Step]:
    said = item.text[:5_000]
    steps: list[Step] = [Think(said), Say(said), Call(name=said, arguments=json.dumps({said[:50]: said}))]
    steps.append(Call(name=f"read_file{said[:3]}", arguments=said))
    name, field = list(MEMORY.items())[len(item.id) % len(MEMORY)]
    return [*steps, Call(name=name, arguments=json.dumps({field: said}, ensure_ascii=False))]


async def denied(watch: Watch) -> None:
    """Nobody is there who says yes."""
    desk = watch.conductor.permissions
    while True:
        for request in desk.pending:
            desk.answer(request.id, DENIED)
        await asyncio.sleep(0.05)
