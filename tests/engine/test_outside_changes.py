"""What other programs do to the memory is told here as if it had been done here, and what is done here is told once."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from milk_tui.config import Config
from milk_tui.core.records import Layer, PerceptStatus, Role
from milk_tui.engine.events import BrickChanged, PerceptChanged, PerceptionChanged
from milk_tui.engine.launch import Launch
from milk_tui.engine.outside import OutsideMemory
from milk_tui.engine.outside_client import Client
from milk_tui.store import Store, percepts
from milk_tui.tools import memory
from tests.engine.conftest import Stage, begin, home, launch, stage

__all__ = ["home", "launch", "stage"]


class Other:
    """Another program on the same database, as an agent of the project."""

    def __init__(self, store: Store, directory: Path) -> None:
        self.store = store
        client = Client(name="claude", known=True, role=Role.ESCALATION, asked="claude")
        self._sink = OutsideMemory(store, Config(), client, directory)

    async def call(self, tool: str, **arguments: object) -> str:
        outcome = await memory.call(self._sink, tool, json.dumps(arguments))
        assert outcome.ok, outcome
        return outcome.content


@pytest.fixture
async def other(stage: Stage) -> AsyncIterator[Other]:
    opened = Store.open(stage.workspace.store.path)
    yield Other(opened, stage.workspace.directory)
    await opened.aclose()


async def test_a_fact_of_another_program_is_heard(stage: Stage, other: Other) -> None:
    said = await other.call("record_memory", fact="Prices are integers in cents")
    await stage.seen(PerceptChanged, lambda event: event.percept.content == "Prices are integers in cents")
    (event,) = stage.of(PerceptChanged)
    assert event.percept.short_id in said
    assert (event.what, event.session_id) == ("live", stage.conductor.session.id)
    await other.call("forget_memory", id=event.percept.short_id)
    await stage.seen(PerceptChanged, lambda event: event.percept.status is PerceptStatus.FORGOTTEN)


async def test_need_and_perception_of_another_program_are_heard(stage: Stage, other: Other) -> None:
    await other.call("set_need", need="Stop the double charge")
    await stage.seen(BrickChanged, lambda event: event.brick.text == "Stop the double charge")
    await other.call("update_perception", layer="working", entries="file: handler.py")
    await stage.seen(PerceptionChanged, lambda event: event.entries[0].layer is Layer.WORKING)


async def test_what_is_done_here_is_told_once(stage: Stage, other: Other) -> None:
    await stage.conductor.learn("The person likes tabs")
    await stage.conductor.set_need("Write the parser")
    await other.call("record_memory", fact="This one comes later from elsewhere")
    await stage.seen(PerceptChanged, lambda event: "elsewhere" in event.percept.content)
    heard = [event.percept.content for event in stage.of(PerceptChanged)]
    assert heard.count("The person likes tabs") == 1
    assert len([event for event in stage.of(BrickChanged) if event.brick.text == "Write the parser"]) == 1


async def test_facts_out_of_reach_are_not_told(stage: Stage, other: Other, tmp_path: Path) -> None:
    elsewhere = Other(other.store, tmp_path)
    await elsewhere.call("record_memory", fact="This belongs to another folder")
    other.store.write_sync(lambda db: percepts.add(db, content="This is for everywhere"))
    await stage.seen(PerceptChanged, lambda event: "everywhere" in event.percept.content)
    assert not [event for event in stage.of(PerceptChanged) if "another folder" in event.percept.content]


async def test_leaving_waits_for_no_change(launch: Launch, home: Path) -> None:
    left = await begin(launch, home)
    other = Store.open(left.workspace.store.path)
    await Other(other, left.workspace.directory).call("record_memory", fact="The watch is running")
    await left.seen(PerceptChanged)
    await left.workspace.aclose()
    await other.aclose()
    names = {task.get_coro().__qualname__ for task in asyncio.all_tasks()}  # type: ignore[union-attr]
    assert not [name for name in names if "OutsideChanges" in name]


async def test_what_comes_later_is_told_though_the_clock_went_back(stage: Stage, other: Other) -> None:
    await stage.conductor.learn("The cache is Redis 6")
    await other.call("record_memory", fact="So that what was told lies back")
    await stage.seen(PerceptChanged, lambda event: "lies back" in event.percept.content)
    (id_,) = [event.percept.id for event in stage.of(PerceptChanged) if event.percept.content == "The cache is Redis 6"]
    other.store.write_sync(lambda db: percepts.edit(db, id_, "The cache is Redis 7", now=1_000))
    await stage.seen(PerceptChanged, lambda event: event.percept.content == "The cache is Redis 7")
