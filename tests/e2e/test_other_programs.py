"""Another program and the running screen on one memory: what one does the other has."""

from __future__ import annotations

import json
import subprocess

import pytest

from milk_tui.interop.hook_payload import EVENTS
from tests.e2e.conftest import Place, program
from tests.e2e.looking import ask, leave, wait_in
from tests.support.mcp_client import McpClient

pytestmark = pytest.mark.e2e


def client(place: Place, name: str, *arguments: str) -> McpClient:
    made = McpClient(arguments, env=place.environment(), cwd=place.project, name=name)
    made.hello()
    return made


def test_facts_of_another_program_appear_in_the_running_screen_and_its_own_are_found_there(place: Place) -> None:
    with place.open() as screen:
        screen.wait_for("to ● fast")
        ask(screen, "first: SCN:tag percept The worker runs at night SCN:say n\\x6fted")
        wait_in(screen, "conversation", "noted", " out")
        with client(place, "claude-code", "--as", "deep") as other, client(place, "cursor") as stranger:
            assert "The worker runs at night" in other.call("recall", query="when does the worker run?")[0]
            assert other.call("record_memory", fact="Prices are integers in cents")[1]
            wait_in(screen, "percepts", "Prices are integers in cents")
            assert stranger.call("record_memory", fact="The cache is Redis 7")[1]
            assert other.call("set_need", need="Stop the double charge")[1]
            screen.wait_for("Stop the double charge")
            ask(screen, "/learn Deploys happen on Tuesdays")
            wait_in(screen, "percepts", "Deploys happen on Tuesdays")
            for each in (other, stranger):
                listed = each.call("list_memory")[0]
                assert "Deploys happen on Tuesdays" in listed
                (id_,) = [line.split()[0] for line in listed.splitlines() if "Tuesdays" in line]
            assert "person is asked" in other.call("forget_memory", id=id_, reason="it is Mondays now")[0]
        screen.press("f2")
        screen.wait_for("deep asks to forget it")
        assert "Redis" not in screen.text
        screen.press("escape")
        leave(screen)


def test_a_claude_code_session_is_given_what_the_screen_learned(place: Place) -> None:
    assert place.run("memory", "learn", "--pin", "Never touch production").code == 0
    installed = place.run("hook", "install")
    assert installed.code == 0, installed.err
    hooks = json.loads((place.project / ".claude" / "settings.json").read_text())["hooks"]
    assert set(hooks) == set(EVENTS)
    payload = {
        "hook_event_name": "UserPromptSubmit",
        "session_id": "outside",
        "cwd": str(place.project),
        "prompt": "deploy it",
    }

    def called() -> object:
        done = subprocess.run(
            [*program(), "hook", "--as", "deep"],
            input=json.dumps(payload).encode(),
            capture_output=True,
            env=place.environment(),
            cwd=place.project,
            timeout=60,
            check=True,
        )
        return json.loads(done.stdout)

    assert "Never touch production" in str(called())
    assert called() == {}
    assert place.run("hook", "uninstall").code == 0
    assert not (place.project / ".claude" / "settings.json").exists()
