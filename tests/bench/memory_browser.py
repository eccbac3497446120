"""The memory browser over many facts: how soon a filter shows what was typed, and how long the screen stands still.

The program runs without a terminal over a real database. ``filter`` is the time from the last key of a word until its
facts are in the list, the pause included in which the browser waits for more keys. ``blocked`` is the most time that
one callback of the event loop worked while the browser opens, is filtered, scrolled and follows changes; what other
programs take does not count. ``blocked_frame`` is the same for drawing whole frames, which is part of the others.
"""

from __future__ import annotations

import asyncio
import gc
import os
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.bench import Options

FACTS = 10_000
WORDS = ("checkout", "queue", "ledger", "retries", "integers", "migrations", "idempotency", "gateway")


class Held:
    """The most time that one callback of the event loop worked: so long nothing else could run."""

    def __init__(self) -> None:
        self.worst = 0.0
        self._run = asyncio.events.Handle._run

    def __enter__(self) -> Held:
        run = self._run

        def timed(handle: asyncio.Handle) -> None:
            began = time.thread_time()
            run(handle)
            self.worst = max(self.worst, time.thread_time() - began)

        asyncio.events.Handle._run = timed  # type: ignore[method-assign]
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.events.Handle._run = self._run  # type: ignore[method-assign]


def run(options: Options) -> dict[str, Any]:
    facts = int(options.extra.get("facts", FACTS // 10 if options.quick else FACTS))
    samples = options.runs or (4 if options.quick else 24)
    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(_run(Path(folder), facts, samples))


async def _run(folder: Path, facts: int, samples: int) -> dict[str, Any]:
    from milk_tui.engine.launch import Launch
    from milk_tui.ui.app import MilkApp

    _prepare(folder)
    app = MilkApp(Launch(directory=folder / "shop"))
    async with app.run_test(size=(120, 40)) as pilot:
        await _until(lambda: app.state.ready)
        conductor = app.control.conductor
        assert conductor is not None
        await _fill(conductor, facts)
        await app.control._read_session(conductor)
        await _until(lambda: len(app.state.percepts) >= facts)
        gc.collect()
        gc.freeze()
        figures = {"facts": facts, "samples": samples}
        figures |= await _measure(app, pilot, samples)
        await app.control.close()
    return figures


async def _measure(app: Any, pilot: Any, samples: int) -> dict[str, Any]:
    facts = len(app.state.percepts)
    blocked: dict[str, float] = {}
    with Held() as held:
        for _ in range(4):
            app.screen.refresh(layout=True)
            await asyncio.sleep(0.05)
    blocked["frame"] = held.worst
    with Held() as held:
        began = time.perf_counter()
        app.action_memory()
        await _until(lambda: app.screen.query("#all-facts") and len(app.screen.pane.facts.rows) > facts)
        opened = time.perf_counter() - began
    blocked["opening"] = held.worst
    listed = app.screen.pane.facts
    times: list[float] = []
    with Held() as held:
        await app.screen.pane.open_filter()
        for number in range(samples):
            words = f"{WORDS[number % len(WORDS)]} {number}"
            app.screen.pane._input.value = words
            began = time.perf_counter()
            await _until(lambda words=words: getattr(listed.view, "words", "") == words)
            times.append(time.perf_counter() - began)
        await app.screen.pane.close_filter()
    blocked["filtering"] = held.worst
    with Held() as held:
        for _ in range(samples):
            listed.action_page(1)
            await asyncio.sleep(0.02)
        listed.action_edge(-1)
        await asyncio.sleep(0.05)
    blocked["scrolling"] = held.worst
    with Held() as held:
        for number in range(samples):
            await app.control.conductor.memory.learn(f"a new fact while the browser is open, number {number}")
            await asyncio.sleep(0.02)
    blocked["changes"] = held.worst
    times.sort()
    return {
        "opened_ms": round(opened * 1000, 1),
        "filter_p50_ms": round(times[len(times) // 2] * 1000, 1),
        "filter_p95_ms": round(times[min(len(times) - 1, int(len(times) * 0.95))] * 1000, 1),
        **{f"blocked_{what}_ms": round(seconds * 1000, 1) for what, seconds in blocked.items()},
    }


def _prepare(folder: Path) -> None:
    os.environ.update(
        MILK_TUI_HOME=str(folder / "home"),
        MILK_TUI_PROBE_PORTS="none",
        MILK_TUI_HOST_COMMAND=f"{sys.executable} -m tests.support.scripted_host",
    )
    (folder / "shop").mkdir()


async def _fill(conductor: Any, facts: int) -> None:
    from milk_tui.core.records import PerceptScope, Producer
    from milk_tui.store import percepts

    random.seed(7)

    def write(db: Any) -> None:
        for number in range(facts):
            words = " ".join(random.sample(WORDS, 3))
            percepts.add(
                db,
                content=f"fact {number}: the {words} of part {number % 97} are checked before release {number % 31}",
                producer=Producer.PRIMARY,
                session_id=conductor.session.id,
                scope=PerceptScope.GLOBAL if number % 3 else PerceptScope.SESSION,
            )

    await conductor.store.write(write)


async def _until(ready: Any, timeout_s: float = 60.0) -> None:
    deadline = time.monotonic() + timeout_s
    while not ready():
        if time.monotonic() > deadline:
            raise TimeoutError("the browser did not get there")
        await asyncio.sleep(0.002)
