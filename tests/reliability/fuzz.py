"""Fuzzing by coverage: ``python -m tests.reliability.fuzz TARGET [--seconds S] [--seed N]`` (needs ``atheris``).

The report runs every target in a process of its own. What was found is printed as bytes: it belongs into a test of its
kind, and into the target's seeds.
"""

from __future__ import annotations

import argparse
import importlib.util
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from tests.reliability.row import ROOT, Row
from tests.reliability.targets import TARGETS

SEED = 20_261_130
SECONDS = 60
"""Of each target."""
SLOW_S = 10
"""An input that takes longer counts as found: nothing may hang."""


def rows(deep: bool) -> Iterable[Row]:
    """Fuzz every target in turn; only with ``--deep``, and only where atheris is installed."""
    item = "coverage-guided fuzzing of every parser"
    if not deep:
        return [Row(item, 0, 0, 0, note="only with --deep")]
    if importlib.util.find_spec("atheris") is None:
        return [Row(item, 0, 0, 0, note="atheris is not installed: pip install atheris")]
    return [_fuzzed(name) for name in TARGETS]


def _fuzzed(name: str, seconds: int = SECONDS) -> Row:
    command = [sys.executable, "-m", "tests.reliability.fuzz", name, f"--seconds={seconds}", f"--seed={SEED}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, errors="replace", check=False)
    runs = re.findall(r"^#(\d+)", done.stderr, re.MULTILINE)
    tried = int(runs[-1]) if runs else 0
    if done.returncode == 0 and tried:
        return Row(f"fuzzing of {name}", tried, tried, 0, [SEED], f"{seconds} s")
    found = re.findall(r"^(?:\w*Error|\w*Exception|==\d+== ?ERROR).*|^\w+Error.*", done.stderr, re.MULTILINE)
    return Row(
        f"fuzzing of {name}", max(tried, 1), max(tried, 1) - 1, 1, [SEED], (found or ["it ended early"])[0][:200]
    )


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.reliability.fuzz", description=__doc__)
    parser.add_argument("target", choices=sorted(TARGETS))
    parser.add_argument("--seconds", type=int, default=SECONDS)
    parser.add_argument("--seed", type=int, default=SEED)
    wanted = parser.parse_args()
    import atheris

    target = TARGETS[wanted.target]
    with atheris.instrument_imports(include=list(target.modules)):
        for module in target.modules:
            importlib.import_module(module)
    with tempfile.TemporaryDirectory(prefix="milk-tui-fuzz-") as folder:
        corpus = Path(folder) / "corpus"
        corpus.mkdir()
        for number, seed in enumerate(target.seeds):
            (corpus / str(number)).write_bytes(seed)
        options = [f"-max_total_time={wanted.seconds}", f"-seed={wanted.seed}", f"-timeout={SLOW_S}", "-max_len=4096"]
        atheris.Setup(["fuzz", *options, f"-artifact_prefix={folder}/", str(corpus)], target.run)
        atheris.Fuzz()
    return 0


if __name__ == "__main__":
    sys.exit(main())
