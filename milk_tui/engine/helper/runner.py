"""One run of a helper from its signal to its end in the log; every limit of the profile holds (``semantics.md`` §6).

Whatever happens, the run ends in a recorded outcome and its lease is given back.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from msgspec import Struct

from milk_tui.core.errors import MilkError
from milk_tui.core.helper_answer import Answer, BadAnswerError, check
from milk_tui.core.helper_profile import CAPABILITIES, MESSAGES, SEND_MESSAGE, Profile
from milk_tui.core.helper_signals import Signal
from milk_tui.engine.helper import briefing
from milk_tui.engine.helper.claude import GUARD
from milk_tui.engine.helper.runtimes import RunFailedError, Runtime, Spent
from milk_tui.engine.helper.search import Search
from milk_tui.store import Store, helper_runs, notes, owner
from milk_tui.store.clock import now_ms
from milk_tui.store.helper_runs import Begin, BusyError

if TYPE_CHECKING:
    from sqlite_utils import Database

    from milk_tui.recall import Semantic

_log = logging.getLogger(__name__)

LEASE_SPARE_MS = 30_000
"""A lease outlives the profile's timeout by so much: storing the end takes a moment."""


class Ended(Struct, frozen=True, kw_only=True):
    """How a run ended. ``status``: note · quiet · failed · refused · cancelled; ``waiting`` when another run has the
    conversation, ``busy`` when the profile runs elsewhere as often as it may, and the signal is in its slot."""

    status: str
    reason: str = ""
    run_id: int | None = None
    note_id: int | None = None


