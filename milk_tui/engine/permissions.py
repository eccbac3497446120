"""The one permission service: every kind of agent asks here before it does something (``quality.md`` "permissions").

Nothing is allowed by itself. What was granted before is looked up first; otherwise the request waits for the person,
and where no person is there it is denied and said. An answer belongs to one request, and the request to the arguments
that it was made of: whoever asks runs exactly those.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from milk_tui.core import grants as rules
from milk_tui.core.errors import MilkError
from milk_tui.core.grants import NO_PERSON, NOBODY, WITHDRAWN, Grant
from milk_tui.core.permissions import PermissionRequest, Verdict
from milk_tui.core.records import Session
from milk_tui.core.text import clean, one_line
from milk_tui.core.visible import visible
from milk_tui.engine.events import AnyEvent, Notice, PermissionAsked, PermissionEnded
from milk_tui.store import Store, grants
from milk_tui.store.clock import now_ms

if TYPE_CHECKING:
    from sqlite_utils import Database

_log = logging.getLogger(__name__)

MOST_WAITING = 200
"""Requests that may wait for the person at once; what comes beyond is denied."""


class PermissionDesk:
    """Where the agents of a session ask and the person answers.

    ``attended``: whether a person is there to answer; without one everything that was not granted is denied.
    """

    def __init__(
        self,
        store: Store,
        session: Callable[[], Session],
        publish: Callable[[AnyEvent], None],
        *,
        attended: bool = False,
    ) -> None:
        self._store = store
        self._session = session
        self._publish = publish
        self.attended = attended
        self._waiting: dict[str, tuple[PermissionRequest, asyncio.Future[Verdict]]] = {}
        self._in_order = asyncio.Lock()

    @property
    def pending(self) -> tuple[PermissionRequest, ...]:
        """What waits for an answer, in the order in which it was asked."""
        return tuple(request for request, _ in self._waiting.values())

    async def ask(self, request: PermissionRequest) -> Verdict:
        """The verdict for one request. Cancelling the wait withdraws it. Never raises for a denial."""
        asked, request = request, _cleaned(request)
        async with self._in_order:
            answer = await self._begin(request)
        if isinstance(answer, Verdict):
            return answer
        try:
            verdict = await answer
        except asyncio.CancelledError:
            self._end(request.id, Verdict(allowed=False, by=NOBODY, reason=WITHDRAWN))
            raise
        if verdict.by == "person":
            await self._keep(request, verdict)
        return _as_asked(asked, request, verdict)

    async def _begin(self, request: PermissionRequest) -> Verdict | asyncio.Future[Verdict]:
        """The verdict where nobody need be asked, else what brings it; the person is asked in the order of asking."""
        covering = await self._granted(request)
        if covering is not None:
            return Verdict(allowed=True, scope=covering.scope, by=f"grant #{covering.id}")
        if not self.attended:
            self._say(f"denied to {request.agent_name}: {one_line(request.title, 200)} ({NO_PERSON})")
            return Verdict(allowed=False, by=NOBODY, reason=NO_PERSON)
        if len(self._waiting) >= MOST_WAITING or request.id in self._waiting:
            return Verdict(allowed=False, by=NOBODY, reason="too many requests wait already")
        answer: asyncio.Future[Verdict] = asyncio.get_running_loop().create_future()
        self._waiting[request.id] = (request, answer)
        self._publish(PermissionAsked(session_id=self._session().id, request=request))
        return answer

    def answer(self, request_id: str, verdict: Verdict) -> bool:
        """The person's answer; False when the request does not wait any more.

        An answer never gives more than the request offered (``grants.bounded``).
        """
        waiting = self._waiting.get(request_id)
        if waiting is None or waiting[1].done():
            return False
        request, future = waiting
        verdict = rules.bounded(request, replace(verdict, by="person", reason=one_line(clean(verdict.reason), 500)))
        self._end(request_id, verdict)
        future.set_result(verdict)
        self._answer_alike(request, verdict)
        return True

    def withdraw(self, request_id: str, reason: str = WITHDRAWN) -> bool:
        """Whoever asked does not wait any more; False when it was answered before."""
        waiting = self._waiting.get(request_id)
        if waiting is None:
            return False
        verdict = Verdict(allowed=False, by=NOBODY, reason=reason)
        self._end(request_id, verdict)
        if not waiting[1].done():
            waiting[1].set_result(verdict)
        return True

    def _answer_alike(self, request: PermissionRequest, verdict: Verdict) -> None:
        """Requests that wait and that the same answer covers need not be asked again."""
        session_id = self._session().id
        grant = rules.granted(request, verdict, session_id, now_ms())
        if grant is None:
            return
        for other, future in tuple(self._waiting.values()):
            if rules.covers(grant, other, session_id) and not future.done():
                alike = Verdict(allowed=True, scope=verdict.scope, by="grant")
                self._end(other.id, alike)
                future.set_result(alike)

    def _end(self, request_id: str, verdict: Verdict) -> None:
        if self._waiting.pop(request_id, None) is not None:
            self._publish(PermissionEnded(session_id=self._session().id, request_id=request_id, verdict=verdict))

    async def _granted(self, request: PermissionRequest) -> Grant | None:
        """The oldest grant that covers the request, its use counted."""
        if request.questions:
            return None
        session_id = self._session().id
        look = partial(grants.candidates, agent_name=request.agent_name, tool=request.tool, directory=request.directory)
        for grant in await self._store.read(look):
            if rules.covers(grant, request, session_id) and await self._count(grant):
                return grant
        return None

    async def _count(self, grant: Grant) -> bool:
        """Count the use; False when the grant was revoked meanwhile."""
        if self._store.read_only:
            return True
        return await self._store.write(partial(grants.used, grant_id=grant.id))

    async def _keep(self, request: PermissionRequest, verdict: Verdict) -> None:
        grant = rules.granted(request, verdict, self._session().id, now_ms())
        if grant is None:
            return

        def write(db: Database) -> Grant:
            return grants.add(db, grant)

        try:
            await self._store.write(write)
        except MilkError as error:
            _log.warning("a grant could not be kept: %s", error)
            self._say(f"allowed this once; it could not be kept: {error.what}")

    def _say(self, text: str) -> None:
        self._publish(Notice(session_id=self._session().id, text=text, severity="warning"))


def _cleaned(request: PermissionRequest) -> PermissionRequest:
    """What is shown hides nothing and harms nobody; what is compared and run are the arguments as they came."""
    return replace(
        request,
        title=one_line(visible(request.title), 400) or request.tool,
        body=visible(request.body),
        questions=tuple(
            replace(
                question,
                text=clean(question.text),
                header=one_line(question.header, 80),
                choices=tuple(one_line(choice, 400) for choice in question.choices),
            )
            for question in request.questions
        ),
    )


def _as_asked(asked: PermissionRequest, shown: PermissionRequest, verdict: Verdict) -> Verdict:
    """The answers under the questions, and in the choices, as whoever asked wrote them."""
    if not verdict.answers:
        return verdict
    answers = {}
    for theirs, ours in zip(asked.questions, shown.questions, strict=True):
        if ours.text in verdict.answers:
            said = verdict.answers[ours.text]
            choices = dict(zip(ours.choices, theirs.choices, strict=True))
            answers[theirs.text] = choices.get(said, said)
    return replace(verdict, answers=answers)
