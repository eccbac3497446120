"""From the paths that a prompt names to what is attached to it. It reads files: run it beside the event loop."""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from milk_tui.core.attachments import (
    FILE_CHARS,
    IMAGE_BYTES,
    TOTAL_CHARS,
    Attachment,
    Kind,
    Mention,
    cut_lines,
    image_type,
    mentions,
)
from milk_tui.core.records import RouteDecision, Turn
from milk_tui.core.text import clean, one_line
from milk_tui.store import attachments, sessions, turns
from milk_tui.tools.texts import binary, decode

if TYPE_CHECKING:
    from sqlite_utils import Database

LARGEST_FILE = 4_000_000
MOST_ENTRIES = 200
MOST_MISSING = 3
"""Names of files that are not there which are said: pasted code is full of words with an ``@``."""


class _Left(Exception):
    """Not attached; the text says why."""


def read(directory: Path, named: Sequence[Mention]) -> tuple[list[Attachment], list[str]]:
    """What the mentions name, and one line for each that could not be attached. A word that is no path is left out
    without one."""
    attached: list[Attachment] = []
    problems: list[str] = []
    room, missing = TOTAL_CHARS, 0
    for mention in named:
        try:
            found = _read(directory, mention, min(FILE_CHARS, room))
        except FileNotFoundError:
            missing += 1
            if mention.looks_like_a_path and missing <= MOST_MISSING:
                problems.append(f"not attached: there is no {_shown(mention.path)}")
            continue
        except _Left as left:
            problems.append(f"not attached: {_shown(mention.path)} {left}")
            continue
        except (OSError, ValueError) as error:
            problems.append(f"not attached: {_shown(mention.path)}: {getattr(error, 'strerror', None) or error}")
            continue
        if room <= 0 and found.kind is not Kind.IMAGE:
            problems.append(f"not attached: {_shown(mention.path)}: {TOTAL_CHARS:,} characters are attached already")
            continue
        room -= len(found.text)
        attached.append(found)
    return attached, problems


async def of_prompt(directory: str, prompt: str) -> tuple[list[Attachment], list[str]]:
    """As ``read``, for what a prompt names; nothing is read when it names nothing."""
    named = mentions(prompt)
    return await asyncio.to_thread(read, Path(directory), named) if named else ([], [])


def add_turn(
    db: Database,
    *,
    session_id: str,
    prompt: str,
    owner: str,
    queued: bool,
    route: RouteDecision | None,
    attached: Sequence[Attachment],
    now: int,
) -> Turn:
    """Store a prompt with what it names, and with the output of the commands that were run before it; from then on
    it is no draft."""
    turn = turns.add(db, session_id, prompt, owner=owner, queued=queued, route=route, now=now)
    attachments.take_waiting(db, session_id, turn.id)
    for each in attached:
        attachments.add(db, session_id, each, turn_id=turn.id, now=now)
    sessions.forget_draft(db, session_id, prompt)
    return turn


def _shown(path: str) -> str:
    return one_line(clean(path), 120)


def _read(directory: Path, mention: Mention, limit: int) -> Attachment:
    path = directory / Path(mention.path).expanduser()
    number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | getattr(os, "O_NOCTTY", 0))
    try:
        status = os.fstat(number)
        if stat.S_ISDIR(status.st_mode):
            return _folder(path, mention.path)
        if not stat.S_ISREG(status.st_mode):
            raise _Left("is no file")
        if status.st_size > max(LARGEST_FILE, IMAGE_BYTES):
            raise _Left(f"has {status.st_size / 1_000_000:.0f} MB; that is too much")
        with os.fdopen(os.dup(number), "rb") as file:
            data = file.read(max(LARGEST_FILE, IMAGE_BYTES) + 1)
    finally:
        os.close(number)
    if mime := image_type(data):
        if len(data) > IMAGE_BYTES:
            raise _Left(f"is an image of {len(data) / 1_000_000:.1f} MB; {IMAGE_BYTES // 1_000_000} MB is the most")
        return Attachment(kind=Kind.IMAGE, name=mention.path, mime=mime, data=data, note=_size(len(data)))
    if kind := binary(data):
        raise _Left(f"is {kind}, no text")
    text, note = cut_lines(clean(decode(data).text), mention.lines, max(0, limit))
    return Attachment(kind=Kind.FILE, name=mention.path, text=text, note=note)


def _folder(path: Path, name: str) -> Attachment:
    entries = sorted(os.scandir(path), key=lambda entry: entry.name)
    lines = [clean(entry.name) + ("/" if entry.is_dir(follow_symlinks=False) else "") for entry in entries]
    kept = lines[:MOST_ENTRIES]
    more = f", {len(lines) - len(kept):,} left out" if len(lines) > len(kept) else ""
    note = f"{len(lines):,} entries{more}" if len(lines) != 1 else "1 entry"
    return Attachment(kind=Kind.FOLDER, name=name, text="\n".join(kept), note=note)


def _size(number: int) -> str:
    return f"{number / 1_000:.0f} kB" if number < 1_000_000 else f"{number / 1_000_000:.1f} MB"
