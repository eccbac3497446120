"""The person's hand on facts: each change is stored, told to the listeners, and undone with one call."""

from __future__ import annotations

import pytest

from milk_tui.core.cleanup import CleanUp
from milk_tui.core.errors import MilkError, PerceptRefusedError
from milk_tui.core.records import (
    Consumer,
    Layer,
    Percept,
    PerceptionEntry,
    PerceptScope,
    PerceptStatus,
    Producer,
)
from milk_tui.engine import events as e
from milk_tui.store import percept_changes, percept_lists, perception, percepts
from tests.engine.conftest import Stage

TAGGED = "SCN:tag percept parcels wait in the depot SCN:say ok"


@pytest.fixture
def desk(stage: Stage):
    return stage.conductor.memory


async def add(stage: Stage, content: str, producer: Producer = Producer.PRIMARY, **more: object) -> Percept:
    session_id = stage.conductor.session.id
    change = await stage.conductor.store.write(
        lambda db: percepts.add(db, content=content, session_id=session_id, producer=producer, **more)  # type: ignore[arg-type]
    )
    return change.percept


async def get(stage: Stage, percept: Percept) -> Percept:
    found = await stage.read(lambda conn: percept_lists.get(conn, percept.id))
    assert found is not None
    return found


async def doubt(stage: Stage, new: Percept, old: Percept) -> None:
    await stage.conductor.store.write(lambda db: percept_changes.suspect(db, new.id, old.id, actor=Producer.SYSTEM))


def told(stage: Stage) -> list[str]:
    return [event.what for event in stage.of(e.PerceptChanged)]


async def test_learning_is_undone_by_forgetting(stage, desk):
    fact = await desk.learn("@deep: the person likes tea")
    assert (fact.consumer, fact.content) == (Consumer.ESCALATION, "the person likes tea")
    assert desk.last_deed == f"learned {fact.short_id}"
    assert await desk.undo() == f"learned {fact.short_id}"
    assert (await get(stage, fact)).status is PerceptStatus.FORGOTTEN
    assert told(stage) == ["live", "forgotten"]


async def test_a_refusal_is_told_and_leaves_nothing_to_undo(stage, desk):
    with pytest.raises(PerceptRefusedError):
        await desk.learn("the key is sk-ant-api03-" + "a1B2" * 12)
    assert stage.of(e.PerceptRefused)
    assert desk.last_deed == ""
    assert await desk.undo() == ""


async def test_an_edit_of_an_agents_fact_makes_it_the_persons(stage, desk):
    await stage.say(TAGGED)
    [fact] = [event.percept for event in stage.of(e.PerceptChanged) if event.what == "live"]
    assert fact.producer is Producer.PRIMARY
    edited = await desk.edit(fact.id, "parcels wait in the ledger")
    assert (edited.content, edited.producer, edited.weight) == ("parcels wait in the ledger", Producer.USER, 900)
    await desk.undo()
    back = await get(stage, fact)
    assert (back.content, back.producer, back.weight) == (fact.content, fact.producer, fact.weight)


async def test_several_facts_change_together_and_are_undone_together(stage, desk):
    facts = [await add(stage, f"fact {number}") for number in range(3)]
    ids = [fact.id for fact in facts]
    await desk.pin(ids, True)
    assert all([(await get(stage, fact)).pinned for fact in facts])
    assert desk.last_deed == "pinned 3 facts"
    await desk.forget(ids)
    await desk.undo()
    assert [(await get(stage, fact)).status for fact in facts] == [PerceptStatus.LIVE] * 3
    await desk.undo()
    assert [(await get(stage, fact)).weight for fact in facts] == [700] * 3


async def test_when_one_of_several_can_not_be_changed_none_is(stage, desk):
    one, pinned = await add(stage, "one"), await add(stage, "two", pinned=True)
    with pytest.raises(MilkError, match="is pinned and weighs"):
        await desk.weigh([one.id, pinned.id], 1)
    assert (await get(stage, one)).weight == 700


async def test_weighing_again_is_undone_in_one_step_and_stays_in_bounds(stage, desk):
    fact, other = await add(stage, "one"), await add(stage, "two")
    await desk.weigh([other.id], -1)
    for _ in range(9):
        await desk.weigh([fact.id], 1)
    assert (await get(stage, fact)).weight == 1000
    await desk.undo()
    assert (await get(stage, fact)).weight == 700
    assert (await get(stage, other)).weight == 650


async def test_readers_and_reach_can_be_changed(stage, desk):
    fact = await add(stage, "one")
    await desk.restrict([fact.id], Consumer.PRIMARY)
    await desk.promote([fact.id])
    now = await get(stage, fact)
    assert (now.consumer, now.scope) == (Consumer.PRIMARY, PerceptScope.GLOBAL)
    await desk.undo()
    await desk.undo()
    now = await get(stage, fact)
    assert (now.consumer, now.scope) == (Consumer.ALL, PerceptScope.SESSION)


async def test_merging_superseding_and_deciding_are_told(stage, desk):
    one, two, three, four = [await add(stage, text) for text in ("one", "two", "three", "four")]
    await desk.merge(one.id, two.id)
    await desk.supersede(one.id, three.id)
    await doubt(stage, four, three)
    await desk.decide(four.id, three.id, replace=True)
    assert [fact.status for fact in [await get(stage, each) for each in (one, two, three, four)]] == [
        PerceptStatus.SUPERSEDED,
        PerceptStatus.SUPERSEDED,
        PerceptStatus.SUPERSEDED,
        PerceptStatus.LIVE,
    ]
    assert told(stage) == ["merged", "confirmed", "superseded", "superseded", "settled"]
    await desk.restore([two.id])
    assert (await get(stage, two)).holds


