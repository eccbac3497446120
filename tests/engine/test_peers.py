"""The other agent as a tool: one question, nothing of the session given or kept, its tokens counted."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from milk_tui.engine.events import ToolFinished, UsageChanged
from milk_tui.engine.launch import Launch
from milk_tui.engine.peers import tool_name
from milk_tui.store import remotes
from tests.agents.test_child import alive
from tests.engine.conftest import Stage, begin
from tests.engine.test_remote_agents import configure, prompts, record
from tests.support.polling import until


def sent(stage: Stage) -> list[dict]:
    return [json.loads(line) for line in stage.record.read_text().splitlines()]


def asking(question: str) -> str:
    """The arguments of the call; the directive in them is for the other agent alone."""
    return json.dumps({"question": question}).replace("SCN:", "SC\\u004e:")


async def test_a_question_goes_to_the_other_agent_and_its_answer_comes_back(stage: Stage) -> None:
    question = asking("SCN:say Use a key.")
    await stage.say(f"SCN:tool ask_deep {question}\nSCN:then SCN:say It says so.")
    (finished,) = stage.of(ToolFinished)
    assert (finished.status, finished.result) == ("ok", "Use a key.")
    first, asked, last = sent(stage)
    assert (first["model"], asked["model"], last["model"]) == ("openai/fast", "openai/deep", "openai/fast")
    assert not asked.get("tools")
    assert [message["role"] for message in asked["messages"]] == ["system", "user"]
    assert "SCN:tool" not in str(asked["messages"])
    total = stage.of(UsageChanged)[-1].usage.input_tokens
    assert total > sum(len(json.dumps(body["messages"])) // 4 for body in (first, last))


async def test_an_empty_question_and_a_failure_are_told(stage: Stage) -> None:
    blank, failing = asking(" "), asking("SCN:err 401")
    await stage.say(f"SCN:tool ask_deep {blank} SCN:tool ask_deep {failing}\nSCN:then SCN:say well")
    results = [event.result for event in stage.of(ToolFinished)]
    assert any("The question is empty" in result for result in results)
    assert any("deep could not answer" in result for result in results)


def test_every_name_makes_a_name_that_models_take() -> None:
    assert tool_name("claude") == "ask_claude"
    assert tool_name("Größe 2.5") == "ask_Gr__e_2_5"


async def test_an_agent_with_processes_gets_one_for_the_question_alone(launch: Launch, home: Path) -> None:
    configure(home)
    stage = await begin(replace(launch, escalation="claude"), home)
    try:
        await stage.say(f"SCN:tool ask_claude {asking('SCN:say Use a key.')}\nSCN:then SCN:say ok")
        (finished,) = stage.of(ToolFinished)
        assert (finished.status, finished.result) == ("ok", "Use a key.")
        assert prompts(home) == [["SCN:say Use a key."]]
        pids = [entry["pid"] for entry in record(home) if "pid" in entry]
        await until(lambda: not any(alive(pid) for pid in pids), what="the end of its process")
        session = stage.conductor.session.id
        assert await stage.read(lambda conn: remotes.current(conn, session, "claude", stand_in=False)) is None
    finally:
        await stage.workspace.aclose()
