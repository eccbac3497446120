"""What the doctor tries with the person: keys to press, a paste, a click, a look away, a message.

Keys are read with the very parser that the screen reads with, so what is said is what the screen would get.
"""

from __future__ import annotations

import os
import secrets
import shutil
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from milk_tui.cli.check import Check, check
from milk_tui.cli.terminal_line import Line
from milk_tui.core import osc52

if TYPE_CHECKING:
    from textual.message import Message

    from milk_tui.ui.clipboard_ways import Program, Way
    from milk_tui.ui.keymap import Keymap

SLOWER = "ctrl+j and alt+enter make a new line as well."
TAKEN = "The terminal or the desktop keeps it. Every action has a slash command; [keys] in the config moves it."
NEWLINES = {
    "shift+enter": (("shift+enter", "alt+enter", "ctrl+j"), SLOWER),
    "alt+enter": (("alt+enter", "ctrl+j"), "ctrl+j makes a new line."),
    "ctrl+j": (("ctrl+j",), "alt+enter makes a new line."),
}
"""What may arrive for a key that makes a new line, and what to do where another does."""
ALSO_AS = {"shift+f6": ("f18",)}
"""Other names of the same key."""
LEFT_OUT = frozenset({"escape", "ctrl+c", "ctrl+q"})
"""Keys that end things."""
SKIP, LEAVE = "space", "q"
TYPED_S = 0.3
"""Seconds of quiet after which what is typed is over."""
KITTY_FLAGS = 1 + 8 + 16
"""What the screen asks of a keyboard by kitty's protocol, as Textual does (``textual-notes.md`` §1)."""
_ON = "\x1b[?1004h\x1b[?2004h"
_OFF = "\x1b[?1004l\x1b[?2004l"
_MOUSE_ON, _MOUSE_OFF = "\x1b[?1000h\x1b[?1006h", "\x1b[?1006l\x1b[?1000l"


class LeftError(Exception):
    """The person leaves the rest out."""


@dataclass
class Tries:
    """The tries on one line. ``wait``: seconds for each, from the last sign of the person."""

    line: Line
    wait: float
    keys: Sequence[tuple[str, str]]
    """The keys to press, and what each is for."""
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    _someone: bool = False
    _came: deque[Message] = field(default_factory=deque)
    """What came in one piece with what was waited for, and is still to be looked at."""
    _parser: Callable[[str], Iterable[Message]] | None = None
    _tick: Callable[[], Iterable[Message]] | None = None

    def all(self) -> Iterator[Check]:
        """Each try, until the person leaves, or nobody is there."""
        steps = (self._keys, self._paste, self._focus, self._mouse, self._message)
        try:
            with self._modes():
                for step in steps:
                    yield from step()
        except LeftError:
            yield check("keys", "the rest", "info", "not tried")

    @contextmanager
    def _modes(self) -> Iterator[None]:
        from textual._xterm_parser import XTermParser

        from milk_tui.ui import keys

        keys.install()
        parser = XTermParser()
        self._parser, self._tick = parser.feed, parser.tick
        self.line.write(f"\x1b[>{KITTY_FLAGS}u{_ON}")
        try:
            yield
        finally:
            with suppress(OSError):
                self.line.write(f"{_MOUSE_OFF}{_OFF}\x1b[<u\r\x1b[K")

    def _say(self, text: str) -> None:
        self.line.write(f"\r\x1b[K{text}")

    def _events(self, seconds: float) -> Iterator[Message]:
        """What the screen would be told, until nothing comes for that time."""
        assert self._parser is not None and self._tick is not None
        deadline = time.monotonic() + seconds
        while True:
            while self._came:
                yield self._came.popleft()
            if (left := deadline - time.monotonic()) <= 0:
                return
            data = self.line.receive(min(left, 0.05))
            self._came.extend(self._parser(data.decode("utf-8", "replace")) if data else self._tick())

    def _next(self, wanted: Callable[[Message], object]) -> Message | None:
        """The next thing that counts: a key, or what ``wanted`` says. ``None``: skipped, or nothing came.

        Raises LeftError when the person leaves, or when nobody did anything so far.
        """
        from textual import events

        for event in self._events(self.wait):
            if isinstance(event, events.Key):
                self._someone = True
                if event.key == SKIP:
                    return None
                if event.key in (LEAVE, "ctrl+c"):
                    raise LeftError
                if wanted(event):
                    return event
            elif wanted(event):
                self._someone = True
                return event
        if not self._someone:
            raise LeftError
        return None

    def _keys(self) -> Iterator[Check]:
        from textual import events

        self.line.write(f"\n{SKIP} skips one, {LEAVE} leaves the rest out; each waits {self.wait:g} s.\n")
        for name, title in self.keys:
            fine, hint = NEWLINES.get(name, ((name, *ALSO_AS.get(name, ())), TAKEN))
            self._say(f"Press {name} ({title}) ")
            event = self._next(lambda event: isinstance(event, events.Key))
            if not isinstance(event, events.Key):
                yield check("keys", name, "info", "not pressed, or it never arrived")
            elif event.key in fine:
                yield check("keys", name, "ok", "arrives" if event.key == name else f"arrives as {event.key}")
            else:
                yield check("keys", name, "warning", f"arrives as {event.key}", hint)

    def _paste(self) -> Iterator[Check]:
        from textual import events

        text = f"milk-tui {secrets.token_hex(4)}"
        way = _send(text, self.line, self.environ)
        if way is None:
            yield check("clipboard", "round trip", "info", "no way to a clipboard to try")
            return
        self._say(f"“{text}” should be on the clipboard ({way.name}). Paste it here (ctrl+shift+v, cmd+v) ")
        event = self._next(lambda event: isinstance(event, events.Paste | events.Key))
        pasted, bracketed = "", isinstance(event, events.Paste)
        if isinstance(event, events.Paste):
            pasted = event.text
        elif isinstance(event, events.Key):
            pasted = (event.character or "") + "".join(
                event.character or "" for event in self._events(TYPED_S) if isinstance(event, events.Key)
            )
        if not pasted:
            yield check("clipboard", "round trip", "info", "nothing was pasted")
            return
        if not bracketed:
            cure = "Pasted lines may be sent one by one: use a terminal or a tmux that marks pastes."
            yield check("keys", "paste", "warning", "arrives as typed keys", cure)
        if pasted.strip() == text:
            yield check("clipboard", "round trip", "ok", f"copied by {way.name} and pasted again")
        else:
            cure = "Allow OSC 52 in the terminal's settings, or install wl-copy, xclip or xsel."
            yield check("clipboard", "round trip", "warning", f"{way.name} did not bring the text here", cure)

    def _focus(self) -> Iterator[Check]:
        from textual import events

        self._say("Go to another window and come back ")
        left = self._next(lambda event: isinstance(event, events.AppBlur))
        back = self._next(lambda event: isinstance(event, events.AppFocus)) if left is not None else None
        if back is not None:
            yield check("keys", "looking away", "ok", "is told, and so is coming back")
        else:
            yield check("keys", "looking away", "info", "not told", "In tmux: set -g focus-events on.")

    def _mouse(self) -> Iterator[Check]:
        from textual import events

        self.line.write(_MOUSE_ON)
        self._say("Click anywhere ")
        event = self._next(lambda event: isinstance(event, events.MouseDown))
        self.line.write(_MOUSE_OFF)
        if isinstance(event, events.MouseDown):
            yield check("keys", "click", "ok", f"arrives (column {event.x + 1}, row {event.y + 1})")
        else:
            yield check("keys", "click", "info", "none arrived", "In tmux: set -g mouse on. Keys do everything too.")

    def _message(self) -> Iterator[Check]:
        from textual import events

        between = osc52.Between.TMUX if self.environ.get("TMUX") else osc52.Between.NOTHING
        self.line.write(osc52.wrapped("\x1b]9;milk-tui: this is a message of the desktop\x07", between))
        self._say("Did the desktop show a message? y or n ")
        event = self._next(lambda event: isinstance(event, events.Key) and event.key in ("y", "n"))
        if isinstance(event, events.Key) and event.key == "y":
            yield check("messages", "OSC 9", "ok", "shown")
        elif event is not None:
            yield check("messages", "OSC 9", "info", "not shown", 'The bell rings instead with [ui] alert = "bell".')


