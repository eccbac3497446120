"""Repairs to what Textual makes of the bytes that terminals send for enter with a modifier.

Alt+enter arrives as a plain enter in every terminal without the kitty protocol, and the
``modifyOtherKeys`` form of shift+enter gets a name that can't be bound (``textual-notes.md`` §1): both
would send.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import StrEnum

from textual import _ansi_sequences, events
from textual._xterm_parser import XTermParser


class _Named(StrEnum):
    ALT_ENTER = "alt+enter"


_MODIFY_OTHER_KEYS = re.compile(r"\x1b\[27;(\d{1,3});(\d{1,7})~")
_WITHOUT_TEXT = frozenset({8, 9, 13, 27, 127})
_SHIFT = 1


def as_kitty(sequence: str) -> str:
    """The kitty form (``CSI code ; modifiers u``) of a ``modifyOtherKeys`` sequence; others stay as they
    are.

    A printable character with shift alone keeps its form, in which Textual finds the character to insert.
    """
    match = _MODIFY_OTHER_KEYS.fullmatch(sequence)
    if match is None:
        return sequence
    modifiers, code = int(match[1]), int(match[2])
    if code not in _WITHOUT_TEXT and (modifiers - 1) & ~_SHIFT == 0:
        return sequence
    return f"\x1b[{code};{modifiers}u"


def install() -> None:
    """Repair the key tables of this process's Textual. Safe to call again."""
    table = _ansi_sequences.ANSI_SEQUENCES_KEYS
    assert isinstance(table, dict)
    table["\x1b\r"] = table["\x1b\n"] = (_Named.ALT_ENTER,)

    parse: Callable[[XTermParser, str], list[events.Key] | None] = XTermParser._parse_extended_key
    if getattr(parse, "understands_modify_other_keys", False):
        return

    def parse_extended_key(self: XTermParser, sequence: str) -> list[events.Key] | None:
        try:
            return parse(self, as_kitty(sequence))
        except (OverflowError, ValueError):
            # a number that is no character must not end the reading of keys
            return None

    parse_extended_key.understands_modify_other_keys = True  # type: ignore[attr-defined]
    XTermParser._parse_extended_key = parse_extended_key  # type: ignore[method-assign,assignment]