async def test_what_was_held_back_is_accepted_or_rejected(stage, desk):
    good, bad = await add(stage, "good"), await add(stage, "bad")
    await stage.conductor.store.write(lambda db: db.execute("update percepts set status = 'quarantined'"))
    await desk.settle([good.id], accepted=True)
    await desk.settle([bad.id], accepted=False)
    assert (await get(stage, good)).status is PerceptStatus.LIVE
    assert (await get(stage, bad)).status is PerceptStatus.FORGOTTEN
    assert len((await desk.shelves()).quarantined) == 0


@pytest.mark.parametrize(("accepted", "older"), [(True, PerceptStatus.SUPERSEDED), (False, PerceptStatus.LIVE)])
async def test_of_a_fact_in_a_pair_it_is_decided_about_the_pair(stage, desk, accepted, older):
    old, new = await add(stage, "the shop uses Postgres"), await add(stage, "the shop uses ScyllaDB")
    await doubt(stage, new, old)
    await desk.settle([new.id], accepted=accepted)
    assert (await get(stage, old)).status is older
    assert (await get(stage, new)).status is PerceptStatus.LIVE
    with pytest.raises(MilkError, match="Nothing is to be decided"):
        await desk.settle([new.id], accepted=accepted)


async def test_bringing_back_undoes_what_was_done_last_with_the_fact(stage, desk):
    one, two = await add(stage, "one"), await add(stage, "two")
    await desk.forget([one.id, two.id])
    await desk.bring_back([one.id])
    assert [(await get(stage, fact)).status for fact in (one, two)] == [PerceptStatus.LIVE] * 2
    await desk.forget([one.id])
    await desk.pin([two.id], True)
    await desk.bring_back([one.id])
    assert (await get(stage, one)).holds
    assert (await get(stage, two)).pinned


async def test_undo_passes_over_what_was_changed_again_since(stage, desk):
    one, two = await add(stage, "one"), await add(stage, "two")
    await desk.pin([two.id], True)
    await desk.forget([one.id])
    await stage.conductor.store.write(lambda db: percepts.restore(db, one.id))
    assert await desk.undo() == f"pinned {two.short_id}"
    assert await desk.undo() == ""


async def propose(stage: Stage, *entries: tuple[str, str, bool]) -> None:
    made = [
        PerceptionEntry(layer=Layer.INVARIANT, key=key, value=value, proposed=proposed, writer="primary")
        for key, value, proposed in entries
    ]
    session_id = stage.conductor.session.id
    await stage.conductor.store.write(lambda db: perception.append(db, session_id, made))


async def invariants(stage: Stage) -> list[tuple[str, str, bool]]:
    session_id = stage.conductor.session.id
    found = await stage.read(lambda conn: perception.current(conn, session_id, Layer.INVARIANT))
    return sorted((entry.key, entry.value, entry.proposed) for entry in found)


@pytest.mark.parametrize("before", [[], [("stack", "python", False)]])
async def test_a_proposed_invariant_is_accepted_and_proposed_again_by_undo(stage, desk, before):
    await propose(stage, *before, ("stack", "go", True))
    await desk.settle_proposal("stack", accepted=True)
    assert await invariants(stage) == [("stack", "go", False)]
    assert stage.of(e.PerceptionChanged)[-1].entries[-1].value == "go"
    await desk.undo()
    assert await invariants(stage) == sorted([*before, ("stack", "go", True)])


async def test_a_rejected_invariant_leaves_the_accepted_one(stage, desk):
    await propose(stage, ("stack", "python", False), ("stack", "go", True))
    await desk.settle_proposal("stack", accepted=False)
    assert await invariants(stage) == [("stack", "python", False)]
    assert stage.of(e.PerceptionChanged)[-1].entries[-1].value == "python"
    with pytest.raises(MilkError, match="No invariant stack"):
        await desk.settle_proposal("stack", accepted=True)


async def test_clean_up_proposes_and_forgetting_what_is_marked_is_one_undo(stage, desk):
    old, new = await add(stage, "the shop uses Postgres"), await add(stage, "the shop uses ScyllaDB")
    copies = [await add(stage, text) for text in ("prices are integers", "The prices are integers!")]
    await doubt(stage, new, old)
    await stage.conductor.store.write(
        lambda db: db.execute("update percepts set created_ms = 1, valid_to_ms = 2 where id = ?", (old.id,))
    )
    assert {fact.id for fact in (await desk.candidates(CleanUp.CONFLICTS)).percepts} == {old.id, new.id}
    assert (await desk.candidates(CleanUp.EXPIRED)).marked == {old.id}
    assert (await desk.candidates(CleanUp.NEVER_RECALLED)).marked == {old.id}
    alike = await desk.candidates(CleanUp.LOOK_ALIKES)
    assert {fact.id for fact in alike.percepts} == {fact.id for fact in copies}
    await desk.forget([*alike.marked, old.id])
    assert (await get(stage, new)).status is PerceptStatus.LIVE
    assert len((await desk.shelves()).forgotten) == 2
    assert await desk.undo() == "forgot 2 facts"
    assert len((await desk.shelves()).forgotten) == 0
    assert (await get(stage, new)).status is PerceptStatus.SUSPECT
