"""An agent that goes in circles is found, and what only looks like it is not (``semantics.md`` §8)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from milk_tui.core import loops
from milk_tui.core.loops import Finding, LoopKind, LoopWatch

SENTENCE = "I will now look at the configuration file again. "
ANSWER = (
    "The handler retries the charge after a timeout, so that the customer pays twice; move the retry into the queue."
)


def fed(text: str, chunk: int = 7) -> list[Finding]:
    watch = LoopWatch()
    pieces = [text[i : i + chunk] for i in range(0, len(text), chunk)]
    return [found for piece in pieces if (found := watch.text(piece))]


@pytest.mark.parametrize("chunk", [1, 3, 7, len(SENTENCE), 1_000])
def test_the_same_piece_again_and_again_is_warned_of_and_then_stopped_however_it_is_cut(chunk: int):
    found = fed("Let me see. " + SENTENCE * 40, chunk)

    assert {f.kind for f in found} == {LoopKind.CHUNK}
    assert found[-1].stop
    assert "configuration" in found[0].line


def test_four_times_is_not_enough():
    assert fed(SENTENCE * 4 + "and now something else entirely, with other words in it. " * 2) == []


def test_each_finding_is_said_once():
    found = fed(SENTENCE * 400)

    assert [f.stop for f in found] in ([False, True], [True])


@pytest.mark.parametrize(
    "text",
    [
        "| 0 | 0 | 0 | 0 |\n" * 200,
        "| name | value | note |\n" * 10,
        "-" * 3_000,
        "=" * 80 + "\n" + "=" * 3_000,
        "    0x00, 0x00, 0x00, 0x00,\n" * 200,
        "</div>\n" * 200,
        "".join(f"- write the test for case {i}\n" for i in range(300)),
        "".join(f"{i}. The module number {i} is fine.\n" for i in range(300)),
        "ha " * 500,
        "\n" * 5_000,
        "```python\n" + "    self.assertEqual(result, expected, message)\n" * 12 + "```\n",
        "".join(f"def test_{i}():\n    assert parse(text) == expected\n\n" for i in range(200)),
        "".join(f"row {i}: the value of the cell is {i * 7 % 5}\n" for i in range(400)),
    ],
)
@pytest.mark.parametrize("chunk", [5, 64])
def test_what_repeats_by_its_nature_is_no_circle(text: str, chunk: int):
    assert fed(text, chunk) == []


@given(st.lists(st.text(max_size=40), max_size=60))
def test_no_text_breaks_the_watch(pieces: list[str]):
    watch = LoopWatch()
    for piece in pieces:
        watch.text(piece)
        watch.thinking(piece)
        watch.call(piece, piece, piece)
        watch.result(piece, piece)


def test_reasoning_that_repeats_itself_is_found_too():
    watch = LoopWatch()
    found = [f for _ in range(300) if (f := watch.thinking(SENTENCE))]

    assert found[0].kind is LoopKind.CHUNK and found[-1].stop


# calls


def called(*made: tuple[str, str, str]) -> list[Finding]:
    watch, found = LoopWatch(), []
    for number, (name, arguments, result) in enumerate(made):
        found += [f for f in (watch.call(str(number), name, arguments), watch.result(str(number), result)) if f]
    return found


def test_the_same_call_with_the_same_result_is_warned_of_at_three_and_stopped_at_five():
    found = called(*[("grep", '{"q": "x", "path": "a"}', "none")] * 6)

    assert [(f.kind, f.times, f.stop) for f in found] == [(LoopKind.CALL, 3, False), (LoopKind.CALL, 5, True)]


def test_arguments_are_the_same_whatever_their_order_and_space():
    made = [("grep", '{"q":"x","path":"a"}', ""), ("grep", '{ "path": "a", "q": "x" }', "")] * 2

    assert called(*made)[0].kind is LoopKind.CALL


def test_calls_that_take_turns_are_a_circle():
    made = [("read", '{"p": "a"}', "A"), ("grep", '{"q": "x"}', "none")] * 3

    assert called(*made)[-1].times == 3


def test_a_call_that_brings_something_new_is_none():
    assert called(*[("run", '{"c": "pytest"}', f"{n} failed") for n in range(9)]) == []


def test_running_the_tests_after_each_edit_is_none():
    made = [x for n in range(6) for x in (("edit", f'{{"line": {n}}}', "ok"), ("run", '{"c": "pytest"}', "1 failed"))]

    assert called(*made) == []


def test_two_equal_calls_are_none():
    assert called(*[("grep", "{}", "none")] * 2) == []


# answers


def test_three_answers_that_are_all_but_the_same_are_found():
    assert loops.alike([ANSWER, ANSWER.replace("twice", "two times"), ANSWER + " Please."])


@pytest.mark.parametrize(
    "answers",
    [
        [ANSWER, ANSWER],
        ["Done.", "Done.", "Done."],
        [
            ANSWER,
            "Something else is the matter: the queue drops messages when it is full, as its log says on Mondays.",
            ANSWER,
        ],
        [],
    ],
)
def test_other_answers_are_not_alike(answers: list[str]):
    assert not loops.alike(answers)


def test_saying_the_same_before_each_call_is_found():
    watch, found = LoopWatch(), []
    for number in range(4):
        watch.text(ANSWER)
        found += [f for f in [watch.call(str(number), "grep", f'{{"n": {number}}}')] if f]

    assert [f.kind for f in found] == [LoopKind.ANSWERS]


# silence


def test_much_reasoning_with_nothing_to_see_is_said_and_stopped_when_it_goes_on():
    watch = LoopWatch()
    found = [f for n in range(30_000) if (f := watch.thinking(f"thought number {n}. "))]

    assert [(f.kind, f.stop) for f in found] == [(LoopKind.SILENCE, False), (LoopKind.SILENCE, True)]


def test_what_can_be_seen_ends_the_silence():
    watch = LoopWatch()
    found = []
    for n in range(10_000):
        found += [
            f
            for f in (watch.thinking(f"thought number {n}. "), watch.text(f"word {n} ") if n % 500 == 0 else None)
            if f
        ]

    assert found == []


def test_a_long_silence_is_said_once():
    watch = LoopWatch()

    assert watch.quiet(299, 300) is None
    found = watch.quiet(301, 300)
    assert found is not None and "301 s" in found.line
    assert watch.quiet(900, 300) is None
    assert watch.quiet(900, 0) is None


def test_the_brief_says_who_why_and_what_was_asked():
    finding = Finding(kind=LoopKind.CALL, times=5, what="grep {}", stop=True)
    text = loops.brief(finding, "qwen", "find the\nbug")

    assert text == (
        "qwen was stopped because it made the same call 5 times with the same result: grep {}. The task: find the bug"
    )
