"""The semantic side of recall as the program sees it: a worker process that is asked, waited for briefly, and missed
without harm (``recall.md``, "Engine").

Every method may be called from any thread. Nothing here raises for what the worker does.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import IO

import msgspec
from msgspec import Struct

from milk_tui.recall import protocol
from milk_tui.recall.encoder import SemanticMissingError, locate
from milk_tui.recall.protocol import Nearest

PATIENCE_S = 0.5
"""How long a recall waits for a worker that is ready."""
STARTS = 3
"""How often a worker that dies is started in one run of the program."""

_MOST_OPEN = 16
_END_WITHIN_S = 2.0
_PASSED_ON = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "TEMP", "SYSTEMROOT", "USERPROFILE", "LD_LIBRARY_PATH")
"""The worker needs nothing of the environment but this; the keys in it are not its business."""


class Phase(StrEnum):
    """``off``: not started, or closed; ``missing``: not installed; ``failed``: it can't load or use what is there."""

    OFF = "off"
    MISSING = "missing"
    LOADING = "loading"
    READY = "ready"
    FAILED = "failed"


class SemanticState(Struct, frozen=True, kw_only=True):
    phase: Phase
    what: str = ""
    """Why it is missing or failed, in one line."""
    hint: str = ""
    embedded: int = 0
    waiting: int = 0
    """Facts that have a vector, and that wait for one."""

    @property
    def engine(self) -> str:
        """How facts are found now, as the status says it (``recall.md``)."""
        return "fts+minilm" if self.phase is Phase.READY else "fts"


class _Waiter:
    def __init__(self) -> None:
        self.done = threading.Event()
        self.reply: protocol.Reply | None = None


