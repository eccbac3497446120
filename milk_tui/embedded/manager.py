"""The embedded model as the screen process sees it: can it be used, make it ready, say how far it is.

Nothing here blocks the event loop and nothing heavy is imported: weights are fetched in threads, the model
lives in the shared server (``server``), its runtime is never imported by a program.
"""

from __future__ import annotations

import asyncio
import importlib.util
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from milk_tui.core.errors import MilkError
from milk_tui.core.records import ErrorKind
from milk_tui.embedded.background import in_thread
from milk_tui.embedded.cancel import CancelledByUserError, CancelToken
from milk_tui.embedded.catalogue import DEFAULT_SIZE, EmbeddedModel, find_model
from milk_tui.embedded.control import Endpoint
from milk_tui.embedded.fetch import FetchProgress, megabytes
from milk_tui.embedded.lease import Lease, join
from milk_tui.embedded.settings import EmbeddedSettings

_REPORT_EVERY_S = 0.2


class Phase(StrEnum):
    """``idle``: nothing started, or the server has gone and starts again with the next use."""

    IDLE = "idle"
    FETCHING = "fetching"
    LOADING = "loading"
    READY = "ready"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class EmbeddedStatus:
    """How one embedded model is; ``text`` is one line for the person, ``fraction`` 0..1 where it is known."""

    size: str
    phase: Phase
    text: str
    fraction: float | None = None
    error: MilkError | None = None


class EmbeddedUnavailableError(MilkError):
    """The embedded model can't be used here."""

    kind = ErrorKind.NO_AGENT


class EmbeddedCancelledError(MilkError):
    """The person stopped the fetching or loading."""

    kind = ErrorKind.NO_AGENT
    cancelled = True


OnStatus = Callable[[EmbeddedStatus], None]


@dataclass(slots=True, eq=False)
class _Slot:
    """One size: the work to make it ready, who waits for it, and what it became."""

    model: EmbeddedModel
    status: EmbeddedStatus
    job: asyncio.Task[Endpoint] | None = None
    token: CancelToken = field(default_factory=CancelToken)
    waiting: list[OnStatus] = field(default_factory=list)
    lease: Lease | None = None


