"""Memory as a file: JSONL with the whole history, for a backup or another machine, and Markdown for people.

No nonce leaves the program, and the words of a moment that look like a secret (a prompt with a key in it) are left
out. What a person stored though it looks like one is theirs to give away; its number is said.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any, BinaryIO

import msgspec
from msgspec import Struct, structs

from milk_tui.core import archive
from milk_tui.core.archive import ArchivedFact, ArchivedSession, Head
from milk_tui.core.records import Consumer, PerceptScope, PerceptStatus
from milk_tui.core.secret_scan import secret_kind
from milk_tui.core.tags import mask
from milk_tui.core.text import clean, one_line
from milk_tui.interop.markdown import escaped
from milk_tui.store import agents, percept_archive

_RUN = re.compile(r"[a-z0-9]{4,}")


class Written(Struct, frozen=True, kw_only=True):
    """What an export holds."""

    facts: int
    left_out: int = 0
    """Facts without the words of their moment."""
    secrets: int = 0
    """Facts that look like they hold a secret."""
    held: int = 0
    """Facts in quarantine, which the Markdown form doesn't show."""


def jsonl(
    conn: sqlite3.Connection, out: BinaryIO, *, session_id: str | None = None, everything: bool = False
) -> Written:
    """Write the facts that hold, or ``everything``, in reach of a session (``None``: of every one), one a line.

    The same memory gives the same bytes.
    """
    encode = msgspec.json.Encoder().encode
    hide = _hiding(conn)
    out.write(encode(Head(version=archive.VERSION)) + b"\n")
    for session in percept_archive.sessions(conn, session_id):
        hidden = structs.replace(session, title=hide(session.title), directory=hide(session.directory))
        out.write(encode(hidden) + b"\n")
    facts = left_out = secrets = 0
    for fact in percept_archive.facts(conn, session_id, everything=everything):
        facts += 1
        secrets += _holds_secret(fact)
        if any(secret_kind(text) for text in (fact.source, fact.context) if text):
            fact = structs.replace(fact, source="", context="")
            left_out += 1
        out.write(encode(_hidden(fact, hide)) + b"\n")
    return Written(facts=facts, left_out=left_out, secrets=secrets)


def _holds_secret(fact: ArchivedFact) -> bool:
    before = [event.undo["content"] for event in fact.events if event.undo and event.undo.get("content")]
    return any(secret_kind(str(text)) for text in (fact.content, *before))


def _hiding(conn: sqlite3.Connection) -> Callable[[str], str]:
    """What masks the live nonces in a text. It is fast for texts without one, however many there are."""
    nonces = frozenset(agents.nonces(conn))
    sizes = {len(nonce) for nonce in nonces}

    def hide(text: str) -> str:
        for run in _RUN.findall(text):
            if any(run[at : at + size] in nonces for size in sizes for at in range(len(run) - size + 1)):
                return mask(text, nonces)
        return mask(text, [nonce for nonce in nonces if not _RUN.fullmatch(nonce)])

    return hide


def _hidden(fact: ArchivedFact, hide: Callable[[str], str]) -> ArchivedFact:
    texts = {name: hide(getattr(fact, name)) for name in ("content", "subject", "agent_name", "note")}
    moment = {name: hide(getattr(fact, name)) for name in ("source", "context")}
    events = tuple(
        structs.replace(event, note=hide(event.note), undo=_hidden_values(event.undo, hide)) for event in fact.events
    )
    imported = fact.imported and structs.replace(
        fact.imported, file=hide(fact.imported.file), original=_hidden_values(fact.imported.original, hide)
    )
    return structs.replace(fact, **texts, **moment, events=events, imported=imported)


def _hidden_values(value: Any, hide: Callable[[str], str]) -> Any:
    match value:
        case str():
            return hide(value)
        case dict():
            return {
                key: inner if key.endswith("id") or key in ("hash", "target", "superseded_by", "+edges", "edges")
                else _hidden_values(inner, hide)
                for key, inner in value.items()
            }  # fmt: skip
        case list():
            return [_hidden_values(inner, hide) for inner in value]
        case _:
            return value


def markdown(
    conn: sqlite3.Connection,
    out: BinaryIO,
    *,
    session_id: str | None = None,
    everything: bool = False,
    now: int,
) -> Written:
    """Write them grouped and readable, the weightiest first. ``memory_lists`` reads the facts that hold back."""
    hide = _hiding(conn)
    sessions = {session.id: session for session in percept_archive.sessions(conn, session_id)}
    groups: dict[str, list[ArchivedFact]] = {}
    shown = held = secrets = 0
    contents: dict[str, str] = {}
    for fact in percept_archive.facts(conn, session_id, everything=everything):
        fact = structs.replace(fact, events=(), source="", context="", imported=None)
        if fact.status is PerceptStatus.QUARANTINED:
            held += 1
            continue
        shown += 1
        secrets += _holds_secret(fact)
        contents[fact.id] = fact.content
        groups.setdefault(_group(fact, sessions), []).append(fact)

    def put(text: str = "") -> None:
        out.write((hide(clean(text)) + "\n").encode("utf-8", "replace"))

    put("# What milk remembers")
    put(f"\n{shown:,} fact{'s' if shown != 1 else ''}, as of {_day(now)}.")
    for title in sorted(groups, key=_order):
        put(f"\n## {title}\n")
        for fact in sorted(groups[title], key=lambda each: (-each.weight, each.created_ms, each.id)):
            put(_item(fact, contents))
    return Written(facts=shown, secrets=secrets, held=held)


_PINNED, _SHARED, _REPLACED, _FORGOTTEN = "Pinned", "In every session", "No longer true", "Forgotten"


def _group(fact: ArchivedFact, sessions: dict[str, ArchivedSession]) -> str:
    if fact.status is PerceptStatus.SUPERSEDED:
        return _REPLACED
    if fact.status is PerceptStatus.FORGOTTEN:
        return _FORGOTTEN
    if fact.pinned:
        return _PINNED
    if fact.scope is PerceptScope.GLOBAL or fact.session_id not in sessions:
        return _SHARED
    session = sessions[fact.session_id]
    title = one_line(session.title, 80) or session.id[:8]
    return f"In “{escaped(title)}” ({escaped(one_line(session.directory, 200))})"


def _order(title: str) -> tuple[int, str]:
    places = {_PINNED: 0, _SHARED: 1, _REPLACED: 3, _FORGOTTEN: 4}
    return places.get(title, 2), title


def _item(fact: ArchivedFact, contents: dict[str, str]) -> str:
    text = escaped(fact.content)
    if fact.status is PerceptStatus.SUPERSEDED:
        successor = contents.get(fact.superseded_by or "", "")
        text = f"~~{text}~~" + (f" → {escaped(successor)}" if successor else "")
    elif fact.status is PerceptStatus.FORGOTTEN:
        text = f"~~{text}~~"
    return f"- {text} *({' · '.join(_details(fact))})*"


def _details(fact: ArchivedFact) -> Iterator[str]:
    who = {"user": "you"}.get(fact.producer.value, fact.agent_name or fact.producer.value)
    yield re.sub(r"[^\w .@-]", "", who)[:40] or fact.producer.value
    yield _day(fact.created_ms)
    if fact.consumer is not Consumer.ALL:
        yield f"only for {fact.consumer.value}"
    if fact.status is PerceptStatus.SUSPECT:
        yield "in doubt"
    if fact.tainted:
        yield "not approved"
    yield f"{fact.weight / 1000:.2f}"
    yield f"#{fact.id[:6]}"


def _day(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000).strftime("%Y-%m-%d")
