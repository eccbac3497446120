"""The memory tools inside a turn: an agent reads, lists and takes back what it may, and only that."""

from __future__ import annotations

import json
from pathlib import Path

from milk_tui.config import Config
from milk_tui.core.records import Consumer, LegStatus, PerceptStatus, Role, ToolCall
from milk_tui.engine.events import LegText, PerceptChanged, ToolStarted
from milk_tui.engine.outside import OutsideMemory
from milk_tui.engine.outside_client import Client
from milk_tui.store import Store, legs, percept_lists, percepts, tool_calls
from milk_tui.tools import memory
from tests.engine.conftest import Stage, home, launch, stage

__all__ = ["home", "launch", "stage"]


async def learn(stage: Stage, text: str, **more: object) -> str:
    change = await stage.conductor.store.write(
        lambda db: percepts.add(db, content=text, session_id=stage.conductor.session.id, **more)  # type: ignore[arg-type]
    )
    return change.percept.short_id


async def called(stage: Stage, tool: str, **arguments: object) -> ToolCall:
    await stage.conductor.pin_agent(Role.PRIMARY)
    turn = await stage.say(f"do SCN:tool {tool} {json.dumps(arguments)} SCN:then SCN:say ok")
    (leg,) = await stage.read(lambda conn: legs.of_turn(conn, turn))
    (call,) = (await stage.read(lambda conn: tool_calls.of_legs(conn, [leg.id])))[leg.id]
    return call


async def test_an_agent_recalls_and_reads_what_is_for_it(stage: Stage) -> None:
    shared = await learn(stage, "The deploy word is swordfish")
    kept = await learn(stage, "The deploy word of the deep one is marlin", consumer=Consumer.ESCALATION)
    found = await called(stage, "recall", query="what is the deploy word?")
    assert shared in found.result
    assert kept not in found.result
    assert "evidence" in found.result
    assert "swordfish" in (await called(stage, "get_memory", id=shared)).result
    hidden = await called(stage, "get_memory", id=kept)
    assert (hidden.status, "marlin" in hidden.result) == ("failed", False)
    listed = await called(stage, "list_memory")
    assert (shared in listed.result, kept in listed.result) == (True, False)


async def test_an_agent_takes_back_its_own_fact_and_asks_about_another(stage: Stage) -> None:
    own = (await called(stage, "record_memory", fact="The API port is 8412")).result.split()[2].rstrip(".")
    persons = await learn(stage, "The person likes tabs")
    assert "forgotten" in (await called(stage, "forget_memory", id=own)).result
    assert "person is asked" in (await called(stage, "forget_memory", id=persons, reason="it is spaces now")).result
    facts = {f.short_id: f for f in await stage.read(lambda conn: percept_lists.select(conn, "1"))}
    assert facts[own].status is PerceptStatus.FORGOTTEN
    assert facts[persons].status is PerceptStatus.SUSPECT
    heard = {(event.percept.short_id, event.what) for event in stage.of(PerceptChanged)}
    assert {(own, "forgotten"), (persons, "suspected")} <= heard
    for accepted, status in ((False, PerceptStatus.LIVE), (True, PerceptStatus.FORGOTTEN)):
        await called(stage, "forget_memory", id=persons)
        await stage.conductor.memory.settle([persons], accepted=accepted)
        (settled,) = await stage.read(lambda conn: percept_lists.select(conn, "p.producer = 'user'"))
        assert settled.status is status, "yes grants the wish, no keeps the fact"
        assert accepted or not settled.note


async def test_an_agent_may_hand_over_from_a_process_of_its_own(stage: Stage, home: Path) -> None:
    """As agents do whose tools are the server's: ``milk-tui mcp --as NAME --session ID``."""
    gate = home / "gate"
    go_on = f"SCN:say Begun. SCN:until {gate}"
    turn = await stage.conductor.submit(f"go {go_on}")
    await stage.seen(LegText)
    other = Store.open(stage.conductor.store.path)
    session = stage.conductor.session
    client = Client(name=session.primary.name, known=True, role=Role.PRIMARY, asked=session.primary.name)
    outside = OutsideMemory(other, Config(), client, stage.workspace.directory, session=session.id)
    outcome = await memory.call(outside, "escalate", '{"reason": "needs a profile"}')
    gate.write_text("")
    await stage.conductor.wait_idle()
    await other.aclose()
    assert outcome.ok, outcome
    first, second = await stage.read(lambda conn: legs.of_turn(conn, turn))
    assert (first.role, second.role, second.reason) == (Role.PRIMARY, Role.ESCALATION, "needs a profile")
    assert first.status is LegStatus.DONE
    assert not stage.of(ToolStarted)
