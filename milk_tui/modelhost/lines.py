"""Cutting a byte stream into lines, whatever their length and however the pieces come."""

from __future__ import annotations

from milk_tui.modelhost.protocol import MAX_LINE


class LineCutter:
    """``feed(bytes)`` gives the lines that are now whole, without their line feed.

    Linear in the input. A line longer than ``limit`` bytes is dropped and counted in ``dropped``; the next
    line is read as usual.
    """

    def __init__(self, limit: int = MAX_LINE) -> None:
        self.limit = limit
        self.dropped = 0
        self._parts: list[bytes] = []
        self._size = 0
        self._skipping = False

    def feed(self, data: bytes) -> list[bytes]:
        pieces = data.split(b"\n")
        lines: list[bytes] = []
        for piece in pieces[:-1]:
            self._add(piece)
            if self._skipping:
                self._skipping = False
            else:
                lines.append(b"".join(self._parts) if len(self._parts) != 1 else self._parts[0])
            self._parts.clear()
            self._size = 0
        self._add(pieces[-1])
        return lines

    def _add(self, piece: bytes) -> None:
        if self._skipping or not piece:
            return
        self._size += len(piece)
        if self._size > self.limit:
            self.dropped += 1
            self._skipping = True
            self._parts.clear()
            return
        self._parts.append(piece)
