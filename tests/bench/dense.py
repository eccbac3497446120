"""How much shorter the working set is in the dense notation, over the ten documents of ``tests/data/perception``.

``ratio`` is characters of the one line / characters of the lines that agents are given otherwise, median over the
documents; ``most`` the largest. ``tokens_ratio`` is the same in tokens of the embedded ``small`` model, where it is
installed: words without their vowels are cut into more tokens, so that it is less of a gain.
"""

from __future__ import annotations

import contextlib
import statistics
from pathlib import Path
from typing import Any

from milk_tui.core import perception, perception_file
from milk_tui.core.records import Layer
from tests.bench import Options
from tests.bench._small_model import small_model

DATA = Path(__file__).parents[1] / "data" / "perception"


def run(options: Options) -> dict[str, Any]:
    samples: dict[str, dict[str, float]] = {}
    wanted = options.extra.get("model", "yes") != "no"
    with small_model(options.extra) if wanted else contextlib.nullcontext(None) as model:
        for path in sorted(DATA.glob("*.md")):
            said = perception_file.entries(perception_file.parse(path.read_text(encoding="utf-8")))
            working = [entry for entry in said if entry.layer is Layer.WORKING]
            prose, line = perception.render(working), perception.dense(working)
            samples[path.stem] = {"characters": len(line) / len(prose)}
            if model is not None:
                samples[path.stem]["tokens"] = model.tokens(line) / model.tokens(prose)
    ratios = [sample["characters"] for sample in samples.values()]
    tokens = [sample["tokens"] for sample in samples.values() if "tokens" in sample]
    return {
        "documents": len(samples),
        "ratio": round(statistics.median(ratios), 3),
        "most": round(max(ratios), 3),
        "tokens_ratio": round(statistics.median(tokens), 3) if tokens else None,
        "samples": {name: {key: round(value, 3) for key, value in each.items()} for name, each in samples.items()},
    }
