"""Saying hello to an agent: its real runtime answers, or it is said what to do."""

from __future__ import annotations

import os
import sys

import pytest

from milk_tui.config import Provider
from milk_tui.core.records import Role
from milk_tui.engine import hello
from milk_tui.engine.agent_spec import AgentSpec
from tests.engine.conftest import Stage
from tests.support.fake_claude import FAKE_CLAUDE
from tests.support.openai_server import OpenAIServer


@pytest.fixture(autouse=True)
def asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hello, "PROMPT", "Say hello. SCN:say Hello there, person!")


def model(**more: object) -> AgentSpec:
    return AgentSpec(name="fast", role=Role.PRIMARY, model="openai/fast", **more)  # type: ignore[arg-type]


async def test_a_model_answers_with_its_word_and_how_long_it_took(stage: Stage) -> None:
    heard: list[str] = []
    said = await stage.workspace.players.hello(model(), str(stage.workspace.directory), heard.append)
    assert (said.ok, said.answer) == (True, "Hello there, person!")
    assert said.first_s is not None and 0 < said.first_s <= said.total_s
    assert "Hello there" in said.line and "first word" in said.line and "Hello there" in heard[-1]


async def test_an_agent_that_is_a_program_answers_through_that_program(stage: Stage, tmp_path) -> None:
    kept = tmp_path / "claude"
    kept.mkdir()
    command = (sys.executable, FAKE_CLAUDE, "--home", str(kept))
    spec = AgentSpec(name="claude", role=Role.ESCALATION, model="", provider=Provider.CLAUDE_CLI, command=command)
    said = await stage.workspace.players.hello(spec, str(stage.workspace.directory))
    assert (said.ok, said.answer) == (True, "Hello there, person!")


@pytest.mark.parametrize(
    ("does", "problem", "hint"),
    [
        ("SCN:err 401", "", "key"),
        ("SCN:err 404", "", ""),
        ("SCN:say", "without a word", "another model"),
    ],
)
async def test_a_failure_says_what_to_do(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, does: str, problem: str, hint: str
) -> None:
    monkeypatch.setattr(hello, "PROMPT", does)
    said = await stage.workspace.players.hello(model(), str(stage.workspace.directory))
    assert not said.ok
    assert said.problem and said.hint
    assert problem in said.problem and hint in said.hint
    assert "Send the prompt again" not in said.line


async def test_a_program_that_is_not_there_is_said_at_once(stage: Stage) -> None:
    spec = AgentSpec(name="x", role=Role.PRIMARY, model="", provider=Provider.ACP, command=("no-such-program-here",))
    said = await stage.workspace.players.hello(spec, str(stage.workspace.directory))
    assert (said.ok, "no program" in said.problem) == (False, True)


async def test_nothing_of_it_is_kept_as_a_turn(stage: Stage) -> None:
    await stage.workspace.players.hello(model(), str(stage.workspace.directory))
    assert await stage.read(lambda conn: conn.execute("select count(*) from legs").fetchone()[0]) == 0
    assert os.environ["MILK_TUI_HOME"]


@pytest.mark.slow
async def test_it_goes_over_the_real_model_host(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    async with OpenAIServer() as server:
        monkeypatch.delenv("MILK_TUI_HOST_COMMAND")
        from milk_tui import paths
        from milk_tui.modelhost.client import ModelHost

        host = ModelHost(paths.private_folder(paths.log_dir()) / "real.log")
        stage.workspace.players.host, kept = host, stage.workspace.players.host
        try:
            said = await stage.workspace.players.hello(model(api_base=server.url), str(stage.workspace.directory))
            assert (said.ok, said.answer) == (True, "Hello there, person!")
        finally:
            stage.workspace.players.host = kept
            await host.aclose()
