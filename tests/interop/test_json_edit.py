"""Small changes to a JSON text: the value becomes what was asked, every other byte stays."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from milk_tui.interop import json_edit
from milk_tui.interop.json_edit import NotJson

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=16,
)
_OBJECTS = st.dictionaries(st.text(max_size=8), _JSON, max_size=4)
_INDENTS = st.sampled_from([None, 2, 4, "\t"])


def test_what_is_written_stays_as_it_is_written() -> None:
    text = '{\n    "permissions": {"allow": ["a",   "b"]},\n    "x": 1.0e5\n}\n'
    made = json_edit.insert(text, json_edit.parse(text), {"a": [1]}, "new")
    assert made == (
        '{\n    "permissions": {"allow": ["a",   "b"]},\n    "x": 1.0e5,\n'
        '    "new": {\n        "a": [\n            1\n        ]\n    }\n}\n'
    )
    root = json_edit.parse(made)
    new = root.get("new")
    assert new is not None
    assert json_edit.remove(made, root, new) == text


def test_an_inline_list_stays_inline() -> None:
    text = '{"a": ["x", "y"], "b": {}}'
    a = json_edit.parse(text).get("a")
    assert a is not None
    assert json_edit.insert(text, a, "z") == '{"a": ["x", "y", "z"], "b": {}}'


def test_windows_line_ends_stay() -> None:
    text = '{\r\n  "a": 1\r\n}\r\n'
    made = json_edit.insert(text, json_edit.parse(text), {"b": 2}, "c")
    assert "\n" not in made.replace("\r\n", "")
    assert json.loads(made) == {"a": 1, "c": {"b": 2}}


@given(value=_JSON, indent=_INDENTS)
def test_it_reads_what_json_reads(value: object, indent: int | str | None) -> None:
    text = json.dumps(value, indent=indent)
    assert json_edit.plain(json_edit.parse(text)) == value


@given(before=_OBJECTS, value=_JSON, indent=_INDENTS, key=st.text(max_size=8))
def test_a_member_comes_and_goes(before: dict[str, object], value: object, indent: int | str | None, key: str) -> None:
    text = json.dumps({k: v for k, v in before.items() if k != key}, indent=indent, ensure_ascii=False)
    made = json_edit.insert(text, json_edit.parse(text), value, key)
    assert json.loads(made) == json.loads(text) | {key: value}
    assert list(json.loads(made))[-1] == key
    root = json_edit.parse(made)
    child = root.get(key)
    assert child is not None
    assert json_edit.remove(made, root, child) == text


@given(items=st.lists(_JSON, min_size=1, max_size=5), indent=_INDENTS, data=st.data())
def test_any_item_of_a_list_can_go(items: list[object], indent: int | str | None, data: st.DataObject) -> None:
    text = json.dumps(items, indent=indent)
    index = data.draw(st.integers(0, len(items) - 1))
    root = json_edit.parse(text)
    assert root.items is not None
    left = json_edit.remove(text, root, root.items[index])
    assert json.loads(left) == items[:index] + items[index + 1 :]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        '{"a": 1,}',
        "{a: 1}",
        '{"a" 1}',
        '{"a": }',
        "[1 2]",
        "[1,]",
        "nul",
        '"open',
        '{"a": 1} x',
        "// {}",
        "01",
    ],
)
def test_what_is_no_json_is_refused_with_its_place(text: str) -> None:
    with pytest.raises(NotJson, match=r"line \d+, column \d+: "):
        json_edit.parse(text)


def test_a_key_that_is_there_twice_is_refused() -> None:
    with pytest.raises(NotJson, match="twice"):
        json_edit.parse('{"a": 1,\n "a": 2}')


def test_depth_is_bounded() -> None:
    with pytest.raises(NotJson, match="deep"):
        json_edit.parse("[" * 5_000)


@given(st.text(max_size=60))
def test_no_text_makes_it_raise_anything_else(text: str) -> None:
    try:
        node = json_edit.parse(text)
    except NotJson:
        return
    assert json_edit.plain(node) == json.loads(text)
