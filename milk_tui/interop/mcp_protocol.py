"""The words of the Model Context Protocol that our server speaks: JSON-RPC 2.0, one message a line. Pure.

Written on ``json`` alone: the server must have listed its tools before a runtime has sent its first prompt
(``agents.md`` §4).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from math import isfinite
from typing import Any

VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
"""Newest first. A client that asks for another one is offered the newest."""

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
RESOURCE_NOT_FOUND = -32002

Id = str | int | float


class RpcError(Exception):
    """A request that is answered with an error."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


@dataclass(frozen=True, slots=True)
class Request:
    """``id`` ``None``: a notification, which is never answered."""

    method: str
    params: dict[str, Any]
    id: Id | None = None


@dataclass(frozen=True, slots=True)
class Rejected:
    """A message that is none; ``reply`` says so."""

    reply: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Incoming:
    """One line. ``batch``: its replies go into one list."""

    messages: tuple[Request | Rejected, ...]
    batch: bool = False


def read(line: bytes) -> Incoming:
    """The messages of a line; answers of the client to something that we never asked are left out."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return Incoming((Rejected(failure(None, PARSE_ERROR, "This line is not JSON.")),))
    if not isinstance(value, list):
        return Incoming(tuple(_message(value)))
    if not value:
        return Incoming((Rejected(failure(None, INVALID_REQUEST, "The batch is empty.")),))
    return Incoming(tuple(found for each in value for found in _message(each)), batch=True)


def _message(value: object) -> list[Request | Rejected]:
    if not isinstance(value, dict):
        return [Rejected(failure(None, INVALID_REQUEST, "A message is an object."))]
    if "method" not in value and ("result" in value or "error" in value):
        return []
    id_ = value.get("id")
    if "id" in value and not _is_id(id_):
        return [Rejected(failure(None, INVALID_REQUEST, "An id is a string or a number."))]
    method, params = value.get("method"), value.get("params")
    if value.get("jsonrpc") != "2.0" or not isinstance(method, str):
        return [Rejected(failure(id_, INVALID_REQUEST, "This is not a JSON-RPC 2.0 request."))]
    if params is not None and not isinstance(params, dict):
        if id_ is None:
            return []
        return [Rejected(failure(id_, INVALID_PARAMS, "The parameters are an object."))]
    return [Request(method, params or {}, id_)]


def _is_id(value: object) -> bool:
    if isinstance(value, float):
        return isfinite(value)
    return isinstance(value, str | int) and not isinstance(value, bool)


def success(id_: Id | None, result: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id_, "result": result}


def failure(id_: Id | None, code: int, message: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id_, "error": {"code": code, "message": message}}


def write(reply: dict[str, Any] | list[dict[str, Any]]) -> bytes:
    """One line in ASCII: nothing in a text can break it or a terminal."""
    return json.dumps(reply, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"
