"""Each item in the files that a person lets in: other programs' sessions, memories, decision records, perception."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path

import pytest
from wcwidth import wcwidth

from milk_tui.core import blocks, cuts, decision_record, perception_file
from milk_tui.core.records import PerceptStatus, Role
from milk_tui.interop import session_import
from milk_tui.interop.foreign import ForeignSession, Source
from milk_tui.interop.memory_lines import FileRefusedError
from milk_tui.store import Store, percept_lists
from milk_tui.ui import last_door
from tests.data.hostile import Item, items
from tests.hostile.watch import in_words
from tests.interop import foreign_samples as samples
from tests.interop.makers import exported, rich, take
from tests.store.conftest import empty_database, session, store

__all__ = ["empty_database", "session", "store"]

each = pytest.mark.parametrize("item", items(), ids=lambda item: item.id)
NONCES = {Role.PRIMARY: "abc123", Role.ESCALATION: "xyz789"}
NOW = 2_000_000_000_000
SAID = (
    ("sessions", "title", "directory"),
    ("turns", "prompt"),
    ("legs", "text", "thinking", "agent_name", "model", "reason"),
    ("tool_calls", "name", "arguments", "result"),
    ("bricks", "text"),
    ("percepts", "content", "subject", "note", "source", "context"),
)
"""Columns that hold what a file said."""


def texts(conn: sqlite3.Connection) -> Iterator[tuple[str, str]]:
    for table, *columns in SAID:
        for column in columns:
            for (text,) in conn.execute(f"select {column} from {table}"):
                yield f"{table}.{column}", text or ""


def harm(conn: sqlite3.Connection) -> list[str]:
    """What is stored and is no text, and what nobody approved and holds."""
    found = [
        f"{where}: {sorted(bad)} in {text[:60]!r}"
        for where, text in texts(conn)
        if (bad := in_words(text.replace("\n", "")))
    ]
    (grants,) = conn.execute("select count(*) from grants").fetchone()
    return found + ["a grant"] * bool(grants)


def chats(file: Path, make: Callable[[Path], Path], words: tuple[str, ...], title: str) -> Path:
    """Another program's database with a chat for each item, in all of its texts."""
    make(file)
    with closing(sqlite3.connect(file)) as conn, conn:
        for number, item in enumerate(items(), start=100):
            data = item.data
            conn.execute(
                f"insert into chat (id, model, {title}) values (?, cast(? as text), cast(? as text))",
                (number, data, data),
            )
            for role in words[:2]:
                conn.execute(
                    f"insert into message (chat_id, {words[2]}, {words[3]}) values (?, ?, cast(? as text))",
                    (number, role, data),
                )
    return file


def elia(root: Path) -> Path:
    return chats(root / "elia.sqlite", samples.elia, ("user", "assistant", "role", "content"), "title")


def oterm(root: Path) -> Path:
    return chats(root / "store.db", samples.oterm, ("me", "ollama", "author", "text"), "name")


def chatgpt(root: Path) -> Path:
    told = json.loads(samples.chatgpt(root / "conversations.json").read_text())[0]
    made = []
    for item in items():
        text = json.dumps(told).replace("why twice?", "W").replace("It retries.", "W").replace("gpt-5", "W")
        mapping = _filled(json.loads(text)["mapping"], item.text)
        made.append({**told, "title": item.text, "conversation_id": item.id + item.text[:50], "mapping": mapping})
    (root / "conversations.json").write_text(json.dumps(made))
    return root


def milk(root: Path) -> Path:
    samples.milk(root)
    kept = root / "sessions" / f"{samples.MILK_ID}.json"
    told = json.loads(kept.read_text())
    kept.unlink()
    for number, item in enumerate(items()):
        history = [
            {**m, "content": item.text, "thinking": item.text, "agent": m.get("agent", "primary")}
            | (
                {"tool_calls": [{"id": item.text[:50], "name": item.text, "arguments": item.text}]}
                if "tool_calls" in m
                else {}
            )
            for m in told["history"]
        ]
        about = {"name": item.text, "cwd": item.text, "current_need": item.text, "id": f"{number}{item.text[:50]}"}
        (root / "sessions" / f"{number}.json").write_text(json.dumps({**told, **about, "history": history}))
    return root


def claude(root: Path) -> Path:
    samples.claude(root)
    folder = root / "projects" / "-home-u-shop"
    lines = [json.loads(line) for line in (folder / "s-1.jsonl").read_text().splitlines()[:-1]]
    plain = (
        "why twice?",
        "Let me look.",
        "It retries.",
        "a.py",
        "hm",
        "Bash",
        "ls",
        "Fix the double charge",
        "and now?",
    )
    for number, item in enumerate(items()):
        marked = json.dumps(lines)
        for word in (*plain, "claude-sonnet-5", "/home/u/shop"):
            marked = marked.replace(f'"{word}"', '"W"')
        told = _filled(json.loads(marked), item.text)
        for line in told:
            line["sessionId"] = f"s-{number}"
        (folder / f"s{number}.jsonl").write_text("\n".join(map(json.dumps, told)))
    return root


def _filled(value: object, text: str):
    match value:
        case "W":
            return text
        case list():
            return [_filled(one, text) for one in value]
        case dict():
            return {key: _filled(one, text) for key, one in value.items()}
        case _:
            return value


