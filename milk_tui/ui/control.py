"""The screen's hand on the engine: the only module of the screen that holds a workspace and a conductor.

It changes the state and posts messages; it touches no widget. Errors for the person (``MilkError``) go
through to the caller.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message

from milk_tui.ui.state import SessionState

if TYPE_CHECKING:
    from milk_tui.core.permissions import Verdict
    from milk_tui.core.records import Brick, BrickKind, ContextPlan, Percept, Receipt, SessionRow
    from milk_tui.engine.conductor import Conductor
    from milk_tui.engine.events import AnyEvent
    from milk_tui.engine.launch import Launch
    from milk_tui.engine.workspace import Workspace
    from milk_tui.ui.session_read import Shown


_LAST = 2**62
"""As a turn id: after all there are."""

MOST_EARLIER = 5_000
"""Earlier prompts that are searched."""
AT_ONCE = 64
"""Events that the screen takes up in one step."""


@dataclass
class EngineSpoke(Message):
    """Events wait in ``Control.take_events``; one message, however many."""


@dataclass
class SessionOpened(Message):
    """Another session is on the screen from now on; ``switched``: there was one before."""

    switched: bool


class Control:
    """Opens the workspace and a session, passes on what the person wants, collects what happened."""

    def __init__(self, launch: Launch, state: SessionState, post: Callable[[Message], object]) -> None:
        self.launch = launch
        self.state = state
        self.workspace: Workspace | None = None
        self.conductor: Conductor | None = None
        self.shown: Shown | None = None
        """What the screen began the session with."""
        self.written: Callable[[], str] = str
        """What is in the prompt now."""
        self.left_draft = ""
        """What was in the prompt when the session before was left."""
        self.sending = False
        """A prompt is on its way into the store."""
        self._post = post
        self._events: deque[AnyEvent] = deque()
        self._stop_listening: Callable[[], None] | None = None

    async def open_workspace(self) -> Workspace:
        """Read the configuration and open the database, in a thread. Raises MilkError."""
        launch = self.launch

        def opened() -> Workspace:
            from milk_tui.engine.workspace import Workspace

            return Workspace.open(launch)

        self.workspace = await asyncio.to_thread(opened)
        return self.workspace

    async def open_session(self, which: str | None = None, *, new: bool = False) -> None:
        """Make a session the one on the screen; the one before is let go."""
        assert self.workspace is not None
        await self._show(await self.workspace.open_session(which, new=new))

    async def open_fresh(self) -> None:
        """A session from the perception of the one on the screen and its pinned facts alone."""
        assert self.workspace is not None
        assert self.conductor is not None
        await self._show(await self.workspace.open_fresh(self.conductor))

    @property
    def dense_file(self) -> bool:
        """Whether the working set stands on one line in the file."""
        return self.workspace is not None and self.workspace.config.perception.dense

    async def _show(self, conductor: Conductor) -> None:
        if conductor is self.conductor:
            return
        switched = self.conductor is not None
        if self.conductor is not None:
            self.left_draft = self.written()
            await self.conductor.save_draft(self.left_draft)
        await self._let_go()
        self.conductor = conductor
        self.state.begin(conductor.session)
        self._stop_listening = conductor.listen(self._heard)
        await self._read_session(conductor)
        self.state.ready = True
        self._post(SessionOpened(switched))
        await conductor.perception.greet()
        await conductor.resume_waiting()

    async def _read_session(self, conductor: Conductor) -> None:
        """Facts, bricks, perception and prompt history of the session, in one read."""
        from milk_tui.ui import session_read

        assert self.workspace is not None
        shown = await self.workspace.store.read(lambda conn: session_read.read(conn, conductor.session))
        session_read.put(self.state, shown)
        self.shown = shown

    @property
    def session_id(self) -> str:
        return self.conductor.session.id if self.conductor is not None else ""

    def take_events(self) -> list[AnyEvent]:
        """What happened since the last call, in order, at most ``AT_ONCE``: after many the keys have their turn first.
        """
        taken = [self._events.popleft() for _ in range(min(len(self._events), AT_ONCE))]
        if self._events:
            self._post(EngineSpoke())
        return taken

    async def close(self) -> None:
        """Let the session and the workspace go; what is written is written."""
        await self._let_go()
        if self.workspace is not None:
            workspace, self.workspace = self.workspace, None
            await workspace.aclose()

    async def submit(self, text: str, *, escalate: bool = False, reason: str = "", fresh: bool = False) -> None:
        """Send a prompt, or keep it until there is a session. Until it is stored it is the draft."""
        if self.conductor is None:
            self.state.waiting_here.append(text)
            return
        self.sending = True
        try:
            await self.conductor.submit(text, escalate=escalate, reason=reason, fresh=fresh)
        finally:
            self.sending = False

    async def submit_waiting(self) -> None:
        """Send what was submitted before there was a session, in order; each leaves the list when it is
        stored."""
        waiting = self.state.waiting_here
        while waiting and self.conductor is not None:
            await self.conductor.submit(waiting[0])
            waiting.pop(0)

    def answer(self, request_id: str, verdict: Verdict) -> bool:
        """The person's answer to an agent; False when it does not wait any more."""
        return self.conductor is not None and self.conductor.permissions.answer(request_id, verdict)

    async def take_back(self) -> str | None:
        """Take the newest waiting prompt back; ``None`` when none waits any more."""
        if self.state.waiting_here:
            return self.state.waiting_here.pop()
        if self.conductor is None or not self.state.queue:
            return None
        return await self.conductor.drop_queued(max(self.state.queue))

    async def find_files(self, words: str) -> Sequence[str]:
        """Paths of the session's directory that fit, best first."""
        return [] if self.conductor is None else await self.conductor.files.find(words)

    def agent_name(self, role: str) -> str:
        """What the agent in a role is called."""
        return self.state.agent(role).name or "nobody"

    async def clipboard_image(self) -> str:
        """Keep the image that is in the clipboard; its path. Raises MilkError when there is none."""
        from milk_tui import paths
        from milk_tui.ui.clipboard import image_from_clipboard

        return str(await image_from_clipboard(paths.private_folder(paths.data_dir() / "images")))

    async def stop(self) -> bool:
        """Stop the running leg, else the loading of a model; False when neither is there."""
        if self.conductor is not None and await self.conductor.stop():
            return True
        if self.workspace is not None and self.state.loading is not None:
            self.workspace.cancel_loading()
            return True
        return False

    async def save_draft(self, text: str) -> None:
        if self.conductor is not None:
            await self.conductor.save_draft(text)

    async def remember_typed(self, text: str) -> None:
        """Keep a command in the history of the directory; a prompt is kept with its turn."""
        if self.workspace is None or self.workspace.store.read_only:
            return
        from milk_tui.store import history

        directory, session_id = self.state.directory, self.session_id or None
        await self.workspace.store.write(
            lambda db: history.add(db, directory=directory, text=text, session_id=session_id)
        )

    async def earlier_prompts(self) -> Sequence[str]:
        """What was typed in the directory, newest first."""
        if self.workspace is None:
            return ()
        from milk_tui.store import history

        directory = self.state.directory
        return await self.workspace.store.read(lambda conn: history.recent(conn, directory, limit=MOST_EARLIER))

    async def fact(self, reference: str) -> Percept:
        """The fact that a person means by an id or its beginning. Raises MilkError."""
        from milk_tui.core.errors import MilkError
        from milk_tui.store import percept_lists

        if self.workspace is None:
            raise MilkError("The session is not open yet.")
        found = await self.workspace.store.read(lambda conn: percept_lists.get(conn, reference))
        if found is None:
            raise MilkError(f"There is no fact {reference}.", "The list beside the conversation shows the ids.")
        return found

    async def last_turn(self) -> int:
        """The newest prompt's turn of the session; 0 when there is none."""
        from milk_tui.store import turns

        if self.workspace is None or self.conductor is None:
            return 0
        session_id = self.conductor.session.id
        return await self.workspace.store.read(lambda conn: turns.last_asked_id(conn, session_id)) or 0

    async def last_prompt(self) -> str:
        """What was asked last; empty when nothing was."""
        from milk_tui.store import turns

        turn_id = await self.last_turn()
        if not turn_id or self.workspace is None:
            return ""
        return (await self.workspace.store.read(lambda conn: turns.get(conn, turn_id))).prompt

    async def receipts(self) -> Sequence[Receipt]:
        """What was sent with the session's newest legs, newest first."""
        if self.workspace is None or self.conductor is None:
            return ()
        from milk_tui.store import receipts

        session_id = self.conductor.session.id
        return await self.workspace.store.read(lambda conn: receipts.of_session(conn, session_id))

    async def receipt(self, leg_id: int) -> Receipt | None:
        from milk_tui.store import receipts

        if self.workspace is None:
            return None
        return await self.workspace.store.read(lambda conn: receipts.get(conn, leg_id))

    async def plan_escalation(self) -> ContextPlan | None:
        return None if self.conductor is None else await self.conductor.plan_escalation()

    def windows(self) -> dict[str, int]:
        """Tokens that each role's model can take, where that is known."""
        if self.workspace is None:
            return {}
        agents = self.workspace.roster.agents.items()
        return {str(role): agent.caps.window_tokens for role, agent in agents if agent.caps.window_tokens}

    @property
    def context_cap(self) -> int:
        """Characters that a context may take, beside thread and prompt."""
        return self.workspace.config.context.cap if self.workspace is not None else 24_000

    async def brick_versions(self, kind: BrickKind) -> Sequence[Brick]:
        """Every version of a brick, newest first."""
        from milk_tui.store import bricks

        if self.workspace is None:
            return ()
        session_id = self.session_id
        return await self.workspace.store.read(lambda conn: bricks.history(conn, session_id, kind))

    async def need_age(self) -> int | None:
        """Turns since the need was set; ``None`` when none is."""
        from milk_tui.store import turns

        need = self.state.bricks.get("current_need")
        if need is None or not need.text or self.workspace is None:
            return None
        session_id, since = self.session_id, need.turn_id
        return await self.workspace.store.read(lambda conn: turns.count_after(conn, session_id, since, before=_LAST))

    async def sessions(self, *, everywhere: bool) -> list[SessionRow]:
        return [] if self.workspace is None else await self.workspace.sessions(everywhere=everywhere)

    async def rename_other(self, session_id: str, title: str) -> None:
        """Give a title to a session that is not on the screen. Raises MilkError for a blank one."""
        from milk_tui.core.text import one_line
        from milk_tui.store import sessions

        assert self.workspace is not None
        name = one_line(title, 80)
        await self.workspace.store.write(lambda db: sessions.rename(db, session_id, name))

    def _heard(self, event: AnyEvent) -> None:
        self._events.append(event)
        if len(self._events) == 1:
            self._post(EngineSpoke())

    async def _let_go(self) -> None:
        if self._stop_listening is not None:
            self._stop_listening()
            self._stop_listening = None
        self._events.clear()
        if self.conductor is not None:
            conductor, self.conductor = self.conductor, None
            self.state.ready = False
            if self.workspace is not None:
                await self.workspace.close_session(conductor)
