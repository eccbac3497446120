"""Benchmarks: figures side by side in one run, never an assertion on a clock (``quality.md``, "Speed")."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Options:
    """``quick`` trades samples for time; ``runs`` is the number of samples of each side (``None``: the default)."""

    quick: bool = False
    runs: int | None = None
    extra: dict[str, str] = field(default_factory=dict)
