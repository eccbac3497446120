"""Whether the terminal is dark or light: asked at the very start, and never waited for.

The question (OSC 11) is sent before anything slow is imported, and what came meanwhile is looked at when the screen is
made: the answer decides the first frame, what a person has typed waits for a prompt to take it. A later answer
changes the colours when it comes. Terminals that answer nothing may say it in ``COLORFGBG``. Nothing heavy is imported
here.
"""

from __future__ import annotations

import os
import re
import select
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

QUESTION = "\x1b]11;?\x1b\\"
_ANSWER = re.compile(r"\x1b\]11;rgba?:([0-9a-fA-F/]{3,24})(?:\x07|\x1b\\)")
_BEGUN = re.compile(r"\x1b\]11;(?:r(?:g(?:b(?:a?(?::[0-9a-fA-F/]{0,24})?)?)?)?)?\x1b?\Z")
_REPORT = re.compile(r"\x1b\[\?[0-9;]+\$y")
"""What a terminal says of its own modes: Textual draws the first frame by it, so it isn't held with the keys."""
_MUTE = frozenset({"", "dumb", "linux", "unknown"})
"""Terminals that would show the question instead of answering it."""
_DARK_FIELDS = frozenset({0, 1, 2, 3, 4, 5, 6, 8})


def is_dark(colours: str) -> bool | None:
    """Whether ``rrrr/gggg/bbbb`` (one to four digits each) is a dark colour; ``None`` when it is no colour."""
    parts = colours.split("/")[:3]
    if len(parts) < 3 or not all(0 < len(part) <= 4 for part in parts):
        return None
    red, green, blue = (int(part, 16) / (16 ** len(part) - 1) for part in parts)
    brightness: float = 0.299 * red + 0.587 * green + 0.114 * blue
    return brightness < 0.5


def said_by(environ: Mapping[str, str]) -> bool | None:
    """What ``COLORFGBG`` (``15;0``, ``0;default;15``) says; ``None`` when it says nothing."""
    ground = environ.get("COLORFGBG", "").rpartition(";")[2]
    return int(ground) in _DARK_FIELDS if ground.isdecimal() else None


class Question:
    """The question to one terminal. ``dark`` is what it said, ``None`` until then."""

    def __init__(self) -> None:
        self.dark: bool | None = None
        self.on_answer: Callable[[bool], object] | None = None
        """Called with every answer that comes after ``collect``, in the thread that reads the keys."""
        self.parse: Callable[[str], Iterable[Any]] = lambda data: ()
        """Turns keys that were held into events."""
        self.attributes: list[Any] | None = None
        """How the terminal was before."""
        self._waiting = ""
        self._holds = False
        self._lock = threading.Lock()

    @contextmanager
    def asked(self, reading: int, writing: int, environ: Mapping[str, str]) -> Iterator[None]:
        """Ask, and have nothing echoed meanwhile; the terminal is as before at the end. Does nothing without one."""
        import termios

        if environ.get("TERM", "") in _MUTE or not (os.isatty(reading) and os.isatty(writing)):
            yield
            return
        try:
            self.attributes = termios.tcgetattr(reading)
            quiet = termios.tcgetattr(reading)
            quiet[3] &= ~(termios.ECHO | termios.ICANON)
            quiet[6][termios.VMIN], quiet[6][termios.VTIME] = 1, 0
            termios.tcsetattr(reading, termios.TCSANOW, quiet)
            os.write(writing, QUESTION.encode())
        except (OSError, termios.error):
            yield
            return
        try:
            yield
        finally:
            with suppress(OSError, termios.error):
                termios.tcsetattr(reading, termios.TCSANOW, self.attributes)

    def collect(self, reading: int) -> None:
        """Take what came since; keys are held until ``let_go``. Does not wait."""
        if self.attributes is None:
            return
        came = b""
        with suppress(OSError):
            while select.select([reading], [], [], 0)[0] and (more := os.read(reading, 4096)):
                came += more
        self._holds = True
        self._waiting = self._take_answers(came.decode("utf-8", "replace"))

    def heard(self, data: str) -> str:
        """What the terminal sent, without answers to the question. One that is not whole yet is kept for the next time,
        and everything is while keys are held."""
        with self._lock:
            before = self.dark
            data = self._waiting + data
            self._waiting = ""
            if "\x1b]11;" in data:
                data = self._take_answers(data)
            if self._holds:
                self._waiting = _REPORT.sub("", data)
                data = "".join(_REPORT.findall(data))
            elif (begun := _BEGUN.search(data)) is not None:
                data, self._waiting = data[: begun.start()], begun[0]
        if self.dark is not None and self.dark is not before and self.on_answer is not None:
            self.on_answer(self.dark)
        return data

    def let_go(self, send: Callable[[str], object]) -> None:
        """Keys have somewhere to go from now on: hand ``send`` those that were held, before any later one."""
        with self._lock:
            if not self._holds:
                return
            self._holds = False
            held, self._waiting = self._waiting, ""
            if (begun := _BEGUN.search(held)) is not None:
                held, self._waiting = held[: begun.start()], begun[0]
            if held:
                send(held)

    def _take_answers(self, data: str) -> str:
        for match in _ANSWER.finditer(data):
            if (dark := is_dark(match[1])) is not None:
                self.dark = dark
        return _ANSWER.sub("", data)


THE_TERMINAL = Question()
"""The question to the terminal that the program runs in."""


def install(question: Question = THE_TERMINAL) -> None:
    """Have this process's Textual take the answers out of what it reads. Call once."""
    from textual._xterm_parser import XTermParser

    feed = XTermParser.feed

    def feed_without_answers(self: XTermParser, data: str) -> Any:
        if data and not (data := question.heard(data)):
            return ()
        return feed(self, data)

    XTermParser.feed = feed_without_answers  # type: ignore[method-assign]
    question.parse = lambda data: feed(XTermParser(), data)
