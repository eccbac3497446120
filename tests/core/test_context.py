"""What an agent is given for a leg (``semantics.md`` §4)."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from milk_tui.core import bricks, context
from milk_tui.core.bricks import Rendering
from milk_tui.core.context import Budgets, ContextState, ModeInputs, Part, messages, mode, plan
from milk_tui.core.records import BrickKind, ContextMode, Layer, Message, NeedStatus, Role
from tests.core import session_makers as make
from tests.core.context_states import DELTA, ESCALATION, NEED, PRIMARY, RETURNS, STARTED, given_names, state, text, why

# mode


@pytest.mark.parametrize(
    ("inputs", "expected", "fresh"),
    [
        (ModeInputs(), ContextMode.FIRST, False),
        (STARTED, ContextMode.CONTINUATION, False),
        (RETURNS, ContextMode.RETURNING, False),
        (ModeInputs(started=True, waiting=True), ContextMode.RESUME, False),
        (ModeInputs(started=True, waiting=True, other_worked=True), ContextMode.RESUME, False),
        (ModeInputs(started=True, forced_fresh=True), ContextMode.FIRST, True),
        (ModeInputs(started=True, waiting=True, forced_fresh=True), ContextMode.FIRST, True),
        (ModeInputs(started=True, gone=True), ContextMode.FIRST, True),
        (ModeInputs(forced_fresh=True), ContextMode.FIRST, False),
    ],
)
def test_mode_table(inputs: ModeInputs, expected: ContextMode, fresh: bool):
    for role in Role:
        choice = mode(role, inputs)
        assert (choice.mode, choice.fresh) == (expected, fresh)
        assert choice.why


@pytest.mark.parametrize(
    ("changes", "fresh"),
    [
        ({"need_changed": True}, True),
        ({"primary_turns": 8}, True),
        ({"primary_turns": 7}, False),
        ({"need_changed": True, "waiting": True}, False),
        ({"primary_turns": 50, "other_worked": False}, False),
        ({"need_changed": True, "other_worked": False}, False),
    ],
)
def test_an_escalation_starts_afresh_instead_of_returning(changes: dict, fresh: bool):
    inputs = replace(RETURNS, **changes)

    assert mode(Role.ESCALATION, inputs).fresh is fresh
    assert mode(Role.PRIMARY, inputs).fresh is False


def test_the_number_of_turns_is_configurable():
    assert mode(Role.ESCALATION, replace(RETURNS, primary_turns=3), 3).fresh


# segments and their order


def test_every_kind_of_segment_is_in_the_plan_with_a_reason():
    empty = plan(ContextState(role=Role.PRIMARY, agent=make.QWEN))

    names = {s.name for s in empty.segments}
    assert names == {*Part, PRIMARY, ESCALATION}
    assert given_names(empty) == [Part.IDENTITY]
    assert all(s.why for s in empty.segments)


def test_order_is_static_invariants_frame_then_volatile():
    assert given_names(plan(state())) == [
        Part.IDENTITY,
        Part.INSTRUCTIONS,
        Part.PROJECT,
        Part.PINNED,
        Part.INVARIANTS,
        Part.FRAME,
        Part.WORKING,
        Part.NEED,
        Part.BRIEF,
        PRIMARY,
        Part.FACTS,
    ]


def test_a_request_is_system_messages_thread_then_one_user_message_that_ends_with_the_prompt():
    sent = messages(plan(state(mode=STARTED)), "and now?")

    assert [m.role for m in sent] == ["system", "system", "system", "user", "assistant", "user"]
    assert sent[0].content.startswith("You are claude") and "tabs, never spaces" in sent[0].content
    assert sent[1].content == "[Invariants]\nstack: Python\n[/Invariants]"
    assert sent[2].content.startswith("[Frame]")
    assert sent[3].content == "hm"
    assert sent[5].content.startswith("[Context from milk]\n[Working set]")
    assert sent[5].content.endswith("[/Context from milk]\n\nand now?")


def test_cache_points_end_static_invariants_frame_and_the_threads_tail():
    sent = messages(plan(state(mode=STARTED)), "go")

    assert [m.cache_point for m in sent] == [True, True, True, False, True, False]


def test_through_tool_rounds_the_request_only_grows_and_the_last_cache_point_moves_along():
    made = plan(state(mode=STARTED))
    running = (*make.tool_round(1, "a"), *make.tool_round(2, "b"))

    first, second, third = (messages(made, "go", running[:n]) for n in (0, 2, 4))

    assert [m.content for m in second[: len(first)]] == [m.content for m in first]
    assert [m.content for m in third[: len(second)]] == [m.content for m in second]
    assert [i for i, m in enumerate(third) if m.cache_point] == [0, 1, 2, len(third) - 1]


def test_without_anything_to_say_the_prompt_stands_alone():
    bare = plan(ContextState(role=Role.PRIMARY, agent=make.QWEN))

    assert messages(bare, "hello")[-1] == Message(role="user", content="hello")


def test_the_volatile_part_is_not_replayed():
    thread = (make.thread_turn(1, "first prompt", "first answer"),)

    sent = messages(plan(state(mode=STARTED, thread=thread)), "second")

    assert [m.content for m in sent[3:5]] == ["first prompt", "first answer"]


# what each segment says


def test_identity_names_both_agents_and_the_directory():
    said = text(plan(state()), Part.IDENTITY)

    assert all(word in said for word in ("claude", "qwen", "/home/me/app", "escalation"))


def test_the_project_file_is_cut_at_16_kb_with_what_it_was_before():
    made = plan(state(project_text="é" * 20_000)).segment(Part.PROJECT)

    assert made is not None
    assert made.text.count("é") == 8_192 and made.shrunk_from == 20_000


def test_need_is_given_and_from_four_turns_on_it_may_be_done_already():
    assert text(plan(state(need_age=3)), Part.NEED) == "[Current need] award points once"
    assert "4 turns ago, may be done already" in text(plan(state(need_age=4)), Part.NEED)


@pytest.mark.parametrize(
    ("status", "reason"), [(NeedStatus.FULFILLED, "fulfilled"), (NeedStatus.REPLACED, "no need is set")]
)
def test_a_need_that_is_not_open_is_left_out(status: NeedStatus, reason: str):
    assert why(plan(state(need=make.brick(NEED, "x", status=status))), Part.NEED) == reason


def test_a_brief_is_delivered_exactly_once_and_to_the_escalation_only():
    brief = make.brick(BrickKind.BRIEF, "needs a design")

    assert text(plan(state(brief=brief)), Part.BRIEF) == (
        "[Why you were called]\nneeds a design\n[/Why you were called]"
    )
    assert why(plan(state(brief=bricks.delivered(brief, 9))), Part.BRIEF) == "delivered already"
    assert why(plan(state(Role.PRIMARY, brief=brief)), Part.BRIEF) == "only an escalation has a brief"


def test_demotion_gives_the_primary_what_the_escalation_did():
    made = plan(state(Role.PRIMARY, mode=RETURNS, other_delta=DELTA))

    assert text(made, ESCALATION).startswith("[Summary of claude: since your last answer]\n## Turn 7")


def test_a_first_start_gets_the_whole_summary_of_the_other_agent():
    head, *body, foot = text(plan(state(other_delta=DELTA)), PRIMARY).split("\n")

    assert (head, foot) == ("[Summary of qwen: the whole session]", "[/Summary of qwen: the whole session]")
    assert body == ["## Turn 1", "user: hi", "qwen: hello"]


@pytest.mark.parametrize("inputs", [RETURNS, ModeInputs(started=True, waiting=True), STARTED])
def test_later_it_gets_what_the_other_agent_did_since_else_nothing(inputs: ModeInputs):
    assert "new work" in text(plan(state(mode=inputs, other_delta=DELTA)), PRIMARY)
    nothing = plan(state(mode=inputs, other_delta=Rendering()))
    assert why(nothing, PRIMARY) == "nothing new: its own thread has the rest"


def test_a_stateless_agent_gets_everything_else_with_every_request():
    for inputs in (ModeInputs(), STARTED, RETURNS, ModeInputs(started=True, waiting=True)):
        made = plan(state(mode=inputs, told=frozenset([make.percept(2, "").id])))
        expected = {*context.STATIC_PARTS, Part.INVARIANTS, Part.FRAME, Part.WORKING, Part.NEED, Part.FACTS}
        assert expected <= set(given_names(made))


def test_what_is_delivered_once_stays_in_the_thread_with_its_turn():
    first = plan(state(notes="a note", digest="revision 3"))

    kept = context.delivered(first.segments)

    assert [line for line in kept.split("\n") if line.startswith("[") and not line.startswith("[/")] == [
        "[Why you were called]",
        "[Summary of qwen: the whole session]",
        "[Notes]",
        "[News]",
    ]
    turn = replace(make.thread_turn(3, "design it", "done"), delivered=kept)
    sent = messages(plan(state(mode=STARTED, brief=None, thread=(turn,))), "go on")
    assert [m.content for m in sent[3:5]] == [f"{kept}\n\ndesign it", "done"]


def test_when_a_summary_leaves_the_thread_the_whole_one_is_given_again_once():
    budgets = Budgets(window_tokens=4_000)
    thread = (
        replace(make.thread_turn(1, "p", "a" * 1_900), delivered="[Summary of qwen: …]"),
        *(make.thread_turn(n, "p", "a" * 1_900) for n in range(2, 5)),
    )
    before = plan(state(mode=STARTED, thread=thread, budgets=budgets))

    after = plan(state(mode=STARTED, thread=thread, budgets=budgets, mark=before.thread_mark, prompt="p" * 1_000))
    later = plan(state(mode=STARTED, thread=thread, budgets=budgets, mark=after.thread_mark))

    assert why(before, PRIMARY).startswith("nothing new")
    assert "the whole session" in text(after, PRIMARY)
    assert why(later, PRIMARY).startswith("nothing new")


def test_a_caller_that_does_not_replay_deliveries_gets_whole_summaries_every_time():
    for inputs in (ModeInputs(), STARTED, RETURNS, ModeInputs(started=True, waiting=True)):
        assert "the whole session" in text(plan(state(mode=inputs, other_delta=None)), PRIMARY)

    fresh = plan(state(mode=ModeInputs(started=True, forced_fresh=True), other_delta=None))
    later = state(mode=STARTED, mark=fresh.thread_mark, other_delta=None)
    assert "claude: deep" in text(plan(later), ESCALATION)
    assert not plan(replace(later, other_delta=DELTA)).segment(ESCALATION).included


def test_its_own_prior_summary_comes_only_with_a_fresh_start():
    assert why(plan(state(mode=RETURNS)), ESCALATION) == "its own thread has it"

    for inputs in (replace(RETURNS, need_changed=True), ModeInputs(started=True, forced_fresh=True)):
        fresh = plan(state(mode=inputs))
        assert "claude: deep" in text(fresh, ESCALATION)
        assert "qwen: hello" in text(fresh, PRIMARY)


def test_a_fresh_start_leaves_the_thread_behind_for_good():
    fresh = plan(state(mode=ModeInputs(started=True, forced_fresh=True)))

    assert fresh.thread == () and fresh.thread_note == "left behind: fresh start asked for"
    later = plan(
        state(
            mode=STARTED,
            mark=fresh.thread_mark,
            thread=(make.thread_turn(2, "hm", "deep"), make.thread_turn(3, "new", "start")),
        )
    )
    assert [m.content for m in later.thread] == ["new", "start"]


def test_with_one_agent_there_is_no_summary_of_another():
    alone = plan(state(Role.PRIMARY, other=None, escalation_summary=None))

    assert why(alone, ESCALATION) == "there is no other agent"


def test_an_agent_that_has_not_worked_has_no_summary():
    assert why(plan(state(primary_summary=None)), PRIMARY) == "qwen has not answered yet"


def test_the_reason_of_a_summary_counts_what_was_collapsed_cut_and_dropped():
    brick = replace(make.brick(PRIMARY, "t"), collapsed=12, cut=3, dropped=40)

    segment = plan(state(primary_summary=brick)).segment(PRIMARY)

    assert segment is not None
    assert segment.why.endswith("12 calls collapsed, 3 texts cut, 40 older turns dropped")


def test_notes_and_digest_are_empty_with_the_reason():
    made = plan(state())

    assert why(made, Part.NOTES) == "no note waits"
    assert why(made, Part.DIGEST) == "no news from other sessions waits"


def test_notes_stand_behind_the_facts():
    made = plan(state(notes="remember the outage", digest="revision 3"))

    assert given_names(made)[-3:] == [Part.FACTS, Part.NOTES, Part.DIGEST]


def test_a_proposed_invariant_is_not_given():
    proposed = replace(make.entry(Layer.INVARIANT, "style", "tabs"), proposed=True)

    made = plan(state(invariants_at_start=(proposed,)))

    assert why(made, Part.INVARIANTS) == "none was accepted when the session began"


def test_a_layer_over_its_budget_is_shown_and_the_agent_is_asked_to_tidy():
    long = tuple(make.entry(Layer.WORKING, f"k{n}", "v" * 300) for n in range(6))

    said = text(plan(state(working=long)), Part.WORKING)

    assert said.count("v" * 300) == 6 and "(over 1,500 characters, please tidy)" in said


def test_a_decision_has_its_reason():
    decided = make.entry(Layer.FRAME, "decided", "integers", reason="legal")

    assert "decided: integers [reason: legal]" in text(plan(state(frame=(decided,))), Part.FRAME)
