"""How ``-p`` shows a turn: what goes to standard output, what to standard error."""

from __future__ import annotations

import json

import pytest

from milk_tui.cli.readers import Reader, reader_for
from milk_tui.core.records import LegStatus, Role
from milk_tui.engine.events import (
    AgentStatus,
    AnyEvent,
    HostChanged,
    LegNotice,
    LegText,
    LegTextReplaced,
    LegThinking,
    Notice,
    PerceptRefused,
    SessionChanged,
    TurnQueued,
)
from tests.engine.test_headless import SESSION, ended, finished, gather, leg, started


def feed(reader: Reader, *events: AnyEvent) -> None:
    gathered = gather()
    for event in events:
        gathered.add(event)
        reader.hear(event, gathered)
    reader.end(gathered.outcome())


def say(leg_id: int, text: str) -> LegText:
    return LegText(session_id="s", leg_id=leg_id, text=text)


def test_text_is_the_answer_alone_and_ends_with_a_line_break(capsys: pytest.CaptureFixture[str]) -> None:
    thought = LegThinking(session_id="s", leg_id=1, text="hmm")
    feed(
        reader_for("text"),
        started(1),
        leg(1, 1),
        thought,
        say(1, "Hel"),
        say(1, "lo."),
        ended(1, 1, "Hello."),
        finished(1),
    )
    captured = capsys.readouterr()
    assert captured.out == "Hello.\n"
    assert captured.err == ""


def test_text_that_was_never_streamed_is_printed_at_the_end_of_its_leg(capsys) -> None:
    feed(reader_for("text"), leg(1, 1), say(1, "Hel"), ended(1, 1, "Hello."), finished(1))
    assert capsys.readouterr().out == "Hello.\n"


def test_a_text_that_was_taken_back_is_begun_again(capsys) -> None:
    replaced = LegTextReplaced(session_id="s", leg_id=1, text="Good bye")
    feed(reader_for("text"), leg(1, 1), say(1, "Hello"), replaced, ended(1, 1, "Good bye."), finished(1))
    captured = capsys.readouterr()
    assert captured.out == "Hello\nGood bye.\n"
    assert "begun again" in captured.err


def test_a_second_leg_is_set_apart_and_said_on_standard_error(capsys) -> None:
    feed(
        reader_for("text"),
        leg(1, 1),
        say(1, "Over to you."),
        ended(1, 1, "Over to you."),
        leg(1, 2, Role.ESCALATION, "too deep"),
        say(2, "Done."),
        ended(1, 2, "Done.", Role.ESCALATION),
        finished(1),
    )
    captured = capsys.readouterr()
    assert captured.out == "Over to you.\n\nDone.\n"
    assert captured.err == "◆ escalated to agent-escalation: too deep\n"


def test_legs_of_other_turns_are_not_printed(capsys) -> None:
    feed(reader_for("text"), leg(7, 9), say(9, "old"), ended(7, 9, "old"), finished(7), finished(1))
    assert capsys.readouterr().out == ""


def test_an_empty_answer_is_said(capsys) -> None:
    feed(reader_for("text"), leg(1, 1), ended(1, 1, "", status=LegStatus.EMPTY), finished(1))
    assert "is empty" in capsys.readouterr().err


def test_what_happens_meanwhile_is_on_standard_error_each_line_once(capsys) -> None:
    feed(
        reader_for("text"),
        TurnQueued(session_id="s", turn_id=1, prompt="p", created_ms=0, why="the model loads"),
        HostChanged(session_id="s", state="starting"),
        HostChanged(session_id="s", state="restarting", detail="it died"),
        leg(1, 1),
        LegNotice(session_id="s", leg_id=1, text="retrying"),
        LegNotice(session_id="s", leg_id=1, text="retrying"),
        LegNotice(session_id="s", leg_id=1, text="fetching 1 of 98 MB", fraction=0.1),
        LegNotice(session_id="s", leg_id=1, text="fetching 2 of 98 MB", fraction=0.2),
        AgentStatus(session_id="s", role=Role.PRIMARY, state="loading", text="loading"),
        LegNotice(session_id="s", leg_id=1, text="loading"),
        PerceptRefused(session_id="s", content="x", why="too long"),
        Notice(session_id="s", text="one\x1b[2J line"),
        ended(1, 1, "a"),
        finished(1),
    )
    captured = capsys.readouterr()
    assert captured.out == "a\n"
    assert captured.err.splitlines() == [
        "Waiting: the model loads",
        "Model host restarting: it died",
        "retrying",
        "fetching 1 of 98 MB",
        "loading",
        "Not remembered: too long",
        "one line",
    ]


def test_stream_json_is_one_event_a_line_without_nonces(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    changed = SessionChanged(session_id="s", session=SESSION)
    feed(reader_for("stream-json"), started(1), changed, leg(1, 1), say(1, "a\nb"), finished(1))
    out = capfdbinary.readouterr().out
    events = [json.loads(line) for line in out.splitlines()]
    assert [event["event"] for event in events] == [
        "turn_started",
        "session_changed",
        "leg_started",
        "leg_text",
        "turn_finished",
    ]
    assert events[3]["text"] == "a\nb"
    assert b"aaa111" not in out


def test_json_is_one_object_at_the_end(capsys) -> None:
    feed(reader_for("json"), started(1), leg(1, 1), say(1, "a"), ended(1, 1, "a"), finished(1))
    captured = capsys.readouterr()
    answer = json.loads(captured.out)
    assert (answer["status"], answer["text"], answer["turn"], answer["error"]) == ("done", "a", 1, None)
    assert answer["session"]["primary"]["nonce"] == "••••••"
    assert answer["legs"][0]["agent"] == "agent-primary"
    assert answer["route"]["rule"] == "primary"
    assert captured.err == ""