@dataclass(slots=True)
class Runner:
    """Runs helpers of one program. ``folder(directory)`` says where the records of a directory are."""

    store: Store
    runtime: Runtime
    folder: Callable[[str], str]
    carriers: tuple[str, ...] = notes.CARRIERS
    semantic: Semantic | None = None
    environ: dict[str, str] = field(default_factory=lambda: dict(os.environ))
    patient: bool = False
    """True where the caller comes again when the profile runs elsewhere as often as it may: the signal waits then, and
    nothing is logged."""

    async def run(self, signal: Signal, profile: Profile) -> Ended:
        """Do one run. Raises only what the store raises, and ``CancelledError``."""
        if why := self._forbidden(signal, profile):
            return await self._refuse(signal, profile, why)
        try:
            run_id = await self.store.write(partial(self._begin, signal, profile))
        except BusyError as busy:
            if not self.patient:
                return await self._refuse(signal, profile, str(busy))
            await self.store.write(partial(helper_runs.wait, signal=signal))
            return Ended(status="busy", reason=str(busy))
        if run_id is None:
            return Ended(status="waiting")
        spent = Spent()
        try:
            status, reason, note, leg = await self._work(signal, profile, spent)
        except asyncio.CancelledError:
            await asyncio.shield(self._end(run_id, signal, profile, spent, "cancelled", "the program ended", None, 0))
            raise
        except MilkError as error:
            status, reason, note, leg = "failed", str(error), None, 0
        except Exception as error:
            _log.exception("helper run %s failed", run_id)
            status, reason, note, leg = "failed", f"{type(error).__name__} in milk itself", None, 0
        return await self._end(run_id, signal, profile, spent, status, reason, note, leg)

    def _forbidden(self, signal: Signal, profile: Profile) -> str:
        """Why this run must not begin; empty when it may."""
        limits = profile.limits
        if signal.helper or self.environ.get(GUARD):
            return "a helper never starts a helper"
        if signal.hops + 1 > limits.max_hops:
            return f"hop {signal.hops + 1}, at most {limits.max_hops} are allowed"
        if signal.depth + 1 > limits.max_depth:
            return f"depth {signal.depth + 1}, at most {limits.max_depth} is allowed"
        if missing := [name for name in profile.capabilities if name not in CAPABILITIES]:
            return f"unavailable capability: {', '.join(missing)}"
        if profile.local_only and not self.runtime.local:
            return f"the profile is local-only, {self.runtime.name} {self.runtime.model} is not on this machine"
        return ""

    def _entry(self, signal: Signal, profile: Profile) -> Begin:
        return Begin(
            signal=signal,
            profile_id=profile.id,
            profile_hash=profile.hash,
            runtime=self.runtime.name,
            model=self.runtime.model,
            holder=self.store.owner_id,
            lease_ms=round(profile.limits.timeout_s * (profile.limits.max_retries + 1) * 1000) + LEASE_SPARE_MS,
            max_concurrency=profile.limits.max_concurrency,
        )

    def _begin(self, signal: Signal, profile: Profile, db: Database) -> int | None:
        alive = partial(owner.alive, self.store.running_folder)
        return helper_runs.begin(db, self._entry(signal, profile), alive=alive, now=now_ms())

    async def _refuse(self, signal: Signal, profile: Profile, why: str) -> Ended:
        def write(db: Database) -> int:
            run_id = helper_runs.enter(db, self._entry(signal, profile), now=now_ms())
            helper_runs.end(db, run_id, "refused", now=now_ms(), reason=why)
            return run_id

        return Ended(status="refused", reason=why, run_id=await self.store.write(write))

    async def _work(
        self, signal: Signal, profile: Profile, spent: Spent
    ) -> tuple[str, str, tuple[Answer, Search] | None, int]:
        """Status, reason, what to say, and how far was read."""
        talk = await self.store.read(lambda conn: briefing.listen(conn, signal, profile))
        part = profile.part(MESSAGES)
        if part is not None and part.required and not talk.text:
            return "failed", "missing context: the conversation has nothing new", None, talk.last_leg
        reason = ""
        for _ in range(profile.limits.max_retries + 1):
            folder = self.folder(signal.directory)
            search = Search(self.store, session_id=signal.session_id, folder=folder, semantic=self.semantic)
            try:
                async with asyncio.timeout(profile.limits.timeout_s):
                    found = await search.search(talk.newest) if talk.newest else []
                    most = profile.limits.max_input_bytes
                    asked = briefing.brief(profile, signal, talk, found, most_bytes=most)
                    if asked.bytes > most:
                        return "failed", f"the instructions alone have more than {most:,} bytes", None, 0
                    spent.input_bytes = asked.bytes
                    raw = await self.runtime.answer(asked, found, search, profile.limits, spent)
                spent.output_bytes = max(spent.output_bytes, len(raw.encode("utf-8", "replace")))
                answer = check(
                    raw.strip(),
                    search.given,
                    may_send=SEND_MESSAGE in profile.authority,
                    max_bytes=profile.limits.max_output_bytes,
                )
            except TimeoutError:
                reason = f"no answer within {profile.limits.timeout_s:g} s"
            except RunFailedError as failed:
                reason = str(failed)
            except BadAnswerError as bad:
                reason = f"malformed output: {bad}"
            else:
                if not answer.text:
                    return "quiet", "", None, talk.last_leg
                known = {cite.id for note in talk.told for cite in note.cites}
                if all(search.cite(each).id in known for each in answer.citations):
                    return "quiet", "the session was told that already", None, talk.last_leg
                return "note", "", (answer, search), talk.last_leg
        return "failed", reason, None, talk.last_leg

    async def _end(
        self,
        run_id: int,
        signal: Signal,
        profile: Profile,
        spent: Spent,
        status: str,
        reason: str,
        said: tuple[Answer, Search] | None,
        leg: int,
    ) -> Ended:
        """One transaction: the run's end, its note, its lease, how far it read."""

        def write(db: Database) -> int | None:
            ended = helper_runs.end(
                db,
                run_id,
                status,
                now=now_ms(),
                input_bytes=spent.input_bytes,
                output_bytes=spent.output_bytes,
                input_tokens=spent.usage.input_tokens,
                output_tokens=spent.usage.output_tokens,
                reason=reason,
            )
            if not ended:
                return None
            if leg:
                helper_runs.mark_seen(db, signal.session_id, profile.id, leg)
            if said is None:
                return None
            answer, search = said
            return notes.add(
                db.conn,
                signal.session_id,
                answer.text,
                cites=tuple(search.cite(each) for each in answer.citations),
                now=now_ms(),
                run_id=run_id,
                profile_id=profile.id,
                carriers=self.carriers,
            )

        note_id = await self.store.write(write)
        if status == "note" and note_id is None:
            status, reason = "failed", "it answered after its lease was over"
        return Ended(status=status, reason=reason, run_id=run_id, note_id=note_id)
