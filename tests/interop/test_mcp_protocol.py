"""Lines of the Model Context Protocol: what is read from them, and that nothing in one breaks the reader."""

from __future__ import annotations

import contextlib
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from milk_tui.interop import mcp_protocol as rpc
from milk_tui.interop.mcp_protocol import Incoming, Rejected, Request, RpcError
from milk_tui.interop.mcp_server import Server

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


def read(value: object) -> Incoming:
    return rpc.read(json.dumps(value).encode())


def code(incoming: Incoming) -> int:
    (message,) = incoming.messages
    assert isinstance(message, Rejected)
    return int(message.reply["error"]["code"])


def test_a_request_has_a_method_an_id_and_parameters() -> None:
    asked = {"jsonrpc": "2.0", "id": "a", "method": "ping", "params": {"x": 1}}
    assert read(asked) == Incoming((Request("ping", {"x": 1}, "a"),))
    assert read({"jsonrpc": "2.0", "method": "ping"}) == Incoming((Request("ping", {}, None),))


@pytest.mark.parametrize(
    ("line", "error"),
    [
        (b"", rpc.PARSE_ERROR),
        (b"{", rpc.PARSE_ERROR),
        (b"\xff\xfe{}", rpc.PARSE_ERROR),
        (b"[" * 200_000, rpc.PARSE_ERROR),
        (b"[]", rpc.INVALID_REQUEST),
        (b"7", rpc.INVALID_REQUEST),
        (b'{"id": 1, "method": "ping"}', rpc.INVALID_REQUEST),
        (b'{"jsonrpc": "2.0", "id": 1, "method": 7}', rpc.INVALID_REQUEST),
        (b'{"jsonrpc": "2.0", "id": {}, "method": "ping"}', rpc.INVALID_REQUEST),
        (b'{"jsonrpc": "2.0", "id": true, "method": "ping"}', rpc.INVALID_REQUEST),
        (b'{"jsonrpc": "2.0", "id": NaN, "method": "ping"}', rpc.INVALID_REQUEST),
        (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', rpc.INVALID_REQUEST),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": [1]}', rpc.INVALID_PARAMS),
    ],
)
def test_what_is_no_request_is_answered_with_the_reason(line: bytes, error: int) -> None:
    assert code(rpc.read(line)) == error


def test_an_answer_to_something_we_never_asked_is_left_out() -> None:
    assert read({"jsonrpc": "2.0", "id": 1, "result": {}}).messages == ()
    assert read({"jsonrpc": "2.0", "method": "notifications/x", "params": [1]}).messages == ()


def test_a_batch_is_read_message_by_message() -> None:
    found = read([{"jsonrpc": "2.0", "id": 1, "method": "ping"}, 3, {"jsonrpc": "2.0", "id": 2, "result": 1}])
    assert found.batch
    assert [type(message) for message in found.messages] == [Request, Rejected]


@given(st.binary(max_size=200))
def test_no_bytes_make_it_raise(line: bytes) -> None:
    assert isinstance(rpc.read(line), Incoming)


@given(_JSON)
def test_any_json_is_read_to_messages(value: object) -> None:
    for message in read(value).messages:
        assert isinstance(message, Request | Rejected)


@given(st.dictionaries(st.text(max_size=8), st.text(), max_size=3))
def test_a_reply_is_one_line_of_ascii(result: dict[str, str]) -> None:
    written = rpc.write(rpc.success(1, {**result, "odd": "\ud800\u2028\x1b[2J\n"}))
    assert written.isascii()
    assert written.count(b"\n") == 1
    assert b"\x1b" not in written


class Echo:
    """What stands behind a server that only repeats what it is asked."""

    def meet(self, client: str) -> None:
        self.client = client

    def tools(self) -> list[dict[str, object]]:
        return [{"name": "echo"}]

    def resources(self) -> list[dict[str, object]]:
        return []

    def call(self, name: str, arguments: object) -> dict[str, object]:
        if name != "echo":
            raise RpcError(rpc.INVALID_PARAMS, "no such tool")
        return {"echo": arguments}

    def read(self, uri: str) -> dict[str, object]:
        raise RuntimeError("a mistake of ours")

    def close(self) -> None:
        pass


_REQUESTS = st.fixed_dictionaries(
    {"jsonrpc": st.just("2.0"), "method": st.sampled_from(["ping", "tools/list", "tools/call", "resources/read", "x"])},
    optional={
        "id": st.integers(0, 9) | st.text(max_size=3),
        "params": st.dictionaries(st.sampled_from(["name", "uri", "arguments", "requestId"]), _JSON, max_size=3),
    },
)


@given(st.lists(_REQUESTS | _JSON | st.lists(_REQUESTS, max_size=3), max_size=8))
def test_every_request_is_answered_once_whatever_stands_between(values: list[object]) -> None:
    lines = b"".join(json.dumps(value).encode() + b"\n" for value in values)
    out = io.BytesIO()
    with contextlib.redirect_stderr(io.StringIO()):
        Server(Echo(), io.BytesIO(lines), out).run()
    replies = [json.loads(line) for line in out.getvalue().splitlines()]
    single = [reply for each in replies for reply in (each if isinstance(each, list) else [each])]
    assert all(("result" in reply) != ("error" in reply) for reply in single)
    asked = [message for value in values for message in read(value).messages]
    wanted = [m for m in asked if isinstance(m, Rejected) or m.id is not None]
    assert len(single) == len(wanted)
