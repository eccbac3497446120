"""Repairs to what Textual makes of the bytes that terminals send for enter with a modifier.

Alt+enter arrives as a plain enter in every terminal without the kitty protocol, and the
``modifyOtherKeys`` form of shift+enter gets a name that can't be bound (``textual-notes.md`` §1): both
would send. And Textual asks for the kitty protocol alone, which tmux and xterm don't know: shift+enter would be a
plain enter there, however they are set up.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from enum import StrEnum

from textual import _ansi_sequences, events
from textual._xterm_parser import XTermParser

from milk_tui.ui import paste_reader


class _Named(StrEnum):
    ALT_ENTER = "alt+enter"


_MODIFY_OTHER_KEYS = re.compile(r"\x1b\[27;(\d{1,3});(\d{1,7})~")
_WITHOUT_TEXT = frozenset({8, 9, 13, 27, 127})
_SHIFT = 1

ASK = "\x1b[>4;1m"
"""``modifyOtherKeys``, first level: keys that have a sequence of their own keep it."""
NO_MORE = "\x1b[>4m"


def wants_asking(environ: Mapping[str, str]) -> bool:
    """True in a terminal that tells shift+enter from enter when it is asked in the old way, and in no other."""
    return bool(environ.get("TMUX") or environ.get("XTERM_VERSION") or environ.get("TERM_PROGRAM") == "mintty")


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
    """Repair the reading of keys and pastes in this process's Textual. Safe to call again."""
    paste_reader.install()
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
    if wants_asking(os.environ):
        _ask()


def _ask() -> None:
    """Ask whenever the screen is taken, and take it back whenever it is given away, also for an editor."""
    from textual.drivers.linux_driver import LinuxDriver

    start: Callable[[LinuxDriver], None] = LinuxDriver.start_application_mode
    stop: Callable[[LinuxDriver], None] = LinuxDriver.stop_application_mode

    def start_application_mode(self: LinuxDriver) -> None:
        start(self)
        self.write(ASK)

    def stop_application_mode(self: LinuxDriver) -> None:
        self.write(NO_MORE)
        stop(self)

    LinuxDriver.start_application_mode = start_application_mode  # type: ignore[method-assign]
    LinuxDriver.stop_application_mode = stop_application_mode  # type: ignore[method-assign]
