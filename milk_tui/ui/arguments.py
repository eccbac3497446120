"""What can follow a slash command: the agents, sessions, facts, themes, files … that there are.

The registry says what each argument is (``Takes``); this finds those that fit what is written. A value replaces all
that is written behind the command, so that one for the second argument has the first in it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from milk_tui.core.text import one_line
from milk_tui.ui import format as f
from milk_tui.ui.action import Takes
from milk_tui.ui.actions import ACTIONS, BY_COMMAND
from milk_tui.ui.choices import Choice

if TYPE_CHECKING:
    from milk_tui.core.records import Percept
    from milk_tui.ui.control import Control

MOST = 200
"""Choices that are offered at once."""
_REST = frozenset({Takes.SESSION, Takes.THEME, Takes.FILE, Takes.CHANGED_FILE, Takes.SLICE, Takes.EXPORT})
"""Arguments that may have spaces in them: they are the rest of the line."""
_BRICKS = (
    ("need", "what the session is about"),
    ("brief", "why the escalation agent is called"),
    ("primary", "the summary of the primary's work"),
    ("escalation", "the summary of the escalation agent's work"),
)
_LAYERS = (
    ("invariant", "stack, conventions, what is forbidden"),
    ("frame", "story, acceptance, decisions, open questions"),
    ("working", "file, hypothesis, next step"),
)
_FILE_DOINGS = (
    ("write", "into perception.md beside the code"),
    ("read", "what was changed in the file"),
    ("ignore", "let git leave the file alone"),
)


class Arguments:
    """Finds what can follow a command. ``themes``: the names of all themes."""

    def __init__(self, control: Control, themes: Callable[[], Iterable[str]]) -> None:
        self._control = control
        self._themes = themes
        self._found: Mapping[Takes, Callable[[str], Awaitable[Iterable[Choice]]]] = {
            Takes.ROLE_OR_AGENT: self._roles_and_agents,
            Takes.AGENT: self._agents,
            Takes.SESSION: self._sessions,
            Takes.FACT: self._facts,
            Takes.GONE_FACT: self._gone_facts,
            Takes.THEME: self._theme_names,
            Takes.FILE: self._files,
            Takes.EXPORT: self._exports,
            Takes.CHANGED_FILE: self._changed,
            Takes.BRICK: lambda _: _these(_BRICKS),
            Takes.SUMMARY: lambda _: _these(_BRICKS[2:]),
            Takes.LAYER: lambda _: _these(_LAYERS),
            Takes.ENTRY: self._entries,
            Takes.SLICE: self._slices,
            Takes.SCOPE: self._scopes,
            Takes.SERVER: self._servers,
            Takes.FILE_DOING: lambda _: _these(_FILE_DOINGS),
            Takes.FRESH: lambda _: _these([("fresh", "without what its own session knows")]),
            Takes.NEED: self._need,
            Takes.TITLE: self._title,
            Takes.COMMAND: self._commands,
        }

    async def find(self, command: str, written: str) -> Sequence[Choice]:
        """The choices for a command by its name, with what is written behind it; none while there is no session."""
        action = BY_COMMAND.get(command)
        if action is None or not action.takes or self._control.conductor is None:
            return ()
        before, part, takes = _part(action.takes, written)
        if takes is None:
            return ()
        found = [choice for choice in await self._found[takes](f"{before}{part}") if choice.value not in before.split()]
        if part.endswith(" ") and part.strip() in [choice.value for choice in found]:
            return ()
        return [
            choice._replace(value=f"{before}{choice.value}", shown=choice.shown or one_line(choice.value, 400))
            for choice in _sorted(found, part)[:MOST]
            if choice.value.isprintable()
        ]

    async def _roles_and_agents(self, written: str) -> Iterable[Choice]:
        state = self._control.state
        roles = [Choice(role, f"now {state.agent(role).name or 'nobody'}") for role in ("primary", "escalation")]
        return [*roles, *await self._agents(written)]

    async def _agents(self, written: str) -> Iterable[Choice]:
        workspace = self._control.workspace
        if workspace is None or (" " in written and written.split()[0] not in ("primary", "escalation")):
            return ()
        agents = workspace.config.agents
        return [
            Choice(name, agents[name].model or "of the config" if name in agents else "installed here")
            for name in workspace.players.candidates()
        ]

    async def _sessions(self, written: str) -> Iterable[Choice]:
        import time

        now, here = int(time.time() * 1000), self._control.state.directory
        rows = await self._control.sessions(everywhere=True)
        return [
            Choice(
                row.id[:8],
                f"{f.when(row.updated_ms, now)} · {f.plural(row.turns, 'turn')}"
                + ("" if row.directory == here else f" · {f.directory(row.directory)}"),
                one_line(row.title or row.last_prompt, 60) or "untitled",
            )
            for row in sorted(rows, key=lambda row: row.directory != here)
            if row.id != self._control.session_id and row.turns
        ]

    async def _facts(self, written: str) -> Iterable[Choice]:
        return map(_of_fact, self._control.state.percepts.values())

    async def _gone_facts(self, written: str) -> Iterable[Choice]:
        from milk_tui.store import percept_browse
        from milk_tui.store.clock import now_ms

        session_id = self._control.session_id

        def read(conn: sqlite3.Connection) -> list[Percept]:
            shelves = percept_browse.shelves(conn, session_id, now=now_ms(), limit=1, gone=MOST)
            return sorted((*shelves.forgotten, *shelves.superseded), key=lambda each: -each.updated_ms)

        workspace = self._control.workspace
        return [] if workspace is None else map(_of_fact, await workspace.store.read(read))

    async def _theme_names(self, written: str) -> Iterable[Choice]:
        return [Choice(name) for name in self._themes()]

    async def _files(self, written: str) -> Iterable[Choice]:
        from milk_tui.ui.choices import of_files

        return of_files(await self._control.find_files(written))

    async def _exports(self, written: str) -> Iterable[Choice]:
        workspace = self._control.workspace
        if workspace is None:
            return ()
        stem = (await workspace.shelf.default_file(self._control.session_id)).removesuffix(".md")
        kinds = (("md", "Markdown, to read"), ("html", "one page that needs nothing else"), ("json", "for programs"))
        return [Choice(f"{stem}.{ending}", about) for ending, about in kinds]

    async def _changed(self, written: str) -> Iterable[Choice]:
        conductor = self._control.conductor
        return [] if conductor is None else [Choice(file.name) for file in await conductor.changes.files()]

    async def _entries(self, written: str) -> Iterable[Choice]:
        """``KEY:`` of the layer that is named before."""
        layer = written.split()[0].casefold() if written.split() else ""
        return [
            Choice(f"{key}:", one_line(entry.value, 80))
            for (of, key), entry in self._control.state.perception.items()
            if layer and f"{of}s".startswith(layer)
        ]

    async def _slices(self, written: str) -> Iterable[Choice]:
        from milk_tui.store import perception_slices

        workspace, session_id = self._control.workspace, self._control.session_id
        if workspace is None:
            return ()
        found = await workspace.store.read(lambda conn: perception_slices.of_directory(conn, session_id))
        return [Choice(each.name) for each in found if each.name]

    async def _scopes(self, written: str) -> Iterable[Choice]:
        asked = next(iter(self._control.state.asked.values()), None)
        return [] if asked is None else [Choice(scope.value) for scope in asked.scopes]

    async def _servers(self, written: str) -> Iterable[Choice]:
        hub = self._control.workspace.mcp if self._control.workspace is not None else None
        return [] if hub is None else [Choice(status.name, str(status.state)) for status in hub.status()]

    async def _need(self, written: str) -> Iterable[Choice]:
        """What it is now, to change it; only before something else is written."""
        brick = self._control.state.bricks.get("current_need")
        return [] if written or brick is None or not brick.text else [Choice(one_line(brick.text, 2_000), "as it is")]

    async def _title(self, written: str) -> Iterable[Choice]:
        title = self._control.state.title
        return [] if written or not title else [Choice(one_line(title, 200), "as it is")]

    async def _commands(self, written: str) -> Iterable[Choice]:
        return [Choice(action.command, action.help) for action in ACTIONS if action.command]


async def _these(choices: Iterable[tuple[str, str]]) -> Iterable[Choice]:
    return [Choice(value, about) for value, about in choices]


def _of_fact(percept: Percept) -> Choice:
    pinned = f"{f.PIN_MARK} " if percept.pinned else ""
    return Choice(percept.short_id, f"{pinned}{one_line(percept.content, 160)}")


def _part(takes: Sequence[Takes], written: str) -> tuple[str, str, Takes | None]:
    """What is written of whole arguments, of the one that is being written, and what that one is."""
    before, rest = "", written
    for number, each in enumerate(takes):
        if each in _REST:
            return before, rest, each
        word, gap, after = rest.partition(" ")
        if not gap or number == len(takes) - 1:
            return before, rest, None if gap else each
        before, rest = f"{before}{word} ", after.lstrip()
    return before, rest, None


def _sorted(found: Iterable[Choice], part: str) -> list[Choice]:
    """Those that begin with what is written, then those that hold its words."""
    wanted = part.casefold().strip().lstrip("#")
    if not wanted:
        return list(found)
    first: list[Choice] = []
    rest: list[Choice] = []
    words = wanted.split()
    for choice in found:
        value, text = choice.value.casefold().lstrip("#"), f"{choice.value} {choice.shown} {choice.about}".casefold()
        if value.startswith(wanted) or choice.shown.casefold().startswith(wanted):
            first.append(choice)
        elif len(wanted) > 1 and all(word in text for word in words):
            rest.append(choice)
    return [*first, *rest]
