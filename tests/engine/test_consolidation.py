"""When a session ends, what is then told, and that no turn waits for it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from milk_tui.core.records import PerceptScope, PerceptStatus
from milk_tui.engine import consolidation, events
from milk_tui.engine.consolidation import IDLE_MS, told
from milk_tui.engine.workspace import Launch, Workspace
from milk_tui.store import Store, percept_lists, turns
from milk_tui.store import consolidation as stored
from tests.engine.conftest import Stage, begin
from tests.support.polling import until

AGENTS_FACT = "SCN:say Noted. SCN:tag percept The worker runs at night."


def database(launch: Launch) -> Store:
    return Store.open(launch.directory.parent / "home" / "data" / "milk.db")


def facts(launch: Launch) -> dict[str, tuple[int, PerceptScope, PerceptStatus]]:
    """All facts after the program has ended, by their text."""
    store = database(launch)
    found = store.read_sync(lambda conn: percept_lists.select(conn, "true"))
    store.close()
    return {fact.content: (fact.weight, fact.scope, fact.status) for fact in found}


def rest(launch: Launch, hours: float = 9) -> None:
    """Let so much time pass while no program runs."""
    ms = int(hours * 3_600_000)

    def older(db):
        db.execute("update sessions set updated_ms = updated_ms - ?", (ms,))
        db.execute("update turns set created_ms = created_ms - ?", (ms,))
        db.execute("update legs set started_ms = started_ms - ?1, ended_ms = ended_ms - ?1", (ms,))
        db.execute("update percepts set created_ms = created_ms - ?", (ms,))

    store = database(launch)
    store.write_sync(older)
    store.close()


@pytest.mark.parametrize(
    ("forgotten", "promoted", "text"),
    [
        (0, 0, ""),
        (1, 0, "1 fact faded"),
        (3, 1, "3 facts faded, 1 became global"),
        (0, 1, "1 fact became global"),
        (0, 2, "2 facts became global"),
    ],
)
def test_what_is_told(forgotten: int, promoted: int, text: str) -> None:
    assert told(forgotten, promoted) == text


async def test_a_session_ends_with_the_program_and_the_next_start_says_what_changed(launch, home) -> None:
    stage = await begin(launch, home)
    await stage.say(AGENTS_FACT)
    await stage.conductor.learn("Deploys happen on Tuesdays.")
    await stage.workspace.aclose()
    assert facts(launch) == {
        "The worker runs at night.": (600, PerceptScope.SESSION, PerceptStatus.LIVE),
        "Deploys happen on Tuesdays.": (800, PerceptScope.GLOBAL, PerceptStatus.LIVE),
    }
    again = await begin(launch, home)
    await again.seen(events.Notice, lambda event: event.text == "1 fact became global")
    await again.workspace.aclose()
    third = await begin(launch, home)
    await third.say("hello SCN:say hi")
    assert [event for event in third.of(events.Notice) if "fact" in event.text] == []
    await third.workspace.aclose()


async def test_a_program_in_which_nothing_was_asked_changes_nothing(launch, home) -> None:
    stage = await begin(launch, home)
    await stage.say(AGENTS_FACT)
    await stage.workspace.aclose()
    for _ in range(3):
        await (await begin(launch, home)).workspace.aclose()
    assert facts(launch)["The worker runs at night."][0] == 600


async def test_a_new_session_ends_the_one_before_and_hears_what_changed(launch, home) -> None:
    stage = await begin(launch, home)
    await stage.say(AGENTS_FACT)
    fact = await stage.conductor.learn("Deploys happen on Tuesdays.")
    new = await stage.workspace.open_session(new=True)
    await stage.workspace.close_session(stage.conductor)
    heard = Stage(stage.workspace, new, stage.record)
    await heard.seen(events.Notice, lambda event: event.text == "1 fact became global")
    changed = heard.of(events.PerceptChanged)
    assert [(event.percept.id, event.what, event.percept.weight) for event in changed] == [(fact.id, "promoted", 800)]
    assert {event.session_id for event in changed} == {new.session.id}
    await stage.workspace.aclose()
    assert facts(launch)["The worker runs at night."][0] == 600, "the end of the program is not another one"


async def test_going_to_another_session_and_back_ends_neither(launch, home) -> None:
    stage = await begin(launch, home)
    await stage.say("first SCN:say hi")
    other = await stage.workspace.open_session(new=True)
    await other.submit(AGENTS_FACT)
    await other.wait_idle()
    back = await stage.workspace.open_session(stage.conductor.session.id)
    await stage.workspace.close_session(other)
    assert back is stage.conductor
    assert await stage.read(lambda conn: stored.last_ms(conn, other.session.id)) is None
    await stage.workspace.aclose()
    assert facts(launch)["The worker runs at night."][0] == 600


async def test_a_session_that_rested_is_ended_at_the_next_start(launch, home) -> None:
    stage = await begin(launch, home)
    await stage.say(AGENTS_FACT)
    fact = stage.of(events.PerceptChanged)[-1].percept
    await close_unused(stage)
    assert facts(launch)["The worker runs at night."][0] == 700
    rest(launch, hours=7.9)
    await close_unused(await begin(launch, home))
    assert facts(launch)["The worker runs at night."][0] == 700
    rest(launch, hours=0.2)
    again = await begin(launch, home)
    await again.seen(events.PerceptChanged, lambda event: event.percept.id == fact.id)
    (event,) = again.of(events.PerceptChanged)
    assert (event.what, event.percept.weight) == ("decayed", 600)
    assert not [event for event in again.of(events.Notice) if "fact" in event.text]
    await again.workspace.aclose()


async def close_unused(stage: Stage) -> None:
    """End the program as a kill does: no session ends with it."""
    stage.workspace._memory._seen.clear()
    await stage.workspace.aclose()


async def test_a_prompt_after_a_long_rest_ends_the_period_before_it_once_its_turn_is_over(
    launch, home, monkeypatch
) -> None:
    stage = await begin(launch, home)
    await stage.say(AGENTS_FACT)
    clock = stored.now_ms
    monkeypatch.setattr("milk_tui.engine.conductor.now_ms", lambda: clock() + IDLE_MS + 60_000)
    turn = await stage.conductor.submit("good morning SCN:slow 0.3 SCN:tag percept The night was quiet. SCN:say hi")
    await stage.seen(events.LegStarted, lambda event: event.turn_id == turn)
    assert await stage.read(lambda conn: stored.last_ms(conn, stage.conductor.session.id)) is None
    await stage.conductor.wait_idle()
    await stage.seen(events.PerceptChanged, lambda event: event.what == "decayed")
    told = {event.percept.content for event in stage.of(events.PerceptChanged) if event.what == "decayed"}
    assert "The worker runs at night." in told
    await close_unused(stage)


@pytest.mark.parametrize(("new", "weight"), [(True, 600), (False, 700)])
async def test_one_prompt_from_the_shell_ends_only_the_session_that_it_began(launch, home, new, weight) -> None:
    shot = replace(launch, one_shot=True, new=new)
    workspace = Workspace.open(shot)
    stage = Stage(workspace, await workspace.open_session(new=new), home / "requests.jsonl")
    await workspace.start()
    await stage.say(AGENTS_FACT)
    await workspace.aclose()
    assert facts(launch)["The worker runs at night."][0] == weight
    assert stage.of(events.Notice) == []


async def test_prompts_from_the_shell_end_a_session_that_rested(launch, home) -> None:
    shot = replace(launch, one_shot=True)
    stage = await begin(shot, home)
    await stage.say(AGENTS_FACT)
    await stage.workspace.aclose()
    rest(launch)
    elsewhere = replace(shot, directory=home)
    await (await begin(elsewhere, home)).workspace.aclose()
    assert facts(launch)["The worker runs at night."][0] == 600


async def test_a_session_in_which_another_program_works_goes_on(launch, home) -> None:
    stage = await begin(launch, home)
    await stage.say(AGENTS_FACT)
    other = database(launch)
    session = stage.conductor.session.id
    waiting = other.write_sync(lambda db: turns.add(db, session, "and now?", owner=other.owner_id))
    await stage.workspace.aclose()
    assert facts(launch)["The worker runs at night."][0] == 700
    other.write_sync(lambda db: turns.drop(db, waiting.id))
    other.close()
    await (await begin(launch, home)).workspace.aclose()
    assert facts(launch)["The worker runs at night."][0] == 600


async def test_a_failing_store_is_logged_and_the_program_ends(launch, home, monkeypatch, caplog) -> None:
    stage = await begin(launch, home)
    await stage.say(AGENTS_FACT)

    def full(*_args: object, **_more: object) -> None:
        raise consolidation.MilkError("The disk is full.")

    monkeypatch.setattr(consolidation.consolidation, "consolidate", full)
    await stage.workspace.aclose()
    assert "could not be consolidated" in caplog.text
    assert facts(launch)["The worker runs at night."][0] == 700


async def test_an_untold_end_is_told_to_the_screen_and_not_to_the_shell(launch, home) -> None:
    stage = await begin(launch, home)
    await stage.say("hello SCN:say hi")
    await stage.conductor.learn("Deploys happen on Tuesdays.")
    await stage.workspace.aclose()
    shot = await begin(replace(launch, one_shot=True), home)
    await shot.workspace.aclose()
    assert shot.of(events.Notice) == []
    again = await begin(launch, home)
    await until(lambda: again.of(events.Notice), what="the notice")
    await again.workspace.aclose()


