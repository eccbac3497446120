"""What a call's arguments say, whatever a model or an agent wrote as them."""

from __future__ import annotations

import pytest

from milk_tui.core.tool_calls import arguments_of, as_object

DEEP = ["[" * 100_000, '{"a":' * 100_000, '{"a":' * 5_000 + "1" + "}" * 5_000]


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ('{"a": 1}', {"a": 1}),
        ('{"a": 1, "a": [2]}', {"a": [2]}),
        (' {"a": {"b": null}} ', {"a": {"b": None}}),
        ("", {}),
        (" \n", {}),
        ("{}", {}),
        ("[1]", None),
        ("null", None),
        ('"a"', None),
        ("{broken", None),
        ('{"a": NaN}', None),
        ('{"a": "\ud83d"}', None),
        *((deep, None) for deep in DEEP),
    ],
)
def test_arguments_are_an_object_or_none(written: str, said: dict[str, object] | None) -> None:
    assert arguments_of(written) == said


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        ('{"a": 1}', '{"a": 1}'),
        ("", "{}"),
        ("  ", "{}"),
        ("{broken", '{"text":"{broken"}'),
        ("[1]", '{"text":"[1]"}'),
        ('{"a": "\ud83d"}', '{"text": "{\\"a\\": \\"?\\"}"}'),
        (DEEP[0], '{"text":"' + DEEP[0] + '"}'),
    ],
)
def test_arguments_are_sent_back_as_an_object_whatever_the_model_wrote(written: str, sent: str) -> None:
    assert as_object(written) == sent
    assert arguments_of(sent) is not None
