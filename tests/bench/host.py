"""Chunks per second through the model host, against litellm called directly in one process.

Both stream the same answers from the same loopback server, which runs in a process of its own and sends an answer as
fast as it can. Every sample is one whole answer; direct and host take turns, so that both see the same machine.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from milk_tui.core.records import Message
from milk_tui.modelhost.client import HostState, ModelHost
from milk_tui.modelhost.protocol import CompleteRequest, Delta
from tests.bench import Options
from tests.support.polling import until

_MODEL = "openai/bench"

_DIRECT = """
import asyncio, json, os, sys, time
os.environ.update(LITELLM_LOCAL_MODEL_COST_MAP="True", LITELLM_MODE="PRODUCTION")
os.environ.update(REPEATED_STREAMING_CHUNK_LIMIT="1000000000")
import litellm
litellm.suppress_debug_info = True

async def one(base, prompt):
    begun = time.perf_counter()
    stream = await litellm.acompletion(
        model="openai/bench", api_base=base, api_key="none", messages=[{"role": "user", "content": prompt}],
        stream=True, stream_options={"include_usage": True}, num_retries=0, max_retries=0,
    )
    chunks = 0
    async for chunk in stream:
        if chunk.choices and chunk.choices[0].delta.content:
            chunks += 1
    return chunks / (time.perf_counter() - begun)

async def main():
    print("ready", flush=True)
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        print(json.dumps(await one(*json.loads(line))), flush=True)

asyncio.run(main())
"""


def run(options: Options) -> dict[str, Any]:
    """``ratio``: host / direct, medians of chunks per second; to reach: 0.8 (``quality.md``)."""

    runs = options.runs or (3 if options.quick else 7)
    chunks = int(options.extra.get("chunks", "500" if options.quick else "2000"))
    with _server() as base, tempfile.TemporaryDirectory() as folder:
        direct, host = asyncio.run(_measure(base, Path(folder), chunks, runs))
    return {
        "ratio": round(median(host) / median(direct), 3),
        "chunks_per_s": round(median(host), 1),
        "direct_chunks_per_s": round(median(direct), 1),
        "chunks": chunks,
        "samples": {"host": [round(s, 1) for s in host], "direct": [round(s, 1) for s in direct]},
    }


async def _measure(base: str, folder: Path, chunks: int, runs: int) -> tuple[list[float], list[float]]:
    prompt = f"SCN:repeat {chunks} word-by-word"
    other = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _DIRECT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert other.stdin is not None and other.stdout is not None
    await other.stdout.readline()
    host = ModelHost(folder / "host.log")
    await host.start()
    await until(lambda: host.state is HostState.READY, timeout_s=120)
    direct_rates: list[float] = []
    host_rates: list[float] = []
    try:
        for number in range(runs + 1):
            other.stdin.write(json.dumps([base, prompt]).encode() + b"\n")
            direct = float(await other.stdout.readline())
            hosted = await _hosted(host, base, prompt)
            if number:  # the first of each is warm-up: litellm imports more at its first call
                direct_rates.append(direct)
                host_rates.append(hosted)
    finally:
        other.stdin.close()
        await other.wait()
        await host.aclose()
    return direct_rates, host_rates


async def _hosted(host: ModelHost, base: str, prompt: str) -> float:
    begun = time.perf_counter()
    request = CompleteRequest(model=_MODEL, api_base=base, messages=(Message(role="user", content=prompt),))
    chunks = 0
    async for event in host.complete(request):
        chunks += isinstance(event, Delta)
    return chunks / (time.perf_counter() - begun)


@contextmanager
def _server() -> Iterator[str]:
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.support.openai_server"], stdout=subprocess.PIPE, env=dict(os.environ), text=True
    )
    try:
        assert process.stdout is not None
        yield json.loads(process.stdout.readline())["url"]
    finally:
        process.terminate()
        process.wait(10)
