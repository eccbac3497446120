"""Decision records of a project: read from their folder, watched, written (``semantics.md`` §6).

One decision is one Markdown file with its date. The files are the records; the database holds an index of them.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import re
from collections.abc import AsyncGenerator, Callable, Iterable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from milk_tui.core import decision_record as rules
from milk_tui.core.cuts import plain
from milk_tui.core.decision_record import Record
from milk_tui.core.errors import MilkError, StoreError
from milk_tui.core.records import PerceptScope
from milk_tui.core.secret_scan import secret_kind
from milk_tui.core.text import one_line
from milk_tui.store import Store, decision_records, percept_lists, percepts
from milk_tui.store.clock import now_ms
from milk_tui.store.decision_records import Indexed

if TYPE_CHECKING:
    from sqlite_utils import Database

_log = logging.getLogger(__name__)

FOLDER = "memory"
MOST_FILES = 10_000
_AT_ONCE = 200
_STEP_MS, _DEBOUNCE_MS = 500, 1_000
"""The watcher wakes twice a second: a record need not be known sooner."""


class Refreshed(Struct, frozen=True, kw_only=True):
    """What a look at the folder found."""

    records: int = 0
    """That can be cited, or were superseded."""
    changed: int = 0
    gone: int = 0
    broken: int = 0
    left_out: int = 0
    """Files beyond ``MOST_FILES``."""


class Decision(Struct, frozen=True, kw_only=True):
    """What the person decided, to be written as a record."""

    title: str
    why: str = ""
    body: str = ""
    replaces: tuple[str, ...] = ()
    fact: str = ""
    """Id of the fact that it is made of."""


def folder_of(directory: str | Path, name: str = FOLDER) -> Path:
    """Where a project keeps its records."""
    return Path(directory) / name


def index_folder(store: Store, folder: Path) -> Refreshed:
    """Take over what is new, changed or gone; blocks. A file that was not touched is not read again.

    A folder that is not there has no records. Links that lead out of the folder are not followed.
    """
    where = str(folder)
    known = store.read_sync(lambda conn: decision_records.stamps(conn, where))
    found, left_out = _scan(folder)
    changed = [name for name, stamp in found.items() if known.get(name) != stamp]
    gone = [name for name in known if name not in found]
    if changed or gone:
        for start in range(0, max(len(changed), 1), _AT_ONCE):
            part = [(_read(folder, name), found[name]) for name in changed[start : start + _AT_ONCE]]
            store.write_sync(partial(decision_records.put, directory=where, read=part, gone=gone, now=now_ms()))
        store.write_sync(partial(_mark, where=where))
    headers = store.read_sync(lambda conn: decision_records.headers(conn, where))
    broken = sum(1 for record in headers if record.problem)
    return Refreshed(
        records=len(headers) - broken, changed=len(changed), gone=len(gone), broken=broken, left_out=left_out
    )


def _mark(db: Database, where: str) -> None:
    decision_records.mark(db, where, rules.superseded(decision_records.headers(db.conn, where)))


def _scan(folder: Path) -> tuple[dict[str, str], int]:
    """By file name, size and time of what may be a record; and how many were too many."""
    found: dict[str, str] = {}
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if not entry.name.lower().endswith(".md") or entry.name.startswith("."):
                continue
            with contextlib.suppress(OSError):
                if entry.is_file(follow_symlinks=False):
                    status = entry.stat(follow_symlinks=False)
                    found[entry.name] = f"{status.st_size}:{status.st_mtime_ns}"
    if len(found) <= MOST_FILES:
        return found, 0
    kept = sorted(found, reverse=True)[:MOST_FILES]
    return {name: found[name] for name in kept}, len(found) - MOST_FILES


def _read(folder: Path, name: str) -> Record:
    try:
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        with os.fdopen(os.open(folder / name, flags), "rb") as file:
            return rules.parse(name, file.read(rules.LARGEST + 1))
    except OSError as error:
        return Record(name=name, problem=f"it can't be read: {error.strerror}")


def write(store: Store, folder: Path, decision: Decision, *, date: str) -> Indexed:
    """Write a decision as a new file and index it; what it replaces is marked in its own file too. Blocks.

    Raises MilkError for a blank title, a secret, a record to replace that is not there, or a folder that can't be
    written.
    """
    title = one_line(plain(decision.title), rules.TITLE_CHARS)
    if not title:
        raise MilkError("The decision is blank.", "Say in one sentence what was decided.")
    for text in (title, decision.why, decision.body):
        if kind := secret_kind(text):
            raise MilkError(f"Not written: it looks like it holds a secret ({kind}).", "Records are plain files.")
    where = str(folder)
    index_folder(store, folder)
    replaces = [_known(store, where, old) for old in decision.replaces]
    names = store.read_sync(lambda conn: decision_records.stamps(conn, where))
    name = rules.file_name(title, date, names)
    text = rules.render(
        title,
        date=date,
        why=decision.why,
        body=decision.body,
        replaces=[old.name for old in replaces],
        fact=decision.fact.removeprefix("#"),
    )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / name).open("x", encoding="utf-8") as file:
            file.write(text)
        for old in replaces:
            _say_superseded(folder / old.name, name)
    except OSError as error:
        raise MilkError(f"{folder / name} can't be written: {error.strerror}.", f"Check {folder}.") from error
    index_folder(store, folder)
    written = store.read_sync(lambda conn: decision_records.get(conn, where, name))
    if written is None:
        raise MilkError(f"{folder / name} was written and is gone again.", f"Check {folder}.")
    return written


def _known(store: Store, where: str, named: str) -> Indexed:
    """The record that a person means: its file's name, with or without ``.md``, or the only one that begins or ends
    so."""
    wanted = named.strip().removesuffix(".md").casefold()
    listed = store.read_sync(lambda conn: decision_records.listed(conn, where))
    stems = {record.name.removesuffix(".md").casefold(): record for record in listed}
    if wanted in stems:
        return stems[wanted]
    close = [record for stem, record in stems.items() if wanted and wanted in stem]
    if len(close) == 1:
        return close[0]
    problem = "several records are called" if close else "there is no record called"
    raise MilkError(f"Nothing was written: {problem} “{one_line(named, 80)}” in {where}.", "Name its file.")


def _say_superseded(path: Path, by: str) -> None:
    """Add the line that says so below the header; a file that says so already stays."""
    text = path.read_text("utf-8", errors="surrogateescape")
    if re.search(r"(?im)^\W*(superseded|replaced)[ -]by\b", text):
        return
    line = f"Superseded by: {by}\n"
    found = re.search(r"(?im)^[ \t]*\**date\**[ \t]*:.*\n", text)
    at = found.end() if found else len(text)
    new = text[:at] + line + text[at:] if found else f"{text.rstrip()}\n\n{line}"
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_text(new, "utf-8", errors="surrogateescape")
    temporary.replace(path)


class Watching:
    """Keeps the index of one folder in step with its files while a session uses it. ``changed(refreshed)`` is called on
    the event loop after every look that found something new, and after the first."""

    def __init__(self, store: Store, folder: Path, changed: Callable[[Refreshed], None]) -> None:
        self.folder = folder
        self._store = store
        self._changed = changed
        self._task: asyncio.Task[None] | None = None
        self._lock = asyncio.Lock()
        self.looked = asyncio.Event()
        """The first look is over, whatever came of it."""

    def start(self) -> None:
        if self._task is None and not self._store.read_only:
            self._task = asyncio.create_task(self._run())

    async def refresh(self) -> Refreshed:
        """Look now; looks are one after another."""
        async with self._lock:
            return await asyncio.to_thread(index_folder, self._store, self.folder)

    async def aclose(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self) -> None:
        try:
            self._changed(await self.refresh())
            self.looked.set()
            await self._watch()
        except StoreError as error:
            _log.warning("the records of %s are not watched: %s", self.folder, error)
        finally:
            self.looked.set()

    async def _watch(self) -> None:
        """A folder that is not there yet is waited for in its parent, without looking into other folders."""
        awatch = (await asyncio.to_thread(import_module, "watchfiles")).awatch
        while True:
            there = self.folder.is_dir()
            watched = self.folder if there else self.folder.parent
            if not watched.is_dir():
                return
            changes = awatch(
                watched,
                watch_filter=partial(_concerns, folder=self.folder),
                debounce=_DEBOUNCE_MS,
                step=_STEP_MS,
                recursive=False,
                stop_event=asyncio.Event(),
                ignore_permission_denied=True,
            )
            with contextlib.suppress(FileNotFoundError):
                await self._follow(changes, there)

    async def _follow(self, changes: AsyncGenerator[object, None], there: bool) -> None:
        """Look after every change, until the folder comes or goes."""
        waiting = asyncio.ensure_future(anext(changes))
        try:
            await asyncio.sleep(0)
            while True:
                found = await self.refresh()
                if found.changed or found.gone:
                    self._changed(found)
                if self.folder.is_dir() is not there:
                    return
                await waiting
                waiting = asyncio.ensure_future(anext(changes))
        finally:
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)
            await changes.aclose()


def _concerns(change: object, path: str, folder: Path) -> bool:
    return path == str(folder) or (path.lower().endswith(".md") and Path(path).parent == folder)


def names(records: Iterable[Indexed]) -> str:
    """For a line: the first few files by name."""
    shown = [record.name for record in records]
    return ", ".join(shown[:3]) + (f" and {len(shown) - 3} more" if len(shown) > 3 else "")


def said(text: str, *, why: str = "", replaces: Iterable[str] = ()) -> Decision:
    """A decision as a person types it: the first sentence is the title, the rest the body."""
    text = plain(text)
    found = re.search(r"[.!?](?=\s)|\n", text)
    title, body = (text[: found.start()], text[found.end() :].strip()) if found else (text.rstrip(".!"), "")
    return Decision(title=title, why=why, body=body, replaces=tuple(replaces))


def of_fact(store: Store, reference: str, decision: Decision) -> Decision:
    """The decision that a fact of the memory tells: its words where nothing else was said. Raises MilkError."""
    fact = store.read_sync(lambda conn: percept_lists.get(conn, reference))
    if fact is None:
        raise MilkError(f"There is no fact {one_line(reference, 40)}.", "`milk-tui memory list` shows their ids.")
    told = decision if decision.title else said(fact.content, why=decision.why, replaces=decision.replaces)
    body = told.body or (fact.content if told.title != fact.content else "")
    return replace(told, body=body, fact=fact.id)


def to_fact(store: Store, folder: Path, named: str) -> percepts.Change:
    """Make a fact of every session of what a record says. Raises MilkError when there is no such record in force."""
    where = str(folder)
    index_folder(store, folder)
    record = _known(store, where, named)
    if not record.live:
        raise MilkError(f"{record.name} no longer holds.", f"It was superseded by {record.superseded_by or 'another'}.")
    content = f"{record.title} (decided {record.date}, {record.name})"
    add = partial(percepts.add, content=content, scope=PerceptScope.GLOBAL, subject=record.title)
    return store.write_sync(add)
