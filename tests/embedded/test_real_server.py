"""The real runtime with the real ``tiny`` model: one server for all programs, gone when the last one is."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from milk_tui.embedded import control
from milk_tui.embedded.catalogue import CONTEXT_TOKENS, MODELS
from milk_tui.embedded.control import Endpoint
from milk_tui.embedded.manager import EmbeddedManager, EmbeddedStatus, Phase
from milk_tui.embedded.settings import EmbeddedSettings
from tests.support.polling import until

pytestmark = [pytest.mark.slow, pytest.mark.embedded]


def alive(pid: int) -> bool:
    """True while the process runs; a zombie that nobody has collected yet does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    return not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] != "Z"


def told_by_kernel(pid: int, name: str) -> bytes:
    """A file of ``/proc``; empty where there is none."""
    file = Path(f"/proc/{pid}/{name}")
    return file.read_bytes() if file.exists() else b""


def resident_mb(pid: int) -> int:
    return int(told_by_kernel(pid, "status").partition(b"VmRSS:")[2].partition(b"kB")[0] or 0) // 1000


def ask(endpoint: Endpoint, path: str, body: dict[str, Any] | None = None, key: str | None = None) -> Any:
    request = urllib.request.Request(
        endpoint.base_url.removesuffix("/v1") + path,
        data=None if body is None else json.dumps(body).encode(),
        headers={
            "Authorization": f"Bearer {endpoint.api_key if key is None else key}",
            "Content-Type": "application/json",
            "Origin": "http://evil.example",
        },
    )
    return urllib.request.urlopen(request, timeout=120)


def chat(endpoint: Endpoint, prompt: str, **more: Any) -> dict[str, Any]:
    body = {"model": endpoint.model, "messages": [{"role": "user", "content": prompt}], "temperature": 0, **more}
    with ask(endpoint, "/v1/chat/completions", body) as answer:
        return json.load(answer)


PROGRAM = """
import asyncio, json, sys
from dataclasses import asdict
from pathlib import Path
from milk_tui.embedded.manager import EmbeddedManager
from milk_tui.embedded.settings import EmbeddedSettings

async def main():
    said = json.loads(sys.argv[1])
    folders = {name: Path(said.pop(name)) for name in ("models_dir", "runtime_dir")}
    settings = EmbeddedSettings(**folders, **said)
    endpoint = await EmbeddedManager(settings).ready("tiny")
    print(json.dumps(asdict(endpoint)), flush=True)
    await asyncio.sleep(3600)

asyncio.run(main())
"""


class Program:
    """Another program of the user, in a process of its own, that holds a lease."""

    def __init__(self, settings: EmbeddedSettings) -> None:
        said = {
            "models_dir": str(settings.models_dir),
            "runtime_dir": str(settings.runtime_dir),
            "grace_s": settings.grace_s,
            "publisher": False,
        }
        self.process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, json.dumps(said)], stdout=subprocess.PIPE, text=True
        )

    async def endpoint(self) -> Endpoint:
        assert self.process.stdout is not None
        return Endpoint(**json.loads(await asyncio.to_thread(self.process.stdout.readline)))

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()


async def test_it_becomes_ready_and_says_how(real: EmbeddedSettings) -> None:
    said: list[EmbeddedStatus] = []
    manager = EmbeddedManager(real, said.append)
    endpoint = await manager.ready("tiny")
    assert [s.phase for s in said if s.phase is not Phase.FETCHING] == [Phase.LOADING, Phase.LOADING, Phase.READY]
    assert endpoint.base_url.startswith("http://127.0.0.1:")
    assert endpoint.pid != os.getpid()
    await manager.aclose()


async def test_an_answer_is_streamed(manager: EmbeddedManager) -> None:
    endpoint = await manager.ready("tiny")
    body = {
        "model": endpoint.model,
        "messages": [{"role": "user", "content": "Say hello."}],
        "max_tokens": 24,
        "stream": True,
    }
    with ask(endpoint, "/v1/chat/completions", body) as answer:
        events = [line for line in answer.read().decode().splitlines() if line.startswith("data: {")]
    pieces = [json.loads(e.removeprefix("data: "))["choices"][0]["delta"].get("content") or "" for e in events]
    assert len([p for p in pieces if p]) > 3
    assert "".join(pieces).strip()


async def test_an_answer_is_bound_by_a_schema_and_by_a_grammar(manager: EmbeddedManager) -> None:
    endpoint = await manager.ready("tiny")
    schema = {
        "type": "object",
        "properties": {"action": {"enum": ["answer", "escalate"]}},
        "required": ["action"],
        "additionalProperties": False,
    }
    bound = {"type": "json_schema", "json_schema": {"name": "decision", "schema": schema}}
    made = chat(endpoint, "What is a list?", response_format=bound, max_tokens=60)
    assert json.loads(made["choices"][0]["message"]["content"])["action"] in ("answer", "escalate")
    made = chat(endpoint, "What is a list?", grammar='root ::= "easy" | "hard"', max_tokens=4)
    assert made["choices"][0]["message"]["content"] in ("easy", "hard")


async def test_a_prefix_is_kept_when_another_prompt_comes_between(manager: EmbeddedManager) -> None:
    endpoint = await manager.ready("tiny")
    long = "The shop sells apples, pears, plums and quinces of every kind. " * 20
    chat(endpoint, long + "One.", max_tokens=1)
    chat(endpoint, "Something else altogether. " * 40, max_tokens=1)
    usage = chat(endpoint, long + "Two.", max_tokens=1)["usage"]
    assert usage["prompt_tokens_details"]["cached_tokens"] > 0.8 * usage["prompt_tokens"]


