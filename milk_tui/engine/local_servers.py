"""Looking for a model server on this machine: parallel probes of the loopback, over in a quarter of a second.

What the usual servers answer is in ``dependencies.md``, "Local servers". Nothing here reaches outside the
loopback."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from milk_tui.core import text
from milk_tui.core.errors import ConfigError

PORTS_VARIABLE = "MILK_TUI_PROBE_PORTS"
"""``none``, or ``NAME=PORT,NAME=PORT``: only these servers are looked for, at these ports."""

LARGEST_ANSWER = 2_000_000
"""Bytes of a list of models; more is something else."""

MOST_MODELS = 500


@dataclass(frozen=True, slots=True)
class Server:
    """A kind of local server and how its models are asked for and named."""

    name: str
    port: int
    path: str
    prefix: str
    """What litellm calls its provider."""
    start: str
    """How a person starts it."""
    fill: str
    """How a person gives it a model."""

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def api_base(self) -> str:
        return f"http://{self.address}" + ("" if self.prefix == "ollama_chat" else "/v1")


@dataclass(frozen=True, slots=True)
class LocalModel:
    """A model that a local server offers; ``model`` is litellm's name for it."""

    server: Server
    id: str
    window_tokens: int | None = None

    @property
    def model(self) -> str:
        return f"{self.server.prefix}/{self.id}"


@dataclass(frozen=True, slots=True)
class Probe:
    """What one look found. ``state``: models · no-models · other (something else answers there) · silent."""

    server: Server
    state: str
    models: tuple[LocalModel, ...] = ()


SERVERS: tuple[Server, ...] = (
    Server("Ollama", 11434, "/api/tags", "ollama_chat", "ollama serve", "ollama pull qwen2.5-coder"),
    Server("llama.cpp", 8080, "/v1/models", "openai", "llama-server -m MODEL.gguf", "llama-server -m MODEL.gguf"),
    Server("LM Studio", 1234, "/v1/models", "openai", "lms server start", "lms load MODEL"),
    Server("vLLM", 8000, "/v1/models", "openai", "vllm serve MODEL", "vllm serve MODEL"),
)
"""In the order in which they are preferred (``ux.md``, "First run")."""

_NO_CHAT = ("embed", "bge-", "minilm", "rerank", "whisper", "clip-")
"""Parts of names of models that can't hold a conversation."""


def servers_to_probe(environ: Mapping[str, str] | None = None) -> tuple[Server, ...]:
    """``SERVERS``, or what ``MILK_TUI_PROBE_PORTS`` says. Raises ``ConfigError`` when that can't be read."""
    said = (os.environ if environ is None else environ).get(PORTS_VARIABLE, "").strip()
    if not said:
        return SERVERS
    if said == "none":
        return ()
    known = {server.name.lower(): server for server in SERVERS}
    chosen = []
    for item in said.split(","):
        name, _, port = item.partition("=")
        server = known.get(name.strip().lower())
        if server is None or not port.strip().isdecimal() or not 0 < int(port) < 65_536:
            raise ConfigError(
                f"{PORTS_VARIABLE}: {text.one_line(item, 40)!r} is not NAME=PORT.",
                f"Names: {', '.join(s.name for s in SERVERS)}; or none.",
            )
        chosen.append(replace(server, port=int(port)))
    return tuple(chosen)


async def probe_all(servers: Sequence[Server], timeout: float) -> list[Probe]:
    """Ask all servers at once; takes at most ``timeout`` seconds and never raises for what a server does."""
    return list(await asyncio.gather(*(probe(server, timeout) for server in servers)))


async def probe(server: Server, timeout: float) -> Probe:
    try:
        async with asyncio.timeout(timeout):
            body = await _get("127.0.0.1", server.port, server.path)
    except (OSError, TimeoutError):
        return Probe(server, "silent")
    except ValueError:
        return Probe(server, "other")
    return read_models(server, body)


def read_models(server: Server, body: bytes) -> Probe:
    """The models in a server's answer. Port 8080 belongs to many programs: any other shape is ``other``."""
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        return Probe(server, "other")
    key, name = ("models", "name") if server.prefix == "ollama_chat" else ("data", "id")
    listed = answer.get(key) if isinstance(answer, dict) else None
    if not isinstance(listed, list):
        return Probe(server, "other")
    models = tuple(
        LocalModel(server, entry[name], _window(entry))
        for entry in listed[:MOST_MODELS]
        if isinstance(entry, dict) and _usable(entry.get(name))
    )
    if models:
        return Probe(server, "models", models)
    return Probe(
        server,
        "other" if listed and not any(isinstance(e, dict) and name in e for e in listed) else "no-models",
    )


def _usable(name: object) -> bool:
    if not isinstance(name, str) or not name or len(name) > 300 or text.clean(name) != name or "\n" in name:
        return False
    return not any(part in name.lower() for part in _NO_CHAT)


def _window(entry: dict[str, Any]) -> int | None:
    """The context window in tokens where the server says it (vLLM, newer llama.cpp)."""
    meta = entry.get("meta")
    for value in (entry.get("max_model_len"), meta.get("n_ctx") if isinstance(meta, dict) else None):
        if isinstance(value, int) and not isinstance(value, bool) and 0 < value <= 100_000_000:
            return value
    return None


async def _get(host: str, port: int, path: str) -> bytes:
    """The body of a plain GET (HTTP/1.0: the server closes, nothing is chunked). Raises ``ValueError`` when
    the answer is not a good one, ``OSError`` when there is nobody."""
    reader, writer = await asyncio.open_connection(host, port)
    try:
        writer.write(f"GET {path} HTTP/1.0\r\nHost: {host}:{port}\r\nAccept: application/json\r\n\r\n".encode())
        await writer.drain()
        data = bytearray()
        while chunk := await reader.read(65_536):
            data += chunk
            if len(data) > LARGEST_ANSWER:
                raise ValueError("too long")
            if (whole := _complete(data)) is not None:
                return whole
    finally:
        writer.close()
    head, found, body = bytes(data).partition(b"\r\n\r\n")
    if not found or not _good(head):
        raise ValueError("not a good answer")
    return body


def _complete(data: bytearray) -> bytes | None:
    """The body as soon as ``Content-Length`` says that all of it is there: some servers keep the line
    open."""
    head, found, _ = bytes(data[:16_384]).partition(b"\r\n\r\n")
    if not found or not _good(head):
        return None
    for line in head.lower().split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.strip() == b"content-length" and value.strip().isdigit():
            start, length = len(head) + 4, int(value)
            return bytes(data[start : start + length]) if len(data) >= start + length else None
    return None


def _good(head: bytes) -> bool:
    parts = head.split(b"\r\n", 1)[0].split()
    return len(parts) >= 2 and parts[0].startswith(b"HTTP/1.") and parts[1] == b"200"