class Semantic:
    """The worker of one database. ``start`` begins it in the background; ``on_state`` hears of every change, in a
    thread of its own.

    ``patience_s``: how long a recall waits for an answer. ``command``: another worker, for tests; the database and the
    model's path follow it.
    """

    def __init__(
        self,
        database: Path,
        *,
        model_path: str = "",
        on_state: Callable[[SemanticState], None] | None = None,
        patience_s: float = PATIENCE_S,
        command: Sequence[str] | None = None,
    ) -> None:
        self._database = database
        self._model_path = model_path
        self._on_state = on_state
        self._patience_s = patience_s
        self._command = tuple(command or (sys.executable, "-P", "-m", "milk_tui.recall.worker"))
        self._lock = threading.Lock()
        self._settled = threading.Event()
        self._state = SemanticState(phase=Phase.OFF)
        self._process: subprocess.Popen[bytes] | None = None
        self._waiters: dict[int, _Waiter] = {}
        self._last_id = 0
        self._starts = 0
        self._closed = False

    @property
    def state(self) -> SemanticState:
        return self._state

    @property
    def pid(self) -> int | None:
        process = self._process
        return None if process is None else process.pid

    def start(self) -> None:
        """Look for library and model, and start the worker in the background; returns at once, twice is harmless."""
        with self._lock:
            if self._closed or self._state.phase not in (Phase.OFF, Phase.MISSING):
                return
            self._settled.clear()
            self._state = SemanticState(phase=Phase.LOADING)
        threading.Thread(target=self._run, name="recall-worker", daemon=True).start()

    def wait(self, timeout_s: float) -> SemanticState:
        """The state when the worker is ready or won't be, or when the time is up."""
        self._settled.wait(timeout_s)
        return self._state

    def embedded(self, timeout_s: float) -> bool:
        """Wait until every fact that there is now has its vector; False when the time is up or the worker gone."""
        return isinstance(self._ask(protocol.Settle, timeout_s), protocol.Settled)

    def hint(self, text: str) -> None:
        """The text will be asked for soon: the worker can read it meanwhile."""
        if self._state.phase is Phase.READY:
            self._send(protocol.Hint(protocol.question(text)))

    def wake(self) -> None:
        """Facts have changed: the worker embeds what is new."""
        if self._state.phase is Phase.READY:
            self._send(protocol.Wake())

    def nearest(
        self,
        text: str,
        *,
        session_id: str = "",
        reader: str = "",
        limit: int = 100,
        among: Sequence[int] = (),
    ) -> Nearest | None:
        """The facts nearest to the text; ``None`` when nobody can say in time."""

        def ask(number: int) -> protocol.Request:
            return protocol.Ask(number, protocol.question(text), session_id, reader, limit, list(among))

        reply = self._ask(ask, self._patience_s)
        return reply.nearest if isinstance(reply, protocol.Answer) else None

    def compare(self, text: str, texts: Sequence[str]) -> list[float] | None:
        """The cosine of each text to the first; ``None`` when nobody can say in time."""

        def ask(number: int) -> protocol.Request:
            return protocol.Compare(number, protocol.question(text), [protocol.question(each) for each in texts])

        reply = self._ask(ask, self._patience_s)
        return reply.cosines if isinstance(reply, protocol.Compared) else None

    def close(self) -> None:
        """End the worker; returns when it is gone. One that is still loading is not waited for."""
        with self._lock:
            self._closed = True
            process = self._process
        if process is not None:
            _end(process, _END_WITHIN_S if self._state.phase is Phase.READY else 0.0)
        self._become(SemanticState(phase=Phase.OFF))

    def _ask(self, make: Callable[[int], protocol.Request], patience_s: float) -> protocol.Reply | None:
        if self._state.phase is not Phase.READY or len(self._waiters) >= _MOST_OPEN:
            return None
        waiter = _Waiter()
        with self._lock:
            self._last_id += 1
            number = self._last_id
            self._waiters[number] = waiter
        try:
            if self._send(make(number)):
                waiter.done.wait(patience_s)
            return waiter.reply
        finally:
            self._waiters.pop(number, None)

    def _send(self, request: protocol.Request) -> bool:
        with self._lock:
            pipe = self._process.stdin if self._process else None
            if pipe is None:
                return False
            try:
                pipe.write(protocol.line(request))
                pipe.flush()
            except (OSError, ValueError):
                return False
            return True

    def _run(self) -> None:
        """The thread of the worker: start it, read what it says until it ends, start it again."""
        while not self._closed and self._starts < STARTS:
            self._starts += 1
            try:
                locate(self._model_path)
                process = self._spawn()
            except SemanticMissingError as error:
                self._become(SemanticState(phase=Phase.MISSING, what=error.what, hint=error.hint))
                return
            except OSError as error:
                self._become(SemanticState(phase=Phase.FAILED, what=f"The recall worker can't be started: {error}."))
                return
            assert process.stdout is not None
            left = self._listen(process.stdout)
            _end(process)
            self._release()
            if left is not None:
                self._become(SemanticState(phase=Phase.FAILED, what=left.what, hint=left.hint))
                return
            if not self._closed:
                self._become(SemanticState(phase=Phase.LOADING), settled=False)
        if not self._closed:
            self._become(
                SemanticState(
                    phase=Phase.FAILED, what=f"The recall worker ended {STARTS} times.", hint="Run: milk-tui doctor"
                )
            )

    def _spawn(self) -> subprocess.Popen[bytes]:
        with self._lock:
            if self._closed:
                raise OSError("closed")
            self._process = subprocess.Popen(
                [*self._command, str(self._database), self._model_path],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=_environment(),
                start_new_session=True,
            )
            return self._process

    def _listen(self, said: IO[bytes]) -> protocol.Unavailable | None:
        for line in said:
            try:
                reply = protocol.reply(line)
            except msgspec.MsgspecError:
                continue
            match reply:
                case protocol.Ready(embedded, waiting):
                    self._become(SemanticState(phase=Phase.READY, embedded=embedded, waiting=waiting))
                case protocol.Unavailable():
                    return reply
                case protocol.Answer(id) | protocol.Compared(id) | protocol.Settled(id):
                    waiter = self._waiters.get(id)
                    if waiter is not None:
                        waiter.reply = reply
                        waiter.done.set()
        return None

    def _release(self) -> None:
        """Nobody waits for a worker that is gone."""
        with self._lock:
            self._process = None
        for waiter in list(self._waiters.values()):
            waiter.done.set()

    def _become(self, state: SemanticState, *, settled: bool = True) -> None:
        self._state = state
        if settled:
            self._settled.set()
        if self._on_state is not None and not self._closed:
            self._on_state(state)


def _environment() -> dict[str, str]:
    import milk_tui

    env = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    home = Path(milk_tui.__file__).resolve().parent.parent
    if home.name not in ("site-packages", "dist-packages"):
        env["PYTHONPATH"] = str(home)
    for library in ("OPENBLAS", "OMP", "MKL"):
        env[f"{library}_NUM_THREADS"] = "1"
    return env


def _end(process: subprocess.Popen[bytes], grace_s: float = _END_WITHIN_S) -> None:
    """Close its input, which it takes as the end; kill it when it doesn't within ``grace_s``."""
    if process.stdin is not None:
        try:
            process.stdin.close()
        except OSError:
            pass
    try:
        process.wait(grace_s)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
