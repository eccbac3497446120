"""Claude Code as a helper: what it is started with, and that one which may do more than read never gets to answer."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from milk_tui.agents.child import JsonChild, environment
from milk_tui.core.helper_profile import Limits, parse
from milk_tui.core.helper_signals import Signal
from milk_tui.engine.decisions import index_folder
from milk_tui.engine.helper.claude import GUARD, READ_ONLY, ClaudeRuntime, arguments, excess
from milk_tui.engine.helper.profiles import BUILT_IN
from milk_tui.engine.helper.runner import Runner
from milk_tui.store import Store, helper_runs, notes
from tests.support.anthropic_server import AnthropicServer

NAME = "2026-04-14-payment-retries.md"
ANSWER = json.dumps(
    {
        "action": "send_message",
        "message": f"{NAME} moved retries into the queue worker. A loop in the handler would charge twice.",
        "citations": [NAME],
    }
)
INIT = {"type": "system", "subtype": "init", "tools": ["Read", "Grep", "Glob"], "mcp_servers": []}

PROGRAM = """
import json, os, sys, time
told = json.loads(os.environ["SCRIPT"])
seen = {"argv": sys.argv[1:], "cwd": os.getcwd(), "env": dict(os.environ), "asked": sys.stdin.readline()}
open(os.environ["SEEN"], "w").write(json.dumps(seen))
for line in told:
    print(line if isinstance(line, str) else json.dumps(line), flush=True)
