"""A session as a file: Markdown and HTML for people, JSON for programs.

Nothing of it can be used against anybody: nonces are masked and, unless the person wants them, so are secrets; texts
are cleaned, receipts stay here. The bricks have the names of their source document too (``semantics.md`` §3).
"""

from __future__ import annotations

import json
import os
import re
from base64 import b64encode
from collections.abc import Iterable, Iterator
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, TextIO

import msgspec
from msgspec import Struct

from milk_tui.core.attachments import Attachment, Kind
from milk_tui.core.records import BrickKind, Leg, Role, Session, ToolCall, Turn
from milk_tui.core.secret_scan import masked
from milk_tui.core.tags import mask
from milk_tui.core.text import clean, one_line
from milk_tui.engine.markdown_safe import harmless, in_a_line

if TYPE_CHECKING:
    from milk_tui.store import Store

VERSION = 1
AT_ONCE = 50
"""Turns that are read together, so that a session of any length needs little memory."""
ALIASES = {
    BrickKind.PRIMARY_SUMMARY: "last_local_summary",
    BrickKind.ESCALATION_SUMMARY: "last_claude_summary",
}
_MARKS = {Role.PRIMARY: "●", Role.ESCALATION: "◆"}


class Said(Struct, frozen=True):
    """One turn, with each leg and its tool calls, and what came with its prompt (an image without its bytes)."""

    turn: Turn
    legs: tuple[tuple[Leg, tuple[ToolCall, ...]], ...]
    attached: tuple[Attachment, ...] = ()


def conversation(store: Store, session_id: str, last: int | None = None) -> Iterator[Said]:
    """The turns, oldest first, a few in memory at a time; ``last``: only so many of the newest. Blocks."""
    from milk_tui.store import attachments, legs, turns

    ids = [turn.id for turn in store.read_sync(lambda conn: turns.index(conn, session_id))]
    ids = ids[-last:] if last else ids
    legs_of: dict[int, list[int]] = {}
    for leg in store.read_sync(lambda conn: legs.index(conn, session_id)):
        legs_of.setdefault(leg.turn_id, []).append(leg.id)
    for start in range(0, len(ids), AT_ONCE):
        chunk = ids[start : start + AT_ONCE]
        wanted = [leg_id for turn_id in chunk for leg_id in legs_of.get(turn_id, [])]
        found = store.read_sync(partial(turns.many, turn_ids=chunk))
        bodies = store.read_sync(partial(legs.bodies, leg_ids=wanted))
        came_with = store.read_sync(partial(attachments.shown, turn_ids=chunk))
        for turn_id in chunk:
            if turn_id in found:
                of_turn = [bodies[leg_id] for leg_id in legs_of.get(turn_id, []) if leg_id in bodies]
                said = tuple((body.leg, body.tools) for body in of_turn)
                yield Said(found[turn_id], said, came_with.get(turn_id, ()))


