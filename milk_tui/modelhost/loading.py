"""Getting litellm: seconds of import, begun at once in a thread, with everything set that has to be set
before."""

from __future__ import annotations

import asyncio
import gc
import importlib
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from milk_tui.modelhost import hostlog, wire
from milk_tui.modelhost.redact import Redactor

_NEVER = str(10**9)

_BEFORE = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_MODE": "PRODUCTION",
    "LITELLM_TELEMETRY_GROUPS": "",
    "REPEATED_STREAMING_CHUNK_LIMIT": _NEVER,
    "DISABLE_ADMIN_UI": "True",
}
"""The local cost map (else it is fetched at import); no ``.env`` file of a directory above; no telemetry; no
error at 100 equal chunks (loops are found by the engine)."""


Loader = Callable[[Redactor], "asyncio.Future[Any]"]
"""Begins to get the library; the future gives it."""


_LOCAL = "127.0.0.1,localhost,::1"
"""Never asked for through a proxy."""


class LibraryMissingError(Exception):
    """litellm can't be imported; the text is one line."""


def load(redact: Redactor) -> asyncio.Future[Any]:
    """Begin to import litellm; the future gives the module or a ``LibraryMissingError``."""

    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()

    def settle(module: Any, error: Exception | None) -> None:
        if future.done():
            return
        if error is None:
            future.set_result(module)
        else:
            future.set_exception(error)

    def run() -> None:
        module, error = None, None
        try:
            with undisturbed():
                module = _import(redact)
        except BaseException as failure:
            hostlog.say(f"litellm can't be imported: {type(failure).__name__}")
            error = LibraryMissingError(f"{type(failure).__name__}: {failure}")
        try:
            loop.call_soon_threadsafe(settle, module, error)
        except RuntimeError:
            pass  # the loop is closed: the host is leaving

    hostlog.quiet_environment()
    os.environ.update(_BEFORE)
    for name in ("NO_PROXY", "no_proxy"):
        os.environ[name] = ",".join(filter(None, [os.environ.get(name), _LOCAL]))
    threading.Thread(target=run, name="import litellm", daemon=True).start()
    return future


@contextmanager
def undisturbed() -> Iterator[None]:
    """No looking for garbage in what is being imported, a sixth of its time, nor later in what was: all of it stays."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def _import(redact: Redactor) -> Any:
    begun = time.monotonic()
    litellm: Any = importlib.import_module("litellm")
    hostlog.configure(redact)
    wire.install()
    litellm.suppress_debug_info = True
    litellm.set_verbose = False
    litellm.telemetry = False
    litellm.turn_off_message_logging = True
    litellm.disable_hf_tokenizer_download = True
    litellm.REPEATED_STREAMING_CHUNK_LIMIT = int(_NEVER)
    _warm_up(litellm)
    hostlog.say(f"litellm is ready after {time.monotonic() - begun:.1f} s")
    return litellm


def _warm_up(litellm: Any) -> None:
    """Have the first call's imports done (a quarter of a second) by an answer that is made up: nothing is sent."""

    try:
        answer = litellm.completion(
            model="openai/warm-up",
            messages=[{"role": "user", "content": "hello"}],
            api_key="none",
            mock_response="hello",
            stream=True,
            stream_options={"include_usage": True},
        )
        for _ in answer:
            pass
    except Exception as error:
        hostlog.say(f"warming up failed: {type(error).__name__}")
