"""What a terminal answers when it is asked about itself, read out of the bytes that come, keys among them."""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass, field

_END = rb"(?:\x07|\x1b\\)"
_ANSWERS = re.compile(
    rb"\x1b\[(?P<row>\d{1,5});(?P<column>\d{1,5})R"
    rb"|\x1b\[\?(?P<mode>\d{1,5});(?P<state>\d)\$y"
    rb"|\x1b\[\?(?P<kitty>\d{1,5})u"
    rb"|\x1b\[\?(?P<attributes>[\d;]{0,100})c"
    rb"|\x1b\]11;rgba?:(?P<background>[0-9A-Fa-f/]{3,24})" + _END + rb"|\x1b\]52;[^;\x07\x1b]{0,10};"
    rb"(?P<clipboard>[A-Za-z0-9+/=]{0,200000})"
    + _END
    + rb"|\x1bP>\|(?P<version>[^\x1b\x07]{0,200})"
    + _END
    + rb"|\x1bP(?P<known>[01])\$r(?P<style>[^\x1b\x07]{0,100})"
    + _END
)
IS_SET, IS_RESET, ALWAYS_SET = 1, 2, 3
"""States of a mode that is known; 0 is unknown, 4 is known and never on."""


@dataclass(slots=True)
class Answers:
    """What was answered. Lists are in the order of the questions."""

    columns: list[int] = field(default_factory=list)
    """Where the cursor was, counted from 1, each time it was asked."""
    modes: dict[int, int] = field(default_factory=dict)
    kitty: int | None = None
    """The flags of the kitty keyboard protocol; ``None``: not known there."""
    attributes: str | None = None
    """The device attributes: every terminal answers these, so they end a round of questions."""
    background: str = ""
    """``rrrr/gggg/bbbb``."""
    clipboard: str | None = None
    """What the clipboard holds; ``None``: not told."""
    version: str = ""
    styles: list[str] = field(default_factory=list)
    """The style in use (SGR), each time it was asked; empty where the question is known and the answer is not."""

    def knows(self, mode: int) -> bool:
        return self.modes.get(mode) in (IS_SET, IS_RESET, ALWAYS_SET)


def read(data: bytes) -> Answers:
    """The answers in what came; what is none is left out."""
    found = Answers()
    for match in _ANSWERS.finditer(data):
        match match.lastgroup:
            case "column":
                found.columns.append(int(match["column"]))
            case "state":
                found.modes[int(match["mode"])] = int(match["state"])
            case "kitty":
                found.kitty = int(match["kitty"])
            case "attributes":
                found.attributes = match["attributes"].decode("ascii")
            case "background":
                found.background = match["background"].decode("ascii")
            case "clipboard":
                try:
                    found.clipboard = base64.b64decode(match["clipboard"], validate=True).decode("utf-8", "replace")
                except binascii.Error:
                    continue
            case "version":
                found.version = match["version"].decode("utf-8", "replace")
            case "style":
                found.styles.append(match["style"].decode("ascii", "replace") if match["known"] == b"1" else "")
    return found


def is_answered(data: bytes) -> bool:
    """Whether the round is over: the device attributes, asked last, have come."""
    return any(match.lastgroup == "attributes" for match in _ANSWERS.finditer(data))
