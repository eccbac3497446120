"""What a file holds of memory: a fact with its whole history, and the session that it was learned in.

These records are the lines of an export (``interop/memory_export.py``); what a field may be is part of the record, so
that a file that says something else can't be read. Identifiers of turns and legs are those of the database that the
file is from.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from milk_tui.core.lifecycle import EdgeKind
from milk_tui.core.records import Consumer, PerceptScope, PerceptStatus, Producer, Role

VERSION = 1

Id = Annotated[str, Meta(pattern=r"\A[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z")]
Number = Annotated[int, Meta(ge=1, le=2**53)]
Count = Annotated[int, Meta(ge=0, le=2**53)]
Ms = Annotated[int, Meta(ge=0, le=253_402_300_799_000)]
Weight = Annotated[int, Meta(ge=0, le=1000)]
Word = Annotated[str, Meta(pattern=r"\A[a-z][a-z_-]{0,31}\Z")]
Short = Annotated[str, Meta(max_length=2_000)]
Long = Annotated[str, Meta(max_length=8_000)]


class _Line(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True, tag_field="milk"):
    """One line of the file; ``milk`` says of which kind."""


class Head(_Line, frozen=True, kw_only=True, tag="memory"):
    """The first line."""

    version: Annotated[int, Meta(ge=1)]


class Agent(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Who had a role in a session. Its nonce is in no file."""

    name: Annotated[str, Meta(min_length=1, max_length=2_000)]
    model: Short


class ArchivedSession(_Line, frozen=True, kw_only=True, tag="session"):
    """A session that facts of the file belong to; its turns are not part of the file."""

    id: Id
    directory: Annotated[str, Meta(max_length=4_096)]
    title: Short = ""
    created_ms: Ms
    updated_ms: Ms
    agents: dict[Role, Agent]


class ArchivedEvent(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """One change of a fact. ``undo`` has the columns from before it."""

    at_ms: Ms
    kind: Word
    actor: Word
    turn_id: Number | None = None
    weight_before: Weight | None = None
    weight_after: Weight | None = None
    note: Short = ""
    undo: dict[str, Any] | None = None
    undone: bool = False


class ArchivedEdge(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An edge that leads from the fact to another."""

    kind: EdgeKind
    target: Id
    created_ms: Ms


class Mark(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """The fact is from a file. ``original`` has what the file said where the fact says something else now."""

    at_ms: Ms
    file: Short
    trusted: bool = False
    original: dict[str, Any] = msgspec.field(default_factory=dict)


class ArchivedFact(_Line, frozen=True, kw_only=True, tag="fact"):
    """A fact with everything that is stored of it but its vectors, which are made anew."""

    id: Id
    content: Annotated[str, Meta(min_length=1, max_length=8_000)]
    subject: Short = ""
    producer: Producer
    agent_name: Short = ""
    consumer: Consumer = Consumer.ALL
    scope: PerceptScope
    weight: Weight
    pinned: bool = False
    status: PerceptStatus = PerceptStatus.LIVE
    tainted: bool = False
    created_ms: Ms
    updated_ms: Ms
    confirmed_ms: Ms
    used_ms: Ms | None = None
    uses: Count = 0
    valid_from_ms: Ms | None = None
    valid_to_ms: Ms | None = None
    superseded_by: Id | None = None
    session_id: Id | None = None
    turn_id: Number | None = None
    leg_id: Number | None = None
    position: Count | None = None
    note: Short = ""
    source: Long = ""
    context: Long = ""
    edges: tuple[ArchivedEdge, ...] = ()
    events: tuple[ArchivedEvent, ...] = ()
    imported: Mark | None = None


Line = Head | ArchivedSession | ArchivedFact


def fields(fact: ArchivedFact) -> dict[str, Any]:
    """Every field but the mark, as plain data; those with their default value too."""
    plain = {name: getattr(fact, name) for name in ArchivedFact.__struct_fields__ if name != "imported"}
    found: dict[str, Any] = msgspec.to_builtins(plain)
    return found


def differences(said: ArchivedFact, stored: ArchivedFact) -> dict[str, Any]:
    """What the file said of a fact where the stored one says something else."""
    before, after = fields(said), fields(stored)
    return {name: value for name, value in before.items() if value != after[name]}


def unmarked(fact: ArchivedFact) -> ArchivedFact:
    """The fact as the file had it. Raises msgspec.ValidationError when its mark says what no fact can be."""
    original = fact.imported.original if fact.imported else {}
    return msgspec.convert({"milk": "fact", **fields(fact), **original}, ArchivedFact)


def contradiction(fact: ArchivedFact) -> str:
    """What no fact of a file can be, though each of its fields could; empty when there is nothing."""
    if fact.status is PerceptStatus.STAGED:
        return "its answer has not ended"
    if fact.status is PerceptStatus.SUPERSEDED and fact.superseded_by is None:
        return "it is superseded and names no successor"
    if fact.superseded_by == fact.id:
        return "it is its own successor"
    if fact.scope is PerceptScope.SESSION and fact.session_id is None:
        return "it is of a session and names none"
    return ""
