"""Inspector and perception in a pseudo-terminal: what the person corrects is what the model is given next."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tests.ui.test_in_terminal import READY, program, quit_program

__all__ = ["program"]

DECIDED = "SCN:tag frame decided: use a can [reason: no hose] SCN:say decided"


def requests(record: Path) -> list[str]:
    """Every message of each request, as one text."""
    lines = record.read_text("utf-8").splitlines()
    return ["\n".join(str(message["content"]) for message in json.loads(line)["messages"]) for line in lines]


def test_a_decision_edited_in_the_perception_is_in_the_next_request(program, home, monkeypatch) -> None:
    record = home / "requests.jsonl"
    monkeypatch.setenv("MILK_TUI_HOST_COMMAND", f"{sys.executable} -m tests.support.scripted_host --record {record}")
    with program(cols=120, rows=36) as terminal:
        terminal.wait_for(READY)
        terminal.send(f"begin {DECIDED}\r")
        terminal.wait_for("● qwen · ")
        terminal.wait_for(" in · ")
        terminal.press("f4")
        terminal.wait_for("because no hose")
        terminal.send("e")
        terminal.wait_for("enter keeps it")
        terminal.send("\x01\x0buse a watering robot [reason: it rains never]\r")
        terminal.wait_for("decided is kept")
        terminal.wait_for("because it rains never")
        terminal.press("escape")
        terminal.wait_for(READY)
        terminal.send("go on SCN:say more\r")
        terminal.wait_for("more")
        terminal.wait_for(lambda text: text.count(" out") >= 2)
        terminal.press("f4")
        terminal.wait_for("use a watering robot")
        terminal.send("[")
        terminal.wait_for("as it was after turn 1")
        terminal.send("]")
        terminal.wait_for("last change: turn 1")
        terminal.press("escape")
        terminal.wait_for(READY)
        quit_program(terminal)
    first, second = requests(record)[:2]
    assert "use a watering robot" not in first
    assert "use a watering robot" in second and "it rains never" in second
    assert "decided: use a can" not in second.replace(DECIDED, "")


def test_a_summary_edited_in_the_inspector_is_what_the_other_agent_is_given(program, home, monkeypatch) -> None:
    record = home / "requests.jsonl"
    monkeypatch.setenv("MILK_TUI_HOST_COMMAND", f"{sys.executable} -m tests.support.scripted_host --record {record}")
    with program(cols=120, rows=36) as terminal:
        terminal.wait_for(READY)
        terminal.send("begin SCN:say it is dry\r")
        terminal.wait_for(" in · ")
        terminal.press("f3")
        terminal.wait_for("primary's summary")
        terminal.send("jje")
        terminal.wait_for("What the escalation agent is given")
        terminal.send(" It rained since then.\r")
        terminal.wait_for("primary's summary is kept")
        terminal.wait_for("version 2 by user")
        terminal.press("escape")
        terminal.wait_for(READY)
        terminal.send("your turn SCN:say yes")
        terminal.press("ctrl+g")
        terminal.wait_for("escalated to claude")
        terminal.wait_for(lambda text: text.count(" out") >= 2)
        quit_program(terminal)
    assert "It rained since then." in requests(record)[-1]


def test_both_work_at_forty_by_twelve_without_colours(program) -> None:
    with program(cols=40, rows=12, NO_COLOR="1") as terminal:
        terminal.wait_for("qwen")
        terminal.send(f"{DECIDED}\r")
        terminal.wait_for("decided")
        terminal.press("f3")
        terminal.wait_for("receipts")
        terminal.press("f6")
        terminal.press("f6")
        terminal.wait_for("cached")
        terminal.press("f4")
        terminal.wait_for("because no hose")
        terminal.resize(100, 30)
        terminal.wait_for("nothing in hand yet")
        terminal.press("f4")
        terminal.wait_for(READY)
        quit_program(terminal)
