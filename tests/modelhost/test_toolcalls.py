"""Tool calls put together from a stream's pieces."""

from __future__ import annotations

import pytest

from milk_tui.modelhost.toolcalls import ToolCalls

Piece = tuple[int | None, str | None, str | None, str | None]


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        pytest.param(
            [(0, "a", "look", ""), (0, None, None, '{"x"'), (0, None, None, ": 1}")],
            [("a", "look", '{"x": 1}')],
            id="one call in pieces",
        ),
        pytest.param(
            [(0, "a", "look", "{"), (1, "b", "see", "{"), (0, None, None, "}"), (1, None, None, "}")],
            [("a", "look", "{}"), ("b", "see", "{}")],
            id="two calls in turns",
        ),
        pytest.param(
            [(0, "a", "look", "{}"), (0, "b", "see", "{}")],
            [("a", "look", "{}"), ("b", "see", "{}")],
            id="a server that gives every call the index 0",
        ),
        pytest.param(
            [(0, "a", "look", "{"), (0, "a", "look", "}")],
            [("a", "look", "{}")],
            id="a server that repeats id and name",
        ),
        pytest.param([(None, None, "look", None)], [("call_9_0", "look", "")], id="no index, no id, no arguments"),
        pytest.param([(0, "a", None, "{broken")], [("a", "", "{broken")], id="no name, broken JSON: as it came"),
    ],
)
def test_calls_are_put_together(pieces: list[Piece], expected: list[tuple[str, str, str]]) -> None:
    calls = ToolCalls()
    for piece in pieces:
        calls.add(*piece)
    made = calls.finish(9)
    assert [(call.call_id, call.name, call.arguments) for call in made] == expected
    assert [call.index for call in made] == list(range(len(made)))
