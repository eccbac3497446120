"""Every way in which a provider can fail, in whole turns through the real model host: both protocols, both roles, with
and without tools, streaming and in one piece (``quality.md``, providers row).

The agents always stream; answers in one piece are asked of the host itself.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import AsyncIterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import pytest_asyncio

from milk_tui.agents.litellm_agent import LitellmAgent
from milk_tui.agents.litellm_settings import LitellmSettings
from milk_tui.config import Config
from milk_tui.core.records import Leg, LegStatus, Message, Role, TurnStatus
from milk_tui.engine import project
from milk_tui.engine.conductor import Conductor
from milk_tui.engine.roster import Roster
from milk_tui.modelhost.client import ModelHost
from milk_tui.modelhost.protocol import CompleteRequest, Done, Failed, Timeouts, ToolDef
from milk_tui.store import Store, legs, sessions, turns
from tests.modelhost.conftest import HOST_KEY
from tests.modelhost.helpers import answer, text_of
from tests.store.makers import ESCALATION, PRIMARY
from tests.support.anthropic_server import AnthropicServer
from tests.support.openai_server import OpenAIServer

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

Server = OpenAIServer | AnthropicServer
MODELS = {OpenAIServer: "openai/loopback", AnthropicServer: "anthropic/claude-sonnet-4-5"}
IMPATIENT = Timeouts(connect_s=5, first_s=0.4, idle_s=0.4)
"""For the faults that never end."""
PATIENT = Timeouts(connect_s=5, first_s=60, idle_s=30)
BOUND_S = 60.0
LOOK = ToolDef(name="look", description="Look at it.", parameters={"type": "object", "properties": {}})


@dataclass(frozen=True)
class Fault:
    """What the server does, and what has to be said of it. ``said`` empty: the answer arrives all the same."""

    name: str
    does: str
    said: str = ""
    hint: str = ""
    kept: str = ""
    """What the answer holds in the end."""
    endless: bool = False
    silent: bool = False
    """An answer without a word."""
    openai_says: str = ""
    """Where the two protocols differ."""
    wait_s: float | None = None
    status: int = 0

    def expected(self, server: Server) -> str:
        return self.openai_says if self.openai_says and isinstance(server, OpenAIServer) else self.said


FAULTS = (
    Fault("wrong key", "SCN:err 401", "was not let in (401)", "MILK_TEST_KEY"),
    Fault("no permission", "SCN:err 403", "was not let in (403)", "MILK_TEST_KEY"),
    Fault("no such model", "SCN:err 404", "was not found at 127.0.0.1", "model's name"),
    Fault("rate limit", "SCN:err 429", "takes no more requests just now (429)", "later"),
    Fault("rate limit in seconds", "SCN:err 429 90", "takes no more requests", "in 90 s", wait_s=90),
    Fault("rate limit by date", "SCN:err 429 date 90", "takes no more requests", "in 90 s", wait_s=90),
    Fault("broken server", "SCN:err 500", "failed (500)", "Try again"),
    Fault("bad gateway", "SCN:err 502", "failed (502)", "Try again"),
    Fault("overload 503", "SCN:err 503", "failed (503)", "Try again"),
    Fault("overload 529", "SCN:err 529", "failed (529)", "Try again"),
    Fault("bad request", "SCN:err 400 SCN:message roles must alternate", "roles must alternate", "settings"),
    Fault("too long 400", "SCN:err 400 SCN:message maximum context length is 9", "too long", "new session"),
    Fault("too long 413", "SCN:err 413", "too long", "new session"),
    Fault("slow first byte", "SCN:slow 60", "did not answer in time", "[timeouts]", endless=True),
    Fault("stall", r"SCN:say beg\x75n SCN:stall", "did not answer in time", "[timeouts]", kept="begun", endless=True),
    Fault("signs of life alone", "SCN:wire comments", "did not answer in time", "[timeouts]", endless=True),
    Fault("header a byte at a time", "SCN:wire drip", "did not answer in time", "[timeouts]", endless=True),
    Fault("not a byte", "SCN:wire nothing", "broke before", "Try again"),
    Fault("cut in the headers", "SCN:wire header", "broke before", "Try again"),
    Fault("cut in a chunk", "SCN:wire chunk", "broke before", "Try again"),
    Fault("fewer bytes than promised", "SCN:wire length", "broke before", "Try again"),
    Fault("cut in the answer", r"SCN:say h\x61lf SCN:cut", "broke before", "Try again", kept="half"),
    Fault("early end", r"SCN:say h\x61lf SCN:cut clean", "broke before", "Try again", kept="half"),
    Fault("failure in the stream", r"SCN:say h\x61lf SCN:fail no room", "no room", "Try again", kept="half"),
    Fault("malformed", r"SCN:say h\x61lf SCN:malformed", "broke before", "", kept="half", openai_says="can't be read"),
    Fault("no HTTP", "SCN:wire noise", "what came is no HTTP", "Check what runs"),
    Fault("packed wrong", "SCN:wire gzip", "can't be unpacked", "Check what runs"),
    Fault("a line without end", "SCN:wire line", "a line of more than", "Check what runs"),
    Fault("web page", "SCN:type text/html", "can't be read", "Check what runs"),
    Fault("another kind", "SCN:type application/json", "can't be read", "Check what runs"),
    Fault("filter", "SCN:say x SCN:finish content_filter", "refused to answer", "another way", kept="x"),
    Fault("empty", "SCN:empty", silent=True),
    Fault("reasoning alone", "SCN:think hm", silent=True),
    Fault("no UTF-8", r"SCN:say \x61\ufffeb", kept="a\ufffd\ufffdb"),
    Fault("wrong role", r"SCN:say f\x69ne SCN:role user", kept="fine"),
    Fault("another model's name", r"SCN:say f\x69ne SCN:model somebody-else", kept="fine"),
    Fault("huge piece", r"SCN:huge 200000 SCN:say \x65nd", kept="xend"),
    Fault("cut off by length", r"SCN:say h\x61lf SCN:finish length", kept="half"),
)
CALLS = (
    Fault("broken call", r"SCN:tool read_file {brok SCN:then SCN:say tr\x69ed", kept="tried"),
    Fault("unknown tool", r"SCN:tool launch {} SCN:then SCN:say ask\x65d", kept="asked"),
)


class Room:
    """A session over a real store, its two agents at two servers through the real host."""

    def __init__(self, host: ModelHost, store: Store, folder: Path) -> None:
        self.host, self.store, self.roster = host, store, Roster()
        self.roster.known = True
        session = store.write_sync(
            lambda db: sessions.create(db, directory=str(folder), primary=PRIMARY, escalation=ESCALATION)
        )
        self.conductor = Conductor(store, Config(), session, self.roster, project.read(folder))

    def seat(self, role: Role, server: Server, tools: bool) -> None:
        settings = LitellmSettings(
            api_base=server.url,
            api_key_env="MILK_TEST_KEY",
            tools=None if tools else False,
            timeouts=PATIENT,
            retry_delays_s=(),
        )
        self.roster.put(role, LitellmAgent(role.value, MODELS[type(server)], self.host, settings))

    def hurry(self, role: Role, timeouts: Timeouts) -> None:
        agent = self.roster.agents[role]
        assert isinstance(agent, LitellmAgent)
        agent.settings = replace(agent.settings, timeouts=timeouts)

    async def say(self, prompt: str, role: Role) -> tuple[TurnStatus, list[Leg]]:
        turn = await self.conductor.submit(prompt, escalate=role is Role.ESCALATION)
        await self.conductor.wait_idle()
        status = (await self.store.read(lambda conn: turns.get(conn, turn))).status
        return status, await self.store.read(lambda conn: legs.of_turn(conn, turn))


@pytest_asyncio.fixture(loop_scope="session")
async def room(real_host: ModelHost, tmp_path: Path) -> AsyncIterator[Room]:
    (tmp_path / "project").mkdir()
    store = Store.open(tmp_path / "milk.db")
    made = Room(real_host, store, tmp_path / "project")
    yield made
    await made.conductor.aclose()
    await store.aclose()


def check(fault: Fault, server: Server, status: TurnStatus, leg: Leg) -> None:
    said = fault.expected(server)
    assert fault.kept in leg.text
    if said:
        assert (status, leg.status) == (TurnStatus.FAILED, LegStatus.FAILED)
        assert leg.error is not None
        assert said in leg.error.message, leg.error.message
        assert fault.hint in leg.error.hint, leg.error.hint
        assert leg.error.hint
        assert "\n" not in leg.error.message
        assert leg.error.retry_after_s == fault.wait_s
    elif fault.silent:
        assert (leg.status, leg.text) == (LegStatus.EMPTY, "")
    else:
        assert (status, leg.status) == (TurnStatus.DONE, LegStatus.DONE), leg.error


@pytest.mark.parametrize("tools", [True, False], ids=["tools", "plain"])
@pytest.mark.parametrize("role", list(Role))
@pytest.mark.parametrize("kind", ["openai", "anthropic"])
async def test_every_fault_ends_the_turn_with_what_to_do_and_the_next_turn_works(
    room: Room, openai: OpenAIServer, anthropic: AnthropicServer, kind: str, role: Role, tools: bool
) -> None:
    server: Server = openai if kind == "openai" else anthropic
    room.seat(role, server, tools)
    if role is Role.ESCALATION:
        room.roster.put(Role.PRIMARY, room.roster.agents[role])  # whom it would fall back to is as badly off
    asked = []
    for fault in FAULTS + (CALLS if tools else ()):
        room.hurry(role, IMPATIENT if fault.endless else PATIENT)
        begun = time.monotonic()
        status, (leg, *_) = await room.say(f"{fault.name}: {fault.does}", role)
        assert time.monotonic() - begun < BOUND_S
        check(fault, server, status, leg)
        room.hurry(role, PATIENT)
        status, (leg,) = await room.say(r"and now: SCN:say us\x61ble", role)
        assert (status, leg.text) == (TurnStatus.DONE, "usable"), fault.name
        asked.append(f"{fault.name}: ")
    kept = await room.store.read(
        lambda conn: [turns.get(conn, t.id).prompt for t in turns.index(conn, room.conductor.session.id)]
    )
    assert [any(prompt.startswith(label) for prompt in kept) for label in asked] == [True] * len(asked)
    assert not stored_with(HOST_KEY, room.store.path)


async def test_a_failed_turn_is_asked_again(room: Room, openai: OpenAIServer) -> None:
    room.seat(Role.PRIMARY, openai, True)
    turn = await room.conductor.submit(r"SCN:flaky 1 500 SCN:say aft\x65r all")
    await room.conductor.wait_idle()
    again = await room.conductor.retry(turn)
    await room.conductor.wait_idle()
    (leg,) = await room.store.read(lambda conn: legs.of_turn(conn, again))
    assert (leg.status, leg.text) == (LegStatus.DONE, "after all")


IN_ONE_PIECE = tuple(f for f in FAULTS if f.does.startswith(("SCN:err", "SCN:slow", "SCN:wire", "SCN:type")))


@pytest.mark.parametrize("tools", [(), (LOOK,)], ids=["plain", "tools"])
@pytest.mark.parametrize("kind", ["openai", "anthropic"])
async def test_an_answer_in_one_piece_fails_as_clearly(
    real_host: ModelHost, openai: OpenAIServer, anthropic: AnthropicServer, kind: str, tools: tuple[ToolDef, ...]
) -> None:
    server: Server = openai if kind == "openai" else anthropic
    for fault in IN_ONE_PIECE:
        for does, wanted in ((fault.does, fault), (r"SCN:say us\x61ble", None)):
            events = await answer(
                real_host,
                CompleteRequest(
                    model=MODELS[type(server)],
                    messages=(Message(role="user", content=does),),
                    api_base=server.url,
                    api_key_env="MILK_TEST_KEY",
                    stream=False,
                    tools=tools,
                    timeouts=IMPATIENT if fault.endless and wanted else PATIENT,
                ),
            )
            if wanted is None:
                assert text_of(events) == "usable" and isinstance(events[-1], Done), fault.name
            else:
                last = events[-1]
                assert isinstance(last, Failed), fault.name
                assert wanted.expected(server) in last.message, (fault.name, last.message)
                assert wanted.hint in last.hint and HOST_KEY not in last.message + last.hint


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("kind", ["openai", "anthropic"])
async def test_a_redirect_to_another_server_gets_neither_key_nor_prompt(
    real_host: ModelHost, openai: OpenAIServer, anthropic: AnthropicServer, kind: str, stream: bool
) -> None:
    server: Server = openai if kind == "openai" else anthropic
    path = "/v1/chat/completions" if kind == "openai" else "/v1/messages"
    async with type(server)() as elsewhere:
        for place in ("127.0.0.1", "localhost"):
            server.replies.append(f"SCN:wire redirect http://{place}:{elsewhere.port}{path}")
            request = CompleteRequest(
                model=MODELS[type(server)],
                messages=(Message(role="user", content="a secret prompt"),),
                api_base=server.url,
                api_key_env="MILK_TEST_KEY",
                stream=stream,
            )
            last = (await answer(real_host, request))[-1]
            assert isinstance(last, Failed)
            assert f"leads to http://{place}:{elsewhere.port}, another server" in last.message
        assert elsewhere.requests == []
        server.replies.append(f"SCN:wire redirect {server.url.removesuffix('/v1')}{path}")
        assert isinstance((await answer(real_host, request))[-1], Done), "to the same server is no harm"


@pytest.mark.parametrize("model", [*MODELS.values(), "ollama_chat/x"])
@pytest.mark.parametrize(
    ("base", "said"),
    [
        ("https://127.0.0.1:{port}", "can't be reached securely"),
        ("http://127.0.0.1:9", "can't be reached at 127.0.0.1:9"),
        ("http://nobody.invalid", "can't be reached at nobody.invalid"),
        ("htp:/broken", "is no http address"),
        ("http://127.0.0.1:99999/v1", "is no http address"),
    ],
)
async def test_an_address_where_nothing_can_be_asked_is_told(
    real_host: ModelHost, openai: OpenAIServer, model: str, base: str, said: str
) -> None:
    request = CompleteRequest(
        model=model,
        messages=(Message(role="user", content="hello"),),
        api_base=base.format(port=openai.port),
        api_key_env="MILK_TEST_KEY",
    )
    last = (await answer(real_host, request))[-1]
    assert isinstance(last, Failed)
    assert said in last.message and last.hint


def stored_with(word: str, path: Path) -> list[str]:
    """The columns of the database that hold a word."""
    found = []
    with closing(sqlite3.connect(path)) as conn:
        for (table,) in conn.execute("select name from sqlite_schema where type = 'table'").fetchall():
            for column in [row[1] for row in conn.execute(f"pragma table_info({table})")]:
                try:
                    hit = conn.execute(
                        f'select 1 from "{table}" where instr("{column}", ?) limit 1', (word,)
                    ).fetchone()
                except sqlite3.Error:
                    continue
                if hit:
                    found.append(f"{table}.{column}")
    return found
