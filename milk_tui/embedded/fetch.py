"""What every source of weights shares: progress, errors, and the room on the disk."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from milk_tui.core.errors import MilkError

CHUNK = 1 << 20
MARGIN_BYTES = 64 << 20
"""Room that is left free on the disk beside the weights."""


@dataclass(frozen=True, slots=True)
class FetchProgress:
    """How far a fetch is. ``done`` of ``total`` bytes of this stage; ``total`` 0 when it can't be known."""

    stage: str
    done: int = 0
    total: int = 0

    @property
    def fraction(self) -> float | None:
        return min(1.0, self.done / self.total) if self.total > 0 else None


Report = Callable[[FetchProgress], None]
"""Called from the thread that fetches, at least four times a second while bytes arrive."""


class FetchError(MilkError):
    """Weights could not be had from a source; another may be tried."""


class WrongWeightsError(FetchError):
    """A file is not the one that the catalogue names; the message has both hashes."""


class DiskFullError(FetchError):
    """There is not enough room; no other source would help."""


def require_room(folder: Path, needed: int) -> None:
    """Raise ``DiskFullError`` unless ``needed`` bytes and a margin are free where ``folder`` is."""
    free = shutil.disk_usage(folder).free
    if free < needed + MARGIN_BYTES:
        raise DiskFullError(
            f"{folder} lacks room: {megabytes(needed + MARGIN_BYTES)} needed, {megabytes(free)} free.",
            "Free some, or set MILK_TUI_MODELS to a folder on another disk.",
        )


def write_all(out: IO[bytes], chunk: bytes) -> None:
    """Write, with an error that says which disk is full."""
    try:
        out.write(chunk)
    except OSError as error:
        name = Path(out.name)
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DiskFullError(f"The disk of {name.parent} is full.", "Free some room and try again.") from error
        raise FetchError(f"{name} can't be written: {error.strerror}.") from error


def megabytes(count: int) -> str:
    return f"{count / 1e6:,.0f} MB"
