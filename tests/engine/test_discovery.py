"""Which agents a session gets: the order of ``ux.md`` "First run", against real servers on the loopback."""

from __future__ import annotations

import asyncio
import json
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from milk_tui import config_file
from milk_tui.config import Config, Provider
from milk_tui.core.errors import ConfigError
from milk_tui.core.records import Role
from milk_tui.engine.agent_spec import from_word, short_name
from milk_tui.engine.discovery import Discovery, discover, named
from milk_tui.engine.hosted import HOSTED, is_local
from milk_tui.engine.local_servers import SERVERS, Server, probe_all, read_models, servers_to_probe

OLLAMA, LLAMA_CPP, LM_STUDIO, VLLM = SERVERS
Reply = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]

TAGS = {"models": [{"name": "nomic-embed-text:latest"}, {"name": "qwen2.5-coder:7b"}, {"name": "llama3:8b"}]}
LIST = {
    "object": "list",
    "data": [{"id": "text-embedding-nomic", "object": "model"}, {"id": "Org/Big-Chat-32B"}],
}


def config(text: str = "") -> Config:
    return config_file.parse(text, "c.toml")[0]


def closed_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@asynccontextmanager
async def serving(kind: Server, reply: Reply | dict | bytes, head: str = "") -> AsyncIterator[Server]:
    """A server of that kind at a port of its own; ``reply`` is JSON, a raw answer, or what to do."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            asked = await reader.readuntil(b"\r\n\r\n")
            if callable(reply):
                await reply(reader, writer)
                return
            if isinstance(reply, bytes):
                writer.write(reply)
            elif asked.startswith(f"GET {kind.path} ".encode()):
                body = json.dumps(reply).encode()
                writer.write(b"HTTP/1.1 200 OK\r\n" + head.encode() + b"\r\n" + body)
            else:
                writer.write(b"HTTP/1.1 404 Not Found\r\n\r\n")
            await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    async with server:
        yield replace(kind, port=server.sockets[0].getsockname()[1])


async def hang(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read()


async def look(conf: Config | None = None, servers: tuple[Server, ...] = (), **options: object) -> Discovery:
    environ = options.pop("environ", {})
    return await discover(conf or config(), environ=environ, servers=servers, **options)


def without_embedded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)


async def test_a_local_server_comes_before_a_key() -> None:
    async with serving(OLLAMA, TAGS) as ollama:
        found = await look(servers=(ollama,), environ={"ANTHROPIC_API_KEY": "k"})
    assert found.primary is not None
    assert found.primary.model == "ollama_chat/qwen2.5-coder:7b"
    assert found.primary.name == "qwen2.5-coder"
    assert found.primary.api_base == f"http://127.0.0.1:{ollama.port}"
    assert found.escalation is not None
    assert found.escalation.model == HOSTED[0].escalation
    assert found.escalation.api_key_env == "ANTHROPIC_API_KEY"


async def test_an_openai_compatible_server_is_driven_with_its_address_and_window() -> None:
    answer = {"data": [{"id": "/models/Qwen2.5-Coder-7B-Instruct-Q4_K_M.gguf", "max_model_len": 8192}]}
    async with serving(VLLM, answer) as vllm:
        found = await look(servers=(vllm,))
    assert found.primary is not None
    assert found.primary.model == "openai//models/Qwen2.5-Coder-7B-Instruct-Q4_K_M.gguf"
    assert found.primary.api_base == f"http://127.0.0.1:{vllm.port}/v1"
    assert found.primary.window_tokens == 8192
    assert found.primary.name == "qwen2.5-coder-7b"
    assert found.primary.local


async def test_the_first_server_in_the_documented_order_wins() -> None:
    async with serving(LM_STUDIO, LIST) as studio, serving(OLLAMA, TAGS) as ollama:
        found = await look(servers=(ollama, studio))
    assert found.primary is not None
    assert found.primary.source == f"Ollama at 127.0.0.1:{ollama.port}"
    assert [f.found for f in found.findings if f.kind == "server"] == [True, True]


async def test_models_that_can_not_chat_are_not_chosen() -> None:
    async with serving(LM_STUDIO, LIST) as studio:
        found = await look(servers=(studio,))
    assert found.primary is not None
    assert found.primary.model == "openai/Org/Big-Chat-32B"


async def test_a_key_comes_before_the_embedded_model() -> None:
    found = await look(environ={"OPENAI_API_KEY": "k", "GROQ_API_KEY": "k"})
    assert found.primary is not None
    assert found.escalation is not None
    assert found.primary.api_key_env == found.escalation.api_key_env == "OPENAI_API_KEY"
    assert found.primary.name != found.escalation.name


@pytest.mark.skipif(find_spec("xllamacpp") is None, reason="needs the extra embedded")
async def test_the_embedded_model_is_the_last_resort_and_needs_no_key() -> None:
    found = await look(config('[embedded]\nsize = "tiny"'))
    assert found.primary is not None
    assert (found.primary.model, found.primary.embedded_size) == ("embedded:tiny", "tiny")
    assert found.escalation is None
    assert "--escalation" in found.advice(Role.ESCALATION)


async def test_nothing_at_all_says_in_one_line_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    without_embedded(monkeypatch)
    found = await look()
    assert (found.primary, found.escalation) == (None, None)
    assert "milk-tui[embedded]" in found.advice(Role.PRIMARY)
    assert "\n" not in found.line()


async def test_named_agents_are_used_and_nothing_is_probed() -> None:
    asked = []

    async def note(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(1)

    conf = config('[agents.mine]\nmodel = "openai/m"\napi_base = "http://127.0.0.1:1/v1"\nrole = "primary"')
    async with serving(OLLAMA, note) as ollama:
        found = await look(conf, servers=(ollama,), escalation="anthropic/claude-opus-5-5")
    assert found.primary is not None
    assert (found.primary.name, found.primary.source) == ("mine", "config")
    assert found.escalation is not None
    assert found.escalation.source == "--escalation"
    assert asked == []


async def test_the_command_line_wins_over_the_config() -> None:
    conf = config('[agents.a]\nmodel="m/a"\n[agents.b]\nmodel="m/b"\n[session]\nprimary="a"')
    found = await look(conf, primary="B")
    assert found.primary is not None
    assert (found.primary.name, found.primary.source) == ("b", "--primary")


async def test_the_doctor_looks_everywhere_even_when_agents_are_named() -> None:
    async with serving(OLLAMA, TAGS) as ollama:
        found = await look(servers=(ollama,), primary="m/x", escalation="m/y", everything=True)
    assert found.primary is not None
    assert found.primary.model == "m/x"
    assert any(f.kind == "server" and f.found for f in found.findings)


async def test_a_named_agent_that_can_not_be_used_is_not_replaced_in_silence(monkeypatch) -> None:
    without_embedded(monkeypatch)
    conf = config('[agents.claude]\nprovider="claude-cli"\nrole="escalation"')
    found = await look(conf, primary="embedded:small", environ={"OPENAI_API_KEY": "k"})
    assert (found.primary, found.escalation) == (None, None)
    assert "there is no program claude on the PATH. To get it: npm install" in found.advice(Role.ESCALATION)
    assert "milk-tui[embedded]" in found.advice(Role.PRIMARY)


async def test_local_only_uses_no_key_and_refuses_a_hosted_model() -> None:
    conf = config("[privacy]\nlocal_only = true")
    found = await look(conf, escalation="openai/gpt-5.6", environ={"OPENAI_API_KEY": "k"})
    assert found.escalation is None
    assert "local_only" in found.advice(Role.ESCALATION)
    assert found.primary is None or found.primary.local


async def test_a_named_model_without_its_key_is_said_before_it_fails() -> None:
    found = await look(primary="anthropic/claude-haiku-5-5", escalation="m/x")
    named = [f for f in found.findings if f.kind == "named" and f.what == Role.PRIMARY]
    assert "ANTHROPIC_API_KEY is not set" in named[0].hint


async def test_one_model_in_both_roles_gets_two_names() -> None:
    found = await look(primary="m/same", escalation="n/same")
    assert found.primary is not None
    assert found.escalation is not None
    assert (found.primary.name, found.escalation.name) == ("same", "same-deep")


@pytest.mark.parametrize("word", ["qwenn", "nobody", "embedded:huge", "a b/c\x1b[2J", "/", "\u202egpt-4"])
def test_a_word_that_is_neither_agent_nor_model_is_an_error(word: str) -> None:
    with pytest.raises(ConfigError) as raised:
        from_word(config('[agents.qwen]\nmodel="m/q"'), Role.PRIMARY, word, "--primary")
    assert raised.value.what.startswith("--primary: no ")
    assert raised.value.hint
    assert str(raised.value).isprintable()


def test_a_configured_agent_keeps_all_its_settings() -> None:
    text = '[agents.a]\nmodel="m/a"\ntools=false\nwindow_tokens=9\nmax_tokens=8\ntemperature=0.5\n'
    text += 'api_key_env="K"'
    spec = from_word(config(text), Role.ESCALATION, "a", "config")
    assert (spec.tools, spec.window_tokens, spec.max_tokens, spec.temperature) == (False, 9, 8, 0.5)
    assert (spec.api_key_env, spec.provider) == ("K", Provider.LITELLM)


@pytest.mark.parametrize(
    ("reply", "state"),
    [
        ({"models": []}, "no-models"),
        ({"models": [{"name": "nomic-embed-text"}]}, "no-models"),
        ({"error": "x"}, "other"),
        ({"models": "many"}, "other"),
        (b"HTTP/1.1 200 OK\r\n\r\n<html>hello</html>", "other"),
        (b"HTTP/1.1 500 Oops\r\n\r\n{}", "other"),
        (b"SSH-2.0-OpenSSH_9\r\n", "other"),
        (b"HTTP/1.1 200 OK\r\n\r\n" + b"[" * 100_000, "other"),
        (b"HTTP/1.1 200 OK\r\n\r\n" + b" " * 3_000_000, "other"),
        (b"", "other"),
        (hang, "silent"),
    ],
)
async def test_whatever_answers_at_the_port_is_no_harm(reply, state: str) -> None:
    async with serving(OLLAMA, reply) as server:
        (probe,) = await probe_all([server], 0.25)
    assert probe.state == state
    assert probe.models == ()


async def test_nobody_at_the_port_is_silence_and_the_finding_says_how_to_start_one() -> None:
    found = await look(servers=(replace(OLLAMA, port=closed_port()),))
    (finding,) = [f for f in found.findings if f.kind == "server"]
    assert (finding.found, finding.hint) == (False, "Run: ollama serve")


async def test_an_answer_is_complete_when_its_length_says_so_though_the_line_stays_open() -> None:
    body = json.dumps(TAGS).encode()

    async def keep_open(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
        await writer.drain()
        await reader.read()

    async with serving(OLLAMA, keep_open) as server:
        (probe,) = await probe_all([server], 5)
    assert [model.id for model in probe.models] == ["qwen2.5-coder:7b", "llama3:8b"]


async def test_an_answer_may_arrive_in_pieces() -> None:
    async def slowly(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for byte in b"HTTP/1.0 200 OK\r\n\r\n" + json.dumps(TAGS).encode():
            writer.write(bytes([byte]))
            await writer.drain()

    async with serving(OLLAMA, slowly) as server:
        (probe,) = await probe_all([server], 5)
    assert probe.state == "models"


@given(st.sampled_from(SERVERS), st.binary(max_size=200))
def test_any_bytes_are_read_without_an_error(server: Server, body: bytes) -> None:
    assert read_models(server, body).state in ("models", "no-models", "other")


@given(st.text(max_size=80))
def test_any_model_name_gives_a_short_name_that_the_config_would_allow(model: str) -> None:
    name = short_name(model)
    assert 0 < len(name) <= 24
    assert config(f'[agents."{name}"]\nmodel="m/m"').agents[name]


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("ollama_chat/qwen2.5-coder:7b", "qwen2.5-coder"),
        ("anthropic/claude-haiku-4-5-20251001", "claude-haiku-4-5"),
        ("ollama_chat/hf.co/x/Llama-3.2-3B-Instruct-GGUF:Q4_K_M", "llama-3.2-3b"),
        ("mistral/mistral-large-latest", "mistral-large"),
        ("openai/", "openai"),
        ("::", "model"),
    ],
)
def test_a_short_name_leaves_out_what_nobody_says_aloud(model: str, name: str) -> None:
    assert short_name(model) == name


@pytest.mark.parametrize(
    ("model", "base", "local"),
    [
        ("ollama_chat/q", "", True),
        ("openai/q", "", False),
        ("openai/q", "http://127.0.0.1:8000/v1", True),
        ("openai/q", "http://localhost:8000", True),
        ("openai/q", "http://[::1]:8000", True),
        ("ollama_chat/q", "http://10.0.0.8:11434", False),
        ("openai/q", "http://127.0.0.1.evil.example", False),
        ("openai/q", "http://[", False),
    ],
)
def test_local_means_that_requests_stay_on_this_machine(model: str, base: str, local: bool) -> None:
    assert is_local(model, base) is local


def test_the_probed_ports_can_be_said_by_the_environment() -> None:
    assert servers_to_probe({}) == SERVERS
    assert servers_to_probe({"MILK_TUI_PROBE_PORTS": "none"}) == ()
    said = servers_to_probe({"MILK_TUI_PROBE_PORTS": "vLLM=81, ollama=82"})
    assert [(server.name, server.port) for server in said] == [("vLLM", 81), ("Ollama", 82)]
    for wrong in ("ollama", "ollama=x", "gpu=1", "ollama=70000"):
        with pytest.raises(ConfigError, match="MILK_TUI_PROBE_PORTS"):
            servers_to_probe({"MILK_TUI_PROBE_PORTS": wrong})


def test_the_models_named_for_each_key_are_known_to_litellm() -> None:
    package = find_spec("litellm")
    assert package is not None
    assert package.submodule_search_locations is not None
    prices = Path(package.submodule_search_locations[0]) / "model_prices_and_context_window_backup.json"
    known = json.loads(prices.read_text(encoding="utf-8"))
    for hosted in HOSTED:
        for model in (hosted.primary, hosted.escalation):
            assert model in known or model.split("/", 1)[1] in known, model


def installed(folder: Path, *programs: str) -> dict[str, str]:
    """An environment in whose PATH there are these programs alone."""
    for program in programs:
        (folder / program).write_text("#!/bin/sh\n")
        (folder / program).chmod(0o755)
    return {"PATH": str(folder)}


@pytest.mark.parametrize(
    ("programs", "name", "provider"),
    [
        (("claude", "opencode"), "claude", Provider.CLAUDE_CLI),
        (("gemini", "opencode"), "opencode", Provider.ACP),
        (("codex-acp",), "codex", Provider.ACP),
    ],
)
async def test_an_installed_agent_is_the_escalation_before_a_key_is(
    programs: tuple[str, ...], name: str, provider: Provider, tmp_path: Path
) -> None:
    environ = installed(tmp_path, *programs) | {"OPENAI_API_KEY": "k"}
    found = await look(environ=environ)
    assert found.escalation is not None and found.primary is not None
    assert (found.escalation.name, found.escalation.provider) == (name, provider)
    assert found.primary.provider is Provider.LITELLM


async def test_nothing_that_sends_elsewhere_is_used_when_all_has_to_stay_here(tmp_path: Path) -> None:
    found = await look(config("[privacy]\nlocal_only = true"), environ=installed(tmp_path, "claude"))
    assert found.escalation is None
    [row] = [f for f in found.findings if f.what == "claude"]
    assert row.found and "not used" in row.detail


async def test_agents_that_are_missing_are_one_row_with_a_way_to_get_one(tmp_path: Path) -> None:
    found = await look(environ=installed(tmp_path, "goose"))
    rows = {f.what: f for f in found.findings if f.kind == "program"}
    assert rows["goose"].found and not rows["claude"].found
    assert "opencode" in rows["other agents"].detail and "goose" not in rows["other agents"].detail
    assert "npm install" in rows["other agents"].hint


@pytest.mark.parametrize(
    ("word", "command", "model"),
    [
        ("claude", ("claude",), ""),
        ("claude:opus", ("claude",), "opus"),
        ("OpenCode", ("opencode", "acp"), ""),
        ("codex:gpt-5.6", ("codex-acp",), "gpt-5.6"),
    ],
)
def test_a_program_is_named_by_one_word(word: str, command: tuple[str, ...], model: str) -> None:
    spec = from_word(Config(), Role.PRIMARY, word, "--primary")
    assert (spec.command, spec.model, spec.local) == (command, model, False)


def test_a_preset_needs_no_command_in_the_config() -> None:
    spec = from_word(config('[agents.goose]\nprovider = "acp"'), Role.ESCALATION, "goose", "config")
    assert spec.command == ("goose", "acp")
    own = config('[agents.mine]\nprovider = "acp"\ncommand = ["my-agent", "--acp"]')
    assert from_word(own, Role.ESCALATION, "mine", "config").command == ("my-agent", "--acp")


def test_a_person_may_name_an_agent_as_it_is_called_on_the_screen() -> None:
    fast = from_word(Config(), Role.PRIMARY, "openai/fast", "--primary")
    found = named(Config(), Role.ESCALATION, "Fast", seated=[fast])
    assert (found.name, found.role, found.model, found.source) == ("fast", Role.ESCALATION, "openai/fast", "you")


def test_an_agent_of_the_config_goes_before_one_that_is_only_called_so() -> None:
    configured = config("[agents.fast]\nmodel = \"openai/configured\"\n")
    seated = [from_word(Config(), Role.PRIMARY, "openai/fast", "--primary")]
    assert named(configured, Role.PRIMARY, "fast", seated=seated).model == "openai/configured"


def test_a_name_that_nothing_has_is_said_to_the_person_in_a_sentence() -> None:
    with pytest.raises(ConfigError, match=r"^There is no agent 'nobody'\."):
        named(Config(), Role.PRIMARY, "nobody")