def fragile(keymap: Keymap) -> list[tuple[str, str]]:
    """The keys of the conversation that get lost between keyboard and program, with what each is for."""
    from milk_tui.ui.actions import ACTIONS, Where

    places = (Where.PROMPT, Where.SESSION, Where.EVERYWHERE)
    actions = (*(action for action in ACTIONS if action.where in places), *keymap.bound)
    found = {key: action.title for action in actions for key in keymap.of(action) if _is_fragile(key)}
    return sorted(found.items(), key=lambda one: list(NEWLINES).index(one[0]) if one[0] in NEWLINES else len(NEWLINES))


def _is_fragile(key: str) -> bool:
    return key not in LEFT_OUT and ("+" in key or (key[0] == "f" and key[1:].isdecimal()))


def programs(environ: Mapping[str, str]) -> Iterator[Check]:
    """A real round trip through every clipboard program that would be used; what was there is put back."""
    from milk_tui.ui.clipboard_programs import NotCopiedError, copy, read
    from milk_tui.ui.clipboard_ways import Program, Terminal

    found = _ways(environ)
    for way in found:
        if not isinstance(way, Program):
            continue
        try:
            before = read(way, environ) if way.read else None
        except NotCopiedError:
            before = None
        try:
            checked = copy(way, f"milk-tui {secrets.token_hex(4)}", environ)
        except NotCopiedError as error:
            yield check("clipboard", way.name, "warning", str(error), _install(way))
            continue
        yield check(
            "clipboard", way.name, "ok", "copied and read back" if checked else "copied (it can't be read back)"
        )
        if before is not None:
            with suppress(NotCopiedError):
                copy(way, before, environ)
    if not found:
        cure = "Install wl-copy (Wayland), xclip or xsel (X11)."
        yield check("clipboard", "ways", "missing", "none: copies stay inside milk-tui", cure)
    elif all(isinstance(way, Terminal) for way in found):
        yield check("clipboard", "OSC 52", "info", "the only way here; it can't confirm, so try a paste")


def _install(way: Program) -> str:
    return "" if way.name == "tmux" else f"It is skipped then. Is {way.name} for this display?"


def _ways(environ: Mapping[str, str]) -> tuple[Way, ...]:
    from milk_tui.ui.clipboard_ways import ways
    from milk_tui.ui.copying import wished

    return ways(environ, lambda name: shutil.which(name, path=environ.get("PATH")), wish=wished("auto"))


def _send(text: str, line: Line, environ: Mapping[str, str]) -> Way | None:
    """Copy by the first way that takes the text, as the screen does; which it was."""
    from milk_tui.ui.clipboard_programs import NotCopiedError, copy
    from milk_tui.ui.clipboard_ways import Program, Terminal

    for way in _ways(environ):
        match way:
            case Program():
                try:
                    copy(way, text, environ)
                except NotCopiedError:
                    continue
                return way
            case Terminal():
                for between in way.between:
                    line.write(osc52.sequence(text, between))
                return way
    return None
