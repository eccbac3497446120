"""Files of other programs, read whatever is in them: never followed to what is no file, never larger than a bound."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec

from milk_tui.core import wild_json
from milk_tui.core.text import one_line
from milk_tui.interop.foreign import Unreadable
from milk_tui.interop.memory_files import opened
from milk_tui.interop.memory_lines import FileRefusedError

MOST_BYTES = 1_000_000_000
LINE_BYTES = 64_000_000


def listed(path: Path, pattern: str) -> list[Path]:
    """The file itself, or those of the folder that fit, by name. Raises FileRefusedError when there is neither."""
    if path.is_dir():
        return sorted(file for file in path.glob(pattern) if file.is_file())
    if not path.exists():
        raise FileRefusedError(str(path), None, "there is no such file or folder")
    return [path]


def json_of(file: Path) -> Any | Unreadable:
    """The value of a JSON file."""
    try:
        with opened(file) as handle:
            data = handle.read(MOST_BYTES + 1)
    except FileRefusedError as error:
        return Unreadable(file.name, error.what.removeprefix(f"{file.name}: ").rstrip("."))
    except OSError as error:
        return Unreadable(file.name, (error.strerror or "it can't be read").lower())
    if len(data) > MOST_BYTES:
        return Unreadable(file.name, f"it is larger than {MOST_BYTES // 1_000_000} MB")
    try:
        return wild_json.decode(data.removeprefix(b"\xef\xbb\xbf"))
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        return Unreadable(file.name, f"it is no JSON: {one_line(str(error), 120)}")


def json_lines(file: Path) -> Iterator[dict[str, Any]]:
    """The objects of a file with one on each line; a line that is none is left out (the program may have died while
    it wrote it). Raises FileRefusedError, OSError."""
    with opened(file) as handle:
        while line := handle.readline(LINE_BYTES + 1):
            if len(line) > LINE_BYTES and not line.endswith(b"\n"):
                while rest := handle.readline(LINE_BYTES):
                    if rest.endswith(b"\n"):
                        break
                continue
            try:
                value = wild_json.decode(line)
            except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
                continue
            if isinstance(value, dict):
                yield value


def rows_of(file: Path, needed: dict[str, set[str]], queries: tuple[str, ...]) -> list[list[sqlite3.Row]] | Unreadable:
    """What the queries bring from a database of another program, which is only read. ``needed``: the tables and
    columns that it must have."""
    try:
        opened(file).close()
        with closing(sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True, timeout=2)) as conn:
            conn.row_factory = sqlite3.Row
            conn.text_factory = _text
            for table, columns in needed.items():
                there = {row["name"] for row in conn.execute(f"pragma table_info({table})")}
                if missing := columns - there:
                    return Unreadable(file.name, f"its table {table} has no column {', '.join(sorted(missing))}")
            return [conn.execute(query).fetchall() for query in queries]
    except FileRefusedError as error:
        return Unreadable(file.name, error.what.removeprefix(f"{file.name}: ").rstrip("."))
    except sqlite3.Error as error:
        return Unreadable(file.name, one_line(str(error), 160))


def _text(data: bytes) -> str:
    """A column's text: one that is no UTF-8 must not cost all the others."""
    return data.decode("utf-8", "replace")
