"""System exchanges: what happened in one session, as the same agents are told in the next (``semantics.md`` §7).

Each agent, by name, has a private envelope. The program alone writes the section ``system_exchanges``; an agent writes
the sections of ``WRITABLE``. Everything here is pure: times, messages and entries are passed in.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from enum import StrEnum

from msgspec import Struct

from milk_tui.core.cuts import escape, plain
from milk_tui.core.secret_scan import masked
from milk_tui.core.text import one_line

TAKEAWAY_CHARS = 280
"""Code points of a takeaway, the ``…`` of a cut one included."""
DIGEST_BYTES = 2_560
"""Bytes (UTF-8) of a digest, its first and last line included."""
KEPT = 50
"""Entries of an envelope; the newest are kept."""
CYCLES = 40
CYCLE_CHARS = 500
SECTION_CHARS = 20_000
"""Code points of a section that an agent writes."""

NOTHING_SAID = "(nothing was said beside the work itself)"
"""The takeaway when the speaker said nothing of substance."""

_LABEL_CHARS = 60
_READ_CHARS = 20_000
_NAME_CHARS = 40


class Section(StrEnum):
    """The typed sections of an envelope."""

    LONG_TERM = "long_term"
    SHARED = "shared"
    DAILY = "daily"
    RELATIONSHIPS = "relationships"
    DEDUP_STATE = "dedup_state"
    SYSTEM_EXCHANGES = "system_exchanges"
    CYCLES = "cycles"


WRITABLE = frozenset({Section.LONG_TERM, Section.SHARED, Section.DAILY, Section.RELATIONSHIPS, Section.DEDUP_STATE})
"""What ``save_my_memory`` takes; anything else is ``section_is_read_only``."""


class ExchangeKind(StrEnum):
    """What makes an entry; each is decided by program code, never by an agent."""

    ESCALATION_CONCLUDED = "escalation-concluded"
    HANDBACK = "handback"
    LOOP_TRIP = "loop-trip"
    TASK_COMPLETED = "task-completed"


class Happened(Struct, frozen=True, kw_only=True):
    """An event between the agents of a session; ``event_id`` is the same however often it is reported."""

    event_id: str
    ts_ms: int
    kind: ExchangeKind
    session_id: str
    label: str
    """What a reader in another session knows the session by: its title, else its directory's name."""
    speaker: str
    listener: str = ""
    """The other agent; empty when the session has one."""
    takeaway: str


class Exchange(Struct, frozen=True, kw_only=True):
    """An entry of one agent's envelope."""

    event_id: str
    ts_ms: int
    kind: ExchangeKind
    session_id: str
    label: str
    peers: tuple[str, ...]
    """The others that it happened with; never the envelope's own agent."""
    takeaway: str
    revision: int = 0
    """The envelope's revision that the entry made; 0 before it is stored."""


class Digest(Struct, frozen=True, kw_only=True):
    """What of an envelope a reader is given now."""

    text: str = ""
    """Empty when there is nothing to tell."""
    shown: int = 0
    waiting: int = 0
    """Entries that did not fit and come next time."""
    upto: int = 0
    """The revision that the reader has seen once this was given to it."""
    before: int = 0
    """The revision that it has seen as long as this was not given to it: entries of its own session don't wait.
    Negative for a new reader: it stays one."""
    revision: int = 0
    """The envelope's head."""


_BARE_WORDS = (
    "ok okay okey k kk yes yep yeah yup no nope none done ack acknowledged agreed right sure thanks thx ty noted"
    " nothing understood roger fine great good perfect cool alright noreply ja nein danke verstanden erledigt gut oui"
    " non merci si sí gracias vale hecho d'accord"
)
_BARE = frozenset(_BARE_WORDS.split())
_BARE_PHRASES = frozenset(
    {
        "no reply",
        "nothing to add",
        "nothing to say",
        "thank you",
        "thanks a lot",
        "got it",
        "will do",
        "sounds good",
        "makes sense",
        "all right",
        "all done",
        "you're welcome",
        "no problem",
        "of course",
        "ok thanks",
        "okay thanks",
        "ok done",
        "done thanks",
        "in ordnung",
        "alles klar",
        "de nada",
    }
)
_between = re.compile(r"[^\w']+|_+")


def substantive(text: str) -> bool:
    """Whether a message says something: not blank, no bare no-reply, no mere acknowledgement."""
    words = _between.sub(" ", plain(text).casefold()).split()
    return not (" ".join(words) in _BARE_PHRASES or all(word in _BARE for word in words))


def takeaway(said: Iterable[str]) -> str:
    """What an event is remembered by: the speaker's messages before it, newest first, tried in their order.

    The first one of substance, from its head, on one line of at most ``TAKEAWAY_CHARS``. No model is asked.
    """
    for text in said:
        if substantive(text):
            return one_line(_without_secrets(text), TAKEAWAY_CHARS)
    return NOTHING_SAID


