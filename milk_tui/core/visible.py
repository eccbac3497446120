"""Text of others where every character counts: what can't be seen is spelled out, nothing is taken away.

``core.text.clean`` removes what could mislead; a person who decides about a command must see that it is there.
"""

from __future__ import annotations

import json
import re

_KEPT = "\n\t"
_unseen = re.compile(r"[^\x20-\x7e\n\t]").search


def visible(text: str) -> str:
    """The text with control, direction and invisible characters as escapes such as ``\\u202e``; line feeds and tabs
    stay. ASCII costs one search."""
    if _unseen(text) is None:
        return text
    return "".join(c if c in _KEPT or c.isprintable() else json.dumps(c)[1:-1] for c in text)
