"""How well the lexical helper reminds: of labelled prompts, how many get the right record, how many are disturbed.

Two folders of records (``tests/data/reminders``): ``shop`` was looked at when the threshold was chosen, ``atlas`` was
not. To reach: precision 0.9 at a recall of 0.7, at most one false alarm in 20 prompts for which nothing should be said.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from milk_tui.engine.decisions import index_folder
from milk_tui.recall import records
from milk_tui.store import Store
from tests.bench import Options

DATA = Path(__file__).parent.parent / "data" / "reminders"
FOLDERS = ("shop", "atlas")


def run(options: Options) -> dict[str, Any]:
    samples: list[dict[str, Any]] = []
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        store = Store.open(Path(folder) / "milk.db")
        try:
            for name in FOLDERS:
                of_folder = judged(store, name)
                figures[name] = summed(of_folder)
                samples += of_folder
        finally:
            store.close()
    return {**summed(samples), **figures, "wrong": [s for s in samples if s["verdict"] in ("wrong", "alarm", "missed")]}


def judged(store: Store, name: str) -> list[dict[str, Any]]:
    """Each prompt with what the helper would say."""
    memory = DATA / name / "memory"
    index_folder(store, memory)
    found = []
    for case in json.loads((DATA / name / "prompts.json").read_text("utf-8")):
        hits = store.read_sync(lambda conn, case=case: records.rank(conn, str(memory), case["prompt"], limit=1))
        said = hits[0].record.name if hits and hits[0].sure else ""
        found.append({**case, "said": said, "verdict": _verdict(case["expect"], said)})
    return found


def summed(samples: list[dict[str, Any]]) -> dict[str, Any]:
    count = {verdict: sum(s["verdict"] == verdict for s in samples) for verdict in _VERDICTS}
    said = count["right"] + count["wrong"] + count["alarm"]
    wanted = count["right"] + count["wrong"] + count["missed"]
    quiet = count["quiet"] + count["alarm"]
    return {
        "precision": round(count["right"] / said, 3) if said else 0.0,
        "recall": round(count["right"] / wanted, 3) if wanted else 0.0,
        "false_alarms": round(count["alarm"] / quiet, 3) if quiet else 0.0,
        "prompts": len(samples),
        "quiet_prompts": quiet,
        "false_alarm_count": count["alarm"],
    }


_VERDICTS = ("right", "wrong", "missed", "alarm", "quiet")


def _verdict(expect: list[str], said: str) -> str:
    if not expect:
        return "alarm" if said else "quiet"
    if not said:
        return "missed"
    return "right" if said in expect else "wrong"
