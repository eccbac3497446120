"""Endurance as a row: the benchmark ``soak``, whose counts must not grow."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable

from tests.reliability.row import ROOT, Row

MOST = 1.2
"""Memory and latency of the last turn / of turn 100 (``quality.md``, "Speed")."""


def rows(deep: bool) -> Iterable[Row]:
    """2,000 turns with ``--deep``, else 300; lost is every count or ratio that grew."""
    turns = 2_000 if deep else 300
    command = [sys.executable, "-m", "tests.bench", "soak", "--json", "--set", f"turns={turns}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    told = json.loads(done.stdout.strip().splitlines()[-1])
    grown = [
        f"{name} {told[name][0]} → {told[name][1]}"
        for name in ("descriptors", "threads", "children")
        if told[name][1] > told[name][0] + 2
    ]
    grown += [f"{name} {told[name]}" for name in ("latency_ratio", "memory_ratio", "growth_ratio") if told[name] > MOST]
    note = (
        f"latency × {told['latency_ratio']}, memory × {told['memory_ratio']}, {told['bytes_per_turn'][1]} bytes a turn"
    )
    return [
        Row("many turns in one process", turns, turns, len(grown), note="; ".join([note, *grown])),
    ]
