"""A pasted text that is nothing but paths: so terminals and file managers hand over files that are dropped or copied.

Known are a path as it is, in quotes, with its spaces escaped, as a ``file:`` address, and several of them with spaces
or line ends between. Whether they exist is for others to see.
"""

from __future__ import annotations

import re
import shlex

LONGEST = 8_000
"""Characters of a paste in which paths are looked for."""
MOST = 20
_BEGINS = re.compile(r"(?:file://|~?/)")
_NOT_IN_A_PATH = re.compile(r'["\x00-\x1f`<>|*?]')


def paths(text: str) -> tuple[tuple[str, ...], ...]:
    """What the text may mean: readings of it as paths, the likelier first; empty when it is something else."""
    text = text.strip()
    if len(text) > LONGEST or not _BEGINS.match(text.lstrip("'\"")):
        return ()
    readings = [(text,), tuple(line.strip() for line in text.splitlines() if line.strip())]
    try:
        readings.append(tuple(shlex.split(text)))
    except ValueError:
        pass
    found = [tuple(map(_plain, reading)) for reading in readings]
    return tuple(dict.fromkeys(reading for reading in found if len(reading) <= MOST and all(map(_is_path, reading))))


def _plain(path: str) -> str:
    path = path.strip("'\"")
    if path.startswith("file://"):
        from urllib.parse import unquote

        path = "/" + unquote(path.removeprefix("file://")).partition("/")[2]
    return path


def _is_path(path: str) -> bool:
    return bool(_BEGINS.match(path)) and len(path) < 1_000 and not _NOT_IN_A_PATH.search(path)
