"""``milk-tui setup``: what is here is proposed, tried out and written; a bad answer is explained; nothing gets lost."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from milk_tui.config import Config, Provider, load
from milk_tui.core.records import Role
from tests.cli.conftest import Milk
from tests.cli.test_config_command import write

KEY = "sk-" + "canary-0123456789"


@pytest.fixture(autouse=True)
def scripted(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MILK_TUI_HOST_COMMAND", f"{sys.executable} -m tests.support.scripted_host")
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))


def config(home: Path) -> Config:
    return load(home / "config" / "config.toml", environ={}).config


def program(folder: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed program of that name."""
    folder.mkdir(exist_ok=True)
    (folder / name).write_text("#!/bin/sh\nexit 1\n")
    (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)


def test_what_is_proposed_is_tried_out_and_written(milk: Milk, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    ran = milk("setup", answers="\n\n\n")
    assert ran.code == 0, ran.err
    assert "✓ ANTHROPIC_API_KEY is set" in ran.out
    assert ran.out.count("✓ answered in") == 2
    assert "+primary = " in ran.out
    made = config(home)
    assert made.session.primary.startswith("anthropic/") and made.session.escalation.startswith("anthropic/")
    assert KEY not in ran.out + (home / "config" / "config.toml").read_text()


def test_run_again_it_proposes_what_the_config_says_and_writes_nothing_then(milk: Milk, home: Path) -> None:
    said = '# mine\n[agents.fast]\nmodel = "openai/fast"\nrole = "primary"\n[ui]\nsidebar = false\n'
    path = write(home, said)
    ran = milk("setup", "--no-test", answers="1\nnobody\n")
    assert ran.code == 0, ran.err
    assert "fast = openai/fast  (as it is now)" in ran.out
    assert "says so already" in ran.out
    assert path.read_text() == said


def test_a_server_of_ones_own_gets_a_table_of_its_own(milk: Milk, home: Path) -> None:
    answers = "openai/mine\nhttp://127.0.0.1:9/v1\n\nnobody\n5\n"
    ran = milk("setup", "--no-test", "--escalation", "nobody", answers=answers + "y\n")
    assert ran.code == 0, ran.err
    mine = config(home).agents["mine"]
    assert (mine.model, mine.api_base, mine.api_key_env) == ("openai/mine", "http://127.0.0.1:9/v1", "")
    assert config(home).session == type(config(home).session)(primary="mine")


def test_every_bad_answer_is_explained_and_asked_again(milk: Milk, home: Path) -> None:
    answers = f"99\nno such\nopenai/mine\nlocalhost\nhttp://127.0.0.1:9/v1\n{KEY}\nMY_KEY\n"
    ran = milk("setup", "--no-test", "--escalation", "nobody", answers=answers + "y\n")
    assert ran.code == 0, ran.err
    for said in ("no number from 1 to", "no agent 'no such'", "begins with http", "looks like the key itself"):
        assert said in ran.err
    assert KEY not in ran.err + ran.out
    assert config(home).agents["mine"].api_key_env == "MY_KEY"


def test_one_that_does_not_answer_is_said_and_asked_about(milk: Milk, home: Path) -> None:
    answers = "openai/mine\n\nMISSING_KEY\nn\nembedded:tiny\n"
    ran = milk("setup", "--escalation", "nobody", answers=answers + "y\n")
    assert ran.code == 0, ran.err
    assert "✗ openai/mine" in ran.out and "MISSING_KEY" in ran.out
    assert config(home).session.primary == "embedded:tiny"


def test_without_a_terminal_and_without_flags_it_says_how(milk: Milk, home: Path) -> None:
    ran = milk("setup", answers="")
    assert (ran.code, "setup --yes" in ran.err) == (1, True)
    assert not (home / "config" / "config.toml").exists()


def test_with_flags_nothing_is_asked(milk: Milk, home: Path) -> None:
    arguments = ("--primary", "openai/mine", "--api-base", "http://127.0.0.1:9/v1", "--key-env", "MY_KEY")
    ran = milk("setup", *arguments, "--escalation", "nobody", "--no-test")
    assert ran.code == 0, ran.err
    assert config(home).agents["mine"].api_key_env == "MY_KEY"
    ran = milk("setup", "--primary", "embedded:tiny", "--escalation", "embedded:medium", "--no-test")
    assert (config(home).session.primary, config(home).session.escalation) == ("embedded:tiny", "embedded:medium")


def test_yes_takes_the_first_that_says_hello(milk: Milk, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    ran = milk("setup", "--yes")
    assert ran.code == 0, ran.err
    assert config(home).session.primary.startswith("openai/")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--primary", "nonsense"), "no agent 'nonsense'"),
        (("--primary", "nobody"), "somebody has to answer"),
        (("--primary", "openai/x", "--api-base", "localhost"), "begins with http"),
        (("--primary", "openai/x", "--key-env", KEY), "looks like the key itself"),
    ],
)
def test_a_flag_that_can_not_be_right_is_explained(
    milk: Milk, home: Path, arguments: tuple[str, ...], said: str
) -> None:
    ran = milk("setup", "--escalation", "nobody", "--no-test", *arguments)
    assert (ran.code, said in ran.err) == (1, True)
    assert KEY not in ran.err
    assert not (home / "config" / "config.toml").exists()


def test_a_dry_run_shows_and_writes_nothing(milk: Milk, home: Path) -> None:
    ran = milk("setup", "--primary", "embedded:tiny", "--escalation", "nobody", "--no-test", "--dry-run")
    assert (ran.code, '+primary = "embedded:tiny"' in ran.out) == (0, True)
    assert not (home / "config" / "config.toml").exists()


def test_it_keeps_what_the_file_says_already_and_writes_over_no_broken_one(milk: Milk, home: Path) -> None:
    path = write(home, "# mine\n[ui]\nsidebar = false # narrow\n")
    arguments = ("setup", "--primary", "embedded:tiny", "--escalation", "nobody", "--no-test")
    assert milk(*arguments).code == 0
    assert path.read_text().startswith("# mine\n[ui]\nsidebar = false # narrow\n")
    path = write(home, "[ui]\nwrong = 1\n")
    assert milk(*arguments).code == 1
    assert path.read_text() == "[ui]\nwrong = 1\n"


@pytest.mark.parametrize(("name", "provider"), [("claude", Provider.CLAUDE_CLI), ("goose", Provider.ACP)])
def test_an_installed_agent_is_written_so_that_it_is_found_again(
    name: str, provider: Provider, milk: Milk, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path / "programs", name, monkeypatch)
    ran = milk("setup", "--primary", "embedded:tiny", "--no-test", answers="1\ny\n")
    assert ran.code == 0, ran.err
    assert config(home).named(Role.ESCALATION) == name
    from milk_tui.engine import agent_spec

    spec = agent_spec.from_word(config(home), Role.ESCALATION, name, "config")
    assert spec.provider is provider


def test_a_program_that_breaks_down_is_not_taken_by_itself(
    milk: Milk, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path / "programs", "goose", monkeypatch)
    ran = milk("setup", "--primary", "embedded:tiny", "--yes")
    assert ran.code == 0, ran.err
    assert "✗" in ran.out
    assert config(home).session.escalation != "goose"