async def test_nobody_gets_in_without_the_key_and_no_browser_page_does(manager: EmbeddedManager) -> None:
    endpoint = await manager.ready("tiny")
    for key in ("", "wrong"):
        with pytest.raises(urllib.error.HTTPError) as caught:
            ask(endpoint, "/v1/models", key=key)
        assert caught.value.code == 401
    with pytest.raises(urllib.error.HTTPError) as caught:
        ask(endpoint, "/")
    assert caught.value.code == 404
    with ask(endpoint, "/v1/models") as answer:
        assert answer.headers.get("Access-Control-Allow-Origin", "") == ""
        model = json.load(answer)["data"][0]
    assert model["id"] == "tiny"
    assert model["meta"]["n_ctx"] == CONTEXT_TOKENS


async def test_the_key_is_neither_in_the_arguments_nor_in_the_environment(manager: EmbeddedManager) -> None:
    endpoint = await manager.ready("tiny")
    for name in ("cmdline", "environ"):
        assert endpoint.api_key.encode() not in told_by_kernel(endpoint.pid, name)
    assert endpoint.api_key not in repr(endpoint)


async def test_keys_of_the_environment_do_not_reach_the_server(
    real: EmbeddedSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    manager = EmbeddedManager(real)
    endpoint = await manager.ready("tiny")
    environ = told_by_kernel(endpoint.pid, "environ")
    assert b"sk-very-secret" not in environ
    assert not environ or b"GOMP_SPINCOUNT=10000" in environ
    await manager.aclose()
    await until(lambda: not alive(endpoint.pid))


async def test_two_programs_share_one_server_and_the_last_one_takes_it_along(real: EmbeddedSettings) -> None:
    programs = [Program(real), Program(real)]
    try:
        endpoints = await asyncio.gather(*(p.endpoint() for p in programs))
        assert endpoints[0] == endpoints[1]
        pid = endpoints[0].pid
        programs[0].kill()
        manager = EmbeddedManager(real)
        assert (await manager.ready("tiny")).pid == pid
        await manager.aclose()
        assert alive(pid)
        programs[1].kill()
        await until(lambda: not alive(pid), what="the server's end after kill -9 of its last user")
        assert not list(real.runtime_dir.glob("*.sock"))
    finally:
        for program in programs:
            if program.process.poll() is None:
                program.kill()


async def test_a_program_killed_while_the_server_loads_leaves_nothing(real: EmbeddedSettings) -> None:
    where = control.rendezvous(MODELS["tiny"], real.runtime_dir)
    program = Program(real)
    await until(where.socket.exists)
    program.kill()
    await until(lambda: not where.socket.exists(), timeout_s=60)


async def test_a_server_that_died_is_started_again_by_the_next_use(manager: EmbeddedManager) -> None:
    first = await manager.ready("tiny")
    os.kill(first.pid, signal.SIGKILL)
    await until(lambda: manager.status("tiny").phase is Phase.IDLE)
    second = await manager.ready("tiny")
    assert second.pid != first.pid
    assert chat(second, "Hi", max_tokens=1)["choices"]


async def test_a_server_told_to_stop_removes_its_socket(real: EmbeddedSettings) -> None:
    manager = EmbeddedManager(replace(real, grace_s=600.0))
    endpoint = await manager.ready("tiny")
    os.kill(endpoint.pid, signal.SIGTERM)
    await until(lambda: not alive(endpoint.pid))
    assert not list(real.runtime_dir.glob("*.sock"))
    await manager.aclose()


async def test_a_stale_socket_is_no_obstacle(real: EmbeddedSettings) -> None:
    where = control.rendezvous(MODELS["tiny"], real.runtime_dir)
    await until(lambda: not where.socket.exists())
    where.socket.touch()
    manager = EmbeddedManager(real)
    assert (await manager.ready("tiny")).pid
    await manager.aclose()


async def test_a_newer_program_gets_a_server_of_its_own_and_the_older_one_keeps_its(
    real: EmbeddedSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = EmbeddedManager(real)
    first = await old.ready("tiny")
    where = control.rendezvous(MODELS["tiny"], real.runtime_dir)
    reader, writer = await asyncio.open_unix_connection(str(where.socket))
    writer.write(control.encode({"protocol": control.PROTOCOL + 1}))
    assert control.decode(await reader.readline())["state"] == "outdated"
    writer.close()
    await until(lambda: not where.socket.exists())
    newer = EmbeddedManager(real)
    second = await newer.ready("tiny")
    assert second.pid != first.pid
    assert chat(first, "Hi", max_tokens=1)["choices"]
    await old.aclose()
    await until(lambda: not alive(first.pid))
    assert where.socket.exists()
    await newer.aclose()


async def test_an_idle_server_lets_go_of_its_memory_and_wakes_by_itself(real: EmbeddedSettings, tmp_path: Path) -> None:
    manager = EmbeddedManager(replace(real, idle_s=1, runtime_dir=tmp_path))
    endpoint = await manager.ready("tiny")
    if not resident_mb(endpoint.pid):
        pytest.skip("this platform does not tell a process's memory")
    await asyncio.to_thread(chat, endpoint, "Hi", max_tokens=1)
    await until(lambda: resident_mb(endpoint.pid) < 150, timeout_s=60)
    assert await asyncio.to_thread(chat, endpoint, "Hi", max_tokens=1)
    assert resident_mb(endpoint.pid) > 150
    await manager.aclose()
    await until(lambda: not alive(endpoint.pid))


def test_the_endpoint_is_all_that_a_program_needs() -> None:
    assert set(asdict(Endpoint("u", "k", "m", 1))) == {"base_url", "api_key", "model", "pid"}
