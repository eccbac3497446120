"""Our hook in a settings file of Claude Code: it comes, it goes, and nothing else in the file changes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from milk_tui.core.errors import MilkError
from milk_tui.interop import hook_settings
from milk_tui.interop.hook_payload import EVENTS

COMMAND = "milk-tui hook --as claude"
OTHERS = """\
{
    // a comment is not JSON
}
"""
REAL = """\
{
  "$schema": "https://json.schemastore.org/claude-code-settings.json",
  "permissions": { "allow": ["Bash(git *)", "Read"], "deny": [] },
  "hooks": {
    "PreToolUse": [
      { "matcher": "Bash", "hooks": [{ "type": "command", "command": "./check.sh" }] }
    ],
    "Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]
  },
  "model": "opus"
}
"""
TEXTS = [
    "{}\n",
    "{ }",
    REAL,
    REAL.replace("\n", "\r\n"),
    REAL.replace("  ", "\t"),
    json.dumps(json.loads(REAL)),
    '{"hooks": {}}\n',
    '{\n  "hooks": {"UserPromptSubmit": []}\n}\n',
]


def install(file: Path, command: str = COMMAND) -> str:
    settings = hook_settings.read(file)
    text = hook_settings.installed(settings, command)
    if text != settings.text:
        hook_settings.write(settings, text)
    return text


def uninstall(file: Path) -> None:
    settings = hook_settings.read(file)
    hook_settings.write(settings, hook_settings.uninstalled(settings))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / ".claude" / "settings.json"


def write(file: Path, text: str) -> None:
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(text.encode())


@pytest.mark.parametrize("text", TEXTS)
def test_it_is_called_at_every_boundary_and_the_rest_stays(file: Path, text: str) -> None:
    write(file, text)
    before = json.loads(text)
    made = json.loads(install(file))
    status = hook_settings.status(hook_settings.read(file))
    assert (status.complete, set(status.commands.values())) == (True, {COMMAND})
    assert {key: value for key, value in made.items() if key != "hooks"} == {
        key: value for key, value in before.items() if key != "hooks"
    }
    for event, groups in before.get("hooks", {}).items():
        assert made["hooks"][event][: len(groups)] == groups
    assert [key for key in made if key in before] == list(before)


@pytest.mark.parametrize("text", TEXTS[2:6])
def test_what_was_put_in_is_taken_out_again_to_the_byte(file: Path, text: str) -> None:
    write(file, text)
    install(file)
    uninstall(file)
    assert file.read_bytes().decode() == text


def test_a_second_time_changes_nothing_and_another_name_replaces_the_first(file: Path) -> None:
    write(file, REAL)
    once = install(file)
    assert install(file) == once
    other = json.loads(install(file, "milk-tui hook"))
    commands = [
        handler["command"] for groups in other["hooks"].values() for group in groups for handler in group["hooks"]
    ]
    assert commands.count("milk-tui hook") == len(EVENTS)
    assert COMMAND not in commands
    assert "./check.sh" in commands


def test_the_file_from_before_is_kept_and_its_mode(file: Path) -> None:
    write(file, REAL)
    file.chmod(0o600)
    install(file)
    backup = file.with_name("settings.json.milk-backup")
    assert backup.read_text() == REAL
    assert [part.stat().st_mode & 0o777 for part in (file, backup)] == [0o600, 0o600]
    assert sorted(part.name for part in file.parent.iterdir()) == ["settings.json", "settings.json.milk-backup"]


def test_a_file_that_we_made_goes_with_our_hook(file: Path) -> None:
    install(file)
    assert json.loads(file.read_text())["hooks"].keys() == set(EVENTS)
    uninstall(file)
    assert not file.exists()


def test_a_link_stays_a_link(file: Path, tmp_path: Path) -> None:
    real = tmp_path / "elsewhere.json"
    real.write_text("{}\n")
    file.parent.mkdir()
    file.symlink_to(real)
    install(file)
    assert file.is_symlink()
    assert "hooks" in json.loads(real.read_text())


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (OTHERS, "not JSON"),
        ('{"a": 1,}', "not JSON"),
        ("[]", "not a settings file"),
        ('{"hooks": []}', "not a settings file"),
        ('{"hooks": {"PreToolUse": {}}}', "not a settings file"),
        ('{"hooks": {}, "hooks": {}}', "twice"),
    ],
)
def test_a_file_that_would_be_harmed_is_refused_and_stays(file: Path, text: str, why: str) -> None:
    write(file, text)
    with pytest.raises(MilkError, match=why):
        install(file)
    assert file.read_text() == text


def test_bytes_that_are_no_text_are_refused(file: Path) -> None:
    file.parent.mkdir()
    file.write_bytes(b"\xff\xfe{}")
    with pytest.raises(MilkError, match="UTF-8"):
        install(file)


def test_odd_shapes_of_others_are_left_alone(file: Path) -> None:
    odd = '{"hooks": {"PreToolUse": [7, {"hooks": "x"}, {"hooks": [null, {"command": 3}]}], "Stop": "x"}}'
    write(file, odd)
    made = json.loads(install(file))
    assert made["hooks"]["PreToolUse"][:3] == json.loads(odd)["hooks"]["PreToolUse"]
    uninstall(file)
    assert json.loads(file.read_text()) == json.loads(odd)


@pytest.mark.parametrize(
    ("command", "ours"),
    [
        ("milk-tui hook", True),
        ("'/opt/my tools/milk-tui' --database /x/y.db hook --as claude", True),
        ("/usr/bin/python3 -m milk_tui hook", True),
        ("milk-tui mcp", False),
        ("./hook.sh", False),
        ("echo milk-tuition hook", False),
    ],
)
def test_what_is_ours(file: Path, command: str, ours: bool) -> None:
    write(file, json.dumps({"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": command}]}]}}))
    assert bool(hook_settings.status(hook_settings.read(file)).commands) is ours
