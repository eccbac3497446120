"""A session as a file: everything that was said, nothing that can be used against anybody."""

from __future__ import annotations

import base64
import io
import json
from functools import partial

import pytest
from markdown_it import MarkdownIt

from milk_tui.core.attachments import Attachment, Kind
from milk_tui.core.records import Role, ToolStatus
from milk_tui.engine import session_export, session_writer
from milk_tui.engine.session_writer import Form, form_of
from milk_tui.store import attachments, sessions, tool_calls
from tests.store.makers import answered, end_leg, make_leg, make_session, make_turn

HOSTILE = (
    "<script>alert(1)</script> [x](javascript:alert(1)) ![p](http://evil/x.png) \x1b]52;c;AAAA\x07 abc123 [i](data:a)"
)


@pytest.fixture
def told(store):
    session = make_session(store, title="Double <charge>")
    leg = make_leg(store, make_turn(store, session, "why?\n```\n</pre><script>"))
    call = partial(
        tool_calls.start, leg_id=leg.id, call_id="c", name="read_file", arguments='{"path": "a.py"}', position=6
    )
    tool = store.write_sync(lambda db: call(db))
    store.write_sync(lambda db: tool_calls.finish(db, tool.id, ToolStatus.FAILED, "````\nno such file"))
    end_leg(store, leg, "Look. Then.\n\n```python\nx = 1 < 2\n```")
    answered(store, session, "design it", HOSTILE, Role.ESCALATION)
    return store.read_sync(lambda conn: sessions.get(conn, session.id))


def written(store, session, form: str) -> str:
    out = io.StringIO()
    session_writer.write(out, store, session, Form(form))
    return out.getvalue()


@pytest.mark.parametrize("form", ["md", "html", "json"])
def test_no_nonce_and_no_escape_leaves_the_program(store, told, form: str) -> None:
    text = written(store, told, form)
    assert "abc123" not in text and "xyz789" not in text
    assert "\x1b" not in text and "\x07" not in text


def test_markdown_has_each_word_in_order_and_fences_that_nothing_closes(store, told) -> None:
    text = written(store, told, "md")
    places = [text.index(part) for part in ("why?", "Look.", "read_file", "no such file", "Then.", "design it")]
    assert places == sorted(places)
    fences = [token.content for token in MarkdownIt().parse(text) if token.type == "fence"]
    assert "````\nno such file\n" in fences


def test_the_page_runs_nothing_and_asks_for_nothing(store, told) -> None:
    page = written(store, told, "html")
    assert "default-src 'none'" in page
    assert "<script" not in page
    assert "<img" not in page
    assert "javascript:" not in page.replace("(javascript:alert(1))", "")
    assert 'href="data:' not in page
    assert "&lt;script&gt;" in page
    assert "<title>Double &lt;charge&gt;</title>" in page


def test_the_page_shows_code_coloured_and_calls_folded(store, told) -> None:
    page = written(store, told, "html")
    assert '<details><summary class="failed">▸ <b>read_file</b>' in page
    assert 'class="c-' in page


def test_json_is_whole_and_has_the_source_documents_names(store, told) -> None:
    data = json.loads(written(store, told, "json"))
    assert [turn["turn"]["prompt"] for turn in data["turns"]][1] == "design it"
    assert data["turns"][0]["legs"][0]["tools"][0]["name"] == "read_file"
    assert set(data["bricks"]) <= {"current_need", "escalation_brief", "last_local_summary", "last_claude_summary"}
    assert "nonce" not in json.dumps(data)


@pytest.mark.parametrize("form", ["md", "html", "json"])
def test_an_empty_session_is_a_file_too(store, session, form: str) -> None:
    text = written(store, session, form)
    assert text
    if form == "json":
        assert json.loads(text)["turns"] == []


@pytest.mark.parametrize(
    ("title", "name"),
    [("Double charge!", "double-charge.md"), ("../../etc/passwd", "etc-passwd.md"), ("価格", "価格.md")],
)
def test_a_file_is_named_by_the_title_and_stays_where_it_is(store, title: str, name: str) -> None:
    assert session_export.default_name(make_session(store, title=title), "md") == name


def test_a_session_without_a_title_is_named_by_its_id(store, session) -> None:
    assert session_export.default_name(session, "html") == f"{session.id[:8]}.html"


def test_json_has_what_came_with_a_prompt_and_an_image_whole(store) -> None:
    session = make_session(store)
    turn = make_turn(store, session, "see @a.py")
    for attached in (
        Attachment(kind=Kind.FILE, name="a.py", text="x = 1"),
        Attachment(kind=Kind.IMAGE, name="p.png", mime="image/png", data=b"\x89PNG\x00"),
    ):
        store.write_sync(lambda db, one=attached: attachments.add(db, session.id, one, turn_id=turn.id))
    (told,) = json.loads(written(store, session, "json"))["turns"]
    file, image = told["attached"]
    assert (file["name"], file["text"], file["data"]) == ("a.py", "x = 1", None)
    assert (image["mime"], base64.b64decode(image["data"])) == ("image/png", b"\x89PNG\x00")


@pytest.mark.parametrize(
    ("file", "form"),
    [
        ("a.md", Form.MARKDOWN),
        ("A.HTM", Form.HTML),
        ("b.html", Form.HTML),
        ("x.json", Form.JSON),
        ("a", None),
        ("", None),
    ],
)
def test_the_name_of_a_file_says_which_form_it_has(file: str, form: Form | None) -> None:
    assert form_of(file) is form
