"""Reading an export of memory (JSONL): every line is checked by itself, then all of them together.

Whatever the file holds, reading it needs a bounded amount of memory and ends in records or in one error that names
the line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import BinaryIO

import msgspec
from msgspec import Struct

from milk_tui.core import archive
from milk_tui.core.archive import ArchivedFact, ArchivedSession, Head, Line
from milk_tui.core.errors import MilkError
from milk_tui.core.lifecycle import EdgeKind
from milk_tui.core.records import Consumer, PerceptScope, PerceptStatus, Producer
from milk_tui.core.text import one_line

LINE_BYTES = 8_000_000
MOST_BYTES = 512_000_000
MOST_FACTS = 500_000

_ENUMERATED = {"status": PerceptStatus, "scope": PerceptScope, "producer": Producer, "consumer": Consumer}
_PATTERN = re.compile(r"matching regex '.*'(?= - at|\Z)")


class FileRefusedError(MilkError):
    """The file can't be imported; nothing of it was."""

    def __init__(self, name: str, line: int | None, why: str, hint: str = "Nothing was imported.") -> None:
        where = f"{name}, line {line:,}" if line is not None else name
        super().__init__(f"{one_line(where, 300)}: {one_line(why, 300)}.", hint)


class Exported(Struct, frozen=True, kw_only=True):
    """What an export holds. Facts are in the order of the file, each with its line."""

    sessions: tuple[ArchivedSession, ...] = ()
    facts: tuple[tuple[int, ArchivedFact], ...] = ()


def lines(file: BinaryIO, name: str) -> Iterator[tuple[int, bytes]]:
    """The lines that are not blank, with their numbers. Raises FileRefusedError for one that is too long, and for a
    file that is."""
    number = size = 0
    while line := file.readline(LINE_BYTES + 1):
        number += 1
        size += len(line)
        if len(line) > LINE_BYTES:
            raise FileRefusedError(name, number, f"it is longer than {LINE_BYTES // 1_000_000} MB")
        if size > MOST_BYTES:
            raise FileRefusedError(name, None, f"it is larger than {MOST_BYTES // 1_000_000} MB")
        if line.strip():
            yield number, line


def read(file: BinaryIO, name: str, *, columns: Iterable[str]) -> Exported:
    """The records of the file. ``columns`` are those that a change of a fact can take back
    (``percept_archive.undo_columns``). Raises FileRefusedError."""
    decoder = msgspec.json.Decoder(Line)
    allowed = frozenset(columns)
    sessions: dict[str, ArchivedSession] = {}
    facts: dict[str, tuple[int, ArchivedFact]] = {}
    begun = False
    for number, line in lines(file, name):
        record = _decoded(decoder, line, name, number)
        match record:
            case Head() if not begun:
                if record.version > archive.VERSION:
                    why = f"it was written by a newer milk-tui (format {record.version}, this one {archive.VERSION})"
                    raise FileRefusedError(name, number, why, "Update milk-tui.")
                begun = True
            case Head():
                raise FileRefusedError(name, number, "a second beginning")
            case _ if not begun:
                raise FileRefusedError(name, number, "it does not begin like an export of memory")
            case ArchivedSession():
                if record.id in sessions:
                    raise FileRefusedError(name, number, f"session {record.id[:8]} is there twice")
                names = [agent.name.casefold() for agent in record.agents.values()]
                if len(set(names)) < len(names):
                    raise FileRefusedError(name, number, "two agents of a session have one name")
                sessions[record.id] = record
            case ArchivedFact():
                if record.id in facts:
                    first = facts[record.id][0]
                    raise FileRefusedError(name, number, f"fact #{record.id[:6]} stands in line {first} already")
                if why := archive.contradiction(record) or _bad_undo(record, allowed):
                    raise FileRefusedError(name, number, f"fact #{record.id[:6]}: {why}")
                facts[record.id] = (number, record)
                if len(facts) > MOST_FACTS:
                    raise FileRefusedError(name, None, f"it holds more than {MOST_FACTS:,} facts")
    if not begun:
        raise FileRefusedError(name, None, "it holds nothing")
    _check_together(facts, sessions, name)
    return Exported(sessions=tuple(sessions.values()), facts=tuple(facts.values()))


def _decoded(decoder: msgspec.json.Decoder[Line], line: bytes, name: str, number: int) -> Line:
    try:
        return decoder.decode(line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line)
    except RecursionError:
        raise FileRefusedError(name, number, "its values are nested too deeply") from None
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        what = _PATTERN.sub("of the form of an id or a word", str(error)) or "it can't be read"
        raise FileRefusedError(name, number, what.removesuffix(".")) from error


def _bad_undo(fact: ArchivedFact, allowed: frozenset[str]) -> str:
    """What is wrong with the columns that an event would bring back; empty when nothing is."""
    for event in fact.events:
        for column, value in (event.undo or {}).items():
            if column not in allowed:
                return f"a change of it has the column {column!r}, which there is not"
            if why := _bad_value(column, value):
                return f"a change of it has {why} in {column}"
    return ""


def _bad_value(column: str, value: object) -> str:
    if column == "+edges":
        try:
            changes = msgspec.convert(value, list[tuple[str, archive.Id, archive.Id, EdgeKind]])
        except msgspec.ValidationError:
            return "something else than edges"
        return "" if all(what in ("link", "unlink") for what, *_ in changes) else "an unknown word"
    if column in _ENUMERATED:
        return "" if isinstance(value, str) and value in list(_ENUMERATED[column]) else "an unknown word"
    if column == "weight":
        return "" if isinstance(value, int) and 0 <= value <= 1000 else "no weight"
    if column in ("pinned", "tainted"):
        return "" if isinstance(value, int) and value in (0, 1) else "something else than yes or no"
    if column.endswith("_ms") or column == "uses":
        fits = value is None or (isinstance(value, int) and 0 <= value <= 253_402_300_799_000)
        return "" if fits else "no time or number"
    return "" if isinstance(value, str | None) and len(value or "") <= 8_000 else "no text"


def _check_together(
    facts: dict[str, tuple[int, ArchivedFact]], sessions: dict[str, ArchivedSession], name: str
) -> None:
    for number, fact in facts.values():
        if fact.session_id is not None and fact.session_id not in sessions:
            raise FileRefusedError(name, number, f"fact #{fact.id[:6]} is of a session that the file does not name")
    done: set[str] = set()
    for id_ in facts:
        walked: dict[str, None] = {}
        at: str | None = id_
        while at is not None and at in facts and at not in done:
            if at in walked:
                number = facts[at][0]
                raise FileRefusedError(name, number, f"fact #{at[:6]} is superseded by itself, over others")
            walked[at] = None
            at = facts[at][1].superseded_by
        done.update(walked)
