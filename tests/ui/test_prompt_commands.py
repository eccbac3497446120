"""``/route``, ``/attach``, ``/image``, ``/mcp``, and the route line that unfolds (``semantics.md`` §8)."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from milk_tui.core.errors import MilkError
from milk_tui.core.records import Role, RouteDecision, ScorePart
from milk_tui.ui import bodies
from milk_tui.ui.clipboard import image_from_clipboard
from tests.ui.conftest import configure

CONFIG = (Path(__file__).parent / "conftest.py").read_text(encoding="utf-8").split('CONFIG = """', 1)[1].split('"""')[0]
PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 64


def test_a_route_is_one_line_that_unfolds_to_its_score() -> None:
    parts = (ScorePart("concurrency", 3.0, "deadlock"), ScorePart("path", -1.0, "1 file"))
    route = RouteDecision(role=Role.ESCALATION, rule="signals", reason="enough", parts=parts)

    assert bodies.route_line(route) == "routed: concurrency +3, path −1"
    assert bodies.route_why(route) == (
        "signals → escalation: enough\nconcurrency    +3  deadlock\npath           −1  1 file\nsum            +2"
    )
    nothing = RouteDecision(role=Role.PRIMARY, rule="primary", reason="nothing speaks for an escalation")
    assert bodies.route_line(nothing) == bodies.route_why(nothing) == ""


async def test_the_route_line_unfolds_in_the_conversation(open_desk) -> None:
    async with open_desk() as desk:
        await desk.say("two workers deadlock, redesign it SCN:say done")
        await desk.sees("done", "routed: design +3, concurrency +")
        await desk.idle()
        lines = desk.text.split("\n")
        row = next(y for y, line in enumerate(lines) if "routed:" in line)
        await desk.pilot.click(offset=(lines[row].index("routed:"), row))
        await desk.sees("signals → escalation", "sum")


async def test_route_explains_and_sends_nothing(open_desk) -> None:
    async with open_desk() as desk:
        await desk.say("/route two workers deadlock, redesign it")
        await desk.sees("escalation · claude · signals:", "concurrency +")
        await desk.say("/route")
        await desk.sees("nothing was asked yet")
        assert not desk.app.state.queue and desk.app.state.running is None


async def test_attach_begins_a_mention(open_desk) -> None:
    async with open_desk() as desk:
        await desk.say("/attach a b.txt")
        await desk.until(lambda: desk.app.main.prompt.full_text == '@"a b.txt" ')


async def test_without_servers_mcp_says_how_to_get_one(open_desk) -> None:
    async with open_desk() as desk:
        await desk.say("/mcp")
        await desk.sees("no MCP server is configured")


async def test_mcp_says_how_each_server_is(open_desk, home: Path) -> None:
    configure(home, f'{CONFIG}\n[mcp.little]\ncommand = ["/nowhere/server"]\n')
    async with open_desk() as desk:
        await desk.say("/mcp")
        await desk.sees("little · not connected")
        await desk.say("/mcp nobody")
        await desk.sees("there is no MCP server nobody")


def _program(folder: Path, name: str, output: str) -> None:
    folder.mkdir(exist_ok=True)
    file = folder / name
    file.write_text(f"#!{sys.executable}\nimport sys\nsys.stdout.buffer.write({output})\n")
    file.chmod(0o755)


async def test_the_image_in_the_clipboard_is_kept_for_its_owner_alone(tmp_path: Path, monkeypatch) -> None:
    _program(tmp_path / "bin", "wl-paste", repr(PNG))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)
    path = await image_from_clipboard(tmp_path)

    assert path.read_bytes() == PNG and path.suffix == ".png"
    assert path.stat().st_mode & 0o777 == 0o600


async def test_without_an_image_or_a_program_it_is_said(tmp_path: Path, monkeypatch) -> None:
    _program(tmp_path / "bin", "wl-paste", "b'just text'")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    with pytest.raises(MilkError, match="no image"):
        await image_from_clipboard(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    with pytest.raises(MilkError, match="no program"):
        await image_from_clipboard(tmp_path)
