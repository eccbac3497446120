"""Commands: asked, shown while they run, bounded, with few variables, and nothing of them left behind."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest

from milk_tui.core.permissions import Scope
from milk_tui.tools import shell
from milk_tui.tools.command_words import pattern_of, waits_for_person
from tests.support.polling import until
from tests.tools.conftest import Bench

ROOT = Path(__file__).parents[2]


def alive(pid: int) -> bool:
    """Whether a process runs; one that is only waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


async def test_a_command_is_asked_and_its_end_is_told(bench: Bench) -> None:
    outcome = await bench("run_command", command="echo out; echo err >&2; exit 3")
    assert not outcome.ok
    assert outcome.content.startswith("out\nerr\n[exit code 3 · ")
    (asked,) = bench.asked
    assert (asked.body, asked.language, asked.pattern) == ("echo out; echo err >&2; exit 3", "bash", "")
    assert asked.scopes == tuple(Scope)
    assert (await bench("run_command", command="true")).ok


async def test_a_denied_command_does_not_run(bench: Bench) -> None:
    bench.deny()
    await bench.refuses("run_command", "denied", command="touch ran")
    assert not (bench.directory / "ran").exists()


async def test_output_is_shown_while_it_comes(bench: Bench) -> None:
    go = bench.directory / "go"
    running = asyncio.create_task(
        bench("run_command", command="echo first; while [ ! -e go ]; do sleep 0.02; done; echo last")
    )
    await until(lambda: "first\n" in "".join(bench.printed), what="the first line")
    assert not running.done()
    go.touch()
    assert "first\nlast" in (await running).content


async def test_head_and_tail_of_much_output_are_kept(bench: Bench) -> None:
    outcome = await bench("run_command", command="seq 1 100000")
    assert outcome.content.startswith("1\n2\n")
    assert "\n100000\n[exit code 0" in outcome.content
    assert "characters left out" in outcome.content
    assert len(outcome.content) < 25_000


async def test_a_flood_is_stopped(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shell, "LARGEST_OUTPUT", 3_000_000)
    await bench.refuses("run_command", "printed more than", command="yes")


async def test_a_command_that_takes_too_long_is_ended_with_what_it_started(bench: Bench) -> None:
    command = "sleep 300 & echo $! > pid; trap '' TERM; echo begun; wait"
    await bench.refuses("run_command", "begun", "took longer than 1 s", command=command, timeout_s=1)
    assert not alive(int(bench.read("pid")))


async def test_what_was_put_into_the_background_ends_with_the_command(bench: Bench) -> None:
    stray = "setsid sh -c 'echo $$ > two; exec sleep 300' &"
    command = f"sleep 300 & echo $! > one; {stray} while [ ! -s two ]; do sleep 0.02; done"
    assert (await bench("run_command", command=command)).ok
    await until(lambda: not alive(int(bench.read("one"))) and not alive(int(bench.read("two"))), what="the end of both")


async def test_a_cancelled_command_is_ended(bench: Bench) -> None:
    running = asyncio.create_task(bench("run_command", command="echo $$ > pid; exec sleep 300"))
    await until(lambda: (bench.directory / "pid").exists() and bench.read("pid").strip(), what="the command")
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert not alive(int(bench.read("pid")))


