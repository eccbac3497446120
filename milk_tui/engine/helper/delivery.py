"""Handing notes over at the boundaries of a leg: its start, and the start of a tool (``semantics.md`` §6, "Delivery").

A note is claimed before the plan is made and marked as delivered in the transaction that claims the leg. A program that
dies between the two has lost it: it is never delivered twice. Sub-agents of a runtime have no boundary here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from milk_tui.core.cuts import block
from milk_tui.core.records import Role, Session
from milk_tui.core.tool_calls import ToolOutcome
from milk_tui.engine.events import AnyEvent, NoteChanged
from milk_tui.store import Store, notes
from milk_tui.store.clock import now_ms
from milk_tui.store.notes import Note

if TYPE_CHECKING:
    from sqlite_utils import Database

Publish = Callable[[AnyEvent], None]


async def claim(store: Store, session: Session, role: Role, carrier: str, publish: Publish) -> tuple[Note, ...]:
    """The notes that this boundary carries, checked again. What they cite and no longer holds ends them here."""
    if store.read_only or not await store.read(lambda conn: notes.pending(conn, session.id)):
        return ()

    def write(db: Database) -> tuple[list[Note], list[int]]:
        now = now_ms()
        notes.expire(db.conn, now)
        kept: list[Note] = []
        dropped: list[int] = []
        for note in notes.claim(db.conn, session.id, carrier, by=store.owner_id, now=now):
            if problem := notes.gone(db.conn, note, role.value):
                notes.drop(db.conn, note.id, problem, now=now)
                dropped.append(note.id)
            else:
                kept.append(note)
        return kept, dropped

    kept, dropped = await store.write(write)
    for note_id in dropped:
        await changed(store, note_id, publish)
    return tuple(kept)


def deliver(db: Database, claimed: Sequence[Note], *, receiver: str, carrier: str) -> list[Note]:
    """Mark as delivered, in the caller's transaction; those that were delivered."""
    now = now_ms()
    return [
        replace(note, status="delivered", receiver=receiver, carrier=carrier, ended_ms=now)
        for note in claimed
        if notes.deliver(db.conn, note.id, receiver=receiver, carrier=carrier, now=now)
    ]


def text(claimed: Sequence[Note]) -> str:
    """Notes as a segment holds them; empty for none."""
    return "\n\n".join([notes.LABEL, *(note.text for note in claimed)]) if claimed else ""


async def beside(
    store: Store, session: Session, role: Role, receiver: str, outcome: ToolOutcome, publish: Publish
) -> ToolOutcome:
    """A tool's outcome with the notes that wait; the outcome itself when none does."""
    claimed = await claim(store, session, role, notes.TOOL_STARTED, publish)
    if not claimed:
        return outcome
    given = await store.write(lambda db: deliver(db, claimed, receiver=receiver, carrier=notes.TOOL_STARTED))
    told(session.id, given, publish)
    return replace(outcome, content=f"{outcome.content}\n\n{block('Notes', text(given))}") if given else outcome


async def changed(store: Store, note_id: int, publish: Publish) -> None:
    """Tell the listeners how a note stands."""
    note = await store.read(lambda conn: notes.get(conn, note_id))
    if note is not None:
        told(note.session_id, [note], publish)


def told(session_id: str, changed_notes: Sequence[Note], publish: Publish) -> None:
    for note in changed_notes:
        publish(
            NoteChanged(
                session_id=session_id,
                note_id=note.id,
                status=note.status,
                text=note.text,
                receiver=note.receiver,
                reason=note.reason,
                at_ms=note.ended_ms or note.created_ms,
            )
        )
