"""``milk-tui config``, ``setup`` and ``models list``: settings as a person sees and makes them."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pytest
from msgspec.structs import fields

from milk_tui.cli.config import TEMPLATE
from milk_tui.config import AgentConfig, Config, Provider, load
from milk_tui.config_manual import manual
from milk_tui.core.records import Role
from tests.cli.conftest import Milk


def write(home: Path, text: str) -> Path:
    path = home / "config" / "config.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o600)
    return path


def test_the_path_is_where_the_file_would_be(milk: Milk, home: Path) -> None:
    assert milk("config", "path").out.strip() == str(home / "config" / "config.toml")
    assert milk("--config", "x.toml", "config", "path").out.strip() == "x.toml"


def test_show_has_every_value_with_its_source(milk: Milk, home: Path) -> None:
    path = write(home, '[ui]\nsidebar = false\n[agents."a.b"]\nmodel = "m/x"\n')
    shown = {
        item["key"]: (item["value"], item["source"])
        for item in milk("--primary", "m/p", "config", "show", "--json").json["settings"]
    }
    assert shown["ui.sidebar"] == (False, str(path))
    assert shown["session.primary"] == ("m/p", "--primary")
    assert shown["context.cap"] == (24_000, "default")
    assert shown['agents."a.b".model'] == ("m/x", str(path))
    assert "ui.sidebar" in milk("config", "show").out


def test_explain_has_a_meaning_for_every_setting(milk: Milk, home: Path) -> None:
    write(home, '[agents.a]\nmodel = "m/x"\n[keys]\nstop = "ctrl+x"\n')
    settings = milk("config", "show", "--explain", "--json").json["settings"]
    assert [item["key"] for item in settings if not item["meaning"]] == []
    assert "Characters of each summary brick." in milk("config", "show", "--explain").out


def test_the_manual_covers_the_whole_configuration() -> None:
    meanings = manual()
    assert {key.split(".")[0] for key in meanings} == {info.name for info in fields(Config)}
    assert {f"agents.NAME.{info.name}" for info in fields(AgentConfig)} <= set(meanings)


def test_a_broken_file_is_one_line(milk: Milk, home: Path) -> None:
    write(home, "[ui]\nsidebr = false\n")
    ran = milk("config", "show")
    assert (ran.code, "Did you mean sidebar?" in ran.err) == (1, True)


def test_edit_makes_a_private_file_and_checks_what_was_written(
    milk: Milk, home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    editor = tmp_path / "editor.py"
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", f"{sys.executable} {editor}")
    file = home / "config" / "config.toml"
    editor.write_text("import sys; open(sys.argv[1], 'a').write('\\n[ui]\\nsidebar = false\\n')")
    ran = milk("config", "edit")
    assert (ran.code, "1 settings differ" in ran.out) == (0, True)
    assert file.read_text().startswith(TEMPLATE)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    editor.write_text("import sys; open(sys.argv[1], 'a').write('x = ')")
    ran = milk("config", "edit")
    assert (ran.code, "line" in ran.err) == (1, True)


def test_the_template_with_its_comments_taken_off_is_a_good_config(tmp_path: Path) -> None:
    path = tmp_path / "c.toml"
    path.write_text("\n".join(line.removeprefix("# ") for line in TEMPLATE.splitlines()[3:]))
    path.chmod(0o600)
    assert set(load(path, environ={}).config.agents) == {"qwen", "claude"}


def test_setup_writes_what_was_chosen(milk: Milk, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
    ran = milk("setup", answers="2\nsmall-one\n1\n\n")
    assert ran.code == 0, ran.err
    config = load(home / "config" / "config.toml", environ={}).config
    assert (config.session.primary, config.session.escalation) == ("small-one", "claude-opus-5-5")
    assert config.agents["small-one"].model == "small"
    assert config.agents["claude-opus-5-5"].api_key_env == "ANTHROPIC_API_KEY"
    assert "sk-secret" not in (home / "config" / "config.toml").read_text()


def test_setup_takes_a_server_of_ones_own_and_nobody_as_escalation(milk: Milk, home: Path) -> None:
    answers = "4\nopenai/mine\nhttp://127.0.0.1:9/v1\n\n\n5\n"
    ran = milk("setup", answers=answers)
    assert ran.code == 0, ran.err
    config = load(home / "config" / "config.toml", environ={}).config
    mine = config.agents["mine"]
    assert (mine.model, mine.api_base, mine.api_key_env) == ("openai/mine", "http://127.0.0.1:9/v1", "")
    assert config.session.escalation == ""


def test_setup_asks_again_for_a_word_that_is_no_model(milk: Milk, home: Path) -> None:
    answers = "4\nnothing\n\n\nopenai/mine\n\nMY_KEY\n\n5\n"
    ran = milk("setup", answers=answers)
    assert ran.code == 0, ran.err
    assert "no agent 'nothing'" in ran.err
    assert load(home / "config" / "config.toml", environ={}).config.agents["mine"].api_key_env == "MY_KEY"


def test_setup_given_up_writes_nothing(milk: Milk, home: Path) -> None:
    assert milk("setup", answers="1\n").code == 130
    assert not (home / "config" / "config.toml").exists()


def test_setup_keeps_what_the_file_says_already(milk: Milk, home: Path) -> None:
    path = write(home, "# mine\n[ui]\nsidebar = false\n")
    assert milk("setup", answers="1\n\n5\n").code == 0
    assert path.read_text().startswith("# mine\n[ui]\nsidebar = false\n")


def test_setup_writes_over_no_file_that_does_not_load(milk: Milk, home: Path) -> None:
    path = write(home, "[ui]\nwrong = 1\n")
    assert milk("setup", answers="1\n\n5\n").code == 1
    assert path.read_text() == "[ui]\nwrong = 1\n"


def test_models_are_listed_with_size_licence_and_whether_they_are_here(milk: Milk, home: Path) -> None:
    rows = {row["name"]: row for row in milk("models", "list", "--json").json}
    assert set(rows) == {"embedded:small", "embedded:tiny", "embedded:medium"}
    assert rows["embedded:tiny"]["path"] is None
    assert rows["embedded:tiny"]["bytes"] == 98_362_432
    assert "embedded:tiny" in milk("models", "list").out


@pytest.mark.parametrize(("program", "command"), [("claude", ()), ("goose", ("goose", "acp"))])
def test_setup_writes_an_installed_agent_so_that_it_is_found_again(
    program: str, command: tuple[str, ...], milk: Milk, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "programs"
    folder.mkdir()
    (folder / program).write_text("#!/bin/sh\n")
    (folder / program).chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)
    ran = milk("setup", answers="1\nsmall-one\n1\ndeep-one\n")
    assert ran.code == 0, ran.err
    config = load(home / "config" / "config.toml", environ={}).config
    deep = config.agents[config.session.escalation]
    assert deep.provider is (Provider.ACP if command else Provider.CLAUDE_CLI)
    assert (deep.command, deep.model, deep.role) == (command, "", Role.ESCALATION)
