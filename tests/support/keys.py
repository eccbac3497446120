"""Keys by the names that Textual gives them, and what terminals send for them."""

from __future__ import annotations

KEYS: dict[str, bytes] = {
    "enter": b"\r",
    "tab": b"\t",
    "shift+tab": b"\x1b[Z",
    "escape": b"\x1b",
    "backspace": b"\x7f",
    "delete": b"\x1b[3~",
    "insert": b"\x1b[2~",
    "up": b"\x1b[A",
    "down": b"\x1b[B",
    "right": b"\x1b[C",
    "left": b"\x1b[D",
    "home": b"\x1b[H",
    "end": b"\x1b[F",
    "pageup": b"\x1b[5~",
    "pagedown": b"\x1b[6~",
    "space": b" ",
    "alt+enter": b"\x1b\r",
    "shift+enter": b"\x1b[27;2;13~",
    "f1": b"\x1bOP",
    "f2": b"\x1bOQ",
    "f3": b"\x1bOR",
    "f4": b"\x1bOS",
    "f5": b"\x1b[15~",
    "f6": b"\x1b[17~",
    "shift+f6": b"\x1b[17;2~",
    **{f"ctrl+{letter}": bytes([ord(letter) - 96]) for letter in "abcdefghijklmnopqrstuvwxyz"},
}
"""What a plain xterm sends for a key."""
MORE_KEYS: dict[str, bytes] = {
    "f8": b"\x1b[19~",
    "ctrl+up": b"\x1b[1;5A",
    "ctrl+down": b"\x1b[1;5B",
    "ctrl+end": b"\x1b[1;5F",
    "slash": b"/",
    "question_mark": b"?",
    "plus": b"+",
    "minus": b"-",
    "equals_sign": b"=",
    "left_square_bracket": b"[",
    "right_square_bracket": b"]",
    "left_curly_bracket": b"{",
    "right_curly_bracket": b"}",
}
"""Keys and signs beside those."""


def bytes_of(key: str) -> bytes:
    """What is sent for a key by its name; a name of one character is that character."""
    return KEYS.get(key) or MORE_KEYS.get(key) or key.encode()
