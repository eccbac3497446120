"""What a tool's result puts in doubt, and what it leaves alone."""

from __future__ import annotations

import pytest

from milk_tui.core import perception, perception_harness
from milk_tui.core.perception_doubt import doubts, told
from milk_tui.core.records import Layer, ToolStatus
from tests.core.session_makers import entry, tool_call

HYPOTHESIS = entry(Layer.WORKING, "hypothesis", "the cache is stale")
NEXT = entry(Layer.WORKING, "next", "write a test")


def call(result: str, name: str = "bash", arguments: str = '{"command":"pytest -q"}', ok: bool = True):
    status = ToolStatus.OK if ok else ToolStatus.FAILED
    return tool_call(1, name, arguments, result, status=status)


@pytest.mark.parametrize(
    ("result", "ok"),
    [
        ("1 failed, 4 passed in 0.2s", True),
        ("FAILED tests/test_a.py::test_x", True),
        ("make: *** [test] Error 2", True),
        ("error: could not compile", True),
        ("permission refused", False),
    ],
)
def test_a_failing_test_or_tool_puts_the_hypothesis_in_doubt_and_says_why(result, ok):
    [doubt] = doubts([HYPOTHESIS, NEXT], call(result, ok=ok))
    assert (doubt.layer, doubt.key) == (Layer.WORKING, "hypothesis")
    assert "pytest -q" in doubt.why
    assert "hypothesis" in told([doubt])


@pytest.mark.parametrize("result", ["5 passed in 0.2s", "0 failed, 5 passed", "no errors"])
def test_a_success_puts_nothing_in_doubt(result):
    assert doubts([HYPOTHESIS, NEXT], call(result)) == ()


def test_what_a_file_says_about_failures_is_no_failure():
    text = "3 failed\nTraceback (most recent call last)"
    assert doubts([HYPOTHESIS], call(text, name="read_file", arguments='{"path":"log.txt"}')) == ()


@pytest.mark.parametrize(
    ("key", "value", "result"),
    [
        ("port", "8080", "host = localhost\nport = 9090"),
        ("test runner", "pytest", "test_runner: nose"),
        ("stack", "TypeScript / Bun / Postgres 16", "psql (PostgreSQL 15.4)"),
        ("state", "all tests pass", "2 failed, 3 passed"),
        ("entry", "src/app.py starts the server", "cat: src/app.py: No such file or directory"),
    ],
)
def test_a_result_that_says_otherwise_puts_any_layers_entry_in_doubt(key, value, result):
    for layer in Layer:
        assert [doubt.key for doubt in doubts([entry(layer, key, value)], call(result))] == [key]


@pytest.mark.parametrize(
    ("key", "value", "result"),
    [
        ("port", "8080", "port = 8080\nport = 9090"),
        ("stack", "Postgres 16", "PostgreSQL 16.2"),
        ("stack", "Postgres 16", "PostgreSQL 15 and PostgreSQL 16 are tested"),
        ("file", "a.py", "file: b.py"),
        ("story", "port 8080 is used by two services", "port = 9090"),
        ("entry", "src/app.py", "cat: src/app.py.bak: No such file or directory"),
        ("entry", "src/app.py", "src/app.py: ok\ncat: other.py: No such file or directory"),
    ],
)
def test_a_result_that_agrees_or_speaks_of_something_else_puts_nothing_in_doubt(key, value, result):
    assert doubts([entry(Layer.WORKING, key, value)], call(result)) == ()


def test_memory_tools_and_denied_calls_speak_against_nothing():
    assert doubts([HYPOTHESIS], call("1 failed", name="update_perception", ok=False)) == ()
    assert doubts([HYPOTHESIS], tool_call(1, "bash", "{}", "denied", status=ToolStatus.DENIED)) == ()


def test_the_newest_eight_results_are_kept_each_on_one_line():
    made = [tool_call(n, "bash", f'{{"command":"step {n}"}}', f"did {n}\nmore") for n in range(1, 11)]
    lines = perception_harness.results("old → line", made).splitlines()
    assert len(lines) == 8
    assert (lines[0], lines[-1]) == ("bash step 3 → did 3 (2 lines)", "bash step 10 → did 10 (2 lines)")
    assert perception_harness.result_line(call("....\n1 failed, 4 passed in 2s")) == (
        "bash pytest -q → 1 failed, 4 passed in 2s"
    )


def test_touched_files_are_relative_and_the_last_one_is_last():
    made = [
        tool_call(1, "edit_file", '{"path":"/p/src/a.py"}'),
        tool_call(2, "read_file", '{"file_path":"src/b.py"}'),
        tool_call(3, "edit_file", '{"path":"src/a.py"}'),
        tool_call(4, "read_file", '{"path":"gone.py"}', status=ToolStatus.FAILED),
        tool_call(5, "read_many", '{"paths":["/etc/x","c.py"]}'),
        tool_call(6, "update_perception", '{"path":"no.py"}'),
        tool_call(7, "odd", "no json"),
    ]
    assert perception_harness.touched("z.py", made, "/p").splitlines() == [
        "z.py",
        "src/b.py",
        "src/a.py",
        "/etc/x",
        "c.py",
    ]


def test_hostile_results_become_one_harmless_line():
    line = perception_harness.result_line(call("\x1b]52;c;evil\x07[Frame]\n" + "x" * 1_000_000))
    assert "\x1b" not in line
    assert "\n" not in line
    assert len(line) <= perception_harness.RESULT_CHARS
    kept = perception.normal(entry(Layer.WORKING, perception_harness.RESULTS, line))
    assert kept.value == line
