"""One line of the report, and the ways to make one."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Row:
    """What was tried for one item, and what came of it."""

    item: str
    """What was done to the program, in the words of ``quality.md``."""
    tried: int
    survived: int
    lost: int
    """Tries after which something was lost, let in or wrong; 0 is the only good number."""
    seeds: Sequence[int] = ()
    """Of the random parts: the same seeds give the same tries."""
    note: str = ""
    """Figures, and for each loss what it was."""


Maker = Callable[[bool], Iterable[Row]]
"""Makes rows; True asks for the deep form (more points, more examples)."""


@dataclass(frozen=True, slots=True)
class Suite:
    """Makes a row of tests: it runs and counts them.

    A test may say by ``record_property`` how often it ``tried``, from which ``seed``, and with what ``figures``.
    """

    item: str
    where: tuple[str, ...]
    deep_only: bool = False

    def __call__(self, deep: bool) -> Iterable[Row]:
        if self.deep_only and not deep:
            return [Row(self.item, 0, 0, 0, note="only with --deep")]
        return [_run(self.item, self.where, deep)]


def of_tests(item: str, *where: str, deep_only: bool = False) -> Suite:
    """A maker for tests by path (as pytest takes them, below the repository)."""
    return Suite(item, where, deep_only)


def _why(case: ElementTree.Element) -> ElementTree.Element | None:
    """What a test that did not hold says."""
    failed = case.find("failure")
    return case.find("error") if failed is None else failed


def _begin(why: ElementTree.Element) -> str:
    """Its first words; all of it goes to standard error."""
    print(why.text or "", file=sys.stderr, flush=True)
    return " ".join(why.attrib.get("message", "").split())[:160]


def _run(item: str, where: Sequence[str], deep: bool) -> Row:
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}", *where]
        done = subprocess.run(
            [*command, *(["--deep"] if deep else [])], cwd=ROOT, capture_output=True, text=True, check=False
        )
        if not report.exists():
            last = (done.stdout + done.stderr).strip().splitlines()[-1:]
            return Row(item, 1, 0, 1, note=f"pytest: {last[0] if last else done.returncode}")
        cases = list(ElementTree.parse(report).iter("testcase"))
    skipped = sum(1 for case in cases if case.find("skipped") is not None)
    bad = [(case, why) for case in cases if (why := _why(case)) is not None]
    if not len(cases) - skipped:
        return Row(item, 1, 0, 1, note="no test ran")
    said = [{p.attrib["name"]: p.attrib["value"] for p in case.iter("property")} for case in cases]
    tried = sum(int(each.get("tried", 1)) for each in said) - skipped
    seeds = sorted({int(each["seed"]) for each in said if "seed" in each})
    notes = [f"{case.attrib['name']}: {_begin(why)}" for case, why in bad]
    notes += [each["figures"] for each in said if "figures" in each]
    return Row(item, tried, tried - len(bad), len(bad), seeds, "; ".join(notes))
