"""The memory browser over many facts: how soon a filter shows what was typed, and how long the screen stands still.

The program runs without a terminal over a real database. ``filter`` is the time from the last key of a word until its
facts are in the list, the pause included in which the browser waits for more keys. ``blocked`` is the most time that
one callback of the event loop worked while the browser opens, is filtered, scrolled, follows changes, and while as many
facts again are imported by ``milk-tui memory import`` beside it and then read; what other programs take does not count.
``memory`` is the same without drawing (layout, style sheets, frames), which costs as much with ten facts: the memory's
own work. ``blocked_memory_ms`` is the most of it over all phases, ``over_8ms`` how many of the ``steps`` took
longer than that: on a machine that others use too, a pause of the machine can look like work.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.bench import Options

FACTS = 10_000
LIMIT_S = 0.008
WORDS = ("checkout", "queue", "ledger", "retries", "integers", "migrations", "idempotency", "gateway")


class Drawing:
    """Adds up the time in which the screen is laid out, styled and drawn."""

    def __init__(self) -> None:
        from textual.app import App
        from textual.css.stylesheet import Stylesheet
        from textual.screen import Screen

        self.spent = 0.0
        self._depth = 0
        for owner, name in (
            (Screen, "_compositor_refresh"),
            (Screen, "_refresh_layout"),
            (App, "_load_screen_css"),
            (Stylesheet, "update_nodes"),
            (Stylesheet, "apply"),
        ):
            self._watch(owner, name)

    def _watch(self, owner: type, name: str) -> None:
        inner = getattr(owner, name)

        def timed(*args: Any, **kwargs: Any) -> Any:
            if self._depth:
                return inner(*args, **kwargs)
            self._depth += 1
            began = time.thread_time()
            try:
                return inner(*args, **kwargs)
            finally:
                self._depth -= 1
                self.spent += time.thread_time() - began

        setattr(owner, name, timed)


class Held:
    """The most time that one callback of the event loop worked: so long nothing else could run."""

    drawing: Drawing

    def __init__(self) -> None:
        self.worst = 0.0
        self.memory = 0.0
        """Without drawing."""
        self.steps = self.over = 0
        """Callbacks, and those whose own work was longer than ``LIMIT_S``."""
        self._run = asyncio.events.Handle._run

    def __enter__(self) -> Held:
        run = self._run

        def timed(handle: asyncio.Handle) -> None:
            drawn = Held.drawing.spent
            began = time.thread_time()
            run(handle)
            worked = time.thread_time() - began
            self.worst = max(self.worst, worked)
            own = worked - (Held.drawing.spent - drawn)
            self.memory = max(self.memory, own)
            self.steps += 1
            self.over += own > LIMIT_S

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
    Held.drawing = Drawing()
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
    phases: dict[str, Held] = {}
    with phases.setdefault("frame", Held()):
        for _ in range(4):
            app.screen.refresh(layout=True)
            await asyncio.sleep(0.05)
    with phases.setdefault("opening", Held()):
        began = time.perf_counter()
        app.action_memory()
        await _until(lambda: app.screen.query("#all-facts") and len(app.screen.pane.facts.rows) > facts)
        opened = time.perf_counter() - began
    listed = app.screen.pane.facts
    times: list[float] = []
    with phases.setdefault("filtering", Held()):
        await app.screen.pane.open_filter()
        for number in range(samples):
            words = f"{WORDS[number % len(WORDS)]} {number}"
            app.screen.pane._input.value = words
            began = time.perf_counter()
            await _until(lambda words=words: getattr(listed.view, "words", "") == words)
            times.append(time.perf_counter() - began)
        await app.screen.pane.close_filter()
    with phases.setdefault("scrolling", Held()):
        for _ in range(samples):
            listed.action_page(1)
            await asyncio.sleep(0.02)
        listed.action_edge(-1)
        await asyncio.sleep(0.05)
    with phases.setdefault("changes", Held()):
        for number in range(samples):
            await app.control.conductor.memory.learn(f"a new fact while the browser is open, number {number}")
            await asyncio.sleep(0.02)
    with phases.setdefault("import", Held()):
        imported = await _import(app, facts)
        app.screen.read()
        await _until(lambda: len(listed.rows) > facts + imported // 2)
        await asyncio.sleep(0.1)
    times.sort()
    return {
        "imported": imported,
        "opened_ms": round(opened * 1000, 1),
        "filter_p50_ms": round(times[len(times) // 2] * 1000, 1),
        "filter_p95_ms": round(times[min(len(times) - 1, int(len(times) * 0.95))] * 1000, 1),
        **{f"blocked_{name}_ms": round(held.worst * 1000, 1) for name, held in phases.items()},
        **{f"memory_{name}_ms": round(held.memory * 1000, 1) for name, held in phases.items()},
        "steps": sum(held.steps for held in phases.values()),
        "over_8ms": sum(held.over for held in phases.values()),
        "blocked_memory_ms": round(max(held.memory for held in phases.values()) * 1000, 1),
    }


async def _import(app: Any, facts: int) -> int:
    """As many facts again, by the program's own command, while the screen goes on."""
    file = Path(app.state.directory).parent / "facts.md"
    file.write_text(
        "\n".join(f"- imported part {n} keeps its {WORDS[n % len(WORDS)]} in room {n}" for n in range(facts))
    )
    command = (sys.executable, "-m", "milk_tui", "memory", "import", str(file), "--json")
    nowhere = asyncio.subprocess.DEVNULL
    child = await asyncio.create_subprocess_exec(
        *command, cwd=app.state.directory, stdout=asyncio.subprocess.PIPE, stderr=nowhere
    )
    said, _ = await child.communicate()
    return int(json.loads(said)["new"])


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
