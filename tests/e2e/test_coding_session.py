"""An agent works in a project: it reads, searches, runs the checks, fails, edits, asks before each change, and hands
over what is beyond it. What the person saw, what is on disk and what is stored are one and the same."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from milk_tui.core.records import ToolStatus
from milk_tui.store import file_changes, grants, legs, sessions, tool_calls
from tests.e2e.conftest import Place
from tests.e2e.looking import answer as press_answer
from tests.e2e.looking import ask, leave, plain, wait_in
from tests.support.openai_server import OpenAIServer
from tests.support.terminal import Terminal

pytestmark = pytest.mark.e2e

BROKEN = "def total(prices):\n    return sum(prices) + 1\n"
MENDED = "def total(prices):\n    return sum(prices)\n"
CHECK = "from shop import total\n\nassert total([1, 2]) == 3, total([1, 2])\nprint('all good')\n"
RUN = "python3 check.py"
REASON = "the rounding of prices needs a design"
DESIGN = "Round once, at the end, to even."
EDIT = {"path": "shop.py", "old_text": "sum(prices) + 1", "new_text": "sum(prices)"}


def call(name: str, **arguments: object) -> str:
    return f"SCN:tool {name} {json.dumps(arguments)}"


PRIMARY = (
    f"SCN:say Let me look. {call('read_file', path='shop.py')} {call('grep', pattern='total', glob='*.py')}",
    f"SCN:say I run the checks. {call('run_command', command=RUN)}",
    f"{call('edit_file', **{**EDIT, 'old_text': 'sum(price) + 1'})} {call('read_file', path='../outside.txt')}",
    call("edit_file", **EDIT),
    call("run_command", command=RUN),
    f"SCN:say It is mended. {call('escalate', reason=REASON)}",
)
ESCALATION = (f"SCN:say {DESIGN}",)
CALLS = [
    ("read_file", ToolStatus.OK, ""),
    ("grep", ToolStatus.OK, ""),
    ("run_command", ToolStatus.FAILED, "person · session"),
    ("edit_file", ToolStatus.FAILED, ""),
    ("read_file", ToolStatus.DENIED, "denied · person"),
    ("edit_file", ToolStatus.OK, "person · once"),
    ("run_command", ToolStatus.OK, "grant"),
    ("escalate", ToolStatus.OK, ""),
]


@pytest.fixture
def project(place: Place) -> Path:
    (place.project / "shop.py").write_text(BROKEN)
    (place.project / "check.py").write_text(CHECK)
    (place.root / "outside.txt").write_text("not yours\n")
    return place.project


@pytest.mark.slow
def test_with_the_real_model_host_and_a_real_server(place: Place, project: Path) -> None:
    with OpenAIServer().in_thread() as server:
        server.replies.extend((*PRIMARY, *ESCALATION))
        place.write_config(
            f'[agents.fast]\nmodel = "openai/loopback"\napi_base = "{server.url}"\n'
            f'[agents.deep]\nmodel = "openai/loopback-large"\napi_base = "{server.url}"\n'
        )
        work(replace(place, scripted=False, agents=()))
        look_at_disk(place)
        look_at_store(place)
        told = [str(request.body["messages"][-2:]) for request in server.requests]
        assert len(server.requests) == len(PRIMARY) + len(ESCALATION)
        assert "old_text is not in shop.py" in told[3]
        assert "The person denied this: not yours" in told[3]
        assert "exit code 1" in told[2]
        assert "all good" in told[5]
        names = [tool["function"]["name"] for tool in server.requests[0].body["tools"]]
        assert {"read_file", "edit_file", "run_command", "escalate", "ask_deep"} <= set(names)
        assert [request.body["tools"] for request in server.requests[: len(PRIMARY)]] == [
            server.requests[0].body["tools"]
        ] * len(PRIMARY)
        assert "escalate" not in [tool["function"]["name"] for tool in server.requests[-1].body["tools"]]


def work(place: Place) -> None:
    with place.open() as screen:
        screen.wait_for(lambda text: "● fast" in text and "◆ deep" in text)
        ask(screen, "fix the total")
        answer(screen, "s", "fast asks", f"run {RUN}", "s and a cover exactly this")
        answer(screen, "n", "outside.txt, outside the working directory", reason="not yours")
        answer(screen, "y", "edit shop.py (+1 −1)", "- return sum(prices) + 1", '"new_text": "sum(prices)"')
        shown = wait_in(screen, "conversation", "escalated to deep", REASON, DESIGN)
        words = plain(shown)
        for part in (
            "read_file shop.py 2 lines",
            'grep "total" *.py 3 matches',
            f"run_command {RUN} ✗ exit 1",
            "✗ failed: old_text is not in shop.py",
            "✗ denied",
            "edit_file shop.py +1 −1",
            f"run_command {RUN} exit 0",
        ):
            assert part in words, f"{part!r} in {words}"
        assert "asks" not in screen.title
        see_the_change(screen)
        leave(screen)


def answer(screen: Terminal, key: str, *words: str, reason: str = "") -> None:
    """Read what is asked, then answer with a key; the reason of a denial is written and sent."""
    screen.wait_for(lambda text: all(word in plain(text) for word in words))
    press_answer(screen, key)
    if reason:
        screen.wait_for("why not?")
        screen.send(reason)
        screen.wait_for(reason)
        screen.press("enter")


def see_the_change(screen: Terminal) -> None:
    ask(screen, "/changes")
    wait_in(screen, "changed files", "shop.py +1 −1", "changed, 1 time")
    screen.press("enter")
    screen.wait_for(lambda text: "before this session" in text and "return sum(prices) + 1" in text)
    screen.press("escape")
    screen.wait_gone("before this session")
    screen.press("escape")
    screen.wait_gone("changed files")


def look_at_disk(place: Place) -> None:
    assert (place.project / "shop.py").read_text() == MENDED
    assert (place.project / "check.py").read_text() == CHECK
    assert (place.root / "outside.txt").read_text() == "not yours\n"
    assert not [path for path in place.project.iterdir() if path.name.endswith(".tmp")]


def look_at_store(place: Place) -> None:
    with place.store() as store:
        (row,) = store.read_sync(sessions.rows)
        first, second = (leg.id for leg in store.read_sync(lambda conn: legs.index(conn, row.id)))
        stored = store.read_sync(lambda conn: tool_calls.of_legs(conn, [first]))[first]
        assert [(c.name, c.status) for c in stored] == [(name, status) for name, status, _ in CALLS]
        assert [c.allowed_by.split(" #")[0] for c in stored] == [allowed for _, _, allowed in CALLS]
        assert all(c.ended_ms is not None and c.ended_ms >= c.started_ms for c in stored)
        assert json.loads(stored[5].arguments) == EDIT
        assert "+    return sum(prices)" in stored[5].result
        assert store.read_sync(lambda conn: legs.get(conn, second)).text == DESIGN
        (grant,) = store.read_sync(lambda conn: grants.all_of(conn))
        assert (grant.tool, grant.session_id, grant.uses) == ("run_command", row.id, 1)
        (change,) = store.read_sync(lambda conn: file_changes.files(conn, row.id))
        assert (change.before, change.after, change.times) == (BROKEN.encode(), MENDED.encode(), 1)


def test_without_a_screen_nothing_is_allowed_and_the_answer_says_so(place: Place, project: Path) -> None:
    place.replies(
        f"{call('edit_file', **EDIT)} {call('run_command', command='touch ran')} {call('read_file', path='shop.py')}",
        "SCN:say I could not change it.",
    )
    ran = place.ask("-p", "fix the total")
    assert ran.code == 0
    assert ran.out == "I could not change it.\n"
    assert "denied to fast: edit shop.py (+1 −1) (no person is there to ask" in ran.err
    assert "denied to fast: run touch ran" in ran.err
    assert (project / "shop.py").read_text() == BROKEN
    assert not (project / "ran").exists()
    results = [message["content"] for message in place.requests()[1]["messages"] if message["role"] == "tool"]
    assert ["no person is there" in result for result in results] == [True, True, False]
    assert results[2].endswith("return sum(prices) + 1")
