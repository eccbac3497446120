"""Files that hold memory: which kind a file is, and reading it as a whole, whatever is in it."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from enum import StrEnum
from io import BufferedReader
from pathlib import Path

from msgspec import Struct

from milk_tui.interop import memory_lines, memory_lists
from milk_tui.interop.memory_lines import Exported, FileRefusedError
from milk_tui.interop.memory_lists import Listed

MOST_LIST_BYTES = 8_000_000
MOST_LISTED = 10_000
"""Facts of a file that is no export: more is no memory but a dump."""


class Format(StrEnum):
    JSONL = "jsonl"
    MARKDOWN = "markdown"
    """Lists; text around them is no fact."""
    CLAUDE = "claude"
    """CLAUDE.md and the files of Claude Code's own memory: paragraphs are facts too."""
    AGENTS = "agents"
    """AGENTS.md: likewise."""


class Parsed(Struct, frozen=True, kw_only=True):
    """A file that was read; one of ``exported`` and ``listed`` is there."""

    name: str
    format: Format
    exported: Exported | None = None
    listed: Listed | None = None


def format_of(name: str, head: bytes = b"") -> Format:
    """What a file seems to be, by its name and how it begins."""
    base = name.casefold()
    if base.endswith((".jsonl", ".ndjson")) or head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
        return Format.JSONL
    if base in ("claude.md", "claude.local.md") or head.startswith(b"---"):
        return Format.CLAUDE
    if base in ("agents.md", "agent.md", "gemini.md", "copilot-instructions.md", ".cursorrules"):
        return Format.AGENTS
    return Format.MARKDOWN


def opened(path: Path) -> BufferedReader:
    """The file, if it is an ordinary one. Raises FileRefusedError."""
    name = path.name or str(path)
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise FileRefusedError(name, None, (error.strerror or "it can't be opened").lower()) from error
    except ValueError as error:
        raise FileRefusedError("The file", None, "no file can have this name") from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise FileRefusedError(name, None, "it is not an ordinary file")
    return os.fdopen(descriptor, "rb")


def parse(file: BufferedReader, name: str, wanted: Format | None, *, columns: Iterable[str]) -> Parsed:
    """Read the whole file; ``columns`` as for ``memory_lines.read``. Blocks. Raises FileRefusedError."""
    form = wanted or format_of(name, file.peek(512)[:512])
    if form is Format.JSONL:
        return Parsed(name=name, format=form, exported=memory_lines.read(file, name, columns=columns))
    listed = memory_lists.parse(_text(file, name), prose=form in (Format.CLAUDE, Format.AGENTS))
    if len(listed.drafts) > MOST_LISTED:
        raise FileRefusedError(name, None, f"it holds {len(listed.drafts):,} facts, more than {MOST_LISTED:,}")
    return Parsed(name=name, format=form, listed=listed)


def _text(file: BufferedReader, name: str) -> str:
    data = file.read(MOST_LIST_BYTES + 1)
    if len(data) > MOST_LIST_BYTES:
        raise FileRefusedError(name, None, f"it is larger than {MOST_LIST_BYTES // 1_000_000} MB")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise FileRefusedError(name, None, "it is UTF-16 text", "Save it as UTF-8.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise FileRefusedError(name, line, "it is not UTF-8 text") from error
    if "\0" in text:
        raise FileRefusedError(name, text.count("\n", 0, text.index("\0")) + 1, "it is not text")
    return text
