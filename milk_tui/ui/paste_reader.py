"""Bracketed pastes read whole, whatever is in them.

Textual reads a paste character by character and looks for sequences in it: after an escape in the pasted text it takes
what follows for keys, and a line end among them for enter, which sends. And some megabytes take it many seconds. Here a
paste is what stands between its two marks, and nothing in it means anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from textual import events
from textual._time import get_time
from textual._xterm_parser import XTermParser
from textual.message import Message

START, END = "\x1b[200~", "\x1b[201~"
SILENCE_S = 30.0
"""Seconds without a byte after which a paste is over though its end never came: else the keys would be dead."""
STALE_S = 1.0
"""Seconds after which the beginning of a mark is none any more."""


class _State:
    """What a parser has read beside its own state."""

    def __init__(self) -> None:
        self.pieces: list[str] | None = None
        """Of the paste that is being read."""
        self.tail = ""
        """The last characters, of which a mark may be the rest."""
        self.at_s = 0.0


def install() -> None:
    """Repair this process's Textual. Safe to call again."""
    feed: Callable[[XTermParser, str], Iterable[Message]] = XTermParser.feed
    tick: Callable[[XTermParser], Iterable[Message]] = XTermParser.tick
    if getattr(feed, "reads_pastes", False):
        return

    def feed_with_pastes(self: XTermParser, data: str) -> Iterable[Message]:
        state = _state_of(self)
        now = get_time()
        if now - state.at_s > STALE_S and state.pieces is None:
            state.tail = ""
        state.at_s = now
        if not data:
            yield from _end_of(state)
            yield from feed(self, data)
            return
        while data:
            joined = state.tail + data
            known = len(state.tail)
            at = joined.find(START if state.pieces is None else END)
            if state.pieces is not None:
                data = _take(state, joined, known, at)
                if at >= 0:
                    yield from _end_of(state)
                continue
            if at < 0:
                state.tail = joined[1 - len(START) :]
                yield from feed(self, data)
                return
            if at >= known:
                if before := data[: at - known]:
                    yield from feed(self, before)
            else:
                _forget_sequence(self)
            state.pieces, state.tail = [], ""
            data = joined[at + len(START) :]

    def tick_with_pastes(self: XTermParser) -> Iterable[Message]:
        state = _state_of(self)
        if state.pieces is not None and get_time() - state.at_s > SILENCE_S:
            yield from _end_of(state)
        yield from tick(self)

    feed_with_pastes.reads_pastes = True  # type: ignore[attr-defined]
    XTermParser.feed = feed_with_pastes  # type: ignore[method-assign]
    XTermParser.tick = tick_with_pastes  # type: ignore[method-assign,assignment]


def _take(state: _State, joined: str, known: int, at: int) -> str:
    """Keep what belongs to the paste; what comes behind its end. ``known`` characters are kept already."""
    assert state.pieces is not None
    if at < 0:
        state.pieces.append(joined[known:])
        state.tail = joined[1 - len(END) :]
        return ""
    if at >= known:
        state.pieces.append(joined[known:at])
    else:
        whole = "".join(state.pieces)
        state.pieces = [whole[: len(whole) - (known - at)]]
    state.tail = ""
    return joined[at + len(END) :]


def _end_of(state: _State) -> Iterable[Message]:
    """The paste that was read, if there is one and something in it."""
    pieces, state.pieces, state.tail = state.pieces, None, ""
    text = "".join(pieces or ()).replace("\x00", "")
    if text:
        yield events.Paste(text)


def _state_of(parser: XTermParser) -> _State:
    state: Any = getattr(parser, "_pastes", None)
    if state is None:
        state = parser._pastes = _State()  # type: ignore[attr-defined]
    return state  # type: ignore[no-any-return]


def _forget_sequence(parser: XTermParser) -> None:
    """The parser has begun to read a mark as a key: let it begin anew."""
    parser._gen = parser.parse(parser._tokens.append)
    parser._awaiting = next(parser._gen)
    parser._timeout_time = None
