"""Settings changed while the program runs: written, taken over, taken back, and never over another's change."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from milk_tui.config_edit import ChangedMeanwhileError
from milk_tui.core.errors import ConfigError
from milk_tui.core.records import Role
from milk_tui.engine import settings_desk
from milk_tui.engine.agent_spec import AgentSpec
from milk_tui.engine.launch import Launch
from milk_tui.engine.settings_desk import NEXT, NOW, RESTART, Held, SettingsDesk
from milk_tui.store import legs
from tests.engine.conftest import Stage, begin
from tests.support.polling import until

CONFIG = """\
# mine
[agents.fast]  # the quick one
model = "openai/fast"
role = "primary"
[agents.deep]
model = "openai/deep"
role = "escalation"
[agents.third]
model = "openai/third"
[context]
cap = 20_000
"""


@pytest.fixture
def file(home: Path) -> Path:
    file = home / "home" / "config" / "config.toml"
    file.parent.mkdir(parents=True)
    write(file, CONFIG)
    return file


@pytest.fixture
async def configured(home: Path, file: Path) -> AsyncIterator[Stage]:
    (home / "project").mkdir(exist_ok=True)
    stage = await begin(Launch(directory=home / "project"), home)
    yield stage
    await stage.workspace.aclose()


def text_of(file: Path) -> str:
    return file.read_text(encoding="utf-8")


def write(file: Path, text: str) -> None:
    file.write_text(text, encoding="utf-8")
    file.chmod(0o600)


def held(desk: SettingsDesk, key: str) -> Held:
    return next(each for each in desk.held() if each.setting.key == key)


def names(stage: Stage) -> tuple[str, str]:
    roster = stage.workspace.roster
    return tuple(agent.name if (agent := roster.get(role)) else "" for role in Role)  # type: ignore[return-value]


async def test_every_value_says_where_it_is_from(
    home: Path, file: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MILK_TUI_MODELS", str(tmp_path))
    (home / "project").mkdir()
    stage = await begin(Launch(directory=home / "project", primary="third"), home)
    desk = stage.workspace.settings
    assert (held(desk, "context.cap").value, held(desk, "context.cap").source) == (20_000, str(file))
    assert held(desk, "context.thread_tokens").is_default
    assert (held(desk, "session.primary").source, held(desk, "session.primary").fixed) == ("--primary", True)
    assert (held(desk, "embedded.models_dir").source, held(desk, "embedded.models_dir").fixed) == (
        "MILK_TUI_MODELS",
        True,
    )
    await stage.workspace.aclose()


async def test_a_change_holds_from_the_next_prompt_on_and_can_be_taken_back(configured: Stage, file: Path) -> None:
    desk = configured.workspace.settings
    assert await desk.change({("routing", "escalate"): ["zebra"]}, "escalate") == NEXT
    assert "escalate = " in text_of(file) and text_of(file).startswith("# mine\n[agents.fast]  # the quick one\n")
    turn = await configured.say("a zebra SCN:say hello")
    (leg,) = await configured.read(lambda conn: legs.of_turn(conn, turn))
    assert leg.agent_name == "deep"
    assert await desk.undo() == "escalate"
    assert text_of(file) == CONFIG
    assert configured.workspace.config.routing.escalate == ()
    assert await desk.undo() == ""


@pytest.mark.parametrize(
    ("path", "effect"),
    [(("ui", "theme"), NOW), (("context", "cap"), NEXT), (("memory", "semantic"), RESTART), (("mcp", "a"), RESTART)],
)
def test_it_is_said_when_a_change_takes_effect(path: tuple[str, ...], effect: str) -> None:
    assert settings_desk.takes_effect(path) == effect


async def test_what_would_not_load_is_refused_and_changes_nothing(configured: Stage, file: Path) -> None:
    desk = configured.workspace.settings
    for changes in (
        {("context", "cap"): -1},
        {("agents", "third", "role"): "primary"},
        {("session", "primary"): "nobody-here"},
        {("agents", "third", "model"): None},
    ):
        with pytest.raises(ConfigError):
            await desk.change(changes, "wrong")
    assert (text_of(file), desk.last_change) == (CONFIG, "")
    assert names(configured) == ("fast", "deep")


async def test_a_change_by_somebody_else_is_taken_over_and_never_written_over(configured: Stage, file: Path) -> None:
    desk = configured.workspace.settings
    await desk.look()
    theirs = CONFIG.replace("20_000", "21_000")
    write(file, theirs)
    with pytest.raises(ChangedMeanwhileError):
        await desk.change({("ui", "sidebar"): False}, "sidebar")
    assert text_of(file) == theirs
    assert configured.workspace.config.context.cap == 21_000
    await desk.change({("ui", "sidebar"): False}, "sidebar")
    assert "21_000" in text_of(file) and "sidebar = false" in text_of(file)


async def test_a_role_is_given_to_another_agent_and_two_exchange_theirs(configured: Stage, file: Path) -> None:
    desk = configured.workspace.settings
    await desk.assign(Role.ESCALATION, "third")
    assert names(configured) == ("fast", "third")
    await desk.assign(Role.PRIMARY, "third")
    assert names(configured) == ("third", "fast")
    await configured.say("SCN:say here")
    assert configured.conductor.session.primary.name == "third"
    assert "# the quick one" in text_of(file)


async def test_an_agent_that_is_taken_out_has_no_role_any_more(configured: Stage, file: Path) -> None:
    desk = configured.workspace.settings
    await desk.assign(Role.ESCALATION, "third")
    await desk.remove_agent("third")
    assert "third" not in text_of(file)
    assert names(configured) == ("fast", "deep")


async def test_a_choice_for_the_session_comes_back_with_it_and_with_no_other(configured: Stage, home: Path) -> None:
    players, session = configured.workspace.players, configured.conductor.session
    spec = await players.named(Role.PRIMARY, "third")
    await players.choose(session.id, spec)
    assert names(configured) == ("third", "deep")
    await configured.say("SCN:say here")
    other = await configured.workspace.open_session(new=True)
    await configured.workspace.close_session(configured.conductor)
    assert names(configured) == ("fast", "deep")
    await configured.workspace.close_session(other)
    again = await begin(Launch(directory=home / "project"), home, session.id)
    assert names(again) == ("third", "deep")
    await again.workspace.players.go_with_config(session.id, Role.PRIMARY)
    assert names(again) == ("fast", "deep")
    await again.workspace.aclose()


async def test_a_choice_that_can_not_be_used_any_more_is_said_and_left(configured: Stage, home: Path) -> None:
    session = configured.conductor.session
    players = configured.workspace.players
    await players.choose(session.id, await players.named(Role.ESCALATION, "openai/hosted"))
    await configured.say("SCN:say here")
    file = home / "home" / "config" / "config.toml"
    write(file, '[privacy]\nlocal_only = true\n[agents.near]\nmodel = "ollama_chat/near"\n')
    again = await begin(Launch(directory=home / "project"), home, session.id)
    assert names(again) == ("near", "")
    await again.workspace.aclose()


async def test_the_default_is_written_as_one_word_or_with_a_table_of_its_own(configured: Stage, file: Path) -> None:
    desk, players = configured.workspace.settings, configured.workspace.players
    assert await desk.make_default(await players.named(Role.PRIMARY, "openai/plain")) == "openai/plain"
    assert "[agents.plain]" not in text_of(file)
    own = AgentSpec(name="third", role=Role.PRIMARY, model="openai/mine", api_base="http://127.0.0.1:9/v1")
    assert await desk.make_default(own) == "third-2"
    assert configured.workspace.config.agents["third-2"].api_base == "http://127.0.0.1:9/v1"
    await until(lambda: names(configured)[0] == "third-2", what="the new agent")
