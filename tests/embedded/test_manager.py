"""The manager, with made-up weights: everything up to the loading of a model."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from milk_tui.core.records import ErrorKind
from milk_tui.embedded import catalogue
from milk_tui.embedded.control import ServerError
from milk_tui.embedded.fetch import FetchError
from milk_tui.embedded.manager import (
    EmbeddedCancelledError,
    EmbeddedManager,
    EmbeddedStatus,
    EmbeddedUnavailableError,
    Phase,
)
from tests.embedded import made_up
from tests.support.polling import until


@pytest.fixture
def runtime_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the extra were installed (the server says by itself when it is not)."""
    from importlib.util import find_spec

    monkeypatch.setattr(
        "importlib.util.find_spec", lambda name, *a: object() if name == "xllamacpp" else find_spec(name, *a)
    )


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch):
    """Makes a made-up model the catalogue's ``tiny``."""
    return lambda model: monkeypatch.setitem(catalogue.MODELS, "tiny", model)


def test_importing_it_imports_nothing_heavy() -> None:
    code = (
        "import sys, milk_tui.embedded.manager;"
        "print([m for m in ('xllamacpp', 'urllib.request', 'zipfile', 'http.client', 'numpy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=Path.cwd(), check=True)
    assert done.stdout.strip() == "[]"


def test_without_the_extra_it_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    reason = EmbeddedManager(made_up.settings(tmp_path)).available()
    assert reason is not None
    assert "pip install 'milk-tui[embedded]'" in reason


def test_without_weights_and_sources_it_is_not_available(tmp_path: Path, runtime_there: None) -> None:
    settings = replace(made_up.settings(tmp_path), carriers=False)
    assert "switched off" in (EmbeddedManager(settings).available("tiny") or "")
    assert EmbeddedManager(made_up.settings(tmp_path)).available("tiny") is None


async def test_an_unavailable_model_is_an_error_of_a_known_kind(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    manager = EmbeddedManager(made_up.settings(tmp_path))
    with pytest.raises(EmbeddedUnavailableError) as caught:
        await manager.ready("tiny")
    assert caught.value.kind is ErrorKind.NO_AGENT
    assert manager.status("tiny").phase is Phase.FAILED
    await manager.aclose()


async def test_progress_reaches_every_waiting_caller_and_the_screen(tmp_path: Path, runtime_there: None, use) -> None:
    with made_up.publisher(stall_after=1000) as server:
        use(made_up.model(publisher_url=server.url))
        screen: list[EmbeddedStatus] = []
        callers: list[list[EmbeddedStatus]] = [[], []]
        manager = EmbeddedManager(replace(made_up.settings(tmp_path), publisher=True), screen.append)
        jobs = [asyncio.create_task(manager.ready("tiny", said.append)) for said in callers]
        for said in (screen, *callers):
            await until(lambda said=said: said and said[-1].phase is Phase.FETCHING)
            assert re.match(r"fetching embedded:tiny: [a-z ]+, [\d,]+ MB( of [\d,]+ MB)? \(", said[-1].text)
            assert "Made-up" in said[-1].text
            assert "MIT" in said[-1].text
        await until(server.stalled.is_set)
        manager.cancel()
        for job in jobs:
            with pytest.raises(EmbeddedCancelledError):
                await job
        assert screen[-1].phase is Phase.IDLE
        assert len(server.asked) == 1
        assert await asyncio.to_thread(server.left.wait, 20)
        await manager.aclose()


async def test_the_fetch_stops_when_the_last_caller_is_cancelled(tmp_path: Path, runtime_there: None, use) -> None:
    with made_up.publisher(stall_after=1000) as server:
        use(made_up.model(publisher_url=server.url))
        manager = EmbeddedManager(replace(made_up.settings(tmp_path), publisher=True))
        jobs = [asyncio.create_task(manager.ready("tiny")) for _ in range(2)]
        await until(server.stalled.is_set)
        jobs[0].cancel()
        await asyncio.wait([jobs[0]])
        assert not server.left.is_set()
        assert not jobs[1].done()
        jobs[1].cancel()
        await asyncio.wait([jobs[1]])
        assert await asyncio.to_thread(server.left.wait, 20)
        await manager.aclose()


async def test_the_event_loop_stays_free_while_it_fetches(tmp_path: Path, runtime_there: None, use) -> None:
    with made_up.publisher(stall_after=1000) as server:
        use(made_up.model(publisher_url=server.url))
        manager = EmbeddedManager(replace(made_up.settings(tmp_path), publisher=True))
        job = asyncio.create_task(manager.ready("tiny"))
        await until(server.stalled.is_set, what="the fetch waits for the publisher while the loop goes on")
        assert not job.done()
        await manager.aclose()
        with pytest.raises(EmbeddedCancelledError):
            await job


async def test_a_failed_fetch_is_told_and_the_next_call_tries_again(tmp_path: Path, runtime_there: None, use) -> None:
    with made_up.publisher(status=500) as server:
        use(made_up.model(publisher_url=server.url))
        manager = EmbeddedManager(replace(made_up.settings(tmp_path), publisher=True))
        for tries in (1, 2):
            with pytest.raises(FetchError, match="500"):
                await manager.ready("tiny")
            assert manager.status("tiny").phase is Phase.FAILED
            assert len(server.asked) == tries
        await manager.aclose()


async def test_after_closing_nothing_is_started(tmp_path: Path) -> None:
    manager = EmbeddedManager(made_up.settings(tmp_path))
    await manager.aclose()
    with pytest.raises(EmbeddedUnavailableError):
        await manager.ready("tiny")


async def test_a_server_that_can_not_load_says_why_and_is_gone(tmp_path: Path, runtime_there: None, use) -> None:
    model = made_up.model(b"no model at all " * 1000)
    use(model)
    settings = made_up.settings(tmp_path)
    settings.models_dir.mkdir()
    (settings.models_dir / model.file_name).write_bytes(b"no model at all " * 1000)
    said: list[EmbeddedStatus] = []
    manager = EmbeddedManager(replace(settings, grace_s=0.0), said.append)
    with pytest.raises(ServerError):
        await manager.ready("tiny")
    assert [s.phase for s in said if s.phase is not Phase.FETCHING] == [Phase.LOADING, Phase.LOADING, Phase.FAILED]
    assert said[-1].error is not None
    await until(lambda: not list(settings.runtime_dir.glob("*.sock")))
    await manager.aclose()


async def test_a_failure_to_load_is_not_the_end_of_trying(tmp_path: Path, runtime_there: None, use) -> None:
    model = made_up.model(b"no model at all " * 1000)
    use(model)
    settings = made_up.settings(tmp_path)
    settings.models_dir.mkdir()
    (settings.models_dir / model.file_name).write_bytes(b"no model at all " * 1000)
    manager = EmbeddedManager(replace(settings, grace_s=0.0))
    for _ in range(2):
        with pytest.raises(ServerError):
            await manager.ready("tiny")
    await manager.aclose()
