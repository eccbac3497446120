"""Is a file that a fact names still there? A cheap look; the code wins over what is remembered (``recall.md``).

Only what can be said for sure is said: the folder is there and the file in it is not. Nothing outside of the session's
directory is looked at.
"""

from __future__ import annotations

import re
from pathlib import Path

MOST_PATHS = 4
"""Of one fact."""

_PATH = re.compile(r"(?<![\w/:.@~$-])((?:[\w.-]+/)+[\w-][\w.-]*\.[A-Za-z]\w{0,7})(?![\w/*{<])")


def missing(content: str, directory: Path) -> str:
    """The first file named in the text that is gone from its folder in the directory; empty when none is."""
    for named in _PATH.findall(content)[:MOST_PATHS]:
        parts = named.split("/")
        if ".." in parts or "." in parts:
            continue
        try:
            path = directory.joinpath(*parts)
            if path.parent.is_dir() and not path.exists():
                return str(named)
        except OSError:
            continue
    return ""
