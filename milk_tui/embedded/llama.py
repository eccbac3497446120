"""The runtime: llama.cpp's OpenAI-compatible server, on the loopback, in the process that calls it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from milk_tui.embedded.catalogue import CONTEXT_TOKENS
from milk_tui.embedded.control import ServerError

PROMPT_CACHE_MB = 256
MAX_THREADS = 4
SPIN_VARIABLE = "GOMP_SPINCOUNT"
SPIN_COUNT = "10000"
"""With the default the threads spin: on a loaded machine that falls below one token a second."""

_ERRORS_ONLY = 1


def usable_threads(asked: int = 0) -> int:
    """``asked``, or min(4, the cores that this process may use)."""
    if asked > 0:
        return asked
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity else (os.cpu_count() or 1)
    return min(MAX_THREADS, cores)


def serve(weights: Path, *, name: str, api_key: str, threads: int, idle_s: int) -> tuple[Any, str]:
    """Load ``weights`` and answer HTTP; returns the server, to be kept, and its base URL.

    Blocks for seconds and holds the interpreter meanwhile. Raises ``ServerError``.
    """
    try:
        import xllamacpp
    except ImportError as error:
        raise import_problem(error) from error
    params = xllamacpp.CommonParams()
    params.model.path = str(weights)
    params.model_alias = {name}
    params.n_ctx = CONTEXT_TOKENS
    params.n_parallel = 1
    params.fit_params = False
    params.cache_ram_mib = PROMPT_CACHE_MB
    params.sleep_idle_seconds = idle_s
    params.cpuparams.n_threads = threads
    params.cpuparams_batch.n_threads = threads
    params.n_threads_http = 4
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [api_key]
    params.cors_origins = ""
    params.ui = False
    params.endpoint_slots = False
    params.verbosity = _ERRORS_ONLY
    try:
        server = xllamacpp.Server(params)
    except RuntimeError as error:
        raise ServerError(
            f"The embedded model could not be loaded from {weights}.", "Is there enough free memory?"
        ) from error
    return server, f"{server.listening_address}/v1"


def import_problem(error: ImportError) -> ServerError:
    """What to do about a runtime that can't be imported."""
    reason = str(error)
    if isinstance(error, ModuleNotFoundError) and error.name == "xllamacpp":
        return ServerError(
            "The embedded model's runtime is not installed.", "Install it: pip install 'milk-tui[embedded]'."
        )
    if "libgomp" in reason:
        return ServerError(
            "The embedded model's runtime needs the system library libgomp.so.1.",
            "Install the package libgomp1 (Debian, Ubuntu) or libgomp (Fedora, Alpine, Arch: gcc-libs).",
        )
    return ServerError(f"The embedded model's runtime can't be loaded: {reason}.", "Reinstall milk-tui[embedded].")
