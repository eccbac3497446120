"""Nonce tags: ``<milk:KIND:NONCE>BODY</milk:KIND:NONCE>`` in an answer (``semantics.md`` §1).

Give the interceptor text that a ``StreamCleaner`` has been over: an escape or an invisible character
inside a header would otherwise hide a tag from it and leave the nonce readable once it is cleaned.

What the document leaves open is decided like this:

- Headers are exact: lower case, no blanks. A close that closes nothing is text.
- A close of the same kind with another nonce, or with none, ends a tag as malformed: the tag goes, body
  and all, and nothing is recorded, as for a tag that never ends. A close of another kind is body.
- A body is over its bound when no close begins within ``BODY_CHARS`` of it. Its open header is then text,
  and what follows is read as if that header were a word: tags and code further on count.
- A tag in Markdown code is shown as it is, nonce and all: what is shown or kept goes through ``StreamMask``.
- To Markdown a tag that is taken out was never there: a fence right behind a tag at the start of a line
  is a fence.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Callable, Iterable
from copy import copy
from enum import StrEnum

from msgspec import Struct

from milk_tui.core.markdown_code import CodeScanner
from milk_tui.core.records import Consumer
from milk_tui.core.text import clean, one_line

HEADER_CHARS = 64
"""The longest header, open or close."""

BODY_CHARS = 4096
"""The longest body, before trimming."""

FACT_CHARS = 2000
"""The longest fact; a longer one is refused."""

NEED_CHARS = 280
"""The longest need; a longer one is cut with ``…``."""

MASK = "••••••"
"""What a nonce is shown as."""


class TagKind(StrEnum):
    """What a tag says. An invariant is always a proposal."""

    PERCEPT = "percept"
    NEED = "need"
    ESCALATE = "escalate"
    FRAME = "frame"
    WORKING = "working"
    INVARIANT = "invariant"


class Capture(Struct, frozen=True):
    """A tag with the agent's own nonce: its trimmed body, and in ``refused`` why it must not be recorded.

    A need is one line of at most ``NEED_CHARS``; every other body may have several lines.
    """

    kind: TagKind
    body: str
    refused: str = ""


_KINDS = "|".join(TagKind)
_close_of: dict[str, Callable[..., re.Match[str] | None]] = {
    kind: re.compile(rf"</milk:{kind}(?::([^<>\s]{{0,{HEADER_CHARS - len(kind) - 9}}}))?>").search for kind in TagKind
}
_nonce_shaped = re.compile(r"[a-z0-9]{1,40}").fullmatch


class Interceptor:
    """Takes an agent's tags out of its answer: ``feed`` gives the text to show, ``take`` the captures.

    The result is the same for every way of cutting the answer. Outside a tag at most one partial header
    is held back. Time is linear in the text; memory is bounded by one tag.

    ``nonce`` is the agent's own, ``foreign`` are those of the session's other agents: their tags are
    taken out but not captured. An empty nonce stands for none; ``ValueError`` for one that isn't lower
    case letters and digits.

    For a runtime that takes a block back: ``mark`` at the start of each block, ``rollback`` when it is
    abandoned.
    """

    __slots__ = (
        "_captures",
        "_code",
        "_held",
        "_kept",
        "_mark",
        "_nonce",
        "_open",
        "_searched",
        "_shown",
        "_starts",
    )

    def __init__(self, nonce: str, foreign: Iterable[str] = ()) -> None:
        nonces = [n for n in (nonce, *foreign) if n]
        if bad := [n for n in nonces if not _nonce_shaped(n)]:
            raise ValueError(f"not a nonce: {bad[0]!r}")
        self._nonce = nonce
        self._open = re.compile(rf"<milk:({_KINDS}):({'|'.join(nonces) or '(?!)'})>").match
        self._starts = tuple(f"<milk:{kind}:{n}>" for kind in TagKind for n in nonces)
        self._code = CodeScanner()
        self._held = ""  # from the "<" of a header that is partial, or whose close has not been read
        self._searched = 0  # characters of it in which there is no close
        self._captures: list[Capture] = []
        self.mark()

    def feed(self, text: str) -> str:
        """The text to show so far; tags are taken out."""
        shown = self._read(text, last=False)
        self._shown += len(shown)
        return shown

    def close(self) -> str:
        """The end of the text: the rest to show. The interceptor is then as new, but keeps its captures."""
        shown = self._read("", last=True) if self._held else ""
        self._code = CodeScanner()
        self.mark()
        return shown

    def take(self) -> list[Capture]:
        """The captures since the last call, in the order of their close tags."""
        captures, self._captures = self._captures, []
        self._kept = 0
        return captures

    def mark(self) -> None:
        """Remember this place as the start of a block. The start of the text is marked already."""
        self._mark = copy(self._code), self._held, self._searched
        self._shown = 0
        self._kept = len(self._captures)

    def rollback(self) -> int:
        """Forget everything since the mark, captures not taken yet too, and be ready for the block again.

        Returns how many characters have been given out to show since the mark: the caller takes them
        back, and what it did about captures that it has taken.
        """
        code, self._held, self._searched = self._mark
        self._code = copy(code)
        del self._captures[self._kept :]
        shown, self._shown = self._shown, 0
        return shown

    def _read(self, text: str, *, last: bool) -> str:
        if self._held:
            text = self._held + text
            at = 0
        else:
            at = self._code.find(text, 0)
        end = len(text)
        if at == end:
            return text
        searched, self._held, self._searched = self._searched, "", 0
        no_close: dict[str, int] = {}
        shown: list[str] = []
        shown_to = 0
        while at < end:
            header = self._open(text, at)
            if header is None:
                if not last and self._may_become_header(text, at):
                    break
                at = self._code.find(text, at + 1)
                continue
            kind, body_at = header[1], header.end()
            limit = body_at + BODY_CHARS
            search_from = max(body_at, no_close.get(kind, 0), searched - HEADER_CHARS)
            searched = 0
            close = _close_of[kind](text, search_from, limit + HEADER_CHARS)
            if close is not None and close.start() <= limit:
                shown.append(text[shown_to:at])
                shown_to = close.end()
                if header[2] == close[1] == self._nonce:
                    self._capture(TagKind(kind), text[body_at : close.start()])
                self._code.tag_removed()
                at = self._code.find(text, shown_to)
            elif end > limit + (0 if last else HEADER_CHARS):
                no_close[kind] = limit if close is None else close.start()
                at = self._code.find(text, at + 1)
            elif last:
                shown.append(text[shown_to:at])
                return "".join(shown)
            else:
                self._searched = end - at
                break
        self._held = text[at:]
        shown.append(text[shown_to:at])
        return "".join(shown)

    def _may_become_header(self, text: str, at: int) -> bool:
        tail = text[at : at + HEADER_CHARS]
        return at + len(tail) == len(text) and any(start.startswith(tail) for start in self._starts)

    def _capture(self, kind: TagKind, body: str) -> None:
        body = one_line(body, NEED_CHARS) if kind is TagKind.NEED else body.strip()
        if not body:
            return
        refused = ""
        if kind is TagKind.PERCEPT and len(body) > FACT_CHARS:
            refused = f"A fact may have {FACT_CHARS:,} characters, this one has {len(body):,}."
        self._captures.append(Capture(kind, body, refused))


_any_header = re.compile(rf"<(/?)milk:((?:{_KINDS})(?::[^<>\s]{{0,{HEADER_CHARS}}})?)>")
_header_start = re.compile(r"<(?=/?milk:)")
_tag_like = re.compile(r"<\s*/?\s*milk\s*:", re.IGNORECASE).search


def strip_all(text: str) -> str:
    """The text without any milk tag, whatever its nonce and wherever it stands, code too.

    A tag with a close of its kind and nonce within ``BODY_CHARS`` goes with its body; of any other only
    the header goes. For bricks and stored text (``semantics.md`` §3): what one agent is shown of the
    other's words.
    """
    for _ in range(3):
        cuts = _tags_and_headers(text)
        if not cuts:
            return text
        ends = [0, *(end for _, end in cuts)]
        starts = [*(start for start, _ in cuts), len(text)]
        text = "".join(text[end:start] for end, start in zip(ends, starts, strict=True))
    return _header_start.sub("", text)  # headers nested in headers: no honest text


def _tags_and_headers(text: str) -> list[tuple[int, int]]:
    """Where ``strip_all`` cuts, in order and without overlap; linear in the text."""
    cuts: list[tuple[int, int]] = []
    if "milk:" not in text:
        return cuts
    opened: list[tuple[str, int, int]] = []
    places: defaultdict[str, deque[int]] = defaultdict(deque)
    for header in _any_header.finditer(text):
        start, tag = header.start(), header[2]
        if not header[1]:
            places[tag].append(len(opened))
            opened.append((tag, start, header.end()))
        else:
            own = places[tag]
            while own and start - opened[own[0]][2] > BODY_CHARS:
                own.popleft()
            if own:
                first = own[0]
                start = opened[first][1]
                for inner, *_ in opened[first:]:
                    if places[inner]:
                        places[inner].pop()
                del opened[first:]
                while cuts and cuts[-1][0] >= start:
                    cuts.pop()
        cuts.append((start, header.end()))
    return cuts


def looks_like_tag(text: str) -> bool:
    """True when the text holds anything like a milk tag, however sloppily written (``recall.md``, Safety)."""
    return bool(_tag_like(clean(text)))


def mask(text: str, nonces: Iterable[str]) -> str:
    """The text with every nonce shown as ``••••••``: for screen, receipts, exports and logs."""
    present = [re.escape(nonce) for nonce in nonces if nonce and nonce in text]
    return re.sub("|".join(present), MASK, text) if present else text


class StreamMask:
    """``mask`` for text that arrives in pieces. What may be the start of a nonce is held back."""

    __slots__ = ("_held", "_nonces")

    def __init__(self, nonces: Iterable[str]) -> None:
        self._nonces = tuple(nonce for nonce in nonces if nonce)
        self._held = ""

    def feed(self, text: str) -> str:
        text = mask(self._held + text, self._nonces)
        held = max((_overlap(text, nonce) for nonce in self._nonces), default=0)
        self._held = text[len(text) - held :]
        return text[: len(text) - held]

    def close(self) -> str:
        """What was held back; the mask is then as new."""
        held, self._held = self._held, ""
        return held


def _overlap(text: str, nonce: str) -> int:
    """How many characters at the end of the text are the start of the nonce, but not all of it."""
    return next((n for n in range(min(len(nonce) - 1, len(text)), 0, -1) if text.endswith(nonce[:n])), 0)


def split_consumer(body: str, primary_name: str, escalation_name: str) -> tuple[Consumer, str]:
    """Whom a fact is for, and the fact without its ``@NAME:``; with an unknown name it is shared, verbatim.

    Case is ignored, blanks behind the colon are optional. A name may itself have a colon (``qwen:7b``);
    an empty name is nobody's. The fact may come out blank.
    """
    names = [(primary_name, Consumer.PRIMARY), (escalation_name, Consumer.ESCALATION)]
    fact = body.lstrip()
    for name, consumer in sorted(names, key=lambda pair: -len(pair[0])):
        hint = f"@{name}:"
        if name and fact[: len(hint)].casefold() == hint.casefold():
            return consumer, fact[len(hint) :].lstrip()
    return Consumer.ALL, body
