"""``milk-tui -p`` as a process of its own: pipes, formats, signals, failures. The model host is the scripted
one; one slow test has the real host and a real server on the loopback."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from milk_tui.core.records import LegStatus
from milk_tui.store import Store, legs, sessions, turns
from tests.cli.conftest import environment
from tests.support.openai_server import OpenAIServer

AGENTS = ("--primary", "m/small", "--escalation", "m/deep")
HOST = f"{sys.executable} -m tests.support.scripted_host"


def start(*arguments: str, home: Path, stdin: int = subprocess.DEVNULL, **environ: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "milk_tui", *arguments],
        env=environment(home, **{"MILK_TUI_HOST_COMMAND": HOST, **environ}),
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def ask(*arguments: str, home: Path, piped: str | None = None, **environ: str) -> tuple[int, str, str]:
    stdin = subprocess.DEVNULL if piped is None else subprocess.PIPE
    process = start(*AGENTS, *arguments, home=home, stdin=stdin, **environ)
    out, err = process.communicate(piped, timeout=120)
    return process.returncode, out, err


def test_the_answer_and_nothing_else_is_on_standard_output(home: Path) -> None:
    assert ask("-p", "SCN:say one SCN:say  two", home=home) == (0, "onetwo\n", "")


def test_a_pipe_is_appended_to_the_prompt_and_alone_it_is_the_prompt(home: Path) -> None:
    code, out, _ = ask("-p", "Review this:", home=home, piped="a = 1\n")
    assert (code, "Review this:" in out, "a = 1" in out) == (0, True, True)
    assert "only this" in ask("-p", "-", home=home, piped="only this")[1]


def test_each_prompt_is_a_session_of_its_own_unless_one_is_named(home: Path) -> None:
    ask("-p", "first", home=home)
    ask("-p", "second", home=home)
    ask("--continue", "-p", "third", home=home)
    ask("--session", "first", "-p", "fourth", home=home)
    store = Store.open(home / "data" / "milk.db")
    rows = store.read_sync(lambda conn: sessions.rows(conn))
    assert sorted((row.title, row.turns) for row in rows) == [("first", 2), ("second", 2)]
    store.close()


def test_escalate_sends_the_turn_to_the_other_agent(home: Path) -> None:
    code, out, err = ask("--escalate", "-p", "hard", "--output-format", "json", home=home)
    answer = json.loads(out)
    assert (code, answer["legs"][0]["agent"], answer["route"]["rule"]) == (0, "deep", "explicit")
    assert "escalated to deep" in err


def test_stream_json_carries_the_whole_turn(home: Path) -> None:
    code, out, _ = ask("-p", "SCN:tag percept we use SQLite\nSCN:say yes", "--output-format", "stream-json", home=home)
    events = [json.loads(line) for line in out.splitlines()]
    kinds = [event["event"] for event in events]
    assert code == 0
    assert [kind for kind in kinds if kind in ("turn_started", "leg_started", "leg_finished", "turn_finished")] == [
        "turn_started",
        "leg_started",
        "leg_finished",
        "turn_finished",
    ]
    assert "".join(event["text"] for event in events if event["event"] == "leg_text").strip() == "yes"
    facts = [event["percept"]["content"] for event in events if event["event"] == "percept_changed"]
    assert set(facts) == {"we use SQLite"}


def test_a_failed_turn_is_exit_1_with_what_to_do_and_the_prompt_is_kept(home: Path) -> None:
    code, out, err = ask("-p", "SCN:err 401", home=home)
    assert (code, out) == (1, "")
    assert "401" in err.splitlines()[-1]
    assert err.splitlines()[-1].startswith("milk-tui: ")
    assert "Traceback" not in err
    store = Store.open(home / "data" / "milk.db")
    row = store.read_sync(lambda conn: sessions.rows(conn))[0]
    assert store.read_sync(lambda conn: turns.index(conn, row.id))[0].prompt_chars == len("SCN:err 401")
    store.close()


def test_json_of_a_failed_turn_names_the_error(home: Path) -> None:
    code, out, _ = ask("-p", "SCN:err 401", "--output-format", "json", home=home)
    answer = json.loads(out)
    assert (code, answer["status"], answer["error"]["kind"]) == (1, "failed", "auth")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--primary", "nobody", "-p", "x"), "no agent 'nobody'"),
        (("--primary", "m/a", "--escalate", "-p", "x"), "No escalation agent"),
        (("--session", "nothing like it", "-p", "x"), "nothing like it"),
        (("--config", "none.toml", "-p", "x"), "no such config file"),
    ],
)
def test_what_can_not_begin_says_why_in_one_line(home: Path, arguments: tuple[str, ...], said: str) -> None:
    process = start(*arguments, home=home)
    out, err = process.communicate(timeout=120)
    assert (process.returncode, out) == (1, "")
    assert said in err
    assert len(err.splitlines()) == 1


def test_an_interrupt_stops_the_leg_and_keeps_what_came(home: Path) -> None:
    process = start(*AGENTS, "-p", r"SCN:say the beginning\nSCN:stall", home=home)
    assert process.stdout is not None
    assert process.stdout.readline() == "the beginning\n"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    assert "Traceback" not in err
    store = Store.open(home / "data" / "milk.db")
    row = store.read_sync(lambda conn: sessions.rows(conn))[0]
    (leg,) = store.read_sync(lambda conn: legs.index(conn, row.id))
    body = store.read_sync(lambda conn: legs.bodies(conn, [leg.id]))[leg.id].leg
    assert (body.status, body.text.strip()) == (LegStatus.CANCELLED, "the beginning")
    store.close()


def test_a_reader_that_goes_away_ends_the_program_quietly(home: Path) -> None:
    process = start(*AGENTS, "-p", "SCN:repeat 200000 word ", home=home)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.read(10)
    process.stdout.close()
    err = process.stderr.read()
    assert process.wait(timeout=60) == 1
    assert err == ""
    process.stderr.close()


def test_hostile_text_reaches_no_terminal(home: Path) -> None:
    main, child = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "milk_tui", *AGENTS, "-p", r"SCN:say a\e]52;c;aGk=\x07b\e[2Jc\u202ed"],
        env=environment(home, MILK_TUI_HOST_COMMAND=HOST),
        stdin=subprocess.DEVNULL,
        stdout=child,
        stderr=child,
        start_new_session=True,
    )
    os.close(child)
    shown = b""
    try:
        while piece := os.read(main, 65_536):
            shown += piece
    except OSError:
        pass
    process.wait(timeout=60)
    os.close(main)
    assert b"abcd" in shown
    assert b"]52" not in shown
    assert b"\x1b[2J" not in shown
    assert "\u202e".encode() not in shown


@pytest.mark.slow
async def test_the_real_model_host_and_a_real_server_answer(home: Path) -> None:
    import asyncio

    async with OpenAIServer() as server:
        folder = home / "config"
        folder.mkdir(parents=True)
        config = folder / "config.toml"
        config.write_text(f'[agents.mine]\nmodel = "openai/scripted"\napi_base = "{server.url}"\n')
        config.chmod(0o600)
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "milk_tui",
            "-p",
            "SCN:say Hello.",
            env=environment(home),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        out, err = await asyncio.wait_for(process.communicate(), 120)
    assert (process.returncode, out) == (0, b"Hello.\n"), err
