"""The program from the shell, beside and together with the screen: one database, one memory, the same words."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from milk_tui.store import sessions
from tests.e2e.conftest import Place, Ran
from tests.e2e.looking import ask, leave, plain, wait_in

pytestmark = pytest.mark.e2e

COMMANDS = [
    "bricks show",
    "config path",
    "config show",
    "config edit",
    "doctor",
    "memory list",
    "memory search",
    "memory show",
    "memory learn",
    "memory pin",
    "memory unpin",
    "memory forget",
    "memory restore",
    "memory consolidate",
    "memory export",
    "memory import",
    "memory approve",
    "models list",
    "models fetch",
    "perception edit",
    "perception history",
    "perception read",
    "perception show",
    "perception write",
    "sessions list",
    "sessions show",
    "sessions rename",
    "sessions delete",
    "setup",
]


def test_every_command_explains_itself_and_the_list_of_them_is_whole(place: Place) -> None:
    with ThreadPoolExecutor(2) as pool:
        told = dict(zip(COMMANDS, pool.map(lambda c: place.run(*c.split(), "--help"), COMMANDS), strict=True))
    for command, ran in told.items():
        assert (ran.code, ran.err) == (0, ""), command
        assert ran.out.startswith(f"Usage: milk-tui {command}")
    groups = {command.split()[0] for command in COMMANDS}
    whole = place.run("--help").out
    assert all(f"\n  {group} " in whole for group in groups)
    assert not place.home.exists(), "asking for help makes no file"


def test_a_turn_from_the_shell_is_the_same_session_memory_and_bricks_as_on_the_screen(place: Place) -> None:
    ran = place.ask("-p", "Look here: SCN:tag percept Ports are odd SCN:say Looks good.", piped="port = 8413\n")
    assert ran == Ran(0, "Looks good.\n", "")
    with place.open("--continue") as screen:
        wait_in(screen, "conversation", "port = 8413", "Looks good.")
        wait_in(screen, "percepts", "Ports are odd")
        ask(screen, r"SCN:tool set_need {\"need\": \"x\"} SCN:say f\x69ne".replace('\\"', '"'))
        wait_in(screen, "conversation", "fine", " out")
        leave(screen)
    (row,) = place.run("sessions", "list", "--json").json
    assert row["turns"] == 2
    shown = place.run("sessions", "show", row["id"]).out
    assert all(words in shown for words in ("Look here", "port = 8413", "Looks good.", "fine"))
    assert "Ports are odd" in json.dumps(place.run("memory", "search", "odd ports", "--json").json)
    bricks = plain(place.run("bricks", "show").out)
    assert "Looks good." in bricks
    assert json.loads(place.run("bricks", "show", "--json").out)


def test_a_fact_from_the_shell_reaches_the_agent_of_a_screen_that_is_open(place: Place) -> None:
    with place.open() as screen:
        screen.wait_for("to ● fast")
        assert place.run("memory", "learn", "--global", "--pin", "The deploy is on Friday").code == 0
        ask(screen, "When is the deploy?")
        wait_in(screen, "conversation", "You said: When is the deploy?", " out")
        leave(screen)
    assert "The deploy is on Friday" in str(place.requests()[-1]["messages"])


def test_programs_at_the_same_time_share_one_database(place: Place) -> None:
    prompts = [f"prompt {n} SCN:tag percept fact number {n} SCN:say answer {n}" for n in range(6)]
    with ThreadPoolExecutor(3) as pool:
        answers = list(pool.map(lambda prompt: place.ask("-p", prompt), prompts))
    assert [(ran.code, ran.out, ran.err) for ran in answers] == [(0, f"answer {n}\n", "") for n in range(6)]
    assert len(place.read(sessions.rows)) == 6
    assert len(place.run("memory", "list", "--all", "--json").json) == 6


def test_a_session_is_opened_by_its_title_here_and_on_the_screen(place: Place) -> None:
    place.ask("-p", "Find the port")
    assert place.run("sessions", "rename", "Find the port", "ports").code == 0
    ran = place.ask("--session", "ports", "-p", "And now? SCN:say Later.", "--output-format", "json")
    assert (ran.code, ran.json["text"], ran.json["session"]["title"]) == (0, "Later.", "ports")
    with place.open("--session", "ports") as screen:
        wait_in(screen, "conversation", "Find the port", "Later.")
        assert "ports" in screen.lines[0]
        leave(screen)
    with place.open("--session", "nothing of the kind") as screen:
        screen.wait_for("nothing of the kind")
        screen.wait_for("milk-tui sessions list")
        leave(screen)


def test_stream_json_is_one_whole_object_a_line_and_ends_with_the_turn(place: Place) -> None:
    ran = place.ask("-p", 'SCN:tool escalate {"reason": "too deep"} SCN:say x', "--output-format", "stream-json")
    events = [json.loads(line) for line in ran.out.splitlines()]
    kinds = [event["event"] for event in events]
    assert ran.code == 0
    assert kinds.count("leg_started") == kinds.count("leg_finished") == 2
    assert kinds[-1] == "turn_finished"
    started = [event for event in events if event["event"] == "leg_started"]
    assert [(event["role"], event["escalated"]) for event in started] == [("primary", False), ("escalation", True)]
    assert started[1]["reason"] == "too deep"
    assert not re.search(r"<milk:\w+:[a-z0-9]{6}>", ran.out), "nonces are masked"
    assert "••••••" in ran.out


def test_the_doctor_says_what_was_found_and_shows_no_key(place: Place) -> None:
    ran = place.run("doctor", "--json", OPENAI_API_KEY="sk-secret-of-the-person")
    report = ran.json
    assert "OPENAI_API_KEY" in ran.out
    assert "sk-secret" not in ran.out + ran.err
    assert json.dumps(report)
    plain_text = place.run("doctor", OPENAI_API_KEY="sk-secret-of-the-person")
    assert plain_text.code == ran.code
    assert "OPENAI_API_KEY" in plain_text.out
    assert "sk-secret" not in plain_text.out


def test_without_a_terminal_the_screen_says_what_to_use_instead(place: Place) -> None:
    ran = place.run()
    assert (ran.code, ran.out) == (1, "")
    assert "milk-tui -p" in ran.err
    assert len(ran.err.splitlines()) == 1


@pytest.mark.parametrize(
    "arguments", [["nonsense"], ["--nonsense"], ["memory", "nonsense"], ["-p", ""], ["--escalate"]]
)
def test_wrong_usage_is_exit_2_and_one_line(place: Place, arguments: list[str]) -> None:
    ran = place.run(*arguments)
    assert (ran.code, ran.out, len(ran.err.splitlines())) == (2, "", 1)
    assert "--help" in ran.err


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_an_output_with_another_encoding_is_no_reason_to_fail(place: Place, encoding: str) -> None:
    ran = place.ask("-p", "SCN:say plain \\u2713 \\u05e9", PYTHONUTF8="0", PYTHONIOENCODING=encoding, LC_ALL="C")
    assert (ran.code, ran.out.split()[0], ran.err) == (0, "plain", "")


def test_completion_is_there_for_the_usual_shells(place: Place) -> None:
    for shell in ("bash", "zsh", "fish"):
        assert "milk-tui" in place.run(_MILK_TUI_COMPLETE=f"{shell}_source").out


def test_without_colours_and_in_a_plain_terminal_the_screen_works(place: Place) -> None:
    for environ in ({"NO_COLOR": "1"}, {"TERM": "xterm", "COLORTERM": ""}):
        with place.open(**environ) as screen:
            screen.wait_for("to ● fast")
            ask(screen, r"SCN:say pl\x61in")
            wait_in(screen, "conversation", "plain", " out")
            if "NO_COLOR" in environ:
                cells = [screen.screen.buffer[y][x] for y in range(40) for x in range(120)]
                assert {cell.fg for cell in cells if cell.fg != "default"} <= grey({cell.fg for cell in cells})
            leave(screen)


def grey(colours: set[str]) -> set[str]:
    """Those that are a shade of grey: red, green and blue alike."""
    hexes = {colour for colour in colours if len(colour) == 6}
    return {colour for colour in hexes if colour[:2] == colour[2:4] == colour[4:]}


def test_the_installed_command_and_the_module_are_the_same_program(place: Place) -> None:
    module = subprocess.run([sys.executable, "-m", "milk_tui", "--version"], capture_output=True, text=True, check=True)
    assert place.run("--version").out == module.stdout
