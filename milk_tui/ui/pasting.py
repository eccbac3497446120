"""What a paste becomes in the prompt: paths of files that are there become mentions, all else stays as it is."""

from __future__ import annotations

import asyncio
from pathlib import Path

from milk_tui.core import pasted
from milk_tui.core.attachments import as_mention

LOOK_S = 0.5
"""Seconds that looking for the files may take; a disk that is not there must not hold up the keys."""


async def as_mentions(text: str, directory: str) -> str | None:
    """The mentions that a pasted text stands for; ``None`` when it is anything but paths of what is there.

    A path inside ``directory`` is written as seen from there.
    """
    readings = pasted.paths(text)
    if not readings:
        return None
    try:
        async with asyncio.timeout(LOOK_S):
            found = await asyncio.to_thread(_first_that_exists, readings, Path(directory))
    except TimeoutError:
        return None
    return None if found is None else "".join(f"{as_mention(path)} " for path in found)


def _first_that_exists(readings: tuple[tuple[str, ...], ...], directory: Path) -> list[str] | None:
    for reading in readings:
        try:
            if all(Path(path).expanduser().exists() for path in reading):
                return [_shown(path, directory) for path in reading]
        except (OSError, RuntimeError, ValueError):
            continue
    return None


def _shown(path: str, directory: Path) -> str:
    whole = Path(path).expanduser()
    end = "/" if whole.is_dir() else ""
    if directory.is_absolute() and whole.is_relative_to(directory) and whole != directory:
        return f"{whole.relative_to(directory)}{end}"
    return f"{path.rstrip('/')}{end}"
