"""Known weaknesses of what is installed: ``pip-audit`` over the lock file (``.ci/lock.txt``)."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from collections.abc import Iterable

from tests.reliability.row import ROOT, Row

ITEM = "known weaknesses of locked packages (pip-audit)"
WITHIN_S = 900


def rows(deep: bool) -> Iterable[Row]:
    """One row: packages that an advisory service was asked about; lost are those with a known weakness."""
    del deep
    if importlib.util.find_spec("pip_audit") is None:
        return [Row(ITEM, 0, 0, 0, note="pip-audit is not installed: it is in the extra dev")]
    command = [sys.executable, "-m", "pip_audit", "-r", str(ROOT / ".ci" / "lock.txt"), "--require-hashes"]
    done = subprocess.run(
        [*command, "--disable-pip", "-f", "json", "--progress-spinner", "off"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=WITHIN_S,
        check=False,
    )
    try:
        packages = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError):
        said = done.stderr.strip().splitlines()
        return [Row(ITEM, 0, 0, 0, note=f"no advisory service answered: {said[-1] if said else done.returncode}")]
    asked = [package for package in packages if "skip_reason" not in package]
    weak = [f"{package['name']} {package['version']}" for package in asked if package.get("vulns")]
    left_out = len(packages) - len(asked)
    note = ", ".join(weak) + (f" ({left_out} packages the service does not know)" if left_out else "")
    return [Row(ITEM, len(asked), len(asked) - len(weak), len(weak), note=note.strip())]
