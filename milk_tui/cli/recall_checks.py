"""What the doctor says about finding facts: by words always, by meaning where the extra ``semantic`` works."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from milk_tui.core.errors import MilkError

if TYPE_CHECKING:
    from milk_tui.cli.check import Check
    from milk_tui.config import Config

_SECTION = "recall"


def recall(config: Config, file: Path) -> Iterator[Check]:
    """The engine, the library, the model file with its hash, and how many facts have a vector."""
    from milk_tui.recall import encoder

    yield from _repairs(file)
    if not config.memory.semantic:
        yield _check("engine", "info", "fts: by words alone ([memory] semantic = false)")
        return
    try:
        path = encoder.locate(config.memory.model_path)
    except MilkError as problem:
        state = "error" if config.memory.model_path else "missing"
        yield _check("engine", state, f"fts: by words alone. {problem.what}", problem.hint)
        return
    broken = _library()
    if broken:
        yield _check(
            "library",
            "error",
            f"onnxruntime does not load: {broken}",
            'Run: pip install --force-reinstall "milk-tui[semantic]"',
        )
    try:
        encoder.check(path)
    except MilkError as problem:
        yield _check("model", "error", problem.what, problem.hint)
        broken = broken or "the model"
    else:
        yield _check("model", "ok", f"{encoder.MODEL}: {path}")
    yield _check("engine", "error" if broken else "ok", "fts: by words alone" if broken else "fts+minilm")
    yield from _vectors(file)


def _library() -> str:
    """Why onnxruntime can't be loaded; empty when it can."""
    try:
        tried = subprocess.run(
            [sys.executable, "-P", "-c", "import numpy, onnxruntime"],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return (tried.stderr.strip().splitlines() or ["it ended"])[-1] if tried.returncode else ""


def _repairs(file: Path) -> Iterator[Check]:
    """What was mended by itself while nobody looked."""
    from milk_tui.cli import output
    from milk_tui.store import integrity

    if not file.exists():
        return
    try:
        conn = sqlite3.connect(f"file:{quote(str(file))}?mode=ro", uri=True, timeout=5)
        try:
            last = integrity.last_repair(conn)
        finally:
            conn.close()
    except sqlite3.Error:
        return
    if last is not None:
        yield _check("repaired", "info", f"{last[1]} on {output.clock(last[0])}")


def _vectors(file: Path) -> Iterator[Check]:
    from milk_tui.recall import encoder
    from milk_tui.store import vectors

    if not file.exists():
        return
    try:
        conn = sqlite3.connect(f"file:{quote(str(file))}?mode=ro", uri=True, timeout=5)
        try:
            embedded, all_ = vectors.counts(conn, encoder.MODEL)
        finally:
            conn.close()
    except sqlite3.Error:
        return
    missing = all_ - embedded
    detail = f"{embedded:,} of {all_:,} facts" + (f"; {missing:,} are made while the program runs" if missing else "")
    yield _check("vectors", "info" if missing else "ok", detail)


def _check(name: str, state: str, detail: str, hint: str = "") -> Check:
    from milk_tui.cli.check import Check

    return Check(section=_SECTION, name=name, state=state, detail=detail, hint=hint)
