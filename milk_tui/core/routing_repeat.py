"""Whether the person says again what the primary has just answered (``semantics.md`` §8): its answer was no good."""

from __future__ import annotations

import difflib
import re

ALIKE = 0.9
FEWEST_WORDS = 4
"""Shorter prompts are said again for other reasons: "go on", "run the tests"."""
COMPARED_CHARS = 4_000

_AGAIN = re.compile(
    r"(?i)\W*(?:please\s+)?(?:run|re-?run|test|re-?test|check|build|commit|push|continue|go on|next|again|retry|"
    r"try again|start|stop|restart|deploy|show|list)\b"
)
"""Orders that are given again because the world has changed meanwhile."""


def repeated(prompt: str, before: str) -> bool:
    """True when ``prompt`` says the same as ``before``: the same words, or nearly."""
    new, old = _plain(prompt), _plain(before)
    if len(new.split()) < FEWEST_WORDS or _AGAIN.match(prompt):
        return False
    if new == old:
        return True
    if not old or not 0.7 < len(new) / len(old) < 1.4:
        return False
    matcher = difflib.SequenceMatcher(None, new.split(), old.split(), autojunk=False)
    return matcher.real_quick_ratio() >= ALIKE and matcher.quick_ratio() >= ALIKE and matcher.ratio() >= ALIKE


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text[:COMPARED_CHARS].casefold()))
