"""The memory tools: one set of names, arguments as models write them, every mistake answered and none raised."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from milk_tui.core.records import Layer
from milk_tui.core.tool_calls import ToolOutcome
from milk_tui.tools import memory, memory_specs

WITH_SOMEBODY = memory.specs("fast", "deep", may_escalate=True)


class Heard:
    """A sink that keeps what was asked of it."""

    def __init__(self) -> None:
        self.calls: list[tuple[object, ...]] = []

    def __getattr__(self, name: str):
        async def function(*arguments: object) -> ToolOutcome:
            self.calls.append((name, *arguments))
            return ToolOutcome("done")

        return function


async def heard(name: str, arguments: object) -> tuple[object, ...]:
    sink = Heard()
    outcome = await memory.call(sink, name, arguments if isinstance(arguments, str) else json.dumps(arguments))
    assert outcome.ok, outcome
    return sink.calls[0]


def test_the_names_are_one_set() -> None:
    assert {spec.name for spec in WITH_SOMEBODY} == memory.NAMES
    assert {
        "recall",
        "get_memory",
        "list_memory",
        "record_memory",
        "forget_memory",
        "set_need",
        "update_perception",
        "escalate",
    } == memory.NAMES


def test_who_has_nobody_to_hand_over_to_is_told_of_no_escalation() -> None:
    for other, may in (("deep", False), (None, True)):
        assert "escalate" not in {spec.name for spec in memory.specs("fast", other, may_escalate=may)}


def test_a_schema_names_what_is_needed_and_nothing_more() -> None:
    for spec in WITH_SOMEBODY:
        assert set(spec.parameters["required"]) <= set(spec.parameters["properties"])
        assert spec.parameters["additionalProperties"] is False
        assert all(field["description"] for field in spec.parameters["properties"].values())
    assert {"recall", "get_memory", "list_memory"} == memory_specs.READ_ONLY


@pytest.mark.parametrize(
    ("name", "arguments", "call"),
    [
        ("recall", {"query": "prices"}, ("recall", "prices", None)),
        ("recall", {}, ("recall", "", None)),
        ("recall", {"query": "x", "limit": "3"}, ("recall", "x", 3)),
        ("recall", {"query": "x", "limit": 10_000}, ("recall", "x", 25)),
        ("recall", '"{\\"query\\": \\"twice encoded\\"}"', ("recall", "twice encoded", None)),
        ("get_memory", {"id": "#a1b2c3"}, ("get", "#a1b2c3")),
        ("list_memory", "", ("browse", None, 25, 0)),
        ("list_memory", None, ("browse", None, 25, 0)),
        ("list_memory", {"pinned": "true", "limit": 500, "offset": -4}, ("browse", True, 100, 0)),
        ("record_memory", {"fact": "So it is."}, ("remember", "So it is.")),
        ("record_memory", {"fact": "So it is.", "consumer": "@deep"}, ("remember", "@deep: So it is.")),
        ("record_memory", {"fact": "So it is.", "consumer": None, "more": [1]}, ("remember", "So it is.")),
        ("forget_memory", {"id": "a1b2"}, ("forget", "a1b2", "")),
        ("forget_memory", {"id": "a1b2", "reason": "wrong"}, ("forget", "a1b2", "wrong")),
        ("set_need", {"need": "ship it"}, ("need", "ship it")),
        ("escalate", {"reason": "too hard"}, ("escalate", "too hard")),
        ("update_perception", {"layer": "frame", "entries": "story: x"}, ("perceive", Layer.FRAME, "story: x")),
        (
            "update_perception",
            {"layer": "working", "entries": {"file": "a.py", "next": "run\nit"}},
            ("perceive", Layer.WORKING, "file: a.py\nnext: run it"),
        ),
    ],
)
async def test_a_call_is_read_as_it_was_meant(name: str, arguments: object, call: tuple[object, ...]) -> None:
    assert await heard(name, arguments) == call


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("record_memory", "{}"),
        ("record_memory", "{"),
        ("record_memory", "[1, 2]"),
        ("record_memory", '{"fact": 7}'),
        ("record_memory", "[" * 20_000),
        ("record_memory", json.dumps({"fact": "x" * 1_000_000})),
        ("get_memory", '{"id": null}'),
        ("update_perception", '{"layer": "beyond", "entries": "x: y"}'),
        ("nothing_such", "{}"),
    ],
)
async def test_a_call_that_cant_be_read_is_answered(name: str, arguments: str) -> None:
    sink = Heard()
    outcome = await memory.call(sink, name, arguments)
    assert (outcome.ok, sink.calls) == (False, [])
    assert name in outcome.content
    assert len(outcome.content) < 1_000


@given(name=st.sampled_from(sorted(memory.NAMES)), arguments=st.text(max_size=80))
async def test_no_text_makes_a_call_raise(name: str, arguments: str) -> None:
    assert isinstance(await memory.call(Heard(), name, arguments), ToolOutcome)
