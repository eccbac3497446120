"""What leaves a database in which every text is hostile: exported files, what commands print, the log."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from milk_tui import safe_log
from milk_tui.core.records import Session
from milk_tui.engine import session_export, session_html
from milk_tui.interop import memory_export
from milk_tui.store import Store, sessions
from tests.cli.conftest import Milk, home, milk
from tests.data.hostile import Item, items
from tests.hostile import poisoned
from tests.hostile.watch import in_words, page

__all__ = ["home", "milk"]


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("poisoned")
    (root / "project").mkdir()
    poisoned.make(root / "milk.db", root / "project")
    return root / "milk.db"


@pytest.fixture(scope="module")
def store(database: Path) -> Iterator[Store]:
    store = Store.open(database)
    yield store
    store.close()


@pytest.fixture(scope="module")
def session(store: Store) -> Session:
    (first, *_) = store.read_sync(lambda conn: sessions.rows(conn, str(store.path.parent / "project")))
    return store.read_sync(lambda conn: sessions.get(conn, first.id))


@pytest.fixture(scope="module")
def said(store: Store, session: Session) -> list[session_export.Said]:
    found = list(session_export.conversation(store, session.id))
    assert len(found) > 300
    return found


def test_the_page_has_no_script_no_event_no_load_and_links_to_the_web_and_mail_alone(session, said) -> None:
    out = io.StringIO()
    session_html.html(out, session, said)
    read = page(out.getvalue())
    assert read.harm == []
    assert read.styles == 1
    assert read.open == []
    assert in_words("".join(read.text).replace("\n", "")) == set()
    assert "default-src 'none'" in out.getvalue()


def test_the_page_looks_the_same_to_a_stricter_reader(session, said) -> None:
    """Every tag that was opened is closed, in order, however deep the text nests."""
    out = io.StringIO()
    session_html.html(out, session, said)
    text = out.getvalue()
    assert text.count("<article") == text.count("</article>")
    assert text.count("<pre") == text.count("</pre>")
    assert text.rstrip().endswith("</html>")
    assert text.count("</body>") == 1


def test_the_markdown_loads_nothing_runs_nothing_and_has_our_headings_alone(session, said) -> None:
    out = io.StringIO()
    session_export.markdown(out, session, said)
    text = out.getvalue()
    assert in_words(text.replace("\n", "")) == set()
    reader = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    tokens = reader.parse(text)
    inner = [child for token in tokens for child in token.children or ()]
    assert not [token for token in (*tokens, *inner) if token.type in ("html_block", "html_inline", "image")]
    hrefs = [str(token.attrs["href"]) for token in inner if token.type == "link_open"]
    assert not [href for href in hrefs if ":" in href and not href.lower().startswith(("http:", "https:", "mailto:"))]
    ours = [b for a, b in pairwise(tokens) if a.type == "heading_open" and a.level == 0]
    speakers = [token.content for token in ours if token.content.startswith(("you ·", "●", "◆"))]
    assert len(speakers) == sum(1 + len(each.legs) for each in said)


def test_the_json_is_whole_and_clean(store, session, said) -> None:
    out = io.StringIO()
    session_export.as_json(out, store, session, said)
    data = json.loads(out.getvalue())
    assert len(data["turns"]) == len(said)
    assert set(data) == {"milk_tui_session", "session", "bricks", "facts", "turns"}
    for text in strings(data):
        assert in_words(text.replace("\n", "")) == set()


def test_the_backup_of_the_memory_is_one_record_a_line(store) -> None:
    out = io.BytesIO()
    store.read_sync(lambda conn: memory_export.jsonl(conn, out, everything=True))
    lines = out.getvalue().decode("utf-8").split("\n")
    assert all(json.loads(line) for line in lines if line)
    assert "\x1b" not in out.getvalue().decode("utf-8")


def strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner)


COMMANDS = [
    ["memory", "list"],
    ["memory", "list", "--all", "--json"],
    ["memory", "list", "--forgotten"],
    ["memory", "search", "allow"],
    ["memory", "export", "-", "--format", "markdown"],
    ["sessions", "list"],
    ["sessions", "list", "--all"],
    ["sessions", "list", "--all", "--json"],
    ["sessions", "show"],
    ["sessions", "show", "--json"],
    ["perception", "show"],
    ["perception", "show", "--json"],
    ["perception", "history", "working", "key 2"],
    ["bricks", "show"],
    ["bricks", "show", "--json"],
    ["permissions", "list"],
    ["permissions", "list", "--json"],
    ["helper", "log"],
    ["helper", "list"],
    ["route", "why does it fail?"],
    ["doctor", "--json"],
    ["doctor"],
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_what_a_command_prints_is_text(milk: Milk, database: Path, monkeypatch, command: list[str]) -> None:
    monkeypatch.chdir(database.parent / "project")
    ran = milk("--database", str(database), *command)
    for text in (ran.out, ran.err):
        assert in_words(text.replace("\n", "")) == set()
        assert "\x1b" not in text
    assert "Traceback" not in ran.err
    if "--json" in command:
        assert json.loads(ran.out) is not None
    else:
        assert ran.code in (0, 1), ran.err


@pytest.mark.parametrize("item", [item for item in items() if not item.long], ids=lambda item: item.id)
def test_an_argument_that_is_hostile_gets_one_line_of_text(milk: Milk, home: Path, item: Item) -> None:
    text = item.text.replace("\x00", "")
    ran = milk("sessions", "show", "--", text)
    assert (ran.code, ran.out) == (1, "")
    assert len(ran.err.splitlines()) == 1
    assert in_words(ran.err.replace("\n", "")) == set()


@pytest.mark.parametrize("item", items(), ids=lambda item: item.id)
def test_a_log_record_is_one_record(item: Item) -> None:
    out = io.StringIO()
    handler = logging.StreamHandler(out)
    handler.setFormatter(safe_log.SafeFormatter(safe_log.FORMAT))
    handler.emit(logging.LogRecord("milk_tui.x", logging.ERROR, __file__, 1, "failed: %s", (item.text,), None))
    lines = out.getvalue().split("\n")
    assert lines.pop() == ""
    assert [line for line in lines if not line.startswith("    ")] == lines[:1]
    assert in_words(out.getvalue().replace("\n", "")) == set()
    assert len(out.getvalue()) < safe_log.LONGEST + 60_000
