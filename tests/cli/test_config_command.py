"""``milk-tui config`` and ``models list``: settings as a person sees them."""

from __future__ import annotations

import stat
import sys
from pathlib import Path

import pytest
from msgspec.structs import fields

from milk_tui.cli.config import TEMPLATE
from milk_tui.config import AgentConfig, Config, load
from milk_tui.config_manual import manual
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


def test_keys_that_can_not_be_used_are_said_as_on_the_screen(milk: Milk, home: Path) -> None:
    write(home, '[keys]\nescalate = "f3"\nhelpp = "f9"\nmemory = "y"\nsidebar = "f9"\n')
    said = [
        "[keys] escalate: f3 already means bricks",
        "[keys] helpp: no such action, help perhaps; F1 lists them",
        "[keys] memory: y already means copy-block",
    ]
    for arguments in ((), ("--explain",)):
        ran = milk("config", "show", *arguments)
        assert (ran.code, ran.err.splitlines()) == (1, said)
        assert "keys.escalate" in ran.out
    ran = milk("config", "show", "--json")
    assert (ran.code, ran.json["problems"], ran.err) == (1, said, "")
    write(home, '[keys]\nescalate = "f9"\n')
    ran = milk("config", "show")
    assert (ran.code, ran.err) == (0, "")
    assert milk("config", "show", "--json").json["problems"] == []


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


def test_models_are_listed_with_size_licence_and_whether_they_are_here(milk: Milk, home: Path) -> None:
    rows = {row["name"]: row for row in milk("models", "list", "--json").json}
    assert set(rows) == {"embedded:small", "embedded:tiny", "embedded:medium"}
    assert rows["embedded:tiny"]["path"] is None
    assert rows["embedded:tiny"]["bytes"] == 98_362_432
    assert "embedded:tiny" in milk("models", "list").out