class EmbeddedManager:
    """Fetches weights, starts or joins the shared server, holds this program's leases.

    ``on_status`` is called on the event loop with every change, a few times a second while fetching.
    """

    def __init__(self, settings: EmbeddedSettings, on_status: OnStatus | None = None) -> None:
        self._settings = settings
        self._on_status = on_status
        self._slots: dict[str, _Slot] = {}
        self._closed = False

    def available(self, size: str = DEFAULT_SIZE) -> str | None:
        """``None`` when ``size`` can be used, else why not and what to do, in one line."""
        find_model(size)
        if importlib.util.find_spec("xllamacpp") is None:
            return "the extra is not installed: pip install 'milk-tui[embedded]'"
        if self.weights(size) is None and not (self._settings.publisher or self._settings.carriers):
            return "its weights are not here and fetching is switched off"
        return None

    def weights(self, size: str = DEFAULT_SIZE) -> Path | None:
        """Where the weights seem to be; ``None`` when the first use will fetch them."""
        from milk_tui.embedded.weights import find_weights

        return find_weights(find_model(size), self._settings)

    def status(self, size: str = DEFAULT_SIZE) -> EmbeddedStatus:
        return self._slot(size).status

    async def ready(self, size: str = DEFAULT_SIZE, on_status: OnStatus | None = None) -> Endpoint:
        """The endpoint of the running model, after fetching, starting and loading as far as needed.

        Callers of the same size share the work; ``on_status`` hears how far it is. When the last caller is
        cancelled the work stops (what was fetched is kept). Raises ``MilkError`` with ``kind`` where it
        matters: ``EmbeddedUnavailableError``, ``EmbeddedCancelledError``, ``ServerError``, ``FetchError``
        and its kinds.
        """
        slot = self._slot(size)
        lease = self._lease_of(slot)
        if lease is not None:
            return lease
        if self._closed:
            raise EmbeddedUnavailableError("The program is closing.")
        if slot.job is None or slot.job.done():
            slot.token = CancelToken()
            slot.job = asyncio.create_task(self._bring_up(slot, slot.token))
        listener = on_status or _ignore
        slot.waiting.append(listener)
        job = slot.job
        try:
            return await asyncio.shield(job)
        except asyncio.CancelledError:
            if job.cancelled():
                raise EmbeddedCancelledError(
                    "Getting the embedded model ready was cancelled.", "The next prompt goes on from there."
                ) from None
            if slot.waiting == [listener] and not job.done():
                self._stop(slot)
            raise
        finally:
            slot.waiting.remove(listener)

    def cancel(self, size: str | None = None) -> None:
        """Stop fetching and loading (of all sizes when none is named); a ready model stays."""
        for slot in self._slots.values():
            if size in (None, slot.model.size):
                self._stop(slot)

    async def aclose(self) -> None:
        """Stop all work and give the leases back."""
        self._closed = True
        jobs = [slot.job for slot in self._slots.values() if slot.job is not None]
        self.cancel()
        await asyncio.gather(*jobs, return_exceptions=True)
        for slot in self._slots.values():
            self._release(slot)

    def _slot(self, size: str) -> _Slot:
        model = find_model(size)
        if model.size not in self._slots:
            status = EmbeddedStatus(model.size, Phase.IDLE, f"{model.name} is not started")
            self._slots[model.size] = _Slot(model, status)
        return self._slots[model.size]

    def _lease_of(self, slot: _Slot) -> Endpoint | None:
        return slot.lease.endpoint if slot.lease is not None and slot.lease.held else None

    def _stop(self, slot: _Slot) -> None:
        if slot.job is not None and not slot.job.done():
            slot.token.cancel()
            slot.job.cancel()

    def _release(self, slot: _Slot) -> None:
        if slot.lease is not None:
            slot.lease.close()
        slot.lease = None

    async def _bring_up(self, slot: _Slot, token: CancelToken) -> Endpoint:
        from milk_tui.embedded.weights import obtain_weights

        model = slot.model
        try:
            reason = self.available(model.size)
            if reason is not None:
                raise EmbeddedUnavailableError(f"{model.name} can't be used: {reason}.")
            report = self._fetch_reporter(slot)
            try:
                weights = await in_thread(lambda: obtain_weights(model, self._settings, report, token))
            except CancelledByUserError:
                raise asyncio.CancelledError from None
            self._say(slot, Phase.LOADING, f"starting the server of {model.name}")
            lease = await join(
                model,
                weights,
                self._settings,
                lambda: self._say(slot, Phase.LOADING, f"loading {model.name} ({model.title})"),
            )
        except asyncio.CancelledError:
            self._say(slot, Phase.IDLE, f"{model.name}: cancelled; the next use goes on from there")
            raise
        except MilkError as error:
            self._say(slot, Phase.FAILED, str(error), error=error)
            raise
        slot.lease = lease
        lease.on_lost = lambda: self._lost(slot, lease)
        self._say(slot, Phase.READY, f"{model.name} is ready ({model.title}, {model.licence})")
        return lease.endpoint

    def _lost(self, slot: _Slot, lease: Lease) -> None:
        if slot.lease is lease:
            slot.lease = None
            self._say(slot, Phase.IDLE, f"the server of {slot.model.name} has ended; the next use starts it again")

    def _fetch_reporter(self, slot: _Slot) -> Callable[[FetchProgress], None]:
        """Takes progress in the fetching thread and says it on the loop, a few times a second."""
        loop = asyncio.get_running_loop()
        model = slot.model
        about = f"{model.title}, {model.licence}"
        said_at = 0.0
        stage = ""

        def report(progress: FetchProgress) -> None:
            nonlocal said_at, stage
            now = time.monotonic()
            if progress.stage == stage and now - said_at < _REPORT_EVERY_S:
                return
            said_at, stage = now, progress.stage
            size = megabytes(progress.total or model.bytes)
            done = f"{megabytes(progress.done)} of {size}" if progress.total else size
            text = f"fetching {model.name}: {stage}, {done} ({about})"
            try:
                loop.call_soon_threadsafe(self._say, slot, Phase.FETCHING, text, progress.fraction)
            except RuntimeError:
                return  # the loop is closed

        return report

    def _say(
        self,
        slot: _Slot,
        phase: Phase,
        text: str,
        fraction: float | None = None,
        error: MilkError | None = None,
    ) -> None:
        if phase is Phase.FETCHING and (slot.job is None or slot.job.done() or slot.token.cancelled):
            return
        status = EmbeddedStatus(slot.model.size, phase, text, fraction, error)
        slot.status = status
        for listener in [*slot.waiting, self._on_status or _ignore]:
            listener(status)


def _ignore(status: EmbeddedStatus) -> None:
    pass
