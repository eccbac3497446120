"""What the tools of a session changed in files: kept before it is done, listed, and undone.

This is the trash: a deleted file is kept as its content before. A file larger than ``LARGEST`` is not kept, so it is
neither edited nor deleted. Files that a command changes are not known here.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from milk_tui.store import Store, file_changes
from milk_tui.store.clock import now_ms
from milk_tui.store.file_changes import FileChange
from milk_tui.tools.texts import binary, decode

LARGEST = 4_000_000
"""Bytes of a file that can be changed and put back."""
LARGEST_DIFF = 200_000
"""Characters of both sides together; beyond it a diff is only counted."""


@dataclass(slots=True)
class Changes:
    """Where the changes of a session are kept; without a store nowhere."""

    store: Store | None = None
    session_id: str = ""
    leg_id: int | None = None

    async def keep(
        self, path: Path, verb: str, before: bytes | None, after: bytes | None, mode: int | None = None
    ) -> int | None:
        """Keep one change before the file is touched, so that nothing is lost; its id. Raises StoreError."""
        if self.store is None:
            return None
        change = FileChange(
            session_id=self.session_id,
            leg_id=self.leg_id,
            path=str(path),
            verb=verb,
            before=before,
            after=after,
            mode=mode,
            at_ms=now_ms(),
        )
        return await self.store.write(partial(file_changes.add, change=change))

    async def take_back(self, kept: int | None) -> None:
        """The change was not done after all."""
        if self.store is not None and kept is not None:
            await self.store.write(partial(file_changes.remove, change_id=kept))


@dataclass(frozen=True, slots=True)
class Diff:
    """A change in lines; ``text`` is a unified diff, empty for data that is no text."""

    text: str
    added: int
    removed: int

    @property
    def counts(self) -> str:
        return f"+{self.added:,} −{self.removed:,}"


def diff(name: str, before: bytes | None, after: bytes | None) -> Diff:
    """What changed between two contents of a file; ``None`` is no file."""
    if any(data is not None and binary(data) for data in (before, after)):
        return Diff("", 0, 0)
    old = decode(before).text if before is not None else ""
    new = decode(after).text if after is not None else ""
    return text_diff(name, old, new, made=before is None, gone=after is None)


def text_diff(name: str, old: str, new: str, *, made: bool = False, gone: bool = False) -> Diff:
    """The unified diff of two texts. ``made`` and ``gone``: there was, or is, no file."""
    before, after = _lines(old), _lines(new)
    if len(old) + len(new) > LARGEST_DIFF:
        if not old or not new:
            return Diff("", len(after), len(before))
        return Diff("", max(0, len(after) - len(before)), max(0, len(before) - len(after)))
    name = name.replace("\n", " ")
    lines: list[str] = []
    added = removed = 0
    for line in difflib.unified_diff(
        before, after, "/dev/null" if made else f"a/{name}", "/dev/null" if gone else f"b/{name}", n=3
    ):
        ended = line.endswith("\n")
        lines.append(line if ended else line + "\n\\ No newline at end of file\n")
        if len(lines) > 2:
            added += line.startswith("+")
            removed += line.startswith("-")
    return Diff("".join(lines), added, removed)


def _lines(text: str) -> list[str]:
    """Lines with their line feeds; other characters that end a line somewhere are part of it."""
    lines = [line + "\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]