def copies(event: Happened) -> dict[str, Exchange]:
    """By agent, the entry that the event adds to its envelope; the listener's says who spoke."""

    def entry(peer: str, text: str) -> Exchange:
        return Exchange(
            event_id=event.event_id,
            ts_ms=event.ts_ms,
            kind=event.kind,
            session_id=event.session_id,
            label=one_line(plain(event.label), _LABEL_CHARS),
            peers=(peer,) if peer else (),
            takeaway=text,
        )

    made = {event.speaker: entry(event.listener, event.takeaway)}
    if event.listener and event.listener.casefold() != event.speaker.casefold():
        made[event.listener] = entry(event.speaker, f"@{event.speaker}: {event.takeaway}")
    return made


def line(entry: Exchange) -> str:
    """An entry on one line, with nothing in it that could end a block or begin another."""
    when = datetime.fromtimestamp(entry.ts_ms / 1000, UTC).strftime("%Y-%m-%d %H:%MZ")
    peers = ", ".join(one_line(plain(peer), _NAME_CHARS) for peer in entry.peers)
    place = one_line(plain(entry.label), _LABEL_CHARS) or entry.session_id[:8]
    text = one_line(plain(entry.takeaway), TAKEAWAY_CHARS + _NAME_CHARS + 4)
    return escape(f"- {when} {entry.kind} · {place}{f' · with {peers}' if peers else ''}: {text}")


def digest(
    entries: Sequence[Exchange],
    *,
    revision: int,
    session_id: str,
    last_seen: int | None,
    max_bytes: int = DIGEST_BYTES,
) -> Digest:
    """What a reader in ``session_id`` is given, oldest entry first, in at most ``max_bytes`` of UTF-8.

    ``entries`` is the envelope in any order, ``revision`` its head. ``last_seen`` is what this remote session has seen;
    ``None`` for a new one, which gets the newest entries that fit and has seen the head then. Otherwise the oldest
    unseen ones come first and a remainder waits for the next time. What the session wrote itself is skipped.
    """
    ordered = sorted(entries, key=lambda entry: entry.revision)
    seen = last_seen if last_seen is not None else 0
    unseen = [entry for entry in ordered if entry.revision > seen and entry.session_id != session_id]
    if not unseen:
        head = max(revision, seen)
        return Digest(upto=head, before=head, revision=revision)
    before = max(seen, unseen[0].revision - 1) if last_seen is not None else -1
    room = max_bytes - _size(f"revision {revision}")
    if last_seen is None:
        lines = _fitting(unseen[::-1], room)[::-1]
        text = "\n".join([f"revision {revision}", *lines])
        return Digest(text=text, shown=len(lines), upto=revision, before=before, revision=revision)
    lines = _fitting(unseen, room)
    if len(lines) < len(unseen):
        lines = _fitting(unseen, room - _size(_remainder(len(unseen))))
    shown, waiting = len(lines), len(unseen) - len(lines)
    text = "\n".join([f"revision {revision}", *lines, *([_remainder(waiting)] if waiting else [])])
    upto = unseen[shown].revision - 1 if waiting else max(revision, seen)
    return Digest(text=text, shown=shown, waiting=waiting, upto=upto, before=before, revision=revision)


def newest(entries: Sequence[Exchange], *, revision: int, max_bytes: int = DIGEST_BYTES) -> str:
    """The newest entries that fit, oldest first, for a reader who has seen them all and asks again."""
    ordered = sorted(entries, key=lambda entry: -entry.revision)
    head_line = f"revision {revision}, nothing new since you read it"
    return "\n".join([head_line, *_fitting(ordered, max_bytes - _size(head_line))[::-1]])


def cue(news: Digest) -> str:
    """One line for an agent that can read by tool; empty when there is nothing to read."""
    count = news.shown + news.waiting
    if not count:
        return ""
    what = "1 entry" if count == 1 else f"{count} entries"
    return (
        f"Your own memory is at revision {news.revision}: {what} from your other sessions that you have not read. "
        "read_my_memory(section: system_exchanges) shows them."
    )


def cycle(prompt: str, answer: str) -> str:
    """What an agent's journal keeps of a turn: what was asked and the head of what it answered."""
    asked = one_line(_without_secrets(prompt), CYCLE_CHARS // 3)
    said = one_line(_without_secrets(answer), CYCLE_CHARS) or NOTHING_SAID
    return one_line(f"{asked} → {said}", CYCLE_CHARS)


def _without_secrets(text: str) -> str:
    """What of a message may be told in other sessions; only its head is."""
    return masked(plain(text[:_READ_CHARS]))


def _fitting(entries: Sequence[Exchange], room: int) -> list[str]:
    """The lines of the first entries that fit, without a gap: what is seen is one number. At least one, cut to the room
    that there is, so that a reader always gets on."""
    taken: list[str] = []
    for entry in entries:
        text = line(entry)
        if _size(text) > room:
            return taken or [_cut(text, room)]
        taken.append(text)
        room -= _size(text)
    return taken


def _cut(text: str, room: int) -> str:
    mark = "…"
    return text.encode("utf-8", "replace")[: max(0, room - 1 - len(mark.encode()))].decode("utf-8", "ignore") + mark


def _remainder(count: int) -> str:
    return f"{count} older waiting: they come next time"


def _size(text: str) -> int:
    return len(text.encode("utf-8", "replace")) + 1
