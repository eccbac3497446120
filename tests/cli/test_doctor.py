"""``milk-tui doctor``: every miss is named with what to do about it; nothing is changed by looking."""

from __future__ import annotations

import shutil
import sqlite3
import sys
from pathlib import Path

import pytest

from milk_tui.core.records import Session
from tests.cli.conftest import Milk, Ran


def checks(ran: Ran, section: str, name: str) -> list[dict]:
    return [c for c in ran.json["checks"] if (c["section"], c["name"]) == (section, name)]


def test_looking_creates_nothing(milk: Milk, home: Path) -> None:
    milk("doctor")
    assert not home.exists()


def test_the_table_and_the_json_say_the_same(milk: Milk) -> None:
    table, data = milk("doctor"), milk("doctor", "--json")
    for check in data.json["checks"]:
        assert check["name"] in table.out
    assert {c["section"] for c in data.json["checks"]} == {
        "versions",
        "files",
        "agents",
        "embedded model",
        "recall",
        "memory helper",
        "terminal",
    }


def test_every_miss_among_agents_has_a_cure(milk: Milk) -> None:
    missing = [c for c in milk("doctor", "--json").json["checks"] if c["section"] == "agents"]
    keys = [c for c in missing if c["name"].startswith("key ")]
    assert keys
    assert all(c["hint"].startswith("Run: export ") for c in keys)


