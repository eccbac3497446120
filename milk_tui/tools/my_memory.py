"""An agent's own memory across sessions: ``read_my_memory`` and ``save_my_memory`` (``semantics.md`` §7).

The name of the agent comes from the transport, never from an argument, so that no call can reach another agent's
envelope. What a call says and brings is the agent's alone: the records of it that others read have a placeholder
(``store/private_calls.py``).
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from milk_tui.core import exchanges as rules
from milk_tui.core.cuts import plain
from milk_tui.core.errors import MilkError
from milk_tui.core.exchanges import WRITABLE, Section
from milk_tui.core.secret_scan import secret_kind
from milk_tui.core.tool_calls import ToolOutcome, ToolSpec
from milk_tui.store import agents, exchanges, remotes

if TYPE_CHECKING:
    from sqlite_utils import Database

    from milk_tui.store import Store

READ, SAVE = "read_my_memory", "save_my_memory"
NAMES = frozenset({READ, SAVE})

READ_ONLY = "section_is_read_only"
"""The named error for a section that agents don't write."""


class _Read(msgspec.Struct):
    section: str = Section.SYSTEM_EXCHANGES


class _Save(msgspec.Struct):
    section: str
    content: str
    append: bool = False


@dataclass(frozen=True, slots=True)
class MyMemory:
    """The envelope of ``agent_name`` as the agent itself sees it.

    In a leg (``leg_id``) what is read counts when the leg has ended well. Outside of one it counts at once, for the
    remote session ``remote_id`` of ``session_id``; without a session nothing is counted.
    """

    store: Store
    agent_name: str
    session_id: str = ""
    remote_id: str | None = None
    leg_id: int | None = None

    async def call(self, name: str, arguments: str) -> ToolOutcome:
        """Do one call; what can't be read or done is said in the outcome."""
        try:
            if name == READ:
                return await self.read(msgspec.json.decode(arguments or "{}", type=_Read).section)
            if name == SAVE:
                saved = msgspec.json.decode(arguments, type=_Save)
                return await self.save(saved.section, saved.content, append=saved.append)
        except (msgspec.DecodeError, RecursionError) as error:
            return ToolOutcome(f"The arguments of {name} can't be read: {error}.", ok=False)
        except MilkError as error:
            return ToolOutcome(str(error), ok=False)
        return ToolOutcome(f"There is no tool named {name}.", ok=False)

    async def read(self, section: str) -> ToolOutcome:
        """A section as it is now. Of ``system_exchanges`` what was not read yet, as much as a digest holds."""
        which = _section(section)
        if which is None:
            return _unknown(section)
        if which is Section.SYSTEM_EXCHANGES:
            return ToolOutcome(await self._exchanges())
        if which is Section.CYCLES:
            lines = await self.store.read(lambda conn: exchanges.cycles(conn, self.agent_name))
            return ToolOutcome("\n".join(f"- {text}" for _, text in lines) or "(empty)")
        text = await self.store.read(lambda conn: exchanges.section(conn, self.agent_name, which))
        return ToolOutcome(text or "(empty)")

    async def save(self, section: str, content: str, *, append: bool = False) -> ToolOutcome:
        """Replace a section of the agent's own, or add to it."""
        which = _section(section)
        if which is None or which not in WRITABLE:
            names = ", ".join(sorted(WRITABLE))
            return ToolOutcome(f"{READ_ONLY}: “{section[:40]}” can't be written. You may write {names}.", ok=False)
        if kind := secret_kind(content):
            return ToolOutcome(f"Not kept: it looks like it holds a secret ({kind}).", ok=False)
        text = plain(content)

        def write(db: Database) -> str | None:
            before = exchanges.section(db.conn, self.agent_name, which) if append else ""
            whole = f"{before}\n{text}".strip() if append else text
            if len(whole) > rules.SECTION_CHARS:
                return None
            exchanges.save_section(db, self.agent_name, which, whole)
            return whole

        whole = await self.store.write(write)
        if whole is None:
            return ToolOutcome(f"Not kept: {which} holds at most {rules.SECTION_CHARS:,} characters.", ok=False)
        return ToolOutcome(f"Kept in {which}: {len(whole):,} characters.")

    async def _exchanges(self) -> str:
        if self.store.read_only or not self.session_id:
            return await self.store.read(self._newest_of)
        return await self.store.write(self._read_on)

    def _read_on(self, db: Database) -> str:
        """Within one write, so that what is counted as read is what was shown."""
        conn = db.conn
        seen = None
        if self.leg_id is not None:
            row = conn.execute("select revision_at_delivery from legs where id = ?", (self.leg_id,)).fetchone()
            seen = int(row[0]) if row is not None and row[0] >= 0 else None
        news = exchanges.digest(
            conn, session_id=self.session_id, agent_name=self.agent_name, remote_id=self.remote_id, seen=seen
        )
        if not news.text:
            return self._newest_of(conn)
        if self.leg_id is not None:
            exchanges.delivered(db, self.leg_id, news.upto)
        else:
            remotes.seen(
                db,
                session_id=self.session_id,
                agent_name=self.agent_name,
                remote_id=self.remote_id,
                revision=news.upto,
            )
        return news.text

    def _newest_of(self, conn: sqlite3.Connection) -> str:
        entries = exchanges.entries(conn, self.agent_name)
        if not entries:
            return "(empty: nothing happened in your sessions yet)"
        return rules.newest(entries, revision=agents.revision(conn, self.agent_name))


def specs() -> tuple[ToolSpec, ToolSpec]:
    """The two tools as a model is told about them."""
    sections = [section.value for section in Section]
    writable = sorted(section.value for section in WRITABLE)
    return (
        ToolSpec(
            READ,
            "Read a section of your own memory, which only you see, in all your sessions. system_exchanges: what"
            " happened between you and the other agents in other sessions.",
            {
                "type": "object",
                "properties": {"section": {"type": "string", "enum": sections}},
                "required": ["section"],
                "additionalProperties": False,
            },
        ),
        ToolSpec(
            SAVE,
            "Write a section of your own memory, which only you see, in all your sessions. Facts that others need go"
            " to record_memory instead.",
            {
                "type": "object",
                "properties": {
                    "section": {"type": "string", "enum": writable},
                    "content": {"type": "string", "description": "The section's whole text, or what is added."},
                    "append": {"type": "boolean", "description": "Add to the section instead of replacing it."},
                },
                "required": ["section", "content"],
                "additionalProperties": False,
            },
        ),
    )


def private(name: str) -> bool:
    """Whether a call's contents are its agent's alone, whatever a transport puts around the tool's name."""
    return any(own in name for own in NAMES)


def shown_arguments(arguments: str) -> str:
    """What others may see of a private call: the section."""
    try:
        section = msgspec.json.decode(arguments or "{}", type=_Read).section
    except (msgspec.DecodeError, RecursionError):
        section = ""
    known = _section(section)
    return msgspec.json.encode({"section": str(known) if known else "?"}).decode()


def shown_result(content: str) -> str:
    """What others may see of its result."""
    return f"({len(content):,} characters, for this agent alone)"


def _section(name: str) -> Section | None:
    try:
        return Section(name.strip())
    except ValueError:
        return None


def _unknown(name: str) -> ToolOutcome:
    known = ", ".join(section.value for section in Section)
    return ToolOutcome(f"There is no section “{name[:40]}”. Sections: {known}.", ok=False)