class Words(Struct, frozen=True):
    """How texts of the session leave the program."""

    nonces: tuple[str, ...]
    secrets: bool = False
    """True to leave in what looks like a key or a password."""

    def text(self, text: str) -> str:
        shown = clean(mask(text, self.nonces))
        return shown if self.secrets else masked(shown)

    def line(self, text: str, limit: int = 2_000) -> str:
        return one_line(self.text(text[: 8 * limit]), limit)

    def plain(self, value: object) -> Any:
        """A record as plain data, its texts cleaned."""
        return self._plain(msgspec.to_builtins(value, str_keys=True))

    def _plain(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {key: self._plain(inner) for key, inner in value.items() if key != "nonce"}
        if isinstance(value, list | tuple):
            return [self._plain(inner) for inner in value]
        return self.text(value) if isinstance(value, str) else value


def heading(session: Session, words: Words) -> str:
    return words.line(session.title, 200) or f"Session {session.id[:8]}"


def agents_of(session: Session, words: Words) -> str:
    """Who worked: name and model of each."""
    named = [agent for agent in (session.primary, session.escalation) if agent is not None]
    return " · ".join(
        f"{_MARKS[agent.role]} {words.line(agent.name, 60)}"
        + (f" ({words.line(agent.model, 200)})" if agent.model and agent.model != agent.name else "")
        for agent in named
    )


def mark_of(leg: Leg) -> str:
    return _MARKS[leg.role]


def moment(ms: int) -> str:
    """Day and minute, local time; empty for an unknown time."""
    return datetime.fromtimestamp(ms / 1000).astimezone().strftime("%Y-%m-%d %H:%M") if ms > 0 else ""


def ending(leg: Leg) -> str:
    """How the leg ended, when it is more than that it did."""
    status = leg.status.value
    return "" if status == "done" else status


def attached_line(words: Words, came: Attachment) -> str:
    """What came with a prompt, in one line."""
    if came.kind is Kind.COMMAND:
        return "printed" if came.ok else "printed, and failed"
    note = f" · {words.line(came.note, 200)}" if came.note else ""
    return f"{came.kind} attached: {words.line(came.name, 400)}{note}"


def cost(leg: Leg) -> str:
    """Tokens and money of a leg as they were reported; empty when nothing was."""
    usage = leg.usage
    parts = []
    if usage.known:
        parts.append(f"{usage.input_tokens or 0:,} in · {usage.output_tokens or 0:,} out")
    if usage.cost_usd:
        parts.append(f"${usage.cost_usd:.4f}")
    return " · ".join(parts)


def fenced(text: str, language: str = "") -> str:
    """The text in a fence that nothing in it can close."""
    longest = run = 0
    for character in text:
        run = run + 1 if character == "`" else 0
        longest = max(longest, run)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def _code(text: str) -> str:
    """The text as a code span that nothing in it can end."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    marks = "`" * (longest + 1)
    return f"{marks} {text} {marks}" if longest else f"`{text}`"


def markdown(out: TextIO, session: Session, said: Iterable[Said], *, secrets: bool = False) -> None:
    """Write the conversation as Markdown."""
    words = Words(session.nonces, secrets)
    out.write(f"# {in_a_line(heading(session, words))}\n\n{in_a_line(agents_of(session, words))}  \n")
    out.write(f"{_code(words.line(session.directory))} · {moment(session.created_ms)}\n")
    for each in said:
        out.write(f"\n## you · {moment(each.turn.created_ms)}\n\n{harmless(words.text(each.turn.prompt))}\n")
        for came in each.attached:
            out.write(f"\n▸ {in_a_line(attached_line(words, came))}\n")
            if came.kind is Kind.COMMAND:
                out.write(f"\n{fenced(words.text(came.text))}\n")
        for leg, tools in each.legs:
            about = " · ".join(
                part for part in (moment(leg.started_ms), ending(leg), words.line(leg.reason), cost(leg)) if part
            )
            out.write(f"\n### {mark_of(leg)} {in_a_line(words.line(leg.agent_name, 60))} · {in_a_line(about)}\n")
            for piece in pieces(leg, tools):
                if isinstance(piece, str):
                    out.write(f"\n{harmless(words.text(piece).strip())}\n")
                else:
                    out.write(f"\n▸ {_code(words.line(piece.name, 80))} · {piece.status.value}\n")
                    out.write(f"\n{fenced(words.text(piece.arguments), 'json')}\n")
                    if piece.result:
                        out.write(f"\n{fenced(words.text(piece.result))}\n")
            if leg.error:
                out.write(f"\n> {in_a_line(words.line(f'{leg.error.message} {leg.error.hint}'))}\n")


def pieces(leg: Leg, tools: tuple[ToolCall, ...]) -> Iterator[str | ToolCall]:
    """The answer's text and its calls, each where it came; blank text is left out."""
    at = 0
    for tool in sorted(tools, key=lambda tool: (tool.position, tool.id)):
        position = min(max(tool.position, at), len(leg.text))
        if leg.text[at:position].strip():
            yield leg.text[at:position]
        at = position
        yield tool
    if leg.text[at:].strip():
        yield leg.text[at:]


def as_json(
    out: TextIO, store: Store, session: Session, said: Iterable[Said], *, secrets: bool = False
) -> None:
    """Write the session as JSON: the conversation, bricks, need and the facts learned in it."""
    from milk_tui.store import attachments, bricks, percept_archive

    words = Words(session.nonces, secrets)
    current = store.read_sync(lambda conn: bricks.current(conn, session.id))
    facts = store.read_sync(
        lambda conn: [fact for fact in percept_archive.facts(conn, session.id) if fact.session_id == session.id]
    )
    came_with = store.read_sync(lambda conn: attachments.images(conn, session.id))
    about = {
        "milk_tui_session": VERSION,
        "session": words.plain(session),
        "bricks": {ALIASES.get(kind, kind.value): words.plain(brick) for kind, brick in current.items()},
        "facts": [words.plain(fact) for fact in facts],
    }
    out.write(json.dumps(about, ensure_ascii=False, indent=2)[:-2] + ',\n  "turns": [')
    between = "\n    "
    for each in said:
        legs = [{"leg": words.plain(leg), "tools": words.plain(tools)} for leg, tools in each.legs]
        told = {"turn": words.plain(each.turn), "legs": legs}
        if each.attached:
            told["attached"] = [_attached(words, came, came_with.get(came.id)) for came in each.attached]
        out.write(between + json.dumps(told, ensure_ascii=False))
        between = ",\n    "
    out.write("\n  ]\n}\n")


def _attached(words: Words, came: Attachment, image: bytes | None) -> dict[str, Any]:
    """What came with a prompt, or what its command printed; an image's bytes as base64."""
    told: dict[str, Any] = words.plain(came)
    told["data"] = None if image is None else b64encode(image).decode()
    return told


def default_name(session: Session, form: str) -> str:
    """A file name for an export, which any file system takes."""
    kept = "".join(c if c.isalnum() or c in "-_" else "-" for c in session.title.casefold())
    name = "-".join(part for part in kept.split("-") if part)[:48].strip("-")
    return f"{name or session.id[:8]}.{form}".replace(os.sep, "-")
