"""The model picker: everything that could have a role, found by words, for this session or from now on."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from milk_tui.core.records import Role
from milk_tui.engine.agent_spec import AgentSpec
from milk_tui.engine.model_catalogue import Offer
from milk_tui.ui.model_picker import figures, offer_rows
from milk_tui.ui.paint import cells, plain
from tests.ui.conftest import Desk


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "worth-nothing")


def config(home: Path) -> dict:
    return tomllib.loads((home / "home" / "config" / "config.toml").read_text())


def primary(desk: Desk) -> str:
    return desk.app.control.workspace.roster.get(Role.PRIMARY).model


async def test_a_model_is_found_by_words_and_taken_for_this_session(home: Path, open_desk) -> None:
    async with open_desk((120, 40)) as desk:
        await desk.say("/model")
        await desk.sees("model for the ● primary · now qwen", "openai/gpt-made", "128k · $2.50 / $10", "free")
        await desk.write("made")
        await desk.gone("embedded:small")
        await desk.press("enter")
        await desk.sees("for this session", "as the default")
        await desk.press("enter")
        await desk.sees("gpt-made is the primary agent from the next turn on, in this session")
        assert primary(desk) == "openai/gpt-made"
        assert config(home)["session"]["primary"] == "qwen"
        await desk.say("who SCN:say me")
        await desk.idle()
        await desk.say("/model")
        await desk.sees("USED LAST", "as the config says")
        assert desk.app.screen.list.go_to("config:")
        await desk.press("enter")
        await desk.until(lambda: primary(desk) == "scripted/fast", "the config's agent")


async def test_it_becomes_the_default_when_that_is_said(home: Path, open_desk) -> None:
    async with open_desk((120, 40)) as desk:
        await desk.say("/model")
        await desk.sees("openai/gpt-made")
        await desk.write("made")
        await desk.press("enter")
        await desk.sees("as the default")
        await desk.press("down", "enter")
        await desk.sees("in every session that says nothing else")
        assert config(home)["session"]["primary"] == "openai/gpt-made"
        assert primary(desk) == "openai/gpt-made"


async def test_a_name_that_is_in_no_list_is_taken_as_it_is_written(open_desk) -> None:
    async with open_desk((120, 40)) as desk:
        await desk.say("/model")
        await desk.sees("openai/gpt-made")
        desk.app.screen.filter.value = "openai/brand-new"
        await desk.sees("as you wrote it")
        await desk.press("enter")
        await desk.sees("for this session")
        await desk.press("enter")
        await desk.until(lambda: primary(desk) == "openai/brand-new", "the new model")


async def test_tab_goes_to_the_other_role(open_desk) -> None:
    async with open_desk((120, 40)) as desk:
        await desk.say("/model")
        await desk.sees("model for the ● primary")
        await desk.press("tab")
        await desk.sees("model for the ◆ escalation · now claude")
        await desk.write("made")
        await desk.sees("openai/gpt-made")
        await desk.press("enter")
        await desk.sees("◆ escalation: openai/gpt-made")
        await desk.press("escape")
        assert desk.app.control.workspace.roster.get(Role.ESCALATION).name == "claude"


async def test_a_command_with_a_name_needs_no_list(home: Path, open_desk) -> None:
    async with open_desk((120, 40)) as desk:
        await desk.say("/model openai/other")
        await desk.sees("other is the primary agent from the next turn on, in this session")
        await desk.say("/model escalation openai/gpt-made default")
        await desk.sees("and in every session that says nothing else")
        assert config(home)["session"]["escalation"] == "openai/gpt-made"
        await desk.say("/model nonsense")
        await desk.sees("no agent 'nonsense'")


@pytest.mark.parametrize("size", [(40, 12), (60, 20), (250, 70)])
async def test_it_works_at_every_size(open_desk, size: tuple[int, int]) -> None:
    async with open_desk(size) as desk:
        await desk.say("/model")
        await desk.sees("model for the")
        await desk.write("made")
        await desk.sees("gpt-made")


def offer(model: str, **more: object) -> Offer:
    spec = AgentSpec(name=model.rpartition("/")[2], role=Role.PRIMARY, model=model)
    return Offer(spec=spec, group="OpenAI", **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("known", "shown"),
    [
        ({"window_tokens": 200_000, "input_usd": 3e-06, "output_usd": 1.5e-05}, "200k · $3 / $15"),
        ({"input_usd": 0.0, "output_usd": 0.0}, "free"),
        ({"window_tokens": 8_192}, "8k"),
        ({"input_usd": 7.5e-08, "output_usd": 3e-07}, "$0.07 / $0.30"),
        ({}, ""),
    ],
)
def test_window_and_price_are_shown_when_they_are_known(known: dict, shown: str) -> None:
    assert figures(offer("openai/x", **known)) == shown


@pytest.mark.parametrize("width", [30, 46, 80, 200])
def test_a_row_fits_its_width_whatever_the_name(width: int) -> None:
    wide = offer("openai/" + "模型" * 60, window_tokens=1_000_000, input_usd=1e-06, output_usd=2e-06)
    for row in offer_rows([wide, offer("openai/x")], "", ""):
        for line in row.lines(width):
            assert cells(line) <= width
            assert "\n" not in plain(line)
