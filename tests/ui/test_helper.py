from __future__ import annotations

import pytest

from milk_tui.engine import events as e
from milk_tui.store.notes import Cite, Note
from milk_tui.ui import reduce
from milk_tui.ui.helper_commands import parts
from milk_tui.ui.helper_dialog import how, rows, whole
from milk_tui.ui.state import SessionState, Topic


def apply(state: SessionState, *events: e.AnyEvent) -> None:
    for event in events:
        reduce.apply(state, event, 0.0)


def status(state: str, text: str = "") -> e.HelperStatus:
    return e.HelperStatus(session_id="s", state=state, text=text)


def changed(what: str, **more: object) -> e.NoteChanged:
    return e.NoteChanged(session_id="s", note_id=1, status=what, text="a.md says so.", **more)  # type: ignore[arg-type]


def note(**more: object) -> Note:
    values = {
        "id": 1, "session_id": "s", "run_id": 1, "profile_id": "recall", "status": "pending", "carriers": (),
        "created_ms": 0, "expires_ms": 0, "ended_ms": None, "receiver": "", "carrier": "", "reason": "",
        "cites": (Cite("record", "a.md", "/d", "2026-01-01"),), "text": "a.md says \x1b[31mso.",
    }  # fmt: skip
    return Note(**{**values, **more})  # type: ignore[arg-type]


def test_a_search_is_shown_and_gives_way_to_what_stood_there():
    state = SessionState(note="ready")
    assert reduce.apply(state, status("searching", "Recall: searching …"), 0.0) == {Topic.BRICKS}
    assert state.note == "◌ Recall: searching …"
    apply(state, status("idle"))
    assert state.note == "ready"


@pytest.mark.parametrize(
    ("event", "said"),
    [
        (changed("pending"), "◌ pending: a.md says so."),
        (changed("expired", reason="nobody came by in time"), "◌ expired: nobody came by in time"),
        (changed("dropped", reason="you dropped it"), "◌ dropped: you dropped it"),
    ],
)
def test_what_becomes_of_a_note_is_shown(event, said):
    state = SessionState()
    apply(state, status("searching", "…"), event, status("idle"))
    assert state.note == said


def test_to_whom_a_note_was_delivered_and_when_is_shown():
    state = SessionState()
    apply(state, changed("delivered", receiver="qwen", at_ms=1_700_000_000_000))
    assert state.note.startswith("◌ delivered ") and ":" in state.note and state.note.endswith(" to qwen")


def test_a_failure_stays_until_something_else_is_said():
    state = SessionState()
    apply(state, status("searching", "…"), status("failed", "no answer within 2 s"))
    assert state.note == "◌ no answer within 2 s"


def test_other_news_are_not_covered_by_an_end_of_a_search():
    state = SessionState()
    apply(state, status("searching", "…"), e.Notice(session_id="s", text="news"), status("idle"))
    assert state.note == "news"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Use cents", ("Use cents", "", ())),
        (
            "Use cents. Not floats. why: lost one replaces: a.md, b.md",
            ("Use cents. Not floats.", "lost one", ("a.md", "b.md")),
        ),
        ("Use cents REPLACES: a because: it is", ("Use cents", "it is", ("a",))),
    ],
)
def test_a_decision_is_read_with_its_reason_and_what_it_replaces(text, expected):
    assert parts(text) == expected


def test_the_list_shows_notes_and_runs_without_escapes():
    [heading, row] = rows([note()], [], 1_000)
    assert not heading.selectable and "waits" in row.lines(80)[0][0][0]
    assert "\x1b" not in str([row.lines(80), whole(note(), None).replace("\x1b", "")])
    assert "cites a.md of 2026-01-01" in whole(note(), None)


def test_where_a_note_stands_is_said_in_words():
    assert how(note(status="delivered", receiver="qwen", carrier="tool.started", ended_ms=1)).startswith(
        "delivered to qwen at a tool call, "
    )
    assert how(note(status="dropped", reason="a.md was superseded by b.md")) == "dropped: a.md was superseded by b.md"
