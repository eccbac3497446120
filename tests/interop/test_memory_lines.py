"""Files that are no export, or a hostile one: one clear line, the number of the line that is wrong, nothing taken."""

from __future__ import annotations

import io
import itertools

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from milk_tui.core.errors import MilkError
from milk_tui.interop import memory_files, memory_lines
from milk_tui.interop.memory_files import Format
from milk_tui.interop.memory_lines import LINE_BYTES, FileRefusedError, read

COLUMNS = frozenset({"status", "weight", "pinned", "content", "confirmed_ms", "+edges"})
ID = "3fa9c1d2-0000-4000-8000-000000000000"
OTHER = "4fa9c1d2-0000-4000-8000-000000000000"
SESSION = "5fa9c1d2-0000-4000-8000-000000000000"
HEAD = {"milk": "memory", "version": 1}


def fact(**more: object) -> dict[str, object]:
    plain = {"content": "a fact", "producer": "user", "scope": "global", "weight": 900}
    return {"milk": "fact", "id": ID, **plain, "created_ms": 1, "updated_ms": 1, "confirmed_ms": 1, **more}


def session(**more: object) -> dict[str, object]:
    plain = {"directory": "/d", "created_ms": 1, "updated_ms": 1, "agents": {"primary": {"name": "qwen", "model": "m"}}}
    return {"milk": "session", "id": SESSION, **plain, **more}


def event(**more: object) -> dict[str, object]:
    return fact(events=[{"at_ms": 1, "kind": "weighed", "actor": "user", **more}])


def data(*records: object) -> bytes:
    return b"\n".join(each if isinstance(each, bytes) else msgspec.json.encode(each) for each in records)


def load(content: bytes) -> memory_lines.Exported:
    return read(io.BufferedReader(io.BytesIO(content)), "notes.jsonl", columns=COLUMNS)


@pytest.mark.parametrize(
    ("records", "line", "why"),
    [
        ([b"{"], 1, "truncated"),
        ([b"\x00\x01\x02\xff"], 1, "malformed"),
        ([b'"text"'], 1, "Expected `object`"),
        ([b"[" * 100_000], 1, "Expected `object`"),
        ([{"a": 1}], 1, "missing required field"),
        ([fact()], 1, "does not begin like an export"),
        ([HEAD, HEAD], 2, "a second beginning"),
        ([{"milk": "memory", "version": 2}], 1, "newer milk-tui"),
        ([{"milk": "memory", "version": 0}], 1, "`int` >= 1"),
        ([HEAD, {"milk": "brick"}], 2, "Invalid value"),
        ([HEAD, fact(), fact()], 3, "fact #3fa9c1 stands in line 2 already"),
        ([HEAD, session(), session()], 3, "session 5fa9c1d2 is there twice"),
        ([HEAD, fact(colour="red")], 2, "unknown field `colour`"),
        ([HEAD, fact(id="x")], 2, "of the form of an id"),
        ([HEAD, fact(id=ID.upper())], 2, "of the form of an id"),
        ([HEAD, fact(weight=1001)], 2, "`int` <= 1000 - at `$.weight`"),
        ([HEAD, fact(weight="900")], 2, "Expected `int`"),
        ([HEAD, fact(producer="root")], 2, "Invalid enum value 'root'"),
        ([HEAD, fact(created_ms=-1)], 2, "`int` >= 0"),
        ([HEAD, fact(uses=10**30)], 2, "at `$.uses`"),
        ([HEAD, fact(content="")], 2, "length >= 1"),
        ([HEAD, fact(content="x" * 8_001)], 2, "length <= 8000"),
        ([HEAD, fact(status="staged")], 2, "its answer has not ended"),
        ([HEAD, fact(status="superseded")], 2, "names no successor"),
        ([HEAD, fact(superseded_by=ID)], 2, "its own successor"),
        ([HEAD, fact(scope="session")], 2, "is of a session and names none"),
        ([HEAD, fact(session_id=SESSION)], 2, "a session that the file does not name"),
        ([HEAD, session(agents={"boss": {"name": "a", "model": "b"}})], 2, "Invalid enum value 'boss'"),
        (
            [HEAD, session(agents={r: {"name": "Qwen", "model": "m"} for r in ("primary", "escalation")})],
            2,
            "two agents of a session have one name",
        ),
        ([HEAD, fact(superseded_by=OTHER), fact(id=OTHER, superseded_by=ID)], 2, "superseded by itself"),
        ([HEAD, event(kind="x y")], 2, "of the form of an id or a word"),
        ([HEAD, event(undo={"id": "x"})], 2, "the column 'id', which there is not"),
        ([HEAD, event(undo={"weight = 0; drop table percepts; --": 1})], 2, "which there is not"),
        ([HEAD, event(undo={"status": "staged!"})], 2, "an unknown word in status"),
        ([HEAD, event(undo={"status": ["live"]})], 2, "an unknown word in status"),
        ([HEAD, event(undo={"weight": 5_000})], 2, "no weight"),
        ([HEAD, event(undo={"pinned": 7})], 2, "something else than yes or no"),
        ([HEAD, event(undo={"confirmed_ms": "now"})], 2, "no time or number"),
        ([HEAD, event(undo={"content": {"a": 1}})], 2, "no text"),
        ([HEAD, event(undo={"+edges": [["link", ID, "x", "updates"]]})], 2, "something else than edges"),
        ([HEAD, event(undo={"+edges": [["drop", ID, OTHER, "updates"]]})], 2, "an unknown word"),
        ([HEAD, b'{"milk":"fact","events":[{"undo":' + b'{"a":' * 100_000], 2, "nested too deeply"),
        ([b"\n\n", HEAD, b"", fact(), b"nonsense"], 7, "malformed"),
    ],
)
def test_a_wrong_line_is_named_with_what_is_wrong(records: list[object], line: int, why: str) -> None:
    with pytest.raises(FileRefusedError) as refused:
        load(data(*records))
    assert refused.value.what.startswith(f"notes.jsonl, line {line}: ")
    assert why in refused.value.what
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("content", [b"", b"\n \n\n"])
def test_an_empty_file_holds_nothing(content: bytes) -> None:
    with pytest.raises(FileRefusedError, match="it holds nothing"):
        load(content)


