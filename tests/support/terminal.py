"""A terminal for tests: a real program in a pseudo-terminal, its screen kept by an emulator (pyte).

Nothing here sleeps: every wait reads what the program writes until a predicate holds or a deadline passes.
One thread; the program's output is read only inside ``pump``, ``settle`` and the ``wait_…`` calls.
"""

from __future__ import annotations

import base64
import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType

from tests.support.emulator import Screen, Stream
from tests.support.keys import bytes_of

_TAIL = re.compile(rb"(?:\x1b(?:\[[?<=>]?[0-9;]*\$?|[\]P_][^\x07\x1b]*\x1b?)?|\xe2\x80?)\Z")
_SPECIAL = re.compile(
    rb"\x1b\[(?P<query>6n|0?c|>0?c|\?\d+\$p|\?u)"
    rb"|\x1b\[[<=>][0-9;]*[A-Za-z]"
    rb"|\x1b\[\?[0-9;]*m"  # an editor asks for the state of a key mode
    rb"|\x1b\](?P<osc>[^\x07\x1b]*)(?:\x07|\x1b\\)"
    rb"|\x1b[P_][^\x1b]*\x1b\\"
    rb"|\xe2\x80[\x8c\x8d]"  # joiners, at which pyte stops to draw
)
_LONGEST_TAIL = 4_000_000
_SYNCHRONIZED = 2026 << 5
"""The mode of synchronized output, as pyte keeps private modes."""


class TerminalTimeoutError(AssertionError):
    """A predicate did not hold in time; the message shows the screen as it was."""


class ProgramEndedError(AssertionError):
    """The program ended while a test waited for its screen."""


