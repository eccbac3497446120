"""``perception.md`` and the database: writing the one from the other, and taking over what was changed in it.

Key by key as ``semantics.md`` §5 says; the texts in common are kept by directory. A changed ``slice:`` in the file
opens that slice; what was changed in the frame of a slice that is no longer open goes to that slice's frame.
"""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from milk_tui.core import perception_file as form
from milk_tui.core.errors import MilkError
from milk_tui.core.perception_merge import Merge, by_key, merge
from milk_tui.core.perception_view import FILE, SLICE
from milk_tui.core.records import Layer, PerceptionEntry
from milk_tui.core.secret_scan import secret_kind
from milk_tui.engine import perception_writing
from milk_tui.store import perception, perception_disputes, perception_files, perception_slices, sessions

if TYPE_CHECKING:
    from sqlite_utils import Database

MOST_BYTES = 1_000_000
"""A longer file is not read."""


class Taken(Struct, frozen=True, kw_only=True):
    """What was taken over from a file."""

    entries: tuple[PerceptionEntry, ...] = ()
    """What changed, removals included."""
    disputes: tuple[PerceptionEntry, ...] = ()
    """Ours that gave way; each can be swapped back."""
    refused: tuple[str, ...] = ()
    """Keys that look like they hold a secret."""

    @property
    def words(self) -> str:
        """One line for the person; empty when nothing happened."""
        parts = []
        if self.entries:
            parts.append(f"{len(self.entries)} {'entry' if len(self.entries) == 1 else 'entries'} taken over")
        if self.disputes:
            keys = ", ".join(entry.key for entry in self.disputes)
            parts.append(f"changed on both sides: {keys} (the file's value holds; swap it in F4)")
        if self.refused:
            parts.append(f"not kept, looks like a secret: {', '.join(self.refused)}")
        return f"{form.NAME}: {'; '.join(parts)}" if parts else ""


def text_of(conn: sqlite3.Connection, session_id: str, *, base: str | None = None, dense: bool = False) -> str:
    """The file as it should be now: the lines of ``base``, by default those of the last time, brought up to date."""
    said = perception_files.last(conn, _directory(conn, session_id)) if base is None else base
    entries = [entry for entry in perception.current(conn, session_id) if not entry.proposed]
    return form.render(form.updated(form.parse(said), entries, dense=dense))


def written(db: Database, session_id: str, text: str, *, now: int) -> None:
    """The file says this now, and so do we."""
    perception_files.keep(db, _directory(db.conn, session_id), text, now=now)


def take(db: Database, session_id: str, text: str, *, now: int, base: str | None = None) -> Taken:
    """Take over what was changed in the file since ``base``, by default what was last in common."""
    directory = _directory(db.conn, session_id)
    before = form.entries(form.parse(perception_files.last(db.conn, directory) if base is None else base))
    theirs, refused = _without_secrets(form.entries(form.parse(text)))
    told: list[PerceptionEntry] = []
    overruled: list[PerceptionEntry] = []
    there, was, here = _slice(theirs), _slice(before), perception_slices.of_session(db.conn, session_id)
    if there != was and there != here:
        opened = PerceptionEntry(layer=Layer.FRAME, key=SLICE, value=there, writer=FILE)
        told += perception_writing.write(db, session_id, [opened], now=now)
        before = tuple(entry for entry in before if entry.layer is not Layer.FRAME)
    elif there == was and was != here and was:
        told += _of_another_slice(db, session_id, was, before, theirs, now)
        before = tuple(entry for entry in before if entry.layer is not Layer.FRAME)
        theirs = tuple(entry for entry in theirs if entry.layer is not Layer.FRAME)
    ours = perception.current(db.conn, session_id)
    found: Merge = merge(before, [e for e in theirs if e.key not in refused], ours)
    at = perception_slices.of_session(db.conn, session_id)
    turn = perception.last_turn(db.conn, session_id) or None
    entries = [replace(entry, turn_id=turn, updated_ms=now) for entry in found.taken if entry.key not in refused]
    told += perception_writing.write(db, session_id, entries, now=now)
    for entry in found.overruled:
        perception_disputes.add(db, session_id, entry, slice_name=at, now=now)
        overruled.append(entry)
    if base is None:
        perception_files.keep(db, directory, text, now=now)
    return Taken(entries=tuple(told), disputes=tuple(overruled), refused=tuple(refused))


