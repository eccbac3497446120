"""The files of a directory, found by fuzzy words while somebody types (``ux.md``, ``@``).

In a Git work tree ``git ls-files`` names them (tracked, and new ones that are not ignored); elsewhere the folders are
walked, ``.gitignore`` respected, up to a bound. Everything is done beside the event loop; a list is made when it is
first asked for, and again when it is older than ``FRESH_S`` or something said that files changed.
"""

from __future__ import annotations

import asyncio
import os
import re
import time
from pathlib import Path
from typing import Protocol

MOST_FILES = 200_000
LONGEST_S = 4.0
"""Seconds that listing may take; what was found until then counts."""
FRESH_S = 20.0
SKIPPED = frozenset({".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", "venv", ".tox", ".mypy_cache"})
LIMIT = 50
_CHUNK = 2_000
_RANKED = 4_000
"""Paths that are ranked with care; of more the shortest."""


class Matcher(Protocol):
    """The lines of one ``.gitignore``."""

    def match_file(self, file: str) -> bool: ...


class FileIndex:
    """One for a directory."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._paths: list[str] = []
        self._made = 0.0
        self._stale = True
        self._making: asyncio.Task[None] | None = None
        self._last: tuple[str, list[str]] = ("", [])

    def changed(self) -> None:
        """Files came or went: the next question makes the list anew."""
        self._stale = True

    async def find(self, words: str, limit: int = LIMIT) -> list[str]:
        """Paths that fit, best first, relative to the directory; folders end in a slash. The letters may be anywhere
        in the path, in order."""
        first = not self._made
        if (first or self._stale or time.monotonic() - self._made > FRESH_S) and self._making is None:
            self._making = asyncio.create_task(self._make())
            self._making.add_done_callback(self._made_anew)
        if first and self._making is not None:
            await asyncio.shield(self._making)  # who asks may type on and not wait: the list is made all the same
        return await asyncio.to_thread(self._find, words.removeprefix("./"), limit)

    async def aclose(self) -> None:
        if self._making is not None:
            self._making.cancel()
            await asyncio.gather(self._making, return_exceptions=True)

    def _made_anew(self, task: asyncio.Task[None]) -> None:
        self._making = None

    async def _make(self) -> None:
        self._stale = False
        found = await self._from_git()
        if found is None:
            found = await asyncio.to_thread(walked, self._directory)
        self._paths = found
        self._made = time.monotonic()
        self._last = ("", [])

    async def _from_git(self) -> list[str] | None:
        """Git's list; ``None`` where it has none."""
        try:
            process = await asyncio.create_subprocess_exec(
                "git",
                "ls-files",
                "-z",
                "--cached",
                "--others",
                "--exclude-standard",
                cwd=self._directory,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                env={**os.environ, "GIT_OPTIONAL_LOCKS": "0"},
            )
        except OSError:
            return None
        try:
            async with asyncio.timeout(LONGEST_S):
                out, _ = await process.communicate()
        except TimeoutError:
            process.kill()
            await process.wait()
            return None
        except asyncio.CancelledError:
            process.kill()
            await process.wait()
            raise
        if process.returncode:
            return None
        return await asyncio.to_thread(with_folders, out.decode("utf-8", "surrogateescape").split("\0"))

    def _find(self, words: str, limit: int) -> list[str]:
        before, found_before = self._last
        paths = found_before if before and words.startswith(before) else self._paths
        found = matching(paths, words)
        self._last = (words, found)
        return best(found, words, limit)


def with_folders(files: list[str]) -> list[str]:
    """Files that can be written in a prompt, each once, and their folders."""
    kept = [path for path in dict.fromkeys(files[:MOST_FILES]) if path and _writable(path)]
    folders = {path.rpartition("/")[0] for path in kept}
    every = set(folders)
    for folder in folders:
        while folder := folder.rpartition("/")[0]:
            every.add(folder)
    every.discard("")
    return [*kept, *(f"{folder}/" for folder in sorted(every))]


def _writable(path: str) -> bool:
    return path.isprintable() and not set(path) & {'"', "`"} and bool(path.strip())


def walked(directory: Path) -> list[str]:
    """The files below a folder that no ``.gitignore`` names, within the bounds."""
    import pathspec

    begun = time.monotonic()
    root = str(directory)
    files: list[str] = []
    specs: dict[str, Matcher] = {}
    for folder, folders, names in os.walk(root):
        relative = os.path.relpath(folder, root)
        prefix = "" if relative == "." else f"{relative}/"
        if ".gitignore" in names:
            try:
                lines = Path(folder, ".gitignore").read_text("utf-8", "replace").splitlines()[:2_000]
                specs[prefix] = pathspec.PathSpec.from_lines("gitignore", lines)
            except (OSError, ValueError):
                pass
        above = [(at, spec) for at, spec in specs.items() if prefix.startswith(at)]
        folders[:] = [
            name for name in sorted(folders) if name not in SKIPPED and not _ignored(above, f"{prefix}{name}/")
        ]
        files += [f"{prefix}{name}" for name in sorted(names) if not _ignored(above, f"{prefix}{name}")]
        if len(files) >= MOST_FILES or time.monotonic() - begun > LONGEST_S:
            break
    return with_folders(files)


def _ignored(above: list[tuple[str, Matcher]], path: str) -> bool:
    return any(spec.match_file(path[len(at) :]) for at, spec in above)


def matching(paths: list[str], words: str) -> list[str]:
    """The paths that hold the letters of the words in order, case ignored. Each chunk is one search without a step
    back, and between chunks the screen has its turn."""
    letters = re.sub(r"\s+", "", words)
    if not letters:
        return paths
    steps = "".join(rf"[^{re.escape(letter)}\n]*+{re.escape(letter)}" for letter in letters)
    pattern = re.compile(rf"^{steps}[^\n]*+$", re.IGNORECASE | re.MULTILINE)
    found: list[str] = []
    for at in range(0, len(paths), _CHUNK):
        found += pattern.findall("\n".join(paths[at : at + _CHUNK]))
        time.sleep(0)
    return found


def best(paths: list[str], words: str, limit: int) -> list[str]:
    """The best of those that fit: the name begins with the words, holds them, then the path; short before long."""
    import heapq

    word = re.sub(r"\s+", "", words).lower()
    if len(paths) > _RANKED:
        exact = [path for path in paths if word in path.lower()] if word else []
        paths = exact if len(exact) >= limit else paths
        paths = heapq.nsmallest(_RANKED, paths, key=len) if len(paths) > _RANKED else paths

    def rank(path: str) -> tuple[int, int, str]:
        low = path.lower()
        name = low.rstrip("/").rpartition("/")[2]
        if not word:
            return (low.count("/"), len(low), low)
        if name == word or low == word:
            kind = 0
        elif name.startswith(word):
            kind = 1
        elif low.startswith(word):
            kind = 2
        elif word in name:
            kind = 3
        elif word in low:
            kind = 4
        else:
            kind = 5 + min(_spread(low, word) // 8, 20)
        return (kind, len(low), low)

    return heapq.nsmallest(limit, paths, key=rank)


def _spread(path: str, letters: str) -> int:
    """How many characters the letters are spread over, from the last letter back: fewer fits better."""
    end = len(path)
    last = -1
    for letter in reversed(letters):
        at = path.rfind(letter, 0, end)
        if at < 0:
            return len(path)
        last = at if last < 0 else last
        end = at
    return last - end