KINDS = {
    Source.MILK: milk,
    Source.CLAUDE_CODE: claude,
    Source.ELIA: elia,
    Source.OTERM: oterm,
    Source.CHATGPT: chatgpt,
}


@pytest.mark.parametrize("source", Source)
def test_a_session_of_another_program_is_stored_as_text(source: Source, store: Store, tmp_path: Path) -> None:
    root = tmp_path / "theirs"
    root.mkdir()
    path = KINDS[source](root)
    found = list(session_import.found(source, path))
    sessions = [one for one in found if isinstance(one, ForeignSession)]
    assert len(sessions) > 0.9 * len(items()), found[:3]
    for unreadable in found:
        if not isinstance(unreadable, ForeignSession):
            assert not in_words(unreadable.where + unreadable.why)
    plans = store.read_sync(lambda conn: [session_import.plan(conn, one) for one in sessions])

    def take_all(db) -> None:
        for planned in plans:
            session_import.take(db, planned, directory="/here", nonces=NONCES, now=NOW)

    store.write_sync(take_all)
    assert store.read_sync(harm) == []
    assert store.read_sync(lambda conn: conn.execute("select count(*) from percepts").fetchone()[0]) == 0
    for _, text in store.read_sync(lambda conn: list(texts(conn))):
        assert not cuts._label.search(blocks.safe(text[:20_000]))


def not_approved(conn: sqlite3.Connection) -> list[str]:
    """Facts that hold although nobody has said so."""
    return [
        fact.content
        for fact in percept_lists.select(conn, "true order by p.seq")
        if fact.status is PerceptStatus.LIVE and (not fact.tainted or fact.pinned)
    ]


def check_memory(store: Store) -> None:
    assert store.read_sync(harm) == []
    assert store.read_sync(not_approved) == []
    for fact in store.read_sync(lambda conn: percept_lists.select(conn, "true order by p.seq")):
        block = blocks.facts([blocks.fact_line(fact)])
        assert len(cuts._label.findall(block)) == 2, "its beginning and its end"
        assert "\n" not in blocks.fact_line(fact)
        assert not cuts._label.search(blocks.fact_line(fact))


@pytest.mark.parametrize("name", ["notes.md", "CLAUDE.md", "AGENTS.md"])
def test_a_list_of_facts_is_data_until_a_person_says_otherwise(name: str, store: Store, session) -> None:
    for item in items():
        for data in (b"# Team\n\n- " + item.data + b"\n", b"# " + item.data + b"\n\n" + item.data + b"\n- it is so\n"):
            try:
                take(store, data, name, session)
            except FileRefusedError as refused:
                assert not in_words(str(refused))
    check_memory(store)


def test_a_memory_of_another_machine_is_data_until_a_person_says_otherwise(
    store: Store, session, tmp_path: Path
) -> None:
    with closing(Store.open(tmp_path / "their.db")) as theirs:
        rich(theirs)
        lines = list(map(json.loads, exported(theirs).splitlines()))
    texts = ("content", "subject", "note", "source", "context", "title", "directory", "actor")
    taken = 0
    for number, item in enumerate(islice(items(), None, None, 3)):
        made = [{key: item.text if key in texts and value else value for key, value in line.items()} for line in lines]
        for line in made:
            if "pinned" in line:
                line["pinned"] = True
        try:
            take(store, "\n".join(map(json.dumps, made)), f"{number}.jsonl", session)
            taken += 1
        except FileRefusedError as refused:
            assert not in_words(str(refused))
    assert taken
    check_memory(store)


@each
def test_a_decision_record_is_a_title_and_a_text(item: Item) -> None:
    head = b"# " + item.data[:5_000] + b"\n\nDate: 2026-04-14\nReplaces: " + item.data[:5_000]
    record = decision_record.parse("a.md", head + b"\nStatus: " + item.data[:5_000] + b"\n\n" + item.data[:20_000])
    for line in (record.title, record.date, record.superseded_by, record.fact, record.problem, *record.replaces):
        assert "\n" not in line
        assert not in_words(line)
    assert not in_words(record.body.replace("\n", ""))
    assert not cuts._label.search(blocks.safe(f"{record.title}\n{record.body}"))
    name = decision_record.file_name(item.text[:2_000], "2026-04-14")
    assert "/" not in name
    assert name.isascii()
    again = decision_record.parse(
        "a.md", decision_record.render(item.text[:2_000], date="2026-04-14").encode("utf-8", "replace")
    )
    assert again.date == "2026-04-14" or not again.title


@each
def test_a_perception_file_is_lines_of_known_layers(item: Item) -> None:
    text = item.text[:20_000]
    document = perception_file.parse(f"# Frame\n\n- goal: {text}\n- {text}: x\n\n# {text}\n\n{text}\n")
    for entry in map(blocks.tidy, perception_file.entries(document)):
        for part in (entry.key, entry.value, entry.reason, entry.blocker):
            assert "\n" not in part
            assert not in_words(part)
            assert not cuts._label.search(part)


def test_the_last_door_lets_through_at_once_only_what_all_agree_on() -> None:
    for code in range(0x110000):
        character = chr(code)
        if last_door._plain(character):
            size = wcwidth(character)
            assert size == last_door.get_character_cell_size(character), hex(code)
            assert size in (1, 2), hex(code)
            assert not in_words(character), hex(code)
