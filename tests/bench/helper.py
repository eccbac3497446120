"""``ratio``: time from a submitted prompt to the first piece of its answer, with the recall helper / without it
(``quality.md``, "Speed").

The engine with the scripted model host, whose answers begin after 100 ms as those of a quick model do (``--set
slow=0``: at once), a project with 44 decision records, prompts that run into them; sides take turns, and between two
turns the helper has the time to run. It needs no model by default; ``--set runtime=litellm`` has it ask the same host,
``--set settle=0`` has it begin with the turn itself.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from tests.bench import Options

DATA = Path(__file__).parent.parent / "data" / "reminders"


def run(options: Options) -> dict[str, Any]:
    turns = options.runs or (8 if options.quick else 24)
    return asyncio.run(_measure(turns, options.extra))


async def _measure(turns: int, extra: dict[str, str]) -> dict[str, Any]:
    prompts = [case["prompt"] for case in json.loads((DATA / "shop" / "prompts.json").read_text("utf-8"))]
    slow = f"SCN:slow {extra.get('slow', '0.1')} "
    samples: dict[str, list[float]] = {"with": [], "without": []}
    runs = 0
    async with AsyncExitStack() as stack:
        sides = {name: await stack.enter_async_context(_workspace(on=name == "with", extra=extra)) for name in samples}
        for number in range(turns + 3):
            order = list(sides) if number % 2 else list(sides)[::-1]
            for name in order:
                took = await _first_piece(sides[name], f"{prompts[number % len(prompts)]} {slow}SCN:say one two three")
                await asyncio.sleep(0.35)
                if number >= 3:
                    samples[name].append(took)
        await _settled(sides["with"])
        runs = await _runs(sides["with"])
    medians = {name: statistics.median(taken) for name, taken in samples.items()}
    return {
        "ratio": round(medians["with"] / medians["without"], 3),
        "with_ms": round(medians["with"] * 1000, 2),
        "without_ms": round(medians["without"] * 1000, 2),
        "helper_runs": runs,
        "samples": samples,
    }


@asynccontextmanager
async def _workspace(*, on: bool, extra: dict[str, str]) -> AsyncIterator[Any]:
    from milk_tui.engine.launch import Launch
    from milk_tui.engine.workspace import HOST_COMMAND_VARIABLE, Workspace

    with tempfile.TemporaryDirectory() as folder:
        home, project = Path(folder) / "home", Path(folder) / "project"
        memory = project / "memory"
        memory.mkdir(parents=True)
        for record in DATA.glob("*/memory/*.md"):
            (memory / record.name).write_bytes(record.read_bytes())
        config = home / "config" / "config.toml"
        config.parent.mkdir(parents=True)
        wanted = [f"enabled = {str(on).lower()}", f"settle = {extra.get('settle', '0.5')}"]
        wanted += [f'runtime = "{extra["runtime"]}"', 'model = "openai/recall"'] if "runtime" in extra else []
        config.write_text("[helper]\n" + "\n".join(wanted) + "\n[memory]\nsemantic = false\n")
        config.chmod(0o600)
        os.environ |= {
            "MILK_TUI_HOME": str(home),
            "MILK_TUI_PROBE_PORTS": "none",
            "OPENAI_API_KEY": "test-key-of-no-worth",
            HOST_COMMAND_VARIABLE: f"{sys.executable} -m tests.support.scripted_host",
        }
        workspace = Workspace.open(Launch(directory=project, primary="openai/fast"))
        try:
            conductor = await workspace.open_session()
            await workspace.start()
            await _until(lambda: conductor.ready and workspace.host is not None and workspace.host.state == "ready")
            await asyncio.sleep(1.0)
            yield workspace, conductor
        finally:
            await workspace.aclose()


async def _first_piece(side: Any, prompt: str) -> float:
    from milk_tui.engine import events

    _, conductor = side
    first = asyncio.get_running_loop().create_future()

    def hear(event: Any) -> None:
        if isinstance(event, events.LegText) and not first.done():
            first.set_result(time.perf_counter())

    leave = conductor.listen(hear)
    began = time.perf_counter()
    try:
        await conductor.submit(prompt)
        took = await asyncio.wait_for(first, 30) - began
        await conductor.wait_idle()
    finally:
        leave()
    return took


async def _settled(side: Any) -> None:
    """Wait until the helper has done what it was started for."""
    from milk_tui.store import helper_runs

    workspace, conductor = side
    session = conductor.session.id
    for _ in range(400):
        await asyncio.sleep(0.05)
        busy = await workspace.store.read(
            lambda conn: helper_runs.leased(conn, session) or helper_runs.waits(conn, session)
        )
        if not busy and await _runs(side):
            return


async def _runs(side: Any) -> int:
    from milk_tui.store import helper_runs

    return len(await side[0].store.read(lambda conn: helper_runs.log(conn, limit=1_000)))


async def _until(ready: Any) -> None:
    for _ in range(1_500):
        if ready():
            return
        await asyncio.sleep(0.02)
