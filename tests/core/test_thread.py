"""An agent's own thread, bounded (``semantics.md`` §4)."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import json

from milk_tui.core import thread as threads
from milk_tui.core.records import LegStatus, Message, ThreadMark, ToolStatus
from milk_tui.core.thread import ThreadTurn, fit, fit_running
from tests.core import session_makers as make

LIMIT = 4_000


def _chars(messages) -> int:
    return sum(len(m.content) + sum(len(c.name) + len(c.arguments) for c in m.tool_calls) for m in messages)


def _plain(count: int, chars: int = 300) -> list[ThreadTurn]:
    return [make.thread_turn(n, f"prompt {n} ".ljust(chars, "p"), f"answer {n}") for n in range(1, count + 1)]


def _common(a, b) -> int:
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


# what a turn looks like when it is replayed


def test_a_turn_is_replayed_verbatim_with_its_calls_and_results():
    turn = make.thread_turn(1, "find it", "found", *[make.tool_round(1, "a.py:3", text="Looking.")])

    messages = fit([turn], LIMIT).messages

    assert [m.role for m in messages] == ["user", "assistant", "tool", "assistant"]
    assert [m.content for m in messages] == ["find it", "Looking.", "a.py:3", "found"]
    assert messages[1].tool_calls[0].id == messages[2].tool_call_id


def test_a_leg_is_split_where_its_calls_were_made():
    leg = make.leg(1, "First I look. Then I read. Done.")
    calls = [
        make.tool_call(1, "grep", position=13, started_ms=10, ended_ms=20),
        make.tool_call(2, "read", position=26, started_ms=30, ended_ms=40),
    ]

    turn = threads.thread_turn(make.turn(1), leg, calls)

    assert [r[0].content for r in turn.rounds] == ["First I look.", "Then I read."]
    assert turn.answer == "Done."


def test_calls_that_ran_at_once_are_one_round_and_calls_in_a_row_are_not():
    at_once = [
        make.tool_call(1, started_ms=10, ended_ms=30),
        make.tool_call(2, started_ms=11, ended_ms=20),
    ]
    in_a_row = [
        make.tool_call(1, started_ms=10, ended_ms=20),
        make.tool_call(2, started_ms=20, ended_ms=30),
    ]

    assert len(threads.thread_turn(make.turn(1), make.leg(1), at_once).rounds) == 1
    assert len(threads.thread_turn(make.turn(1), make.leg(1), in_a_row).rounds) == 2


@pytest.mark.parametrize(
    ("status", "result"),
    [
        (ToolStatus.RUNNING, "no result: the call was interrupted"),
        (ToolStatus.CANCELLED, "no result: the call was interrupted"),
        (ToolStatus.DENIED, "denied by the person"),
        (ToolStatus.OK, ""),
    ],
)
def test_every_call_has_a_result(status: ToolStatus, result: str):
    turn = threads.thread_turn(make.turn(1), make.leg(1), [make.tool_call(1, result="", status=status)])

    assert turn.rounds[0][1].content == result


@pytest.mark.parametrize("broken", ["", "{", "[1]", "nonsense", '"text"', '{"a":' * 50_000])
def test_arguments_that_are_no_json_object_are_wrapped_in_one(broken: str):
    turn = threads.thread_turn(make.turn(1), make.leg(1), [make.tool_call(1, arguments=broken)])

    sent = json.decode(turn.rounds[0][0].tool_calls[0].arguments)
    assert sent == ({"text": broken} if broken else {})


def test_an_interrupted_answer_says_so():
    turn = threads.thread_turn(make.turn(1), make.leg(1, "half", status=LegStatus.INTERRUPTED))

    assert turn.answer == "half\n[this answer was interrupted]"


def test_a_turn_without_an_answer_is_not_replayed():
    assert fit([make.thread_turn(1, "p", "")], LIMIT).messages == ()


def test_what_was_delivered_once_stays_before_its_prompt():
    turn = ThreadTurn(leg_id=1, turn_id=1, prompt="go on", answer="ok", delivered="[Notes]\nn\n[/Notes]")

    assert fit([turn], LIMIT).messages[0].content == "[Notes]\nn\n[/Notes]\n\ngo on"


# the bound


@pytest.mark.parametrize(
    ("window", "configured", "chars"),
    [
        (None, 24_000, 96_000),
        (200_000, 24_000, 96_000),
        (32_000, 24_000, 64_000),
        (1_000_000, 50_000, 200_000),
        (100, 24_000, threads.MIN_LIMIT_CHARS),
    ],
)
def test_the_bound_is_half_the_window_and_never_more_than_configured(window, configured, chars):
    assert threads.limit_chars(window, configured) == chars


def test_past_the_bound_old_turns_leave_in_a_block_down_to_60_percent():
    turns = _plain(12, 310)
    assert _chars(fit(turns, LIMIT).messages) > LIMIT * 0.95

    after = fit(turns, LIMIT, prompt="x" * 310)

    assert LIMIT * 0.5 < _chars(after.messages) + 310 <= LIMIT * threads.KEPT
    assert after.note == "6 older turns left (bound 4,000 characters)"
    assert fit([*turns, make.thread_turn(13, "x" * 310, "a")], LIMIT).mark.after == 6


def test_the_beginning_stays_until_the_next_block_leaves():
    turns = _plain(60)

    firsts = [fit(turns[:n], LIMIT).messages[0].content for n in range(1, 61)]

    changes = sum(a != b for a, b in pairwise(firsts))
    assert 0 < changes <= 60 * 310 / (LIMIT * (1 - threads.KEPT)) + 1


def test_a_call_and_its_result_leave_together():
    turns = [make.thread_turn(n, "p", "a", make.tool_round(n, "r" * 300)) for n in range(1, 40)]

    messages = fit(turns, LIMIT).messages

    assert messages[0].role == "user"
    asked = [c.id for m in messages for c in m.tool_calls]
    assert asked == [m.tool_call_id for m in messages if m.role == "tool"]


def test_room_is_made_for_the_newest_prompt():
    turns = _plain(12)

    assert len(fit(turns, LIMIT, prompt="x" * 900).messages) < len(fit(turns, LIMIT).messages)


def test_a_huge_prompt_or_answer_is_cut_inside_when_it_is_replayed():
    turn = make.thread_turn(1, "HEAD " + "p" * 100_000, "a" * 100_000 + " TAIL")

    user, assistant = fit([turn], LIMIT).messages

    assert user.content.startswith("HEAD") and assistant.content.endswith("TAIL")
    assert len(user.content) + len(assistant.content) <= LIMIT * threads.KEPT


def test_a_fresh_start_leaves_every_turn_behind():
    turns = _plain(5)

    mark = threads.restart(turns, ThreadMark(after=1, upto=3, gone=1))

    assert mark == ThreadMark(after=5, upto=5, gone=5, fresh=True)
    assert fit(turns, LIMIT, mark).messages == ()
    assert len(fit(_plain(6), LIMIT, mark).messages) == 2


# the running turn


def test_inside_a_running_turn_old_results_shrink_before_anything_leaves():
    thread = fit(_plain(3), LIMIT).messages
    running = [m for n in range(4) for m in make.tool_round(n, f"{n}" * 1_000)]

    before, after = fit_running(thread, "go", running, LIMIT)

    assert before == thread
    results = [m.content for m in after if m.role == "tool"]
    assert results[-1] == "3" * 1_000
    assert all(len(r) <= threads.SHRUNK_CHARS and "characters cut" in r for r in results[:-1])


def test_when_shrinking_is_not_enough_old_turns_leave_in_a_block():
    thread = fit(_plain(10), LIMIT).messages
    running = [m for n in range(3) for m in make.tool_round(n, f"{n}" * 1_500)]

    before, after = fit_running(thread, "go", running, LIMIT)

    assert before and len(before) < len(thread)
    assert before == thread[-len(before) :]
    assert _chars((*before, *after)) <= LIMIT


def test_a_running_turn_that_is_too_large_alone_shrinks_all_and_loses_its_oldest_rounds():
    running = [m for n in range(40) for m in make.tool_round(n, f"{n:02}" * 1_000)]

    _, after = fit_running((), "go", running, LIMIT)

    assert _chars(after) <= LIMIT
    assert "earlier tool rounds left out]" in after[0].content
    assert [c.id for m in after for c in m.tool_calls] == [m.tool_call_id for m in after if m.role == "tool"]
    assert after[-1].tool_call_id == "c39"


def test_large_arguments_shrink_to_json_that_still_parses():
    arguments = json.encode({"path": "a.py", "content": "x" * 5_000, "times": 3}).decode()

    asked, _ = threads.shrunk(make.tool_round(1, "ok", arguments=arguments), LIMIT)

    sent = json.decode(asked.tool_calls[0].arguments)
    assert sent["path"] == "a.py" and sent["times"] == 3 and "characters cut" in sent["content"]
    assert len(asked.tool_calls[0].arguments) <= threads.SHRUNK_CHARS


@pytest.mark.parametrize("arguments", ["no json " * 200, json.encode({"a": ["x" * 3_000]}).decode()])
def test_arguments_that_can_not_shrink_field_by_field_still_parse(arguments: str):
    asked, _ = threads.shrunk(make.tool_round(1, "ok", arguments=arguments), LIMIT)

    assert isinstance(json.decode(asked.tool_calls[0].arguments), dict)


def test_without_a_bound_nothing_is_touched():
    running = make.tool_round(1, "x" * 9_000)

    assert fit_running(_messages(), "go", running, 0) == (_messages(), running)


def _messages() -> tuple[Message, ...]:
    return fit(_plain(2), LIMIT).messages


def test_the_next_request_begins_with_what_the_running_turn_sent_last():
    rounds = [make.tool_round(n, f"{n}" * 1_000) for n in range(5)]
    turns = _plain(3)
    running = [m for made in rounds for m in made]

    before, after = fit_running(fit(turns, LIMIT, prompt="go").messages, "go", running, LIMIT)
    replayed = fit([*turns, make.thread_turn(4, "go", "done", *rounds)], LIMIT).messages

    assert replayed == (
        *before,
        Message(role="user", content="go"),
        *after,
        Message(role="assistant", content="done"),
    )


# what holds for every session

_rounds = st.builds(
    lambda size, text, args: make.tool_round(size, "r" * size, text="t" * text, arguments='"' + "a" * args + '"'),
    st.integers(0, 3_000),
    st.integers(0, 200),
    st.integers(0, 1_500),
)


@st.composite
def _threads(draw: st.DrawFn) -> list[ThreadTurn]:
    count = draw(st.integers(1, 25))
    return [
        make.thread_turn(
            n,
            "p" * draw(st.integers(1, 2_500)),
            "a" * draw(st.integers(0, 2_500)),
            *draw(st.lists(_rounds, max_size=5)),
        )
        for n in range(1, count + 1)
    ]


@given(_threads(), st.integers(threads.MIN_LIMIT_CHARS, 20_000))
def test_the_thread_never_exceeds_its_bound(turns, limit):
    assert _chars(fit(turns, limit).messages) <= limit


@given(_threads(), st.integers(threads.MIN_LIMIT_CHARS, 20_000), st.data())
def test_a_mark_leads_to_the_same_thread_as_the_whole_history(turns, limit, data):
    at = data.draw(st.integers(0, len(turns)))
    mark = fit(turns[:at], limit).mark

    whole = fit(turns, limit)
    resumed = fit([t for t in turns if t.leg_id > mark.after], limit, mark)

    assert resumed.messages == whole.messages
    assert resumed.messages == fit(turns, limit, mark).messages
    assert resumed.mark == whole.mark
    assert resumed.note == whole.note


@given(_threads(), st.integers(threads.MIN_LIMIT_CHARS, 20_000))
def test_a_session_lived_through_leg_by_leg_ends_where_its_history_leads(turns, limit):
    mark = None
    for number in range(len(turns) + 1):
        seen = [t for t in turns[:number] if mark is None or t.leg_id > mark.after]
        last = fit(seen, limit, mark, turns[number].prompt if number < len(turns) else "")
        answered = number == len(turns) or turns[number].answer or turns[number].rounds
        mark = last.mark if answered else mark  # kept only when the leg succeeded

    assert last.messages == fit(turns, limit).messages


@given(_threads(), st.integers(threads.MIN_LIMIT_CHARS, 20_000))
def test_the_newest_answered_turn_is_always_there(turns, limit):
    said = [t for t in turns if t.answer or t.rounds]

    messages = fit(turns, limit).messages

    if said:
        expected = threads.cut_inside(said[-1].prompt, limit // 4)
        assert [m.content for m in messages if m.role == "user"][-1] == expected


@given(_threads(), st.integers(threads.MIN_LIMIT_CHARS, 20_000))
def test_users_and_answers_alternate_and_every_call_has_its_result(turns, limit):
    messages = fit(turns, limit).messages

    roles = [m.role for m in messages]
    assert all((a, b) != ("user", "user") for a, b in pairwise(roles))
    assert [c.id for m in messages for c in m.tool_calls] == [m.tool_call_id for m in messages if m.role == "tool"]


@given(st.lists(_rounds, max_size=12), st.integers(threads.MIN_LIMIT_CHARS, 20_000))
def test_a_running_turn_keeps_its_newest_round(rounds, limit):
    running = [m for made in rounds for m in made]

    _, after = fit_running(fit(_plain(5), limit).messages, "go", running, limit)

    assert [m.tool_call_id for m in after if m.role == "tool"][-1:] == [
        m.tool_call_id for m in running if m.role == "tool"
    ][-1:]
