"""The transcript alone in a headless app, in a process of its own: ``python -m tests.bench._transcript WHAT TURNS``.

Prints one JSON object. Bodies come as they do in the program: asked for when they come into view, delivered later.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

from textual.app import App, ComposeResult
from textual.containers import Vertical

from milk_tui.core.records import Role, ToolStatus
from milk_tui.ui.transcript import (
    Entry,
    EntryBody,
    EntryKind,
    Header,
    Key,
    Markdown,
    Prompt,
    Tool,
    Transcript,
    Usage,
)
from tests.bench import Options

ROOT = Path(__file__).parents[2]
SIZE = (120, 40)
CHUNKS = 5_000
PACE_S = 0.005
PER_PACE = 5
ANSWER = """The handler retries `charge()` when the **queue** times out, but the first call may still succeed: the
gateway answers after 30 s, the worker gives up after 10 s.

```python
def handle(self, job: Job) -> None:
    for attempt in range(3):
        try:
            return self.gateway.charge(job.amount, key=job.id)
        except Timeout as error:
            log.warning("retry %d: %s", attempt, error)
```

1. Give every job an *idempotency key*.
2. Pass it on to `gateway.charge(…)`.
   - old jobs have none

| service | file | change |
|:--|:--|--:|
| payments | `handler.py` | no retry |
| queue | `worker.py` | three attempts |

"""


class Store:
    """Stands for the store's list of entries and its bodies."""

    def __init__(self, turns: int) -> None:
        self.rows = [(turn, 40, len(ANSWER), ANSWER.count("\n") + 1) for turn in range(turns)]

    def entries(self) -> list[Entry]:
        made = []
        for turn, asked, answered, lines in self.rows:
            made.append(Entry(("turn", turn), EntryKind.PROMPT, asked))
            made.append(Entry(("leg", turn), EntryKind.LEG, answered, lines, 2))
        return made


class Bodies:
    def __init__(self, app: BenchApp) -> None:
        self._app = app
        self._ready: dict[Key, EntryBody] = {}
        self.waiting = 0
        self.arrived = asyncio.Event()

    def get(self, key: Key) -> EntryBody | None:
        return self._ready.get(key)

    def request(self, keys: Sequence[Key]) -> None:
        self.waiting += 1
        asyncio.get_running_loop().call_soon(self._deliver, list(keys))

    def _deliver(self, keys: list[Key]) -> None:
        for key in keys:
            kind, turn = key  # type: ignore[misc]
            self._ready[key] = _prompt(turn) if kind == "turn" else _leg(turn)
        self._app.transcript.bodies_loaded(keys)
        self.waiting -= 1
        self.arrived.set()


class BenchApp(App[None]):
    CSS_PATH = ROOT / "styles" / "transcript.tcss"

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Transcript()

    @property
    def transcript(self) -> Transcript:
        return self.query_one(Transcript)


def _prompt(turn: int) -> EntryBody:
    return EntryBody((Prompt(f"Why does checkout {turn} charge twice?", "14:02"),))


def _leg(turn: int) -> EntryBody:
    tool = Tool(turn, "read_file", '{"path": "payments/handler.py"}', "x\n" * 40, ToolStatus.OK)
    return EntryBody((Header("qwen", Role.PRIMARY, "14:02"), tool, Markdown(ANSWER), Usage("1,204 in · 310 out")))


async def _open(app: BenchApp, turns: int) -> tuple[float, float]:
    """Milliseconds from the store's rows until the end of the session is painted: on the clock, of the processor."""
    store, bodies = Store(turns), Bodies(app)
    gc.collect()
    began, used = time.perf_counter(), time.process_time()
    transcript = app.transcript
    transcript.load(store.entries(), bodies)
    while bodies.waiting:
        bodies.arrived.clear()
        await bodies.arrived.wait()
    await _painted(transcript)
    return (time.perf_counter() - began) * 1_000, (time.process_time() - used) * 1_000


async def _painted(transcript: Transcript) -> None:
    painted = asyncio.Event()
    transcript.call_after_refresh(painted.set)
    await painted.wait()


async def _stream(app: BenchApp, turns: int) -> tuple[float, float]:
    """Milliseconds for each chunk, from the first one until the finished answer is painted: on the clock (which is
    mostly waiting for the next chunk), of the processor."""
    transcript = app.transcript
    await _open(app, turns)
    text = (ANSWER * (CHUNKS * 8 // len(ANSWER) + 1))[: CHUNKS * 8]
    key = ("leg", turns)
    transcript.append(Entry(key, EntryKind.LEG), EntryBody((Header("qwen", Role.PRIMARY, "14:02"),)), live=True)
    await asyncio.sleep(0.5)
    gc.collect()
    began, used = time.perf_counter(), time.process_time()
    for at in range(0, len(text), 8 * PER_PACE):
        for start in range(at, at + 8 * PER_PACE, 8):
            transcript.stream_text(key, text[start : start + 8])
        await asyncio.sleep(PACE_S)
    transcript.finish(key, EntryBody((Header("qwen", Role.PRIMARY, "14:02"), Markdown(text))))
    await _painted(transcript)
    each = 1_000 / CHUNKS
    return (time.perf_counter() - began) * each, (time.process_time() - used) * each


async def _main(what: str, turns: int) -> None:
    app = BenchApp()
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause(0.2)
        clock, processor = await (_open if what == "open" else _stream)(app, turns)
        print(json.dumps({"clock_ms": clock, "processor_ms": processor}))


def sample(what: str, turns: int) -> dict[str, float]:
    """The figures of one fresh process."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench._transcript", what, str(turns)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return figures


def compare(what: str, figure: str, options: Options, large: int = 10_000, small: int = 10) -> dict[str, Any]:
    """``ratio``: large / small, medians of a figure; the two take turns, so that both see the same machine."""
    runs = options.runs or (3 if options.quick else 7)
    samples: dict[str, list[dict[str, float]]] = {"large": [], "small": []}
    for _ in range(runs):
        samples["small"].append(sample(what, small))
        samples["large"].append(sample(what, large))
    large_ms, small_ms = (median(one[figure] for one in samples[size]) for size in ("large", "small"))
    return {"ratio": large_ms / small_ms, "large_ms": large_ms, "small_ms": small_ms, "samples": samples}


if __name__ == "__main__":
    asyncio.run(_main(sys.argv[1], int(sys.argv[2])))
