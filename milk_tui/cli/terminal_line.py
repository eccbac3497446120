"""The line to the person's terminal while the doctor asks it: raw, bounded in time, given back as it was."""

from __future__ import annotations

import os
import select
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from milk_tui.core.terminal_replies import Answers, is_answered, read

ANSWER_S = 2.0
"""Seconds in which a terminal answers, also over a slow line."""
QUESTION_END = b"\x1b[c"
MOST_BYTES = 400_000


class Line:
    """Reads from and writes to one terminal."""

    def __init__(self, reading: int, writing: int) -> None:
        self._reading = reading
        self._writing = writing

    @contextmanager
    def raw(self) -> Iterator[None]:
        """Keys arrive as they are pressed, and are not shown; ctrl+c still ends the program."""
        before = termios.tcgetattr(self._reading)
        now = termios.tcgetattr(self._reading)
        now[0] &= ~(termios.ICRNL | termios.INLCR | termios.IGNCR | termios.IXON | termios.IXOFF)
        now[3] &= ~(termios.ECHO | termios.ICANON | termios.IEXTEN)
        now[6][termios.VMIN], now[6][termios.VTIME] = 1, 0
        termios.tcsetattr(self._reading, termios.TCSADRAIN, now)
        try:
            yield
        finally:
            with suppress(termios.error):
                termios.tcflush(self._reading, termios.TCIFLUSH)
                termios.tcsetattr(self._reading, termios.TCSADRAIN, before)

    def write(self, data: bytes | str) -> None:
        left = memoryview(data.encode() if isinstance(data, str) else data)
        while left:
            left = left[os.write(self._writing, left) :]

    def receive(self, seconds: float) -> bytes:
        """What comes within that time; empty when nothing does. Raises EOFError when the terminal is gone."""
        ready, _, _ = select.select([self._reading], [], [], max(0.0, seconds))
        if not ready:
            return b""
        try:
            data = os.read(self._reading, 65536)
        except OSError:
            data = b""
        if not data:
            raise EOFError
        return data

    def ask(self, questions: bytes, seconds: float = ANSWER_S) -> Answers:
        """Ask, and wait until all is answered or the time is over."""
        self.write(questions + QUESTION_END)
        return read(self.gather(is_answered, seconds))

    def gather(self, enough: Callable[[bytes], bool], seconds: float) -> bytes:
        """What comes until it is enough, or nothing more will come in time."""
        came, deadline = b"", time.monotonic() + seconds
        while not enough(came) and len(came) < MOST_BYTES and (left := deadline - time.monotonic()) > 0:
            came += self.receive(left)
        return came