def test_a_mark_at_the_beginning_and_a_missing_line_break_at_the_end_do_no_harm() -> None:
    assert [found.content for _, found in load(b"\xef\xbb\xbf" + data(HEAD, fact())).facts] == ["a fact"]


def test_a_long_chain_of_successors_is_no_circle() -> None:
    ids = [f"{number:08x}-0000-4000-8000-000000000000" for number in range(3_000)]
    chain = [fact(id=id_, superseded_by=after) for id_, after in itertools.pairwise(ids)]
    assert len(load(data(HEAD, *chain, fact(id=ids[-1]))).facts) == 3_000
    with pytest.raises(FileRefusedError, match=r"line 2: .*superseded by itself"):
        load(data(HEAD, *chain, fact(id=ids[-1], superseded_by=ids[0])))


class Endless(io.RawIOBase):
    """A line without an end; counts what was taken of it."""

    taken = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer) -> int:  # type: ignore[override]
        size = len(buffer)
        buffer[:] = b"x" * size
        self.taken += size
        return size


@pytest.mark.parametrize("form", list(Format))
def test_a_line_without_an_end_is_read_no_further_than_a_bound(form: Format) -> None:
    endless = Endless()
    with pytest.raises(FileRefusedError, match=r"(longer|larger) than 8 MB"):
        memory_files.parse(io.BufferedReader(endless), "x", form, columns=COLUMNS)
    assert endless.taken <= LINE_BYTES + 1_000_000


def test_a_file_that_is_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_lines, "MOST_BYTES", 1_000)
    with pytest.raises(FileRefusedError, match="larger than"):
        load(data(HEAD, *(fact(id=f"{n:08x}-0000-4000-8000-000000000000") for n in range(20))))
    monkeypatch.undo()
    monkeypatch.setattr(memory_lines, "MOST_FACTS", 5)
    with pytest.raises(FileRefusedError, match="more than 5 facts"):
        load(data(HEAD, *(fact(id=f"{n:08x}-0000-4000-8000-000000000000") for n in range(20))))


@given(st.lists(st.one_of(st.binary(max_size=60), st.just(data(HEAD)), st.just(data(fact()))), max_size=5))
def test_any_bytes_end_in_records_or_in_one_error(pieces: list[bytes]) -> None:
    try:
        load(b"\n".join(pieces))
    except MilkError as error:
        assert error.what.startswith("notes.jsonl")


json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=10)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=8), inner, max_size=3)),
    max_leaves=8,
)
names = st.sampled_from([*fact(), "events", "edges", "imported", "undo", "note", "superseded_by", "turn_id"])


@given(st.dictionaries(names, json_values, max_size=5))
def test_any_values_of_a_fact_end_in_a_record_or_in_one_error(values: dict[str, object]) -> None:
    try:
        load(data(HEAD, {**fact(), **values}))
    except MilkError as error:
        assert error.what.startswith("notes.jsonl, line 2: ")