time.sleep(float(os.environ.get("LINGER", "0")))
"""


def result(text: str = ANSWER, **more: object) -> dict:
    return {"type": "result", "subtype": "success", "is_error": False, "result": text, "usage": {}, **more}


class Desk:
    def __init__(self, tmp_path: Path) -> None:
        self.folder = tmp_path / "memory"
        self.folder.mkdir()
        (self.folder / NAME).write_text(
            "# Payment retries live in the worker\n\nDate: 2026-04-14\n\nNot in a request.\n"
        )
        self.program = tmp_path / "claude.py"
        self.program.write_text(PROGRAM)
        self.seen_file = tmp_path / "seen.json"
        self.store = Store.open(tmp_path / "milk.db")
        index_folder(self.store, self.folder)

    async def run(self, script: list, limits: Limits | None = None, linger: str = "0") -> helper_runs.Run:
        environ = {"PATH": "/usr/bin:/bin", "SCRIPT": json.dumps(script), "SEEN": str(self.seen_file), "LINGER": linger}
        runtime = ClaudeRuntime((sys.executable, str(self.program)), "", environ)
        profile = parse((BUILT_IN / "recall.md").read_text())
        profile = replace(profile, limits=limits or profile.limits)
        signal = Signal(name="session.turn-started", session_id="s", directory="/d", prompt="Retry the charge")
        ended = await Runner(self.store, runtime, lambda _: str(self.folder), environ={}).run(signal, profile)
        run = self.store.read_sync(lambda conn: helper_runs.get(conn, ended.run_id))
        assert run is not None
        return run

    @property
    def seen(self) -> dict:
        return json.loads(self.seen_file.read_text())


@pytest.fixture
def desk(tmp_path: Path):
    made = Desk(tmp_path)
    yield made
    made.store.close()


def test_it_is_started_with_read_only_tools_and_nothing_of_the_persons():
    command = arguments(("claude",), "")
    assert command[command.index("--tools") + 1] == "Read,Grep,Glob"
    assert command[command.index("--disallowedTools") + 1] == "mcp__*"
    assert command[command.index("--setting-sources") + 1] == ""
    assert command[command.index("--model") + 1] == "haiku"
    assert "--no-session-persistence" in command and "--dangerously-skip-permissions" not in command


async def test_its_answer_becomes_a_note(desk: Desk) -> None:
    run = await desk.run([INIT, result(usage={"input_tokens": 900, "output_tokens": 80})])
    assert (run.status, run.runtime, run.model, run.output_tokens) == ("note", "claude-cli", "haiku", 80)
    [note] = desk.store.read_sync(lambda conn: notes.of_session(conn, "s"))
    assert NAME in note.text


async def test_it_works_in_the_records_folder_behind_a_guard_and_is_asked_on_its_standard_input(desk: Desk) -> None:
    await desk.run([INIT, result()])
    assert (desk.seen["cwd"], desk.seen["env"][GUARD]) == (str(desk.folder.resolve()), "1")
    asked = json.loads(desk.seen["asked"])["message"]["content"]
    assert "Retry the charge" in asked and "untrusted" in asked
    assert not any("Retry the charge" in word for word in desk.seen["argv"])


@pytest.mark.parametrize(
    ("first", "why"),
    [
        ({**INIT, "tools": ["Read", "Bash"]}, "refused: it has the tools Bash"),
        ({**INIT, "tools": ["Read", "Write", "mcp__mail__send"]}, "refused: it has the tools Write, mcp__mail__send"),
        ({**INIT, "mcp_servers": [{"name": "mail"}]}, "refused: it has MCP servers"),
        ({**INIT, "hooks": ["x"]}, "refused: it has hooks"),
        ({"type": "system", "subtype": "hook_started"}, "refused: it runs hooks"),
        ({"type": "system", "subtype": "init"}, "refused: it does not say which tools it has"),
        ("rubbish", "refused: it did not say what it may do"),
    ],
)
async def test_one_that_may_do_more_than_read_never_answers(desk: Desk, first: object, why: str) -> None:
    run = await desk.run([first, result()])
    assert (run.status, run.reason) == ("failed", why)
    assert desk.store.read_sync(lambda conn: notes.of_session(conn, "s")) == []


@pytest.mark.parametrize(
    ("script", "limits", "why"),
    [
        ([INIT, result("NOTHING")], None, "malformed output"),
        ([INIT, result(ANSWER.replace(NAME, "made-up.md"))], None, "which it was not given"),
        ([INIT, result("x" * 5_000)], None, "more than 4,096 bytes"),
        ([INIT, result(usage={"output_tokens": 9_000})], None, "it used 9,000 tokens, 2,048 are allowed"),
        ([INIT, result("Not logged in", is_error=True)], None, "the program failed: Not logged in"),
        ([INIT], None, "unavailable"),
        ([], None, "unavailable"),
    ],
)
async def test_what_it_does_wrong_is_in_the_log(desk: Desk, script: list, limits: Limits | None, why: str) -> None:
    run = await desk.run(script, limits)
    assert run.status == "failed" and why in run.reason


async def test_it_is_ended_at_the_timeout(desk: Desk) -> None:
    run = await desk.run([INIT], Limits(timeout_s=1.0), linger="600")
    assert (run.status, run.reason) == ("failed", "no answer within 1 s")


async def test_a_program_that_is_not_there_is_unavailable(desk: Desk) -> None:
    desk.program.unlink()
    assert "unavailable" in (await desk.run([INIT])).reason


def test_a_program_that_says_nothing_of_hooks_and_servers_is_fine():
    assert excess({"tools": ["Read"]}) == ""


CLAUDE = os.environ.get("MILK_TEST_CLAUDE", "")


@pytest.mark.contract
@pytest.mark.skipif(not CLAUDE, reason="MILK_TEST_CLAUDE names no program")
async def test_the_real_program_comes_up_with_nothing_but_reading(desk: Desk, tmp_path: Path) -> None:
    """With a hook in the person's settings and an MCP server in the folder, neither of which it may use."""
    home = tmp_path / "claude"
    home.mkdir()
    hooked = {"type": "command", "command": f"touch {tmp_path}/hooked"}
    (home / "settings.json").write_text(json.dumps({"hooks": {"UserPromptSubmit": [{"hooks": [hooked]}]}}))
    server = {"command": sys.executable, "args": ["-c", f"open('{tmp_path}/served', 'w')"]}
    (desk.folder / ".mcp.json").write_text(json.dumps({"mcpServers": {"mail": server}}))
    async with AnthropicServer() as anthropic:
        environ = {
            **os.environ,
            "HOME": str(tmp_path),
            "CLAUDE_CONFIG_DIR": str(home),
            "ANTHROPIC_BASE_URL": anthropic.url,
            "ANTHROPIC_API_KEY": "of-no-worth",
        }
        child = JsonChild(arguments((CLAUDE,), ""), env=environment(environ, {GUARD: "1"}), cwd=str(desk.folder))
        await child.start()
        try:
            await child.send({"type": "user", "message": {"role": "user", "content": "SCN:say hello"}})
            seen = [message async for message in _until_result(child)]
        finally:
            await child.aclose(0.5)
    [init] = [message for message in seen if message.get("subtype") == "init"]
    assert excess(init) == "" and set(init["tools"]) == set(READ_ONLY) and init["mcp_servers"] == []
    assert seen[-1]["result"] == "hello"
    assert not (tmp_path / "hooked").exists() and not (tmp_path / "served").exists()


async def _until_result(child: JsonChild) -> AsyncIterator[dict]:
    async for message in child.messages():
        yield message
        if message.get("type") == "result":
            return
