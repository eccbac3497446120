"""What watching an answer for circles costs: microseconds a delta, beside what taking its tags out costs.

Processor time; medians over an answer of 4 MB in 64-character chunks in which nothing repeats.
"""

from __future__ import annotations

import random
from statistics import median
from time import process_time

from milk_tui.core.loops import LoopWatch
from milk_tui.core.tags import Interceptor
from tests.bench import Options

_CHUNK = 64


def _answer(size: int) -> list[str]:
    words = [
        "the",
        "handler",
        "retries",
        "charge",
        "after",
        "a",
        "timeout",
        "so",
        "that",
        "customers",
        "pay",
        "twice",
        "which",
        "nobody",
        "wants",
        "here",
    ]
    dice = random.Random(7)
    text = " ".join(dice.choice(words) for _ in range(size // 6))[:size]
    return [text[i : i + _CHUNK] for i in range(0, len(text), _CHUNK)]


def run(options: Options) -> dict[str, object]:
    chunks = _answer(400_000 if options.quick else 4_000_000)
    watched, tagged = [], []
    for _ in range(options.runs or 5):
        watch, tags = LoopWatch(), Interceptor("k3x9q2", ["zz00zz"])
        start = process_time()
        found = [finding for chunk in chunks if (finding := watch.text(chunk))]
        watched.append((process_time() - start) / len(chunks) * 1e6)
        assert not found, "nothing repeats in it"
        start = process_time()
        for chunk in chunks:
            tags.feed(chunk)
        tagged.append((process_time() - start) / len(chunks) * 1e6)
    return {
        "us_per_delta": round(median(watched), 2),
        "tags_us_per_delta": round(median(tagged), 2),
        "samples": {"watch_us": watched, "tags_us": tagged},
    }
