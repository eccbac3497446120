"""The terminal sequence that puts a text on the clipboard (OSC 52), as the terminal needs it and what sits between.

tmux and screen keep what they don't know from the terminal unless it is wrapped; screen takes a string of at most
``SCREEN_CHARS`` at once.
"""

from __future__ import annotations

import base64
from enum import StrEnum

LONGEST_CHARS = 100_000
"""The longest sequence that every terminal which knows it takes whole; a longer one is cut off or ignored by some."""
SCREEN_CHARS = 250


class Between(StrEnum):
    """What a sequence passes on its way to the terminal."""

    NOTHING = "nothing"
    TMUX = "tmux"
    SCREEN = "screen"


def fits(text: str) -> bool:
    """Whether the sequence for ``text`` is short enough."""
    return 4 * -(-len(text.encode("utf-8", "replace")) // 3) + 16 <= LONGEST_CHARS


def sequence(text: str, between: Between = Between.NOTHING) -> str:
    """The sequence that puts ``text`` on the clipboard; ``""`` asks for nothing and takes away what is there."""
    encoded = base64.b64encode(text.encode("utf-8", "replace")).decode("ascii")
    return wrapped(f"\x1b]52;c;{encoded}\x07", between)


def wrapped(plain: str, between: Between) -> str:
    """A sequence as it reaches the terminal through what is between."""
    match between:
        case Between.NOTHING:
            return plain
        case Between.TMUX:
            return "\x1bPtmux;" + plain.replace("\x1b", "\x1b\x1b") + "\x1b\\"
        case Between.SCREEN:
            pieces = (plain[at : at + SCREEN_CHARS] for at in range(0, len(plain), SCREEN_CHARS))
            return "".join(f"\x1bP{piece}\x1b\\" for piece in pieces)
