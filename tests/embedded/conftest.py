"""The real ``tiny`` weights, fetched once by hash into the user's cache."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from milk_tui.config import Config
from milk_tui.embedded.cancel import CancelToken
from milk_tui.embedded.catalogue import MODELS
from milk_tui.embedded.manager import EmbeddedManager
from milk_tui.embedded.settings import EmbeddedSettings
from milk_tui.embedded.weights import obtain_weights
from milk_tui.engine.embedding import embedded_settings


@pytest.fixture(scope="session")
def real() -> Iterator[EmbeddedSettings]:
    """Settings with the real weights in the user's cache and a short-lived server of its own."""
    pytest.importorskip("xllamacpp", reason="the embedded runtime has no wheel for this platform", exc_type=ImportError)
    settings = replace(embedded_settings(Config(), may_fetch=True), publisher=False)
    obtain_weights(MODELS["tiny"], settings, lambda progress: None, CancelToken())
    with TemporaryDirectory(prefix="milk-") as folder:
        yield replace(settings, runtime_dir=Path(folder), grace_s=0.2, threads=2)


@pytest.fixture
async def manager(real: EmbeddedSettings) -> AsyncIterator[EmbeddedManager]:
    made = EmbeddedManager(real)
    yield made
    await made.aclose()
