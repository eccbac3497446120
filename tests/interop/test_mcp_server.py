"""``milk-tui mcp`` as programs use it: the real server in a process of its own."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from milk_tui.core.records import Percept
from milk_tui.store import Store, percept_lists, percepts, sessions
from milk_tui.store.migrations import VERSION
from milk_tui.tools import memory, my_memory
from tests.support.mcp_client import McpClient

CONFIG = """\
[agents.qwen]
model = "openai/qwen"
role = "primary"
[agents.claude]
provider = "claude-cli"
role = "escalation"
"""
Connect = Callable[..., McpClient]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    (folder / "config").mkdir(parents=True, mode=0o700)
    (folder / "data").mkdir(mode=0o700)
    config = folder / "config" / "config.toml"
    config.write_text(CONFIG)
    config.chmod(0o600)
    return folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def database(home: Path, empty_database: Path) -> Path:
    return Path(shutil.copy(empty_database, home / "data" / "milk.db"))


@pytest.fixture
def connect(home: Path, project: Path) -> Iterator[Connect]:
    clients: list[McpClient] = []

    def start(*arguments: str, **more: object) -> McpClient:
        clients.append(McpClient(arguments, env={"MILK_TUI_HOME": str(home)}, cwd=project, **more))
        return clients[-1]

    yield start
    for client in clients:
        client.close()


def facts(database: Path) -> list[Percept]:
    store = Store.open(database)
    try:
        return store.read_sync(lambda conn: percept_lists.select(conn, "1 order by p.seq"))
    finally:
        store.close()


def test_a_client_is_greeted_and_told_of_tools_and_resources(connect: Connect) -> None:
    client = connect(name="claude-code")
    newer = client.ask("server/discover", {})
    assert newer["error"]["code"] == -32601, "clients try newer protocols first and fall back"
    hello = client.hello()
    assert hello["protocolVersion"] == "2025-11-25"
    assert set(hello["capabilities"]) == {"tools", "resources"}
    assert hello["serverInfo"]["name"] == "milk-tui"
    tools = client.ask("tools/list")["result"]["tools"]
    names = {tool["name"] for tool in tools}
    assert names == memory.NAMES - {"escalate"} | my_memory.NAMES, "the escalation agent hands over to nobody"
    read_only = {tool["name"] for tool in tools if tool["annotations"]["readOnlyHint"]}
    assert read_only == {"recall", "get_memory", "list_memory", "read_my_memory"}
    assert all(tool["inputSchema"]["type"] == "object" for tool in tools)
    uris = [resource["uri"] for resource in client.ask("resources/list")["result"]["resources"]]
    assert uris == ["milk://memory/pinned", "milk://perception"]
    assert client.ask("resources/templates/list")["result"] == {"resourceTemplates": []}
    assert client.ask("ping")["result"] == {}
    assert client.close() == 0


@pytest.mark.parametrize(("asked", "given"), [("2024-11-05", "2024-11-05"), ("1999-01-01", "2025-11-25")])
def test_an_older_protocol_is_spoken_an_unknown_one_is_answered_with_ours(
    connect: Connect, asked: str, given: str
) -> None:
    assert connect().hello(asked)["protocolVersion"] == given


def test_the_primary_may_hand_over(connect: Connect) -> None:
    client = connect("--as", "qwen")
    client.hello()
    assert {tool["name"] for tool in client.ask("tools/list")["result"]["tools"]} == memory.NAMES | my_memory.NAMES


def test_every_tool_does_its_work(connect: Connect, database: Path, project: Path) -> None:
    client = connect(name="claude-code")
    client.hello()
    said, ok = client.call("record_memory", fact="Prices are integers in cents")
    assert ok
    id_ = said.split()[2].rstrip(".")
    assert id_ in client.call("recall", query="how are prices stored?")[0]
    assert "evidence" in client.call("recall", query="prices")[0]
    assert id_ in client.call("list_memory")[0]
    assert "stated by: claude (escalation)" in client.call("get_memory", id=id_)[0]
    assert client.call("set_need", need="Stop the double charge")[1]
    assert client.call("update_perception", layer="frame", entries="story: charge once")[1]
    assert "charge once" in client.resource("milk://perception")
    assert client.resource("milk://memory/pinned") == "No fact is pinned."
    assert client.call("forget_memory", id=id_, reason="wrong")[1]
    assert not client.call("get_memory", id="#ffffff")[1]
    (learned,) = facts(database)
    assert (learned.agent_name, learned.status) == ("claude", "forgotten")


def test_pinned_facts_are_a_resource(connect: Connect, database: Path) -> None:
    store = Store.open(database)
    store.write_sync(lambda db: percepts.add(db, content="Never touch production", pinned=True))
    store.close()
    client = connect()
    client.hello()
    assert "Never touch production" in client.resource("milk://memory/pinned")


def test_without_a_name_a_client_is_nobody(connect: Connect, database: Path, project: Path) -> None:
    stranger = connect(name="cursor-vscode")
    stranger.hello()
    assert stranger.call("record_memory", fact="The cache is Redis 7")[1]
    friend = connect("--as", "claude", name="cursor-vscode")
    friend.hello()
    assert friend.call("record_memory", fact="Only the primary needs this", consumer="qwen")[1]
    assert "Redis" not in friend.call("recall", query="cache redis")[0]
    assert "primary needs" not in stranger.call("list_memory")[0]
    found = {fact.agent_name: fact for fact in facts(database)}
    assert found["cursor-vscode"].tainted
    assert (found["claude"].tainted, found["claude"].consumer) == (False, "primary")
    store = Store.open(database)
    outside = store.read_sync(lambda conn: sessions.outside_of(conn, str(project)))
    store.close()
    assert outside is not None
    assert outside.id == found["cursor-vscode"].session_id


def test_an_agents_own_memory_is_its_own(connect: Connect, database: Path) -> None:
    deep, fast, stranger = connect("--as", "claude"), connect("--as", "qwen"), connect()
    for client in (deep, fast, stranger):
        client.hello()
    assert deep.call("save_my_memory", section="long_term", content="I like short answers")[1]
    assert deep.call("read_my_memory", section="long_term")[0] == "I like short answers"
    assert fast.call("read_my_memory", section="long_term")[0] == "(empty)"
    for tool, arguments in (("read_my_memory", {"section": "long_term"}), ("save_my_memory", {})):
        said, ok = stranger.call(tool, **arguments)
        assert (ok, "configured agent" in said) == (False, True)
    assert not {"read_my_memory"} & {tool["name"] for tool in stranger.ask("tools/list")["result"]["tools"]}
    assert "section_is_read_only" in deep.call("save_my_memory", section="system_exchanges", content="x")[0]


def test_mistakes_of_a_client_are_answered_and_the_server_goes_on(connect: Connect, database: Path) -> None:
    client = connect()
    client.hello()
    for line, error in (
        (b"not json", -32700),
        (b"[]", -32600),
        (b'"text"', -32600),
        (b'{"jsonrpc": "1.0", "id": 4, "method": "ping"}', -32600),
    ):
        client.send(line)
        assert client.next()["error"]["code"] == error
    assert client.ask("tools/call", {"name": "rm"})["error"]["code"] == -32602
    assert client.ask("tools/call", {"name": ["recall"]})["error"]["code"] == -32602
    assert client.ask("resources/read", {"uri": "file:///etc/passwd"})["error"]["code"] == -32002
    assert client.ask("resources/read", {})["error"]["code"] == -32602
    assert client.ask("prompts/list")["error"]["code"] == -32601
    for arguments in ({"fact": 7}, {}, [1], "text", {"fact": "x" * 1_000_000}):
        result = client.ask("tools/call", {"name": "record_memory", "arguments": arguments})["result"]
        assert result["isError"], arguments
    client.send(b" ")
    client.send(b"")
    client.send({"jsonrpc": "2.0", "id": 77, "result": "an answer to nothing"})
    assert client.ask("ping")["result"] == {}


def test_a_line_of_many_megabytes_is_refused_and_not_kept(connect: Connect) -> None:
    client = connect()
    client.hello()
    client.send(b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"x": "' + b"x" * 9_000_000 + b'"}}')
    assert client.next()["error"]["code"] == -32700
    assert client.ask("ping")["result"] == {}


def test_a_batch_is_answered_by_one_list_and_notifications_by_nothing(connect: Connect, database: Path) -> None:
    client = connect()
    client.hello()
    client.send(
        [
            {"jsonrpc": "2.0", "id": "a", "method": "ping"},
            {"jsonrpc": "2.0", "method": "notifications/roots/list_changed"},
            {"jsonrpc": "2.0", "id": "b", "method": "tools/call", "params": {"name": "list_memory"}},
            {"jsonrpc": "2.0", "id": "c", "method": "no/such"},
        ]
    )
    replies = client.next()
    assert [reply["id"] for reply in replies] == ["a", "b", "c"]
    client.send([{"jsonrpc": "2.0", "method": "notifications/initialized"}])
    assert client.ask("ping")["result"] == {}


def test_what_is_taken_back_is_not_done_and_not_answered(connect: Connect, database: Path) -> None:
    client = connect()
    client.hello()
    blocker = sqlite3.connect(database, isolation_level=None)
    blocker.execute("begin immediate")
    first = {"jsonrpc": "2.0", "id": "first", "method": "tools/call"}
    client.send({**first, "params": {"name": "record_memory", "arguments": {"fact": "This one waits"}}})
    client.send(
        {**first, "id": "second", "params": {"name": "record_memory", "arguments": {"fact": "This one is taken back"}}}
    )
    client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "second"}})
    client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": ["odd"]}})
    assert client.ask("ping")["result"] == {}, "what is known by itself is answered meanwhile"
    blocker.execute("rollback")
    blocker.close()
    assert client.next()["id"] == "first"
    assert client.call("list_memory")[1]
    assert [fact.content for fact in facts(database)] == ["This one waits"]


def test_two_clients_and_a_screens_store_write_at_once(connect: Connect, database: Path, project: Path) -> None:
    store = Store.open(database)
    one, two = connect("--as", "claude"), connect("--as", "qwen")
    for client in (one, two):
        client.hello()
    for number in range(6):
        for name, client in (("deep", one), ("fast", two)):
            said, ok = client.call("record_memory", fact=f"Step {number} of the {name} one takes {number * 3 + 7} s")
            assert ok, said
        store.write_sync(lambda db, n=number: percepts.add(db, content=f"The person noted rule {n}"))
    assert len(store.read_sync(lambda conn: percept_lists.select(conn, "p.status = 'live'"))) == 18
    store.close()
    text, _ = one.call("list_memory", limit=100)
    assert text.count("\n#") == 18


def test_a_damaged_a_newer_and_a_missing_database_are_said_and_nothing_is_overwritten(
    connect: Connect, home: Path, database: Path
) -> None:
    client = connect()
    client.hello()
    conn = sqlite3.connect(database)
    conn.execute(f"pragma user_version = {VERSION + 1}")
    conn.close()
    said, ok = client.call("recall", query="x")
    assert (ok, "newer" in said) == (False, True)
    database.write_bytes(b"this is no database" * 1_000)
    for tool in ("recall", "record_memory"):
        said, ok = client.call(tool, query="x", fact="y")
        assert (ok, "not a milk-tui database" in said) == (False, True)
    assert database.read_bytes().startswith(b"this is no database")
    assert client.ask("resources/read", {"uri": "milk://perception"})["error"]["code"] == -32603
    database.unlink()
    assert client.call("record_memory", fact="It can begin anew")[1]


def test_a_client_that_has_gone_ends_the_server(connect: Connect, database: Path) -> None:
    client = connect()
    client.hello()
    assert client.process.stdout is not None
    os.kill(client.process.pid, signal.SIGSTOP)
    client.send({"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {"name": "list_memory"}})
    assert client.process.stdin is not None
    client.process.stdin.close()
    os.kill(client.process.pid, signal.SIGCONT)
    assert client.close() == 0
    assert json.loads(json.dumps(client.next()))["id"] == 5, "what was asked before is still answered"


def test_a_broken_configuration_is_said_at_the_start(home: Path, project: Path) -> None:
    (home / "config" / "config.toml").write_text("[agents\n")
    client = McpClient(env={"MILK_TUI_HOME": str(home)}, cwd=project)
    assert client.close() == 1
    assert "config.toml" in client.errors
