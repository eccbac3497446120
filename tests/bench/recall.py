"""How long a recall takes among many facts, by words and with MiniLM, at 1,000 to 1,000,000 facts (``quality.md``).

The facts are made of the words of the embedding model's vocabulary, which stand in the order of their frequency, so
that a few are in every fact and most in hardly any; seven tenths are in reach of the session that asks. A prompt has
words of two facts. ``p95_ms`` is what ``Store.read_sync`` with ``recall.for_leg`` takes, top 25, budgets included;
``cpu_p95_ms`` is the processor time of the reading thread alone, which other programs on the machine hardly change.

``--set sizes=1000,10000`` names other sizes, ``--set folder=DIR`` keeps the databases there and uses them again. MiniLM
is measured up to 100,000.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import random
import statistics
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from milk_tui import recall
from milk_tui.core.records import Role
from milk_tui.recall.encoder import DIMENSIONS, MODEL
from milk_tui.recall.wordpiece import vocabulary
from milk_tui.store import Store
from tests.bench import Options
from tests.bench._facts import folder, semantic, session

SIZES = (1_000, 10_000, 100_000)
LARGEST_WITH_VECTORS = 100_000
SESSIONS = 6
_CHUNK = 20_000
_NAMES = {1_000: "1k", 10_000: "10k", 100_000: "100k", 1_000_000: "1m"}


def run(options: Options) -> dict[str, Any]:
    sizes = (
        [int(size) for size in options.extra["sizes"].split(",")]
        if "sizes" in options.extra
        else SIZES[: 2 if options.quick else 3]
    )
    runs = options.runs or (60 if options.quick else 200)
    result: dict[str, Any] = {"load": round(os.getloadavg()[0], 1)}
    samples: dict[str, list[float]] = {}
    with folder() as scratch:
        kept = Path(options.extra["folder"]) if "folder" in options.extra else scratch
        for size in sizes:
            name = _NAMES.get(size, str(size))
            store = Store.open(kept / f"facts-{size}.db")
            try:
                fill(store, size)
                result |= _measure(store, size, None, runs, f"lexical_{name}", samples)
                if size <= LARGEST_WITH_VECTORS:
                    try:
                        with semantic(store) as worker:
                            result |= _measure(store, size, worker, runs, f"minilm_{name}", samples)
                    except RuntimeError as missing:
                        result["skipped"] = f"MiniLM: {missing}"
            finally:
                store.close()
    return {**result, "samples": samples}


def _measure(
    store: Store, size: int, worker: recall.Semantic | None, runs: int, name: str, samples: dict[str, list[float]]
) -> dict[str, float]:
    session_id = store.read_sync(lambda conn: conn.execute("select id from sessions order by directory").fetchone()[0])
    prompts = store.read_sync(lambda conn: list(_prompts(conn, size, runs + 5)))
    wall: list[float] = []
    processor: list[float] = []
    for prompt in prompts:

        def ask(conn: Any, prompt: str = prompt) -> tuple[int, float]:
            began = time.thread_time()
            given = recall.for_leg(conn, role=Role.PRIMARY, session_id=session_id, prompt=prompt, semantic=worker)
            return len(given), time.thread_time() - began

        began = time.perf_counter()
        _, spent = store.read_sync(ask)
        wall.append((time.perf_counter() - began) * 1_000)
        processor.append(spent * 1_000)
    wall, processor = wall[5:], processor[5:]
    samples[name] = [round(value, 2) for value in wall]
    return {
        f"{name}_p95_ms": round(_p95(wall), 2),
        f"{name}_median_ms": round(statistics.median(wall), 2),
        f"{name}_cpu_p95_ms": round(_p95(processor), 2),
    }


def _p95(values: list[float]) -> float:
    return sorted(values)[int(len(values) * 0.95)]


def _prompts(conn: Any, size: int, count: int) -> Iterator[str]:
    rng = random.Random(7)

    def words() -> list[str]:
        row = conn.execute("select content from percepts where seq = ?", (rng.randint(1, size),)).fetchone()
        return str(row[0]).split()

    for _ in range(count):
        first, second = words(), words()
        yield f"please look at {' '.join(rng.sample(first, min(7, len(first))))} and then the {' '.join(second[:5])}"


def fill(store: Store, size: int) -> None:
    """Facts with their moments, and with vectors as far as those are measured; nothing when they are there."""
    if store.read_sync(lambda conn: conn.execute("select count(*) from percepts").fetchone()[0]) >= size:
        return
    words = [word for word in vocabulary() if word.isascii() and word.isalpha() and len(word) > 1]
    shares = list(itertools.accumulate(1 / (rank + 2.7) for rank in range(len(words))))
    rng = random.Random(size)
    places = store.write_sync(lambda db: [session(db, f"/{number}") for number in range(SESSIONS)])

    def row(number: int) -> tuple[Any, ...]:
        text = rng.choices(words, cum_weights=shares, k=60)
        content = " ".join(text[: rng.randint(9, 20)])
        identity = f"{rng.getrandbits(128):032x}"
        return (
            f"{identity[:8]}-{identity[8:]}",
            rng.choice(("user", "primary", "escalation")),
            rng.choice(("all", "all", "all", "primary", "escalation")),
            "global" if rng.random() < 0.65 else "session",
            rng.randint(300, 950),
            number,
            number,
            number,
            rng.choice(places),
            hashlib.sha256(content.encode()).hexdigest(),
            content,
            " ".join(text[20:45]),
            " ".join(text[45:]),
        )

    for start in range(0, size, _CHUNK):
        rows = [row(number) for number in range(start, min(size, start + _CHUNK))]
        store.write_sync(
            lambda db, rows=rows: db.conn.executemany(
                "insert into percepts (id, producer, consumer, scope, weight, status, created_ms, updated_ms,"
                " confirmed_ms, session_id, hash, content, source, context)"
                " values (?, ?, ?, ?, ?, 'live', ?, ?, ?, ?, ?, ?, ?, ?)",
                rows,
            )
        )
    if size <= LARGEST_WITH_VECTORS:
        _fill_vectors(store, size)


def _fill_vectors(store: Store, size: int) -> None:
    """Random directions: a comparison takes as long, whatever the facts say."""
    try:
        import numpy as np
    except ImportError:
        return
    rng = np.random.default_rng(size)
    for start in range(0, size, _CHUNK):
        vectors = rng.standard_normal((min(_CHUNK, size - start), DIMENSIONS), dtype=np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        rows = [(start + number + 1, MODEL, vector.astype("<f2").tobytes()) for number, vector in enumerate(vectors)]
        store.write_sync(
            lambda db, rows=rows: db.conn.executemany(
                "insert into percept_vectors (seq, model, vector) values (?, ?, ?)", rows
            )
        )
