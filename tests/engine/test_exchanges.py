from __future__ import annotations

import json

from milk_tui.core.exchanges import ExchangeKind
from milk_tui.core.permissions import Verdict
from milk_tui.core.records import LegStatus, Role
from milk_tui.engine import events
from milk_tui.engine.workspace import Launch
from milk_tui.store import exchanges, legs, receipts
from tests.engine.conftest import Stage, begin


async def entries(stage: Stage, name: str) -> list:
    return await stage.read(lambda conn: exchanges.entries(conn, name))


async def kinds(stage: Stage, name: str = "fast") -> list[str]:
    return [entry.kind.value for entry in await entries(stage, name)]


async def test_an_escalation_that_answered_is_told_to_both(stage: Stage) -> None:
    await stage.say("SCN:say The pool is full: raise it to 20.", escalate=True)
    [own] = await entries(stage, "deep")
    [other] = await entries(stage, "fast")
    assert (own.kind, own.peers, own.takeaway) == (
        ExchangeKind.ESCALATION_CONCLUDED,
        ("fast",),
        "The pool is full: raise it to 20.",
    )
    assert (other.peers, other.takeaway) == (("deep",), "@deep: The pool is full: raise it to 20.")


async def test_an_escalation_that_asks_is_not_concluded(stage: Stage) -> None:
    await stage.say("SCN:say Which of the two pools do you mean?", escalate=True)
    assert await kinds(stage) == []
    await stage.say("the first SCN:say Then raise it to 20.")
    assert await kinds(stage) == ["escalation-concluded"]


async def test_a_primary_answer_tells_nobody(stage: Stage) -> None:
    await stage.say("SCN:say a plain answer")
    assert await kinds(stage) == []


async def test_cancelled_and_failed_escalations_tell_nobody(stage: Stage) -> None:
    await stage.say("SCN:err 400", escalate=True)
    turn = await stage.conductor.submit("SCN:say half of it SCN:stall", escalate=True)
    await stage.seen(events.LegText, lambda event: "half" in event.text)
    await stage.conductor.stop()
    await stage.conductor.wait_idle()
    [leg] = await stage.read(lambda conn: legs.of_turn(conn, turn))
    assert leg.status is LegStatus.CANCELLED
    assert (await kinds(stage), await kinds(stage, "deep")) == ([], [])


async def test_handing_back_is_told_once_and_only_when_something_was_handed_back(stage: Stage) -> None:
    await stage.conductor.hand_back()
    assert await kinds(stage) == []
    await stage.say('SCN:tool escalate {"reason":"too hard"}')
    assert stage.conductor.session.sticky is Role.ESCALATION
    await stage.conductor.hand_back()
    await stage.conductor.hand_back()
    assert (await kinds(stage)).count("handback") == 1


async def test_a_fulfilled_need_is_a_completed_task(stage: Stage) -> None:
    await stage.conductor.set_need("ship the migration")
    await stage.conductor.finish_need()
    assert await kinds(stage) == []
    await stage.conductor.set_need("ship it now")
    await stage.say("SCN:say The migration is out on both hosts.")
    await stage.conductor.finish_need()
    [entry] = await entries(stage, "deep")
    assert (entry.kind, entry.takeaway) == (
        ExchangeKind.TASK_COMPLETED,
        "@fast: The migration is out on both hosts.",
    )


async def test_another_session_is_told_by_a_cue_until_the_agent_reads(stage: Stage) -> None:
    await stage.say("SCN:say The pool is full.", escalate=True)
    second = await other_session(stage)
    await second.say("hello SCN:say hi")
    assert "1 entry" in await segment(second, "digest_cue")
    await second.say("again SCN:say hi")
    assert "1 entry" in await segment(second, "digest_cue")
    await second.say('read SCN:tool read_my_memory {"section":"system_exchanges"} SCN:then SCN:say thank you for that')
    assert "The pool is full." in last_request(second)
    await second.say("and now SCN:say hi")
    assert await segment(second, "digest_cue") == ""


async def test_what_a_failed_leg_read_is_read_again(stage: Stage) -> None:
    await stage.say("SCN:say The pool is full.", escalate=True)
    second = await other_session(stage)
    await second.say("read SCN:tool read_my_memory {} SCN:then SCN:fail broken")
    await second.say("again SCN:say hi")
    assert "1 entry" in await segment(second, "digest_cue")


async def test_an_agent_without_tools_gets_the_digest_once_and_keeps_it_in_its_thread(
    stage: Stage, launch: Launch, home
) -> None:
    await stage.say("SCN:say The pool is full.", escalate=True)
    config = home / "home" / "config" / "config.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text('[memory]\ndigest = "inline"\n')
    config.chmod(0o600)
    second = await begin(launch, home)
    try:
        fresh = await second.workspace.open_session(new=True)
        second = Stage(second.workspace, fresh, second.record)
        await second.say("hello SCN:say hi")
        assert "The pool is full." in await segment(second, "digest")
        await second.say("again SCN:say hi")
        assert await segment(second, "digest") == ""
        assert "The pool is full." in last_request(second)
    finally:
        await second.workspace.aclose()


async def test_the_session_that_wrote_an_entry_is_not_told_of_it(stage: Stage) -> None:
    await stage.say("SCN:say The pool is full.", escalate=True)
    await stage.say("hello SCN:say hi")
    assert await segment(stage, "digest_cue") == ""


async def test_each_turn_leaves_one_line_in_the_agents_journal(stage: Stage) -> None:
    await stage.say("what is it SCN:say It is a pool.")
    [(_, line)] = await stage.read(lambda conn: exchanges.cycles(conn, "fast"))
    assert line.startswith("what is it") and line.endswith("It is a pool.")
    assert await stage.read(lambda conn: exchanges.cycles(conn, "deep")) == []


async def other_session(stage: Stage) -> Stage:
    conductor = await stage.workspace.open_session(new=True)
    return Stage(stage.workspace, conductor, stage.record)


async def segment(stage: Stage, name: str) -> str:
    """What the newest leg was given under that name."""
    session = stage.conductor.session.id
    [receipt] = await stage.read(lambda conn: receipts.of_session(conn, session, limit=1))
    return next((s.text for s in receipt.segments if s.name == name and s.included), "")


def last_request(stage: Stage) -> str:
    return json.dumps(json.loads(stage.record.read_text().splitlines()[-1])["messages"], ensure_ascii=False)


async def test_a_leg_that_ran_in_circles_is_told_of_though_it_failed(stage: Stage) -> None:
    calls = "SCN:tool list_memory {} SCN:then " * 5
    await stage.conductor.submit(f"look {calls}SCN:say done")
    await stage.seen(events.PermissionAsked)
    [asked] = stage.of(events.PermissionAsked)
    stage.conductor.permissions.answer(asked.request.id, Verdict(allowed=False))
    await stage.conductor.wait_idle()
    assert await kinds(stage) == ["loop-trip"]


async def test_an_answer_of_an_asked_agent_is_a_completed_task(stage: Stage) -> None:
    ask = json.dumps({"question": "how many pools? SCN:say There are two pools."})
    asked = ask.replace("SCN:", r"SCN\u003a")
    await stage.say(f"ask SCN:tool ask_deep {asked} SCN:then SCN:say two")
    [entry] = await entries(stage, "deep")
    assert (entry.kind, entry.takeaway) == (ExchangeKind.TASK_COMPLETED, "There are two pools.")
