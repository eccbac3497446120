"""Looking through files, in a process of its own: a pattern that never ends, or a tree of a million files, is stopped
by ending the process.

Reads one JSON object on standard input (``Search``), prints findings a line each, and last one line of JSON with what
was left out. What ``.gitignore`` files exclude is left out, so are ``.git`` and links.
"""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from milk_tui.tools.globs import matcher

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

LARGEST = 4_000_000
LONGEST_LINE = 300


class Search(msgspec.Struct, frozen=True, kw_only=True):
    """``pattern``: a regular expression to look for in files; empty: the files themselves are looked for."""

    root: str
    """Where to look: a folder, or one file."""
    base: str
    """Paths are printed relative to it."""
    ignore_from: str
    """The topmost folder whose ``.gitignore`` counts: the repository's, else ``base``."""
    pattern: str = ""
    glob: str = ""
    ignore_case: bool = False
    limit: int = 100
    skip: tuple[str, ...] = ()
    """Folders that are not entered, and files that are not looked at."""


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """The last line."""

    shown: int
    more: bool
    files: int
    """Files that were looked at."""


class _Full(Exception):
    """As much was found as was asked for."""


class Searcher:
    """One search."""

    def __init__(self, search: Search) -> None:
        self._search = search
        flags = re.IGNORECASE if search.ignore_case else 0
        self._pattern = re.compile(search.pattern, flags) if search.pattern else None
        self._glob = matcher(search.glob) if search.glob else None
        self._specs: dict[str, GitIgnoreSpec | None] = {}
        self.shown = 0
        self.files = 0

    def run(self) -> Found:
        more = False
        try:
            for path in self._paths():
                self._visit(path)
        except _Full:
            more = True
        return Found(shown=self.shown, more=more, files=self.files)

    def _visit(self, path: str) -> None:
        name = os.path.relpath(path, self._search.base)
        self.files += 1
        if self._glob is not None and not self._glob(os.path.relpath(path, self._search.root)):
            return
        if self._pattern is None:
            self._print(name)
            return
        for number, line in _lines(path):
            if self._pattern.search(line):
                shown = line if len(line) <= LONGEST_LINE else line[:LONGEST_LINE] + "…"
                self._print(f"{name}:{number}:{shown}")

    def _print(self, line: str) -> None:
        if self.shown >= self._search.limit:
            raise _Full
        self.shown += 1
        sys.stdout.write(line.replace("\n", "\\n") + "\n")

    def _paths(self) -> Iterator[str]:
        root = self._search.root
        if not Path(root).is_dir():
            yield root
            return
        stack = [root]
        while stack:
            folder = stack.pop()
            try:
                with os.scandir(folder) as found:
                    entries = sorted(found, key=lambda entry: entry.name)
            except OSError:
                continue
            folders = []
            for entry in entries:
                is_folder = entry.is_dir(follow_symlinks=False)
                if self._left_out(entry.path, entry.name, is_folder):
                    continue
                if is_folder:
                    folders.append(entry.path)
                elif entry.is_file(follow_symlinks=False):
                    yield entry.path
            stack += reversed(folders)

    def _left_out(self, path: str, name: str, is_folder: bool) -> bool:
        if (is_folder and name == ".git") or path in self._search.skip:
            return True
        folder = path.rpartition("/")[0]
        while True:
            spec = self._spec(folder)
            if spec is not None:
                inner = os.path.relpath(path, folder) + ("/" if is_folder else "")
                checked = spec.check_file(inner).include
                if checked is not None:
                    return checked
            if len(folder) <= len(self._search.ignore_from):
                return False
            folder = folder.rpartition("/")[0]

    def _spec(self, folder: str) -> GitIgnoreSpec | None:
        """The rules of a folder's ``.gitignore``."""
        if folder not in self._specs:
            self._specs[folder] = _read_spec(f"{folder}/.gitignore")
        return self._specs[folder]


def _read_spec(path: str) -> GitIgnoreSpec | None:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return None
        rules = file.read(200_000).decode("utf-8", "replace").splitlines()
    from pathspec import GitIgnoreSpec

    try:
        return GitIgnoreSpec.from_lines(rules)
    except ValueError:
        return None


def _lines(path: str) -> Iterator[tuple[int, str]]:
    """The lines of a text file; none of a binary, an endless or an unreadable one."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return
        data = file.read(LARGEST)
    if b"\0" in data[:8_192]:
        return
    for number, line in enumerate(data.split(b"\n"), 1):
        yield number, line.rstrip(b"\r").decode("utf-8", "replace")


def main() -> int:
    search = msgspec.json.decode(sys.stdin.buffer.read(), type=Search)
    sys.stdout.reconfigure(encoding="utf-8", errors="replace")  # type: ignore[union-attr]
    try:
        found = Searcher(search).run()
    except re.error as error:
        sys.stderr.write(f"the pattern is no regular expression: {error}\n")
        return 2
    sys.stdout.write("\0" + msgspec.json.encode(found).decode() + "\n")
    sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
