"""A call in one line: what it is about and what came of it; a difference as rows, with nothing of it lost."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.style import Style

from milk_tui.core.records import ToolStatus
from milk_tui.tools.changes import text_diff
from milk_tui.ui.transcript import Tool
from milk_tui.ui.transcript.blocks import DiffLines, diff_blocks
from milk_tui.ui.transcript.diffs import SIDE_BY_SIDE, diff_rows
from milk_tui.ui.transcript.palette import NAMES, Palette
from milk_tui.ui.transcript.tool_words import edit_diff, main_argument, outcome, split_diff
from tests.support.polling import until
from tests.ui.transcript.support import TranscriptApp, leg, painted, prompt, show

PALETTE = Palette({name: Style() for name in NAMES})
OK, FAILED, DENIED, RUNNING = ToolStatus.OK, ToolStatus.FAILED, ToolStatus.DENIED, ToolStatus.RUNNING


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        ({"path": "a.py", "content": "x" * 1000}, "a.py"),
        ({"path": "a.py", "to": "b.py"}, "a.py → b.py"),
        ({"command": "make", "timeout_s": 5}, "make"),
        ({"file_path": "/a", "old_string": "x", "new_string": "y"}, "/a"),
        ({"pattern": "x(", "path": "src", "glob": "*.py"}, '"x(" src *.py'),
        ({"fact": "one", "consumer": ""}, "one"),
        ({"other": 1, "more": "two"}, "1 two"),
        ({}, ""),
    ],
)
def test_the_main_argument(arguments: dict, shown: str) -> None:
    assert main_argument(json.dumps(arguments)) == shown


@pytest.mark.parametrize("arguments", ["", "{", "[1]", "null", '{"path": ' * 100_000, '"x"'])
def test_arguments_that_are_none_do_no_harm(arguments: str) -> None:
    assert isinstance(main_argument(arguments), str)


@pytest.mark.parametrize(
    ("name", "result", "status", "shown"),
    [
        ("run_command", "x\n[exit code 0 · 0.1 s]", OK, "exit 0"),
        ("run_command", "x\n[exit code 2 · 0.1 s]", FAILED, "exit 2"),
        ("run_command", "[stopped: it took too long after 1.0 s]", FAILED, "stopped: it took too long after 1.0 s"),
        ("run_command", "vim waits for a person", FAILED, "failed: vim waits for a person"),
        ("edit_file", "edited a.py: +1 −2\n--- a/a.py", OK, "+1 −2"),
        ("read_file", "[a.py, 1 line]\nx", OK, "1 line"),
        ("read_file", "[a.py, 1,200 lines, here 10–20; go on with offset 21]\nx", OK, "lines 10–20 of 1,200"),
        ("grep", "a:1:x\nb:2:y\n[more than 2 lines; narrow the search]", OK, "2 matches"),
        ("grep", "Nothing found.", OK, "no matches"),
        ("write_file", "The person denied this.", DENIED, "denied: The person denied this."),
        ("anything", "", OK, "nothing"),
        ("anything", "so far", RUNNING, "running …"),
    ],
)  # fmt: skip
def test_the_outcome(name: str, result: str, status: ToolStatus, shown: str) -> None:
    assert outcome(name, result, status) == shown


def test_a_difference_is_told_from_what_is_said_before_it() -> None:
    made = text_diff("a.py", "one\n", "two\n")
    assert split_diff(f"edited a.py: +1 −1\n{made.text}") == ("edited a.py: +1 −1", made.text)
    assert split_diff("--- only a line\nand more") == ("--- only a line\nand more", "")
    assert split_diff("") == ("", "")


@pytest.mark.parametrize(
    "arguments",
    [
        {"file_path": "/a.py", "old_string": "one\ntwo", "new_string": "one\n2"},
        {"path": "/a.py", "old_text": "one\ntwo", "new_text": "one\n2"},
        {"file_path": "/a.py", "edits": [{"old_string": "one\ntwo", "new_string": "one\n2"}, "x"]},
    ],
)
def test_an_edit_of_any_program_has_its_difference(arguments: dict) -> None:
    assert edit_diff(json.dumps(arguments)) == "--- a//a.py\n+++ b//a.py\n@@ -1,2 +1,2 @@\n one\n-two\n+2"


@pytest.mark.parametrize(
    "arguments", ["", "[]", "{", '{"path": "a"}', '{"old_text": 1, "new_text": 2}', '{"edits": 3}']
)
def test_other_calls_have_none(arguments: str) -> None:
    assert edit_diff(arguments) == ""


def test_old_and_new_stand_side_by_side_where_there_is_room() -> None:
    source = text_diff("a.py", "same\nold one\nold two\n", "same\nnew one\n").text
    narrow = [row.text for row in diff_rows(PALETTE, source, SIDE_BY_SIDE - 1)]
    assert narrow == source.rstrip("\n").split("\n")
    wide = [" ".join(row.text.split()) for row in diff_rows(PALETTE, source, SIDE_BY_SIDE)]
    assert wide[-3:] == ["same │ same", "-old one │ +new one", "-old two │"]


lines = st.lists(st.text(st.characters(blacklist_categories=["Cs", "Cc"]), max_size=30), max_size=12)


@given(lines, lines, st.sampled_from([20, 80, SIDE_BY_SIDE, 200]))
def test_nothing_of_a_difference_is_lost_and_every_row_fits(old: list[str], new: list[str], width: int) -> None:
    source = text_diff("a", "\n".join(old), "\n".join(new)).text
    rows = diff_rows(PALETTE, source, width)
    for row in rows:
        assert row.strip(width).cell_length == width
        assert 0 <= row.start <= row.end <= len(source)
    places = {place for row in rows for text, _, x in row.pieces if x >= 0 for place in range(x, x + len(text))}
    visible = {at for at, sign in enumerate(source) if not sign.isspace() and sign not in "\u200d\ufe0e\ufe0f"}
    assert visible <= places


def test_a_long_difference_is_cut_into_blocks_that_hold_all_of_it() -> None:
    source = text_diff("a", "", "".join(f"line {n}\n" for n in range(500))).text
    blocks = diff_blocks(source, "detail", 4)
    assert all(isinstance(block.shape, DiffLines) for block in blocks)
    assert "\n".join(block.source for block in blocks) == source.removesuffix("\n") or len(blocks) > 1
    assert all(f"+line {n}\n" in source for n in range(500))


async def test_a_running_command_shows_its_newest_lines_and_then_its_outcome() -> None:
    async with TranscriptApp().run_test(size=(80, 30)) as pilot:
        transcript, _ = await show(pilot, [prompt(1, "go")])
        entry, body = leg(2)
        transcript.append(entry, body, live=True)
        transcript.tool_started(("leg", 2), Tool(7, "run_command", '{"command": "make"}'))
        for number in range(1, 10):
            transcript.tool_output(("leg", 2), 7, f"step {number}\n\x1b[2J")
        await until(lambda: any("step 9" in row for row in painted(transcript)), what="the newest line")
        shown = [row.strip() for row in painted(transcript)]
        assert "│ step 4" in shown
        assert "│ step 3" not in shown
        transcript.tool_finished(("leg", 2), 7, OK, "step 9\n[exit code 0 · 2.0 s]", took="2 s")
        await until(lambda: any("exit 0 · 2 s" in row for row in painted(transcript)), what="the outcome")
        assert not any("step" in row for row in painted(transcript))
