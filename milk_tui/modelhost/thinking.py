"""Reasoning: told apart from the answer, and kept in the shape that a provider wants back."""

from __future__ import annotations

from typing import Any

_OPENERS = ("<think>", "<thinking>")
_HELD = 4096
"""Characters of white space that are held back before an answer that may begin with reasoning."""

Piece = tuple[bool, str]
"""Whether it is reasoning, and the text."""


class ThinkSplitter:
    """Tells ``<think>…</think>`` at the beginning of an answer from the answer, however it is cut into
    chunks.

    Only before the first visible character: later, the same tag is text that the model writes about. White
    space around the reasoning goes; reasoning that never ends is reasoning to the end.
    """

    def __init__(self) -> None:
        self._held = ""
        self._closer = ""
        """The tag that ends the reasoning; empty outside of it."""
        self._visible = False
        self._thought = False

    def feed(self, text: str) -> list[Piece]:
        if self._visible:
            return [(False, text)] if text else []
        self._held += text
        pieces: list[Piece] = []
        while self._held and not self._visible and self._step(pieces):
            pass
        return pieces

    def close(self) -> list[Piece]:
        """What was held back when the stream ends."""

        held, self._held = self._held, ""
        if self._closer:
            return [(True, held)] if held else []
        if self._thought:
            held = held.lstrip()
        return [(False, held)] if held else []

    def _step(self, pieces: list[Piece]) -> bool:
        """Use up what can be told; False when more has to come first."""

        return self._inside(pieces) if self._closer else self._before(pieces)

    def _before(self, pieces: list[Piece]) -> bool:
        start = self._held.lstrip()
        for opener in _OPENERS:
            if start.startswith(opener):
                self._held = start[len(opener) :]
                self._closer = "</" + opener[1:]
                self._thought = True
                return True
        if len(self._held) <= _HELD and any(opener.startswith(start) for opener in _OPENERS):
            return False
        self._visible = True
        pieces.append((False, start if self._thought else self._held))
        self._held = ""
        return False

    def _inside(self, pieces: list[Piece]) -> bool:
        end = self._held.find(self._closer)
        if end >= 0:
            if end:
                pieces.append((True, self._held[:end]))
            self._held = self._held[end + len(self._closer) :]
            self._closer = ""
            return True
        keep = _overlap(self._held, self._closer)
        ready = self._held[: len(self._held) - keep]
        if ready:
            pieces.append((True, ready))
        self._held = self._held[len(self._held) - keep :]
        return False


def _overlap(text: str, tag: str) -> int:
    """How many characters at the end of ``text`` begin ``tag``."""

    for size in range(min(len(text), len(tag) - 1), 0, -1):
        if tag.startswith(text[-size:]):
            return size
    return 0


class ThinkingBlocks:
    """Signed reasoning blocks, put together from their pieces (Anthropic wants them back in a tool loop)."""

    def __init__(self) -> None:
        self._blocks: dict[int, dict[str, Any]] = {}

    def add(self, pieces: list[dict[str, Any]]) -> None:
        for piece in pieces:
            number = piece.get("index")
            block = self._blocks.setdefault(number if isinstance(number, int) else 0, {})
            block["type"] = piece.get("type") or block.get("type", "thinking")
            if piece.get("data"):
                block["data"] = piece["data"]
            elif block["type"] == "thinking":
                block["thinking"] = block.get("thinking", "") + (piece.get("thinking") or "")
                block["signature"] = piece.get("signature") or block.get("signature", "")

    def finish(self) -> list[dict[str, Any]]:
        """The whole blocks; one without its signature can't be given back and is left out."""

        blocks = [self._blocks[number] for number in sorted(self._blocks)]
        return [block for block in blocks if block.get("signature") or block.get("data")]


def split_whole(text: str) -> tuple[str, str]:
    """Reasoning and answer of a text that came in one piece."""

    splitter = ThinkSplitter()
    pieces = splitter.feed(text) + splitter.close()
    return "".join(t for inside, t in pieces if inside), "".join(t for inside, t in pieces if not inside)
