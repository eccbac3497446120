"""Tool calls as text: read while they stream, however they are cut and nearly however they are written."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec import json

from milk_tui.core import text_tools
from milk_tui.core.records import Message, MessageToolCall
from milk_tui.core.text_tools import TextToolParser
from milk_tui.core.tool_calls import ToolSpec

NAMES = ("grep", "read_file")
GREP = '{"name": "grep", "arguments": {"pattern": "x"}}'
CALL = f"<tool_call>{GREP}</tool_call>"


def read(text: str, cuts: int | list[int] = 10**9) -> tuple[str, list[tuple[str, object]], bool]:
    parser = TextToolParser(NAMES)
    pieces = [text[i : i + cuts] for i in range(0, len(text), cuts)] if isinstance(cuts, int) else _cut(text, cuts)
    shown = "".join(parser.feed(piece) for piece in pieces) + parser.close()
    return shown, [(call.name, text_tools.lenient(call.arguments)) for call in parser.calls], parser.done


def _cut(text: str, places: list[int]) -> list[str]:
    places = sorted({min(place, len(text)) for place in places})
    return [text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True)]


@pytest.mark.parametrize(
    "written",
    [
        CALL,
        f"<tool_call>\n{GREP}\n</tool_call>",
        f"<|tool_call|>{GREP}",
        f"<function_call>{GREP}</function_call>",
        f"[TOOL_CALLS][{GREP}]",
        f"```json\n{GREP}\n```",
        f"```tool_call\n{GREP}\n```",
        f"<tool_call>{GREP}",
        f"<tool_call>```json\n{GREP}```</tool_call>".replace("```json\n", "").replace("```", ""),
        '<tool_call>{"name": "grep", "parameters": {"pattern": "x"}}</tool_call>',
        '<tool_call>{"tool": "grep", "pattern": "x"}</tool_call>',
        '<tool_call>{"function": {"name": "grep", "arguments": "{\\"pattern\\": \\"x\\"}"}}</tool_call>',
        "<tool_call>{'name': 'grep', 'arguments': {'pattern': 'x'}}</tool_call>",
        '<tool_call>{"name": "grep", "arguments": {"pattern": "x",},}</tool_call>',
        '<tool_call>{"name": "grep", "arguments": {"pattern": "x"',
    ],
)
@pytest.mark.parametrize("cuts", [1, 2, 5, 1_000])
def test_a_call_is_read_nearly_however_it_is_written(written: str, cuts: int):
    shown, calls, _ = read(f"I look.\n{written}", cuts)

    assert calls == [("grep", {"pattern": "x"})]
    assert shown.strip() == "I look."


def test_several_calls_are_read_in_order():
    other = '<tool_call>{"name": "read_file", "arguments": {"path": "a"}}</tool_call>'

    assert [name for name, _ in read(f"{CALL}\n{other}\n")[1]] == ["grep", "read_file"]
    assert [name for name, _ in read(f"<tool_call>[{GREP}, {GREP}]</tool_call>")[1]] == ["grep", "grep"]
    assert [name for name, _ in read(f"<tool_call>{GREP}\n{GREP}</tool_call>")[1]] == ["grep", "grep"]


@pytest.mark.parametrize("cuts", [1, 3, 1_000])
@pytest.mark.parametrize(
    "invented", ["\n<tool_response>\nfound it in a.py\n</tool_response>\nSo it is a.py.", "\nThe result is 3.", " x"]
)
def test_what_comes_behind_a_call_is_invented_and_dropped(invented: str, cuts: int):
    shown, calls, done = read(f"Look: {CALL}{invented}", cuts)

    assert (shown, done) == ("Look: ", True)
    assert len(calls) == 1


@pytest.mark.parametrize(
    "text",
    [
        "no call at all",
        "a < b and c[0] and `code`",
        "```python\n<tool_call>\n```\nas an example",
        '```json\n{"name": "someone", "age": 3}\n```\nis data',
        '```json\n{"port": 80}\n```',
        "```json\nnot json\n```",
        "<tool_call>nothing of the kind</tool_call>",
        "<table><tr></tr></table> <toolbox> [TOOLS]",
        "``` ```",
        "the tag <tool_call",
        "[1, 2] and [TOOL",
        "`<tool_call>`",
    ],
)
@pytest.mark.parametrize("cuts", [1, 4, 1_000])
def test_everything_else_is_text_to_the_letter(text: str, cuts: int):
    assert read(text, cuts) == (text, [], False)


def test_an_unknown_tool_in_the_tag_is_a_call_so_that_the_model_can_be_told():
    assert read('<tool_call>{"name": "nope", "arguments": {}}</tool_call>')[1] == [("nope", {})]


def test_arguments_that_can_not_be_read_are_passed_on_as_they_are():
    parser = TextToolParser(NAMES)
    parser.feed('<tool_call>{"name": "grep", "arguments": {pattern: x}}</tool_call>')

    assert parser.calls[0].name == "grep" and "pattern: x" in parser.calls[0].arguments


def test_a_line_break_inside_of_a_string_is_one():
    assert read('<tool_call>{"name": "grep", "arguments": {"pattern": "a\nb"}}</tool_call>')[1] == [
        ("grep", {"pattern": "a\nb"})
    ]


_pieces = st.lists(
    st.sampled_from(
        [
            CALL,
            GREP,
            "<tool_call>",
            "</tool_call>",
            "```json\n",
            "```",
            "`",
            "<",
            "[",
            "{",
            "}",
            '"',
            "\n",
            " ",
            "text ",
            "<tool_response>",
            "\\",
            "[TOOL_CALLS]",
            "é",
        ]
    ),
    max_size=14,
).map("".join)


@given(_pieces, st.lists(st.integers(0, 400), max_size=30))
@example(CALL + " ", [len(CALL)])
def test_the_result_is_the_same_for_every_way_of_cutting(text: str, places: list[int]):
    assert read(text, places) == read(text)


@given(st.text(max_size=300))
def test_any_text_is_taken(text: str):
    shown, calls, _ = read(text)
    assert calls or shown == text


def test_a_flood_is_bounded():
    shown, calls, _ = read("<tool_call>" + "{" * 200_000, 4_096)
    assert calls == [] and len(shown) > 190_000
    assert len(read(CALL * 500)[1]) == text_tools.MOST_CALLS


SPEC = ToolSpec(
    "grep",
    "Search.",
    {
        "type": "object",
        "properties": {"pattern": {"type": "string"}, "kind": {"enum": ["a", "b"], "type": "string"}},
        "required": ["pattern"],
    },
)


def test_a_model_is_told_the_form_and_the_tools_in_few_words():
    text = text_tools.instructions([SPEC])

    assert '<tool_call>{"name": "grep", "arguments": {…}}</tool_call>' in text
    assert '- grep: Search. Arguments: {"pattern": string, "kind": string (a|b) (may be left out)}' in text
    assert text == text_tools.instructions([SPEC])


def test_what_is_told_is_no_call_when_a_model_repeats_it():
    assert read(text_tools.instructions([SPEC]))[1] == [] or read(text_tools.instructions([SPEC]))[1][0][0] == "grep"


def test_calls_and_results_of_a_thread_become_text():
    made = MessageToolCall(id="1", name="grep", arguments='{"pattern":"x"}')
    told = text_tools.as_text(
        [
            Message(role="assistant", content="I look.", tool_calls=(made,)),
            Message(role="tool", content="a.py", tool_call_id="1"),
        ]
    )

    assert [(m.role, m.content, m.tool_calls) for m in told] == [
        ("assistant", 'I look.\n<tool_call>{"name": "grep", "arguments": {"pattern":"x"}}</tool_call>', ()),
        ("user", '<tool_response name="grep">\na.py\n</tool_response>', ()),
    ]
    assert read(told[0].content)[1] == [("grep", {"pattern": "x"})]


def test_the_grammar_names_the_tools():
    text = text_tools.grammar(NAMES)

    assert 'name ::= "\\"grep\\"" | "\\"read_file\\""' in text and text.startswith("root ::= ")
    assert json.decode(b'"x"') == "x"