def test_no_model_at_all_is_an_error_with_the_ways_out(milk: Milk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    ran = milk("doctor", "--json")
    assert ran.code == 1
    assert ran.json["agents"] == {"primary": None, "escalation": None}
    (primary,) = checks(ran, "agents", "primary")
    assert "milk-tui[embedded]" in primary["detail"]


def test_a_broken_config_does_not_stop_the_other_checks(milk: Milk, home: Path) -> None:
    (home / "config").mkdir(parents=True)
    file = home / "config" / "config.toml"
    file.write_text("[ui]\nwrong = 1\n")
    file.chmod(0o600)
    ran = milk("doctor", "--json")
    assert ran.code == 1
    assert checks(ran, "files", "config")[0]["state"] == "error"
    assert checks(ran, "versions", "SQLite")


def test_a_key_for_an_action_that_does_not_exist_is_warned_about(milk: Milk, home: Path) -> None:
    (home / "config").mkdir(parents=True)
    file = home / "config" / "config.toml"
    file.write_text('[keys]\nescalte = "ctrl+e"\n')
    file.chmod(0o600)
    warned = [c for c in milk("doctor", "--json").json["checks"] if c["state"] == "warning"]
    assert "escalte" in warned[0]["detail"]


def test_a_whole_database_is_said_to_be_whole(milk: Milk, stored: Session) -> None:
    ran = milk("doctor", "--json")
    (database,) = checks(ran, "files", "database")
    assert (database["state"], ran.code) == ("ok", 0)


def test_a_damaged_database_is_an_error_and_is_left_alone(milk: Milk, stored: Session, home: Path) -> None:
    file = home / "data" / "milk.db"
    data = bytearray(file.read_bytes())
    data[8192 : 8192 + 40_000] = b"\xff" * 40_000
    file.write_bytes(data)
    ran = milk("doctor", "--json")
    assert ran.code == 1
    assert checks(ran, "files", "database")[0]["state"] == "error"
    assert file.read_bytes() == bytes(data)


@pytest.mark.parametrize("content", [b"not a database at all" * 100, b""])
def test_a_file_that_is_no_database_is_no_traceback(milk: Milk, home: Path, content: bytes) -> None:
    (home / "data").mkdir(parents=True)
    (home / "data" / "milk.db").write_bytes(content)
    assert checks(milk("doctor", "--json"), "files", "database")


def test_a_newer_and_a_foreign_database_are_told_apart(milk: Milk, stored: Session, home: Path) -> None:
    newer = home / "newer.db"
    shutil.copy(home / "data" / "milk.db", newer)
    with sqlite3.connect(newer) as conn:
        conn.execute("pragma user_version = 9999")
    other = home / "other.db"
    with sqlite3.connect(other) as conn:
        conn.execute("create table x (y)")
    assert "newer" in checks(milk("--database", str(newer), "doctor", "--json"), "files", "database")[-1]["detail"]
    assert "another program" in milk("--database", str(other), "doctor").out


def test_a_world_readable_database_is_warned_about(milk: Milk, stored: Session, home: Path) -> None:
    (home / "data" / "milk.db").chmod(0o644)
    ran = milk("doctor", "--json")
    assert checks(ran, "files", "database")[0]["hint"].startswith("Run: chmod 600")


def test_the_key_itself_is_never_printed(milk: Milk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-very-secret")
    assert "sk-very-secret" not in milk("doctor").out + milk("doctor", "--json").out


def test_a_damaged_text_index_is_named_and_made_anew_when_asked(milk: Milk, stored: Session, home: Path) -> None:
    with sqlite3.connect(home / "data" / "milk.db") as conn:
        conn.execute("delete from messages_fts_data where id > 10")
    assert checks(milk("doctor", "--json"), "files", "indexes")[0]["hint"] == "Run: milk-tui doctor --repair"
    assert "made anew" in milk("doctor", "--repair").out
    assert checks(milk("doctor", "--json"), "files", "indexes") == []


def test_the_database_alone_is_looked_at_when_asked_for(milk: Milk, stored: Session) -> None:
    ran = milk("doctor", "--database", "--json")
    assert {check["name"] for check in ran.json["checks"]} == {"database"}
    assert ran.code == 0


def test_what_can_be_mended_is_mended_after_a_copy_was_made(milk: Milk, stored: Session, home: Path) -> None:
    file = home / "data" / "milk.db"
    with sqlite3.connect(file) as conn:
        conn.execute("update sessions set revision = 99")
    seen = milk("doctor", "--database", "--json")
    assert (seen.code, seen.json["checks"][0]["hint"]) == (1, "Run: milk-tui doctor --repair")
    mended = milk("doctor", "--database", "--repair", "--json")
    assert mended.code == 0
    assert [check["state"] for check in mended.json["checks"]] == ["info", "ok", "ok"]
    (copy,) = (home / "data").glob("milk.db.bak-*")
    with sqlite3.connect(copy) as conn:
        assert conn.execute("select revision from sessions").fetchone() == (99,)
    assert milk("doctor", "--database").code == 0


def test_what_only_the_person_can_decide_is_left_and_said(milk: Milk, stored: Session, home: Path) -> None:
    with sqlite3.connect(home / "data" / "milk.db") as conn:
        conn.execute("delete from session_agents where role = 'primary'")
    ran = milk("doctor", "--database", "--repair", "--json")
    assert ran.code == 1
    assert "no primary agent" in ran.json["checks"][-1]["detail"]


def test_an_installed_agent_comes_with_its_version(milk: Milk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "programs"
    folder.mkdir()
    scripts = {
        "claude": 'echo "2.1.7 (Claude Code)"',
        "goose": "printf '\\033[31mgoose\\033[0m\\nversion: v1.9.3\\n'",
        "opencode": "exit 3",
    }
    for name, script in scripts.items():
        (folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    ran = milk("doctor", "--json")
    said = {name: checks(ran, "agents", f"program {name}")[0]["detail"] for name in scripts}
    assert said["claude"].startswith("Claude Code: 2.1.7, ")
    assert "Goose: v1.9.3, " in said["goose"]
    assert "version unknown" in said["opencode"]


@pytest.mark.parametrize(
    ("config", "state", "runtime"),
    [
        ("", ("info", "it waits"), ("ok", "lexical")),
        ("enabled = false", ("info", "switched off"), None),
        ("enabled = true", ("ok", "runs here"), ("ok", "lexical")),
        ('enabled = true\ndirectories = ["/nowhere"]', ("info", "not for this folder"), ("ok", "lexical")),
        ('runtime = "litellm"', ("info", "it waits"), ("error", "helper.model is missing")),
        ('runtime = "litellm"\nmodel = "nobody"', ("info", "it waits"), ("error", "no agent 'nobody'")),
        ('runtime = "claude-cli"\ncommand = ["no-such-program"]', ("info", "it waits"), ("error", "no-such-program")),
    ],
)
def test_the_helper_has_its_lines(
    milk: Milk, home: Path, config: str, state: tuple[str, str], runtime: tuple[str, str] | None
) -> None:
    (home / "config").mkdir(parents=True)
    file = home / "config" / "config.toml"
    file.write_text(f"[helper]\n{config}\n")
    file.chmod(0o600)
    ran = milk("doctor", "--json")
    (found,) = checks(ran, "memory helper", "state")
    assert found["state"] == state[0] and state[1] in found["detail"]
    thinks = checks(ran, "memory helper", "runtime")
    assert [(each["state"], runtime is not None and runtime[1] in each["detail"]) for each in thinks] == (
        [] if runtime is None else [(runtime[0], True)]
    )


def test_decision_records_and_wrong_profiles_are_seen(milk: Milk, home: Path) -> None:
    (Path.cwd() / "memory").mkdir()
    (Path.cwd() / "memory" / "one.md").write_text("# One\n")
    (home / "config").mkdir(parents=True)
    file = home / "config" / "config.toml"
    file.write_text('[helper]\nprofiles = ["recal"]\n')
    file.chmod(0o600)
    ran = milk("doctor", "--json")
    assert "1 decision record" in checks(ran, "memory helper", "state")[0]["detail"]
    (profiles,) = checks(ran, "memory helper", "profiles")
    assert (profiles["state"], "recal" in profiles["detail"], "recall" in profiles["hint"]) == ("error", True, True)
