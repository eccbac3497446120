"""How long it takes to remember a fact among many, with every check (``quality.md``; ``recall.md``, "Writing a fact").

One write is what ``/learn`` and a captured fact do in one transaction: admission (normal form, secrets, tags, the same
known or removed), the row with its indexes and its event, then the scan for orders and the comparison with the nearest
facts, with what follows from it. The facts are those of ``recall``; what is written is, in turn, something new, a known
fact with another value, and a known fact again, by the person and by an agent. ``p95_ms`` is ``Store.write_sync``,
commit included; ``cpu_p95_ms`` the processor time of the writer's thread alone.

``--set sizes=1000,10000`` names other sizes, ``--set folder=DIR`` keeps the databases there and uses them again.
"""

from __future__ import annotations

import os
import random
import shutil
import statistics
import time
from pathlib import Path
from typing import Any

from milk_tui.core.errors import PerceptRefusedError
from milk_tui.core.records import Producer
from milk_tui.engine import admission
from milk_tui.store import Store, percepts
from tests.bench import Options
from tests.bench import recall as bench_recall
from tests.bench._facts import folder

SIZES = (10_000, 100_000)
_WARM = 5


def run(options: Options) -> dict[str, Any]:
    sizes = (
        [int(size) for size in options.extra["sizes"].split(",")]
        if "sizes" in options.extra
        else SIZES[: 1 if options.quick else 2]
    )
    runs = options.runs or (60 if options.quick else 200)
    result: dict[str, Any] = {"load": round(os.getloadavg()[0], 1)}
    samples: dict[str, list[float]] = {}
    with folder() as scratch:
        kept = Path(options.extra["folder"]) if "folder" in options.extra else scratch
        for size in sizes:
            _prepare(kept / f"facts-{size}.db", size)
            copy = scratch / f"written-{size}.db"
            shutil.copyfile(kept / f"facts-{size}.db", copy)
            copy.chmod(0o600)
            store = Store.open(copy)
            try:
                result |= _measure(store, size, runs, f"{size // 1000}k", samples)
            finally:
                store.close()
                copy.unlink()
    return {**result, "samples": samples}


def _prepare(path: Path, size: int) -> None:
    store = Store.open(path)
    try:
        bench_recall.fill(store, size)
        store.write_sync(lambda db: None)
    finally:
        store.close()


def _measure(store: Store, size: int, runs: int, name: str, samples: dict[str, list[float]]) -> dict[str, Any]:
    session_id = store.read_sync(lambda conn: conn.execute("select id from sessions order by directory").fetchone()[0])
    wall: list[float] = []
    processor: list[float] = []
    outcomes: dict[str, int] = {}
    for number, (text, producer) in enumerate(_texts(store, size, runs + _WARM)):

        def write(db: Any, text: str = text, producer: Producer = producer) -> tuple[float, str]:
            began = time.thread_time()
            try:
                change = percepts.add(db, content=text, producer=producer, session_id=session_id)
                what = change.what
                if what == "live":
                    changes = admission.weigh(db, change.percept, now=change.percept.created_ms)
                    what = changes[0].what if changes else "live"
            except PerceptRefusedError:
                what = "refused"
            return time.thread_time() - began, what

        began = time.perf_counter()
        spent, what = store.write_sync(write)
        if number >= _WARM:
            wall.append((time.perf_counter() - began) * 1_000)
            processor.append(spent * 1_000)
            outcomes[what] = outcomes.get(what, 0) + 1
    samples[name] = [round(value, 2) for value in wall]
    return {
        f"{name}_p95_ms": round(_p95(wall), 2),
        f"{name}_median_ms": round(statistics.median(wall), 2),
        f"{name}_cpu_p95_ms": round(_p95(processor), 2),
        f"{name}_outcomes": outcomes,
    }


def _p95(values: list[float]) -> float:
    return sorted(values)[int(len(values) * 0.95)]


def _texts(store: Store, size: int, count: int) -> list[tuple[str, Producer]]:
    """New, changed and repeated facts, a third each, by the person and by an agent in turn."""
    rng = random.Random(11)

    def known() -> list[str]:
        seq = rng.randint(1, size)
        sql = "select content from percepts where seq = ?"
        row = store.read_sync(lambda conn: conn.execute(sql, (seq,)).fetchone())
        return str(row[0]).split()

    texts = []
    for number in range(count):
        words, others = known(), known()
        match number % 3:
            case 0:
                subject = " ".join(rng.sample(words, 5))
                text = f"The {subject} uses {' '.join(others[:6])} since {rng.randint(2, 28)} May."
            case 1:
                text = f"{' '.join(words)} now takes {rng.randint(2, 900)} seconds"
            case _:
                text = " ".join(words)
        texts.append((text, Producer.USER if number % 2 else Producer.PRIMARY))
    return texts
