"""Shortening and labelling of text that goes to an agent: every cut is marked, no label can be forged."""

from __future__ import annotations

import re

from milk_tui.core import tags
from milk_tui.core.text import clean

RESULT_CHARS = 500
"""Code points of a tool result that are kept in a summary (``semantics.md`` §3); exactly so many stay."""

LABELS = (
    "Context from milk",
    "Current need",
    "Why you were called",
    "Summary of",
    "Remembered facts",
    "Pinned facts",
    "Changed since",
    "Project file",
    "Invariants",
    "Frame",
    "Working set",
    "Notes",
    "News",
)
"""How the blocks of a context begin, after their ``[``. Text inside a block can't spell one (``escape``)."""

_label = re.compile(r"(?<!\\)\[(?=\s*+(?:/\s*+)?(?:" + "|".join(map(re.escape, LABELS)) + r")\b)", re.IGNORECASE)
_reasoning = re.compile(
    r"(?:^[ \t]*<(think|thinking|reasoning)>.*?</\1>\s*|\A\s*<(?:think|thinking|reasoning)>.*\Z)",
    re.IGNORECASE | re.DOTALL | re.MULTILINE,
)
_reasoning_head = re.compile(r"\A[^`<]*</(?:think|thinking|reasoning)>[ \t]*(?:\n\s*|\Z)", re.IGNORECASE)


def cut_inside(text: str, limit: int) -> str:
    """The text within ``limit`` code points: head and tail kept, the cut marked with what it took."""
    if len(text) <= limit:
        return text
    mark = f"\n[… {len(text):,} characters cut …]\n"
    if limit < 2 * len(mark):
        return cut_end(text, limit)
    kept = limit - len(mark)
    head = kept * 2 // 3
    gone = len(text) - kept
    return f"{text[:head]}\n[… {gone:,} characters cut …]\n{text[len(text) - (kept - head) :]}"


def cut_end(text: str, limit: int) -> str:
    """The head of the text within ``limit`` code points, ending in ``…`` when cut."""
    if len(text) <= limit:
        return text
    return text[: limit - 1].rstrip() + "…" if limit > 0 else ""


def cut_result(text: str, limit: int = RESULT_CHARS, unseen: int = 0) -> str:
    """A tool result of at most ``limit`` code points, followed by a mark with what was cut (§3).

    ``unseen`` counts what the caller already left off.
    """
    gone = max(0, len(text) - limit) + unseen
    return f"{text[:limit]}… [{gone:,} characters cut]" if gone else text


def without_reasoning(answer: str) -> str:
    """The answer without ``<think>`` blocks that begin a line. One that begins the answer and is never closed
    reaches to the end; one that lost its opening reaches from the start, if nothing before its close looks
    like code.
    """
    if "<" not in answer:
        return answer
    answer = _reasoning.sub("", answer)
    return _reasoning_head.sub("", answer) if "</" in answer else answer


def plain(text: str) -> str:
    """What may stand in a summary or a block: no terminal escapes, no tags (§3)."""
    text = clean(text)
    return (tags.strip_all(text) if "<" in text else text).strip()


def escape(text: str) -> str:
    """The text with every bracket that would open or close one of our blocks made harmless. Idempotent."""
    return _label.sub(r"\\[", text) if "[" in text else text


def block(label: str, body: str) -> str:
    """A labelled block; the caller has escaped what it doesn't own in ``body``."""
    return f"[{label}]\n{body}\n[/{label}]"