class Terminal:
    """A program in a pseudo-terminal of ``cols`` x ``rows`` cells.

    ``background`` is its colour (``rrrr/gggg/bbbb``) for programs that ask. It answers the usual queries: cursor,
    device attributes, synchronized output (known, off), other modes (unknown), colours.
    """

    def __init__(self, pid: int, fd: int, cols: int, rows: int, *, background: str, spawned_at: float) -> None:
        self.pid = pid
        self.spawned_at = spawned_at
        """``time.perf_counter()`` right before the program was started."""
        self.screen = Screen(cols, rows)
        self.clipboard: list[str] = []
        """Every text that the program sent by OSC 52, oldest first."""
        self.raw_bytes = 0
        self.tap: Callable[[bytes], object] | None = None
        """Is given everything that the program writes, as it writes it."""
        self.exit_code: int | None = None
        """As from ``subprocess``: negative for a signal; ``None`` while it runs."""
        self._fd = fd
        self._stream = Stream(self.screen)
        self._tail = b""
        self._background = background
        self._ended = False

    @classmethod
    def spawn(
        cls,
        argv: Sequence[str],
        *,
        cols: int = 120,
        rows: int = 40,
        env: Mapping[str, str] | None = None,
        cwd: Path | str | None = None,
        background: str = "0000/0000/0000",
    ) -> Terminal:
        """Start ``argv``; ``env`` is added to this process's environment (an empty value removes a name)."""
        full = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES", "NO_COLOR", "TMUX")}
        full.update(TERM="xterm-256color", COLORTERM="truecolor")
        for name, value in (env or {}).items():
            if value:
                full[name] = value
            else:
                full.pop(name, None)
        size = struct.pack("HHHH", rows, cols, 0, 0)
        spawned_at = time.perf_counter()
        pid, fd = pty.fork()
        if pid == 0:
            try:
                fcntl.ioctl(0, termios.TIOCSWINSZ, size)
                if cwd is not None:
                    os.chdir(cwd)
                os.execvpe(argv[0], list(argv), full)
            except OSError as error:
                os.write(2, f"{argv[0]}: {error}\n".encode())
            os._exit(127)
        return cls(pid, fd, cols, rows, background=background, spawned_at=spawned_at)

    @classmethod
    def python(cls, *args: str, cols: int = 120, rows: int = 40, **options: object) -> Terminal:
        """Start this Python with ``args``."""
        return cls.spawn([sys.executable, *args], cols=cols, rows=rows, **options)  # type: ignore[arg-type]

    def __enter__(self) -> Terminal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def text(self) -> str:
        """The screen: one line a row, trailing blanks removed."""
        return "\n".join(line.rstrip() for line in self.screen.display)

    @property
    def lines(self) -> list[str]:
        return [line.rstrip() for line in self.screen.display]

    @property
    def title(self) -> str:
        return self.screen.title

    @property
    def alive(self) -> bool:
        self._reap(block=False)
        return self.exit_code is None

    @property
    def fd(self) -> int:
        """The terminal's end of the line, for whoever reads the bytes itself and no longer looks at the screen."""
        return self._fd

    @property
    def whole(self) -> bool:
        """False in the middle of a frame: a person is shown only whole ones."""
        return self._ended or _SYNCHRONIZED not in self.screen.mode

    def row_of(self, text: str) -> int:
        """The first row that holds ``text``; -1 when there is none."""
        return next((y for y, line in enumerate(self.lines) if text in line), -1)

    def send(self, data: str | bytes) -> None:
        """Write ``data`` as if typed; large texts are fed while the program's output is read."""
        left = data.encode() if isinstance(data, str) else data
        while left:
            reading, writing, _ = select.select([self._fd], [self._fd], [], 10)
            if reading:
                self._read()
            if writing:
                left = left[os.write(self._fd, left[:1024]) :]
            if not reading and not writing:
                raise TerminalTimeoutError(f"the program reads no keys; {len(left)} bytes left\n{self.text}")

    def press(self, *keys: str) -> None:
        """Press keys by name."""
        for key in keys:
            self.send(bytes_of(key))

    def paste(self, text: str) -> None:
        """Paste ``text`` as one bracketed block."""
        self.send(b"\x1b[200~" + text.replace("\n", "\r").encode() + b"\x1b[201~")

    def pump(self, seconds: float = 0.0) -> bool:
        """Wait at most ``seconds`` for output and read one piece of it; False when there was none."""
        if self._ended:
            return False
        ready, _, _ = select.select([self._fd], [], [], max(0.0, seconds))
        return bool(ready) and self._read()

    def settle(self, quiet_s: float = 0.2, deadline_s: float = 2.0) -> str:
        """Read until nothing came for ``quiet_s``, or until ``deadline_s`` where something always moves; returns the
        screen."""
        until = time.monotonic() + deadline_s
        while time.monotonic() < until and self.pump(quiet_s):
            pass
        return self.text

    def wait_for(self, wanted: str | Callable[[str], object], deadline_s: float = 30.0) -> str:
        """Read until ``wanted`` (a text, or a predicate over the screen's text) holds on a whole screen; returns it.

        Raises ``TerminalTimeoutError`` after ``deadline_s``, ``ProgramEndedError`` when the program ends.
        """
        holds = (lambda screen: wanted in screen) if isinstance(wanted, str) else wanted
        until = time.monotonic() + deadline_s
        while not (self.whole and holds(self.text)):
            if self._ended:
                raise ProgramEndedError(f"ended (exit {self.wait_exit()}) before {wanted!r}:\n{self.text}")
            if time.monotonic() > until:
                raise TerminalTimeoutError(f"{wanted!r} not within {deadline_s} s:\n{self.text}")
            self.pump(0.05)
        return self.text

    def wait_gone(self, text: str, deadline_s: float = 30.0) -> str:
        """Read until ``text`` is no longer on the screen."""
        return self.wait_for(lambda screen: text not in screen, deadline_s)

    def wait_exit(self, deadline_s: float = 20.0) -> int:
        """Read until the program has ended; returns its exit code (negative: the signal)."""
        until = time.monotonic() + deadline_s
        while self.exit_code is None:
            if time.monotonic() > until:
                raise TerminalTimeoutError(f"still running after {deadline_s} s:\n{self.text}")
            if not self.pump(0.05) and self._ended:
                self._reap(block=True)
            else:
                self._reap(block=False)
        while self.pump(0):
            pass
        return self.exit_code

    def resize(self, cols: int, rows: int) -> None:
        """Change the window; the program gets SIGWINCH."""
        fcntl.ioctl(self._fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))
        self.screen.resize(rows, cols)

    def kill(self, number: int = signal.SIGKILL) -> None:
        """Send a signal to the program alone, by default the one that can't be caught."""
        if self.exit_code is None:
            try:
                os.kill(self.pid, number)
            except ProcessLookupError:
                pass

    def vanish(self) -> None:
        """Take the pseudo-terminal away under the program, as when a connection breaks."""
        os.close(self._fd)
        self._fd = -1
        self._ended = True

    def close(self) -> None:
        """End the program (politely, then not) and give the pseudo-terminal back. Safe to call twice."""
        if self._fd < 0:
            return
        if self.alive:
            self.kill(signal.SIGTERM)
            try:
                self.wait_exit(3)
            except TerminalTimeoutError:
                self.kill()
                self.wait_exit(10)
        os.close(self._fd)
        self._fd = -1
        self._ended = True

    def _reap(self, *, block: bool) -> None:
        if self.exit_code is not None:
            return
        pid, status = os.waitpid(self.pid, 0 if block else os.WNOHANG)
        if pid:
            self.exit_code = os.waitstatus_to_exitcode(status)

    def _read(self) -> bool:
        try:
            data = os.read(self._fd, 65536)
        except OSError:
            data = b""
        if not data:
            self._ended = True
            return False
        self._take(data)
        return True

    def _take(self, data: bytes) -> None:
        """Show what the program wrote."""
        self.raw_bytes += len(data)
        if self.tap is not None:
            self.tap(data)
        data = self._tail + data
        tail = _TAIL.search(data)
        cut = tail.start() if tail and len(data) - tail.start() < _LONGEST_TAIL else len(data)
        self._tail = data[cut:]
        fed = 0
        for special in _SPECIAL.finditer(data, 0, cut):
            self._stream.feed(data[fed : special.start()])  # what is asked after a text is answered after it
            self._stream.feed(self._special(special))
            fed = special.end()
        self._stream.feed(data[fed:cut])

    def _special(self, match: re.Match[bytes]) -> bytes:
        """Answer a query, keep a clipboard text, and hide from pyte what it would print."""
        answer = b""
        if (query := match["query"]) is not None:
            if query == b"6n":
                answer = f"\x1b[{self.screen.cursor.y + 1};{self.screen.cursor.x + 1}R".encode()
            elif query.startswith(b">"):
                answer = b"\x1b[>0;136;0c"
            elif query.endswith(b"c"):
                answer = b"\x1b[?62;c"
            elif query.endswith(b"$p"):
                mode = query[1:-2]
                answer = b"\x1b[?" + mode + (b";2$y" if mode == b"2026" else b";0$y")
        elif (osc := match["osc"]) is not None:
            code, _, body = osc.partition(b";")
            if code == b"52":
                _, _, payload = body.partition(b";")
                if payload != b"?":
                    self.clipboard.append(base64.b64decode(payload).decode("utf-8", "replace"))
            elif code in (b"10", b"11") and body == b"?":
                colour = self._background if code == b"11" else "ffff/ffff/ffff"
                answer = b"\x1b]" + code + b";rgb:" + colour.encode() + b"\x1b\\"
            elif code in (b"0", b"1", b"2"):
                return match[0]
        if answer:
            os.write(self._fd, answer)
        return b""