def _of_another_slice(
    db: Database,
    session_id: str,
    name: str,
    before: Sequence[PerceptionEntry],
    theirs: Sequence[PerceptionEntry],
    now: int,
) -> list[PerceptionEntry]:
    """The file still has the frame of a slice that was left: what was changed in it is changed there."""
    frame = perception.current(db.conn, session_id, Layer.FRAME, slice_name=name)
    old = [e for e in before if e.layer is Layer.FRAME]
    new = [e for e in theirs if e.layer is Layer.FRAME]
    taken = [replace(entry, updated_ms=now) for entry in merge(old, new, frame).taken]
    perception.append(db, session_id, taken, slice_name=name, now=now)
    return []


def _without_secrets(entries: Iterable[PerceptionEntry]) -> tuple[tuple[PerceptionEntry, ...], list[str]]:
    refused = []
    kept = []
    for entry in entries:
        if secret_kind(f"{entry.value}\n{entry.reason}"):
            refused.append(entry.key)
        else:
            kept.append(entry)
    return tuple(kept), refused


def _slice(entries: Iterable[PerceptionEntry]) -> str:
    found = by_key(entries).get((Layer.FRAME, SLICE))
    return found.value if found else ""


def _directory(conn: sqlite3.Connection, session_id: str) -> str:
    return sessions.get(conn, session_id).directory


def read_text(path: Path) -> str | None:
    """The file's text; ``None`` when there is no such file. Raises MilkError for one that can't be read as text."""
    try:
        if not path.is_file():
            return None
        if path.stat().st_size > MOST_BYTES:
            raise MilkError(f"{path} has more than {MOST_BYTES:,} bytes.", "Shorten it.")
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise MilkError(f"{path} is not UTF-8 text.", "Save it as UTF-8.") from error
    except OSError as error:
        raise MilkError(f"{path} can't be read: {error.strerror}.") from error


def write_text(path: Path, text: str) -> None:
    """Replace the file in one step, so that no reader ever sees half of it. Raises MilkError."""
    try:
        target = path.resolve() if path.is_symlink() else path
        mode = target.stat().st_mode & 0o777 if target.exists() else 0o644
        handle, partial = tempfile.mkstemp(prefix=f".{path.name}.", dir=target.parent)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
            Path(partial).chmod(mode)
            Path(partial).replace(target)
        except BaseException:
            Path(partial).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise MilkError(f"{path} can't be written: {error.strerror}.", "Check the folder's permissions.") from error


def git_ignored(path: Path) -> bool | None:
    """Whether git leaves the file alone; ``None`` outside a repository."""
    root = _repository(path.parent)
    if root is None:
        return None
    folders = [folder for folder in (path.parent, *path.parent.parents) if folder.is_relative_to(root)]
    listed = [folder / ".gitignore" for folder in folders] + [root / ".git" / "info" / "exclude"]
    return any(_names(file, path.name) for file in listed)


def git_ignore(path: Path) -> Path:
    """Add the file to the repository's own list of ignored files, which is never committed; the list. Raises
    MilkError."""
    root = _repository(path.parent)
    if root is None:
        raise MilkError(f"{path.parent} is in no git repository.", "Nothing needs to be ignored.")
    inside = root / ".git" / "info"
    listed = inside / "exclude" if (root / ".git").is_dir() else path.parent / ".gitignore"
    try:
        listed.parent.mkdir(parents=True, exist_ok=True)
        before = listed.read_text(encoding="utf-8") if listed.exists() else ""
        end = "" if not before or before.endswith("\n") else "\n"
        listed.write_text(f"{before}{end}{path.name}\n", encoding="utf-8")
    except OSError as error:
        raise MilkError(f"{listed} can't be written: {error.strerror}.") from error
    return listed


def _repository(folder: Path) -> Path | None:
    return next((each for each in (folder, *folder.parents) if (each / ".git").exists()), None)


def _names(listed: Path, name: str) -> bool:
    try:
        lines = listed.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return False
    return any(line.strip() in (name, f"/{name}", f"**/{name}", "*.md") for line in lines)
