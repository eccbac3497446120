"""What the command line says about one run; light, because the screen is given it before anything is imported."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Launch:
    """``primary`` and ``escalation`` are words as ``engine/agent_spec.py`` reads them; ``None`` is "not said"."""

    directory: Path
    session: str | None = None
    new: bool = False
    primary: str | None = None
    escalation: str | None = None
    config_path: Path | None = None
    database: Path | None = None
    one_shot: bool = False
    """One prompt and no screen: a session that it goes on with does not end with it."""
