"""Starting one of our own modules as a child: never with the person's project folder on its module path."""

from __future__ import annotations

import os
import site
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

_KEPT = (
    "HOME",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "LD_LIBRARY_PATH",
    "DYLD_LIBRARY_PATH",
    "PATH",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONHOME",
    "PYTHONPATH",
    "PYTHONPYCACHEPREFIX",
    "SYSTEMROOT",
    "TMPDIR",
    "XDG_CACHE_HOME",
    "XDG_RUNTIME_DIR",
)


def module_command(module: str) -> list[str]:
    """The command that runs ``module``; ``-P`` keeps the current folder (``random.py``, …) off its path."""
    return [sys.executable, "-P", "-m", module]


def environment(
    environ: Mapping[str, str], *, extra: Mapping[str, str], keep: Iterable[str] | None = _KEPT
) -> dict[str, str]:
    """The child's environment: the variables named in ``keep`` (``None``: all): keys and tokens stay out.

    In a checkout the folder that holds this package is added; relative ones of ``PYTHONPATH`` are left out.
    """
    names = environ.keys() if keep is None else [n for n in keep if n in environ]
    env = {name: environ[name] for name in names}
    root = str(Path(__file__).resolve().parents[2])
    folders = [folder for folder in env.pop("PYTHONPATH", "").split(os.pathsep) if Path(folder).is_absolute()]
    if root not in {*folders, *site.getsitepackages(), site.getusersitepackages()}:
        folders.append(root)
    if folders:
        env["PYTHONPATH"] = os.pathsep.join(folders)
    env.update(extra)
    return env
