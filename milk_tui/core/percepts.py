"""Percepts: what may become one, what it weighs at birth, and which of them an agent is given
(``semantics.md`` §2).

Ranking here is by shared words; the order of candidates that share nothing is weight, then the last
confirmation.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from milk_tui.core.cuts import escape
from milk_tui.core.errors import PerceptRefusedError
from milk_tui.core.records import BIRTH_WEIGHT, PINNED_WEIGHT, Percept, Producer
from milk_tui.core.secret_scan import secret_kind
from milk_tui.core.text import clean
from milk_tui.core.words import words

MAX_CHARS = 2_000
MAX_PER_TURN = 8
"""Facts of the agents in one turn; more is a flood."""
MAX_ITEMS = 25
MAX_BYTES = 2_048
PINNED_BYTES = 1_024
TAINTED_WEIGHT = 500

_TAG = re.compile(r"<\s*/?\s*milk\s*:", re.IGNORECASE)
_LABEL = re.compile(r"^\s*(?:-\s*)?#[0-9a-f]{6}\s+\d{4}-\d{2}-\d{2}\s+[^:\s]{1,40}\s*:?\s+(?=\S)")
_LAST_MS = 253_402_300_799_000


class SecretRefusedError(PerceptRefusedError):
    """The text looks like it holds a secret; the person, and no one else, may store it all the same."""

    def __init__(self, kind: str) -> None:
        super().__init__(f"Not stored: it looks like it holds a secret ({kind}).", "Only you can store it anyway.")
        self.kind = kind


def normalise(text: str) -> str:
    """One line: NFC, white space folded, without control, direction and invisible characters. Idempotent."""
    for _ in range(8):
        before = text
        text = " ".join(clean(unicodedata.normalize("NFC", text)).split())
        if text == before:
            break
    return text


def content_hash(content: str) -> str:
    """The same for texts that are equal once normalised: the only thing that makes a duplicate here."""
    import hashlib

    return hashlib.sha256(normalise(content).encode()).hexdigest()


def admit(text: str, *, nonces: Iterable[str] = (), allow_secret: bool = False) -> str:
    """The normalised text of a fact, if it may be one.

    ``nonces`` are the live ones of the session. ``allow_secret`` is the person's explicit override. Raises
    PerceptRefusedError, with a reason to show, for a blank text, one of more than ``MAX_CHARS`` characters,
    tag-like text, a live nonce, and (SecretRefusedError) what looks like a secret. No reason repeats the
    text.
    """
    content = normalise(text)
    if not content:
        raise PerceptRefusedError("Not stored: there is no text in it.")
    if len(content) > MAX_CHARS:
        raise PerceptRefusedError(
            f"Not stored: it has {len(content):,} characters.",
            f"A fact has at most {MAX_CHARS:,}: say it shorter.",
        )
    if _TAG.search(content) or any(nonce and nonce in content for nonce in nonces):
        raise PerceptRefusedError("Not stored: it contains a memory tag, or the mark of one.", "State the fact itself.")
    if not allow_secret and (kind := secret_kind(content)):
        raise SecretRefusedError(kind)
    return content


def without_label(text: str) -> str:
    """A fact without the id, day and speaker before it, as it stands in a block of remembered facts: an agent that
    repeats one says it like that."""
    return _LABEL.sub("", text, count=1)


def check_flood(stored: int, limit: int = MAX_PER_TURN) -> None:
    """Raises PerceptRefusedError when the turn's agents have already stored ``limit`` facts."""
    if stored >= limit:
        raise PerceptRefusedError(f"Not stored: this turn already gave {limit} facts.", "Use /learn to add it.")


def birth(producer: Producer, pinned: bool = False, *, tainted: bool = False) -> int:
    """The weight of a new percept, in thousandths; what comes from outside weighs at most ``TAINTED_WEIGHT``."""
    if pinned:
        return PINNED_WEIGHT
    return min(BIRTH_WEIGHT[producer], TAINTED_WEIGHT) if tainted else BIRTH_WEIGHT[producer]


def line(percept: Percept) -> str:
    """The percept as an agent is given it: ``#id date producer: text (aside)`` on one line that can't end its
    block.
    """
    ms = min(max(percept.created_ms, 0), _LAST_MS)
    date = datetime.fromtimestamp(ms / 1000, UTC).date()
    aside = f" ({normalise(percept.aside)})" if percept.aside else ""
    return escape(f"{percept.short_id} {date} {percept.producer}: {normalise(percept.content)}{aside}")


def rank(percepts: Iterable[Percept], prompt: str) -> list[Percept]:
    """Best first: more of the prompt's words, then more weight, then the later confirmation."""
    asked = words(prompt)
    return sorted(
        percepts,
        key=lambda p: (-len(asked & words(f"{p.content} {p.subject}")), -p.weight, -p.confirmed_ms, p.id),
    )


def pack(ranked: Sequence[Percept], *, max_items: int = MAX_ITEMS, max_bytes: int = MAX_BYTES) -> list[Percept]:
    """Those that fit, in order: at most ``max_items`` whose lines, each with its line break, have
    ``max_bytes`` bytes in UTF-8. One that doesn't fit is skipped and the next one tried."""
    kept: list[Percept] = []
    room = max_bytes
    for percept in ranked:
        if len(kept) >= max_items or room <= 0:
            break
        size = len(line(percept).encode(errors="replace")) + 1
        if size <= room:
            kept.append(percept)
            room -= size
    return kept
