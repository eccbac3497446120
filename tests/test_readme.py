"""What the README says is so."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from milk_tui.cli.root import cli
from milk_tui.config import Config
from milk_tui.config_file import check, parse
from milk_tui.engine.hosted import HOSTED
from milk_tui.engine.local_servers import SERVERS
from tests.support.readme import README, with_table

TEXT = README.read_text(encoding="utf-8")
ROOT = README.parent


def blocks(language: str) -> list[str]:
    """The fenced blocks in that language."""
    fenced = re.findall(r"^```(\w*)\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)
    return [body for name, body in fenced if name == language]


def test_the_keys_are_those_of_the_registry() -> None:
    assert with_table(TEXT) == TEXT, "run: python -m tests.support.readme"


def commands() -> list[tuple[str, str]]:
    (listing,) = [block for block in blocks("") if "milk-tui sessions" in block]
    return [
        (noun, verb)
        for noun, verbs in re.findall(r"milk-tui ([a-z]+)(?: ([a-z|]+))?", listing)
        for verb in (verbs.split("|") if verbs else [""])
    ]


@pytest.mark.parametrize(("noun", "verb"), commands())
def test_every_command_that_is_named_exists(noun: str, verb: str) -> None:
    command = cli.get_command(click.Context(cli), noun)
    assert command is not None
    if verb:
        assert isinstance(command, click.Group)
        assert command.get_command(click.Context(command), verb) is not None


def test_every_command_that_exists_is_named() -> None:
    context = click.Context(cli)
    there = set()
    for noun in cli.list_commands(context):
        command = cli.get_command(context, noun)
        there |= {(noun, verb) for verb in command.commands} if isinstance(command, click.Group) else {(noun, "")}
    assert there == set(commands())


def every_command(command: click.Command) -> Iterator[click.Command]:
    yield command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from every_command(below)


def test_every_option_that_is_named_exists() -> None:
    options = {name for command in every_command(cli) for parameter in command.params for name in parameter.opts}
    options |= {"--help"}
    ours = "\n".join(line for line in TEXT.splitlines() if "pip install" not in line)
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", ours)) <= options


def test_the_example_config_loads() -> None:
    for block in blocks("toml"):
        config, _ = parse(block, "README.md")
        check(config, "README.md")
        assert config != Config()


def test_the_keys_and_servers_that_are_looked_for_are_named() -> None:
    assert [hosted.key for hosted in HOSTED if hosted.key not in TEXT] == []
    assert [s.name for s in SERVERS if s.name not in TEXT or str(s.port) not in TEXT] == []


def test_the_links_lead_somewhere() -> None:
    links = re.findall(r"\]\((?!https?:|#)([^)]+)\)", TEXT)
    assert links
    assert [link for link in links if not (ROOT / link).exists() and not link.startswith("screenshots/")] == []


def test_the_whole_check_runs_the_test_command(tmp_path: Path) -> None:
    """``.ci/run`` in a folder with tools that only say how they were called."""
    (tmp_path / ".ci").mkdir()
    script = tmp_path / ".ci" / "run"
    script.write_text((ROOT / ".ci" / "run").read_text())
    (tmp_path / "README.md").write_text(TEXT)
    tools = tmp_path / "tools"
    tools.mkdir()
    fake = '#!/bin/sh\necho "$0 $*" >> "$CALLS"\n'
    made = (
        '[ "$2" = venv ] && mkdir -p "$3/bin" && for t in pip python ruff mypy lint-imports; do '
        'cp "$TOOLS/tool" "$3/bin/$t"; done\n'
    )
    (tools / "python3").write_text(fake + made)
    (tools / "tool").write_text(fake + 'case "$0 $*" in *pytest*) echo working; echo "7 passed in 1s";; esac\n')
    for tool in tools.iterdir():
        tool.chmod(0o755)
    calls = tmp_path / "calls"
    environ = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "CALLS": str(calls), "TOOLS": str(tools)}

    def run() -> subprocess.CompletedProcess[str]:
        calls.write_text("")
        return subprocess.run(
            ["bash", str(script)], env=environ, capture_output=True, text=True, check=False, timeout=60
        )

    done = run()
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "7 passed in 1s")
    called = calls.read_text()
    for words in ("-m venv .venv-test", "pytest", "ruff check .", "bin/mypy", "bin/lint-imports"):
        assert words in called
    (tools / "tool").write_text(fake + 'case "$0 $*" in *pytest*) echo "1 failed in 1s"; exit 1;; esac\n')
    failed = run()
    assert (failed.returncode, failed.stdout.splitlines()[-1]) == (1, "1 failed in 1s")
