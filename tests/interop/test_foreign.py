"""Sessions of other programs: what is read of them, whatever is in their files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from milk_tui.core.records import Role
from milk_tui.interop import foreign_chats, foreign_claude, foreign_milk
from milk_tui.interop.foreign import MOST_CHARS, NO_PROMPT, ForeignSession, Source, Talk, Unreadable, milliseconds
from milk_tui.interop.memory_lines import FileRefusedError
from milk_tui.interop.session_import import guess, place
from tests.interop import foreign_samples as samples


def read(found) -> ForeignSession:
    (session,) = [each for each in found if isinstance(each, ForeignSession)]
    return session


def said(session: ForeignSession) -> list[tuple[str, list[tuple[Role, str, str]]]]:
    return [(turn.prompt, [(a.role, a.agent, a.text) for a in turn.answers]) for turn in session.turns]


def test_the_go_programs_session_has_both_agents_its_calls_and_its_need(tmp_path: Path) -> None:
    session = read(foreign_milk.sessions(samples.milk(tmp_path)))
    assert said(session) == [
        ("why twice?", [(Role.PRIMARY, "local", "It retries.")]),
        ("design it", [(Role.ESCALATION, "claude", "An idempotency key.")]),
    ]
    (tool,) = session.turns[0].answers[0].tools
    assert (tool.name, tool.arguments, tool.result, tool.position) == ("read_file", '{"path":"a.py"}', "print(1)", 0)
    assert (session.title, session.directory, session.need) == ("checkout", "/home/u/shop", "stop double charges")
    assert session.turns[1].answers[0].thinking == "hm"
    assert (session.key, session.created_ms, session.updated_ms) == (
        samples.MILK_ID,
        1_777_629_600_000,
        1_777_630_260_000,
    )


def test_claude_codes_own_words_sub_agents_and_a_cut_line_are_left_out(tmp_path: Path) -> None:
    session = read(foreign_claude.sessions(samples.claude(tmp_path)))
    assert said(session) == [
        ("why twice?", [(Role.PRIMARY, "claude", "Let me look.\n\nIt retries.")]),
        ("and now?", []),
    ]
    answer = session.turns[0].answers[0]
    assert (answer.thinking, answer.model) == ("hm", "claude-sonnet-5")
    (tool,) = answer.tools
    assert (tool.name, tool.arguments, tool.result, tool.position) == ("Bash", '{"command":"ls"}', "a.py", 12)
    assert (session.title, session.directory, session.key) == ("Fix the double charge", "/home/u/shop", "s-1")


@pytest.mark.parametrize(
    ("reader", "sample", "name", "agent"),
    [
        (foreign_chats.elia, samples.elia, "elia.sqlite", "qwen"),
        (foreign_chats.oterm, samples.oterm, "store.db", "qwen"),
        (foreign_chats.chatgpt, samples.chatgpt, "conversations.json", "chatgpt"),
    ],
)
def test_chats_are_read_as_they_were_shown(tmp_path: Path, reader, sample, name: str, agent: str) -> None:
    session = read(reader(sample(tmp_path / name)))
    assert said(session) == [("why twice?", [(Role.PRIMARY, agent, "It retries.")])]
    assert session.title == "Charges"


def test_what_cant_be_read_is_named_and_the_rest_is_read(tmp_path: Path) -> None:
    root = samples.milk(tmp_path)
    (root / "sessions" / "broken.json").write_text("{")
    (root / "sessions" / "list.json").write_text("[]")
    (root / "sessions" / "deep.json").write_text("[" * 100_000)
    found = list(foreign_milk.sessions(root))
    assert sorted(each.where for each in found if isinstance(each, Unreadable)) == [
        "broken.json",
        "deep.json",
        "list.json",
    ]
    assert read(found).title == "checkout"


def test_a_database_of_something_else_is_named_with_what_it_lacks(tmp_path: Path) -> None:
    (problem,) = foreign_chats.elia(samples.oterm(tmp_path / "store.db"))
    assert isinstance(problem, Unreadable)
    assert "content" in problem.why and "role" in problem.why


@pytest.mark.parametrize("reader", [foreign_chats.elia, foreign_chats.oterm, foreign_chats.chatgpt])
def test_rubbish_is_named_and_never_raised(tmp_path: Path, reader) -> None:
    file = tmp_path / "conversations.json"
    file.write_bytes(b"\x00\xff" * 500)
    (problem,) = reader(file)
    assert isinstance(problem, Unreadable)


def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(FileRefusedError):
        list(foreign_milk.sessions(tmp_path / "nowhere"))


def test_an_answer_before_any_prompt_is_kept_and_an_escape_is_not(tmp_path: Path) -> None:
    talk = Talk()
    talk.answer("\x1b]0;title\x07hello\u202e", role=Role.PRIMARY, agent="a\x1b[31m\nb")
    session = talk.session(Source.ELIA, "1")
    assert session is not None
    assert said(session) == [(NO_PROMPT, [(Role.PRIMARY, "a b", "hello")])]


def test_a_message_without_end_is_cut_and_it_is_said() -> None:
    talk = Talk()
    talk.prompt("x" * (MOST_CHARS + 5))
    assert talk.turns[0].prompt.endswith("[5 more characters were left out]")


@given(st.lists(st.tuples(st.sampled_from("pacr"), st.text(max_size=8), st.none() | st.integers(-5, 2**60))))
def test_any_order_of_messages_makes_turns_in_order(messages) -> None:
    talk = Talk()
    answer = None
    for kind, text, at in messages:
        match kind:
            case "p":
                talk.prompt(text, at)
            case "a":
                answer = talk.answer(text, role=Role.PRIMARY, agent="qwen", at_ms=at)
            case "c":
                talk.call(answer, text, text, text)
            case _:
                talk.result(text, text)
    times = [turn.at_ms for turn in talk.turns]
    assert times == sorted(times)
    for turn in talk.turns:
        assert turn.prompt.strip()
        for each in turn.answers:
            assert all(0 <= tool.position <= len(each.text) for tool in each.tools)


@pytest.mark.parametrize(
    ("written", "ms"),
    [
        ("2026-05-01T10:00:00Z", 1_777_629_600_000),
        ("2026-05-01 10:00:00", 1_777_629_600_000),
        ("2026-05-01T12:00:00+02:00", 1_777_629_600_000),
        (1_777_629_600.5, 1_777_629_600_500),
        ("yesterday", None),
        (True, None),
        (-1, None),
        (10**30, None),
        (None, None),
    ],
)
def test_times_are_read_as_files_write_them(written: object, ms: int | None) -> None:
    assert milliseconds(written) == ms


def test_whose_a_path_is_is_told_by_its_looks(tmp_path: Path) -> None:
    assert guess(samples.milk(tmp_path / "milk")) is Source.MILK
    assert guess(samples.claude(tmp_path / "claude")) is Source.CLAUDE_CODE
    assert guess(samples.oterm(tmp_path / "store.db")) is Source.OTERM
    assert guess(samples.elia(tmp_path / "elia.sqlite")) is Source.ELIA
    assert guess(samples.chatgpt(tmp_path / "conversations.json")) is Source.CHATGPT
    assert guess(tmp_path / "notes.txt") is None


def test_each_program_has_its_usual_place() -> None:
    environ = {"HOME": "/home/u", "XDG_DATA_HOME": "/home/u/data", "CLAUDE_CONFIG_DIR": "/cfg"}
    assert place(Source.MILK, environ) == Path("/home/u/.milk")
    assert place(Source.CLAUDE_CODE, environ) == Path("/cfg")
    assert place(Source.ELIA, environ) == Path("/home/u/data/elia/elia.sqlite")
    assert place(Source.CHATGPT, environ) is None


def test_the_go_programs_facts_keep_who_said_them_and_how_they_weigh(tmp_path: Path) -> None:
    from milk_tui.core.records import PerceptScope, Producer

    root = samples.milk(tmp_path)
    parsed = foreign_milk.memory(root / "memory" / f"{samples.MILK_ID}.json", PerceptScope.SESSION, now=1)
    assert parsed.exported is not None
    ((_, fact),) = parsed.exported.facts
    assert (fact.content, fact.producer, fact.weight) == ("retries live in the queue", Producer.ESCALATION, 700)


def test_a_memory_file_of_something_else_is_refused(tmp_path: Path) -> None:
    from milk_tui.core.records import PerceptScope

    file = tmp_path / "m.json"
    file.write_text(json.dumps({"percepts": 3}))
    with pytest.raises(FileRefusedError):
        foreign_milk.memory(file, PerceptScope.GLOBAL, now=1)