async def test_secrets_of_the_environment_stay_here(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-hidden-value")
    monkeypatch.setenv("SOME_TOKEN", "hidden-value")
    monkeypatch.setenv("NEEDED", "yes")
    bench.site.environment = ("NEEDED",)
    shown = (await bench("run_command", command="env")).content
    assert "hidden-value" not in shown
    assert "NEEDED=yes" in shown
    assert "PATH=" in shown
    assert "GIT_TERMINAL_PROMPT=0" in shown


async def test_nobody_is_at_a_terminal(bench: Bench) -> None:
    outcome = await bench(
        "run_command", command="cat; test -t 0 && echo terminal; (: < /dev/tty) 2>&1 | head -c 200; true"
    )
    assert outcome.ok
    assert "terminal" not in outcome.content.split("\n")


async def test_what_a_terminal_would_do_is_not_done(bench: Bench) -> None:
    outcome = await bench("run_command", command=r"printf '10%%\r50%%\r100%%\n\033[2J\033]0;x\007done\n'")
    assert outcome.content.startswith("100%\ndone\n")


@pytest.mark.parametrize(
    "arguments",
    [
        {"command": " "},
        {"command": "x" * 30_000},
        {"command": "true", "directory": ".."},
        {"command": "true", "directory": "nowhere"},
    ],
)
async def test_what_can_not_be_run_is_said_before_it_is_asked(bench: Bench, arguments: dict) -> None:
    await bench.refuses("run_command", **arguments)
    assert bench.asked == []


async def test_a_command_runs_in_a_folder_inside(bench: Bench) -> None:
    (bench.directory / "sub").mkdir()
    assert (await bench("run_command", command="pwd", directory="sub")).content.startswith(f"{bench.directory}/sub\n")
    assert bench.asked[0].directory == f"{bench.directory}/sub"


@pytest.mark.parametrize(
    "command",
    (
        "vim a.py",
        "sudo nano x",
        "less log",
        "cd src && vi a",
        "python",
        "python3 -i",
        "git commit",
        "git rebase -i HEAD~2",
        "git add -p",
        "top",
        "psql",
        "ssh host",
        "A=1 env bash",
        "echo x; htop",
    ),
)
async def test_a_program_that_waits_for_a_person_is_refused_with_a_hint(bench: Bench, command: str) -> None:
    outcome = await bench("run_command", command=command)
    assert not outcome.ok
    assert ":" in outcome.content
    assert bench.asked == []


@pytest.mark.parametrize(
    "command",
    (
        "python -c 'print(1)'",
        "python a.py",
        "git commit -m x",
        "git commit -am 'x'",
        "echo x | less",
        "cat a",
        "echo 'vim'",
        "psql -c 'select 1'",
        "ssh host ls",
        "bash run.sh",
        "echo 1 | python",
        "timeout 5 make",
        "grep vim x",
    ),
)
def test_a_program_that_does_not_wait_is_run(command: str) -> None:
    assert waits_for_person(command) == ""


@pytest.mark.parametrize(
    ("command", "pattern"),
    [
        ("pytest -q tests", "pytest *"),
        ("git diff --stat", "git diff *"),
        ("npm test", "npm test *"),
        ("git -c core.pager=sh log", ""),
        ("git push", ""),
        ("npm install x", ""),
        ("pytest; rm -rf /", ""),
        ("pytest $(rm x)", ""),
        ("pytest `rm x`", ""),
        ("pytest > out", ""),
        ("pytest\nrm x", ""),
        ("PYTHONPATH=. pytest", ""),
        ("./pytest", ""),
        ("rm x", ""),
        ("python -c x", ""),
        ("bash x", ""),
        ("find . -delete", ""),
        ("env pytest", ""),
        ("'", ""),
        ("", ""),
    ],
)
def test_only_plain_commands_have_a_class_that_may_be_allowed(command: str, pattern: str) -> None:
    assert pattern_of(command) == pattern


async def test_a_fork_bomb_in_a_small_group_is_ended(bench: Bench) -> None:
    command = "for i in 1 2 3 4 5 6 7 8; do (while :; do sleep 0.05; done) & echo $! >> pids; done; wait"
    await bench.refuses("run_command", "took longer", command=command, timeout_s=1)
    pids = [int(line) for line in bench.read("pids").split()]
    assert len(pids) == 8
    assert not any(alive(pid) for pid in pids)
    assert os.getpgrp() not in pids


async def test_a_command_ends_when_the_program_is_killed(bench: Bench) -> None:
    code = (
        "import asyncio, pathlib; from milk_tui.tools.shell import execute; "
        "asyncio.run(execute('echo $$ > pid; sleep 300', directory=pathlib.Path('.'), timeout_s=300))"
    )
    program = await asyncio.create_subprocess_exec(
        sys.executable, "-c", code, cwd=bench.directory, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    await until(lambda: (bench.directory / "pid").exists() and bench.read("pid").strip(), what="the command")
    program.kill()
    await program.wait()
    await until(lambda: not alive(int(bench.read("pid"))), what="the end of the command")
