"""The embedded model's settings, from the configuration and the program's folders."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from milk_tui import paths
from milk_tui.config import Config
from milk_tui.embedded.settings import RUNTIME_VARIABLE, EmbeddedSettings


def embedded_settings(
    config: Config, environ: Mapping[str, str] | None = None, *, may_fetch: bool | None = None
) -> EmbeddedSettings:
    """Where weights are kept and how the shared server runs.

    ``may_fetch``: whether weights may come from the network; ``None``: as ``privacy.fetch_weights`` says. The
    variables ``MILK_TUI_MODELS`` and ``MILK_TUI_RUNTIME`` win over everything.
    """
    environ = os.environ if environ is None else environ
    said = config.embedded
    models = environ.get(paths.MODELS_VARIABLE) or said.models_dir or paths.cache_dir(environ) / "models"
    runtime = environ.get(RUNTIME_VARIABLE) or paths.runtime_dir(environ)
    fetch = config.privacy.fetch_weights if may_fetch is None else may_fetch
    return replace(
        EmbeddedSettings(models_dir=Path(models).expanduser(), runtime_dir=Path(runtime).expanduser()),
        paths={said.size: Path(said.path).expanduser()} if said.path else {},
        publisher=fetch,
        carriers=fetch,
        grace_s=said.grace,
        threads=said.threads,
    )
