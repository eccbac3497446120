"""Agents, servers and commands that flood, hide and stay: the screen stays the person's, and nothing that was started
outlives the session, however that ends (``quality.md``, "permissions")."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from tests.agents.test_child import alive
from tests.e2e.conftest import ROOT, Place
from tests.e2e.looking import answer, ask, leave, pane, prompt, wait_in
from tests.support.fake_acp import DAEMON, FAKE_ACP
from tests.support.terminal import Terminal

pytestmark = pytest.mark.e2e

MCP = str(ROOT / "tests" / "support" / "mcp_server.py")


@pytest.fixture
def theirs(place: Place) -> Place:
    """An ACP agent answers, and can hand over to a model with tools and an MCP server that hides a program."""
    (place.root / "acp").mkdir()
    agent = [sys.executable, FAKE_ACP, "--home", str(place.root / "acp")]
    server = place.root / "server.sh"
    server.write_text(
        f"#!/bin/sh\nenv -i {sys.executable} -c '{DAEMON}' {place.root}/server.pid\nexec {sys.executable} {MCP}\n"
    )
    server.chmod(0o700)
    place.write_config(
        f'[session]\nprimary = "odd"\nescalation = "deep"\n'
        f'[agents.odd]\nprovider = "acp"\ncommand = {json.dumps(agent)}\n[agents.deep]\nmodel = "openai/deep"\n'
        f'[mcp.hiding]\ncommand = ["{server}"]\nenv = ["PYTHONPATH"]\n'
    )
    return Place(place.root, agents=())


def typed_is(screen: Terminal, text: str, _: str) -> bool:
    return prompt(screen) == text


def wait_until_gone(pids: list[int]) -> None:
    until = time.monotonic() + 30
    while left := [pid for pid in pids if alive(pid)]:
        assert time.monotonic() < until, f"left running: {left}"
        time.sleep(0.05)


def test_an_agent_that_floods_leaves_the_screen_to_the_person(theirs: Place) -> None:
    with theirs.open() as screen:
        screen.wait_for("to ● odd")
        ask(screen, "go FAKE:flood")
        wait_in(screen, "conversation", "you · ")
        screen.wait_for(lambda _: len(pane(screen, "conversation").split()) > 300)
        typed = ""
        for part in ("still ", "my ", "own"):
            typed += part
            screen.send(part)
            screen.wait_for(partial(typed_is, screen, typed.strip()))
        screen.press("escape")
        screen.wait_for("stopped; what came until then is kept")
        screen.press("enter")
        wait_in(screen, "conversation", "You said: still my own")
        leave(screen)
    theirs.wait_alone()
    kept = theirs.read(lambda conn: conn.execute("select status, length(text) from legs order by id").fetchall())
    assert [status for status, _ in kept] == ["cancelled", "done"] and kept[0][1] > 1_000


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux lets a process adopt orphans")
@pytest.mark.parametrize("ended", ["left", "killed", "terminal gone"])
def test_what_hides_behind_agents_servers_and_commands_ends_with_the_session(theirs: Place, ended: str) -> None:
    files = [theirs.root / name for name in ("agent.pid", "server.pid", "command.pid")]
    (theirs.project / "hide.py").write_text(DAEMON)
    run = json.dumps({"command": f"env -i {sys.executable} hide.py {files[2]}; sleep 300"})
    pids: list[int] = []
    try:
        with theirs.open() as screen:
            screen.wait_for("to ● odd")
            ask(screen, f"hide FAKE:daemon {files[0]}")
            wait_in(screen, "conversation", "You said: hide")
            ask(screen, f"and you SCN:tool run_command {run}", "ctrl+g")
            answer(screen, "y")
            until = time.monotonic() + 30
            while not all(file.exists() and file.read_text() for file in files):
                assert time.monotonic() < until, screen.text
                screen.pump(0.1)
            pids = [int(file.read_text()) for file in files]
            assert all(map(alive, pids))
            match ended:
                case "left":
                    screen.press("ctrl+q")
                    screen.wait_exit()
                case "killed":
                    screen.kill()
                case _:
                    screen.vanish()
        wait_until_gone(pids)
    finally:
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    theirs.wait_alone()


def test_an_empty_answer_and_a_wrong_key_grant_nothing(place: Place) -> None:
    """Enter, space and letters that mean nothing, on a dialog that has the keyboard and is settled."""
    with place.open() as screen:
        screen.wait_for("to ● fast")
        ask(screen, 'do it SCN:tool run_command {"command": "touch ran"} SCN:then SCN:say all do\\x6ee')
        screen.wait_for(lambda text: "asks" in screen.title and "y allow once" in text)
        screen.pump(1.0)
        for key in ("\r", " ", "\t", "q", "1", "\x7f", "Y\x1b[D"):
            screen.send(key)
            screen.pump(0.4)
        assert not (place.project / "ran").exists()
        with place.store() as store:
            assert store.read_sync(lambda conn: conn.execute("select count(*) from grants").fetchone()[0]) == 0
        screen.kill()
    assert not Path(place.project, "ran").exists()
