"""Agents of their own on the screen: who plays a role, who asks, what is shown of them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tests.support.fake_claude import FAKE_CLAUDE
from tests.ui.conftest import configure


def with_claude(home: Path) -> None:
    """A config with two scripted models and the stand-in for Claude Code."""
    kept = home / "claude"
    kept.mkdir(exist_ok=True)
    command = json.dumps([sys.executable, FAKE_CLAUDE, "--home", str(kept)])
    configure(
        home,
        '[agents.fast]\nmodel = "scripted/fast"\nrole = "primary"\n'
        f'[agents.claude]\nprovider = "claude-cli"\ncommand = {command}\n',
    )


async def test_a_role_is_given_to_another_agent_by_command(home: Path, open_desk) -> None:
    with_claude(home)
    config = home / "home" / "config" / "config.toml"
    config.write_text(config.read_text() + '[agents.deep]\nmodel = "scripted/deep"\nrole = "escalation"\n')
    async with open_desk() as desk:
        await desk.say("/agent")
        await desk.sees("model for the ◆ escalation · now deep", "claude")
        await desk.press("escape")
        await desk.say("/agent escalation claude")
        await desk.sees("claude is the escalation agent from the next turn on, in this session")
        desk.app.main.prompt.set_text("SCN:say from the other program")
        await desk.press("ctrl+g")
        await desk.sees("claude", "from the other program")
        await desk.idle()


async def test_a_name_that_is_none_says_what_could_be(home: Path, open_desk) -> None:
    with_claude(home)
    async with open_desk() as desk:
        await desk.say("/agent primary opencode")
        await desk.sees("there is no program opencode")
        await desk.say("/agent primary nobody-like-this")
        await desk.sees("There is no agent 'nobody-like-this'")


async def test_what_it_wants_to_do_is_asked_on_the_screen(home: Path, open_desk) -> None:
    with_claude(home)
    async with open_desk() as desk:
        desk.app.main.prompt.set_text('SCN:tool Bash {"command":"make test"} SCN:then SCN:say all done')
        await desk.press("ctrl+g")
        await desk.sees("run make test")
        dialog = desk.app.main.permission
        await desk.until(lambda: dialog is not None and dialog.has_focus and dialog.settled, "the dialog's keys")
        await desk.press("y")
        await desk.sees("│  all done")
        await desk.idle()


async def test_when_it_breaks_down_the_other_one_answers_in_view(home: Path, open_desk) -> None:
    with_claude(home)
    async with open_desk() as desk:
        desk.app.main.prompt.set_text("FAKE:die SCN:say I am here instead")
        await desk.press("ctrl+g")
        await desk.sees("out of cheese", "I am here instead")
        await desk.idle()
