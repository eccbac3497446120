"""Bricks, contexts and receipts as rows: exact sizes, marked estimates, reasons."""

from __future__ import annotations

from hypothesis import given as examples
from hypothesis import strategies as st

from milk_tui.core.records import BrickKind, ContextMode, LegStatus, NeedStatus, Role, Segment, Usage
from milk_tui.core.token_sizes import Tokens, cache_use
from milk_tui.store.receipt_lists import SentLeg
from milk_tui.ui import brick_versions, inspector_rows, receipt_list, receipt_rows
from milk_tui.ui.inspector_rows import NeedAge
from milk_tui.ui.paint import cells, plain
from milk_tui.ui.receipt_rows import Given
from tests.ui.samples import NOW, brick, receipt, segment

HOSTILE = "\x1b]52;c;aGk=\x07[red]not markup[/red] \u202eevil\x1b[31m"


def shown(rows, width: int = 60) -> str:
    return "\n".join(plain(line).rstrip() for row in rows for line in row.lines(width))


def sent(leg_id: int = 7, **more: object) -> SentLeg:
    values: dict[str, object] = {
        "leg_id": leg_id,
        "turn_id": 3,
        "role": Role.ESCALATION,
        "agent_name": "claude",
        "model": "anthropic/claude",
        "mode": ContextMode.FIRST,
        "status": LegStatus.DONE,
        "sent_ms": NOW,
        "chars": 4_000,
        "thread_messages": 2,
        "thread_chars": 1_000,
        "tools": 0,
        "usage": Usage(),
        **more,
    }
    return SentLeg(**values)  # type: ignore[arg-type]


def test_bricks_show_their_numbers() -> None:
    text = shown(
        inspector_rows.brick_rows(
            [
                brick(BrickKind.NEED, "ship it", turn_id=3, author="user", version=2, status=NeedStatus.OPEN),
                brick(BrickKind.BRIEF, "too deep", delivered_leg=9),
                brick(BrickKind.PRIMARY_SUMMARY, "x" * 6_000, collapsed=4, cut=2, dropped=1),
            ],
            12_000,
            NeedAge(5),
        ),
        100,
    )
    assert "need  open" in text
    assert "5 turns old, may be done already · version 2 by user, turn 3" in text
    assert "delivered with leg 9" in text
    assert "▰▰▰▰▰▱▱▱▱▱ 6.0k/12.0k" in text
    assert "4 tool calls collapsed · 2 texts cut · 1 turn dropped" in text


def test_a_brick_that_is_not_there_says_what_will_come_and_can_be_chosen() -> None:
    rows = inspector_rows.brick_rows([], 12_000, None)
    chosen = [inspector_rows.kind_of(row.key) for row in rows if row.selectable]
    assert chosen == list(BrickKind)
    assert "comes with an escalation" in shown(rows) and "built after each of its answers" in shown(rows)


def test_a_long_brick_is_cut_in_the_list_and_says_so() -> None:
    text = shown(inspector_rows.brick_rows([brick(BrickKind.BRIEF, "line\n" * 50)], 12_000, None))
    assert text.count("line\n") == inspector_rows.PREVIEW_LINES
    assert "43 more lines: enter shows all" in text


def test_a_segment_says_its_size_whether_it_stays_and_why_it_is_in_or_out() -> None:
    given = Given.of_receipt(
        receipt(
            segment("identity", "you are …", stable=True, why="who it is"),
            Segment(name="facts", text="• a", stable=False, included=True, why="the cap", shrunk_from=900),
            segment("frame", why="none was written"),
        ),
        {"you are …": Tokens(3, estimated=False)},
    )
    text = shown(receipt_rows.segment_rows(given, "s"), 80)
    assert "■ identity" in text and "9 chars       3 tok fixed\n    who it is" in text
    assert "3 chars      ~1 tok\n    shrunk from 900 chars: the cap" in text
    assert "□ frame  left out\n    none was written" in text


def test_a_sum_with_an_estimate_in_it_is_marked() -> None:
    counted = Given.of_receipt(receipt(segment("identity", "12345678")), {"12345678": Tokens(2, estimated=False)})
    assert "8 of 24.0k chars · 2 tok in all" in shown(receipt_rows.head_rows(counted, 24_000, "g"))
    guessed = Given.of_receipt(receipt(segment("identity", "12345678")))
    assert "· ~2 tok in all" in shown(receipt_rows.head_rows(guessed, None, "g"))


def test_a_segment_unfolds_to_its_text_as_text() -> None:
    given = Given.of_receipt(receipt(segment("facts", f"one\n{HOSTILE}")))
    text = shown(receipt_rows.segment_rows(given, "s", {"s:0"}))
    assert "     one\n" in text and "[red]not markup[/red] evil" in text
    assert "\x1b" not in text and "\u202e" not in text


def test_a_receipt_in_the_list_tells_reported_from_estimated_and_unknown() -> None:
    unknown = shown([receipt_list.ReceiptRow("r", sent())], 100)
    assert "5.0k chars · ~1.2k tok · cache ?" in unknown
    usage = Usage(input_tokens=1_300, cached_tokens=0, cache_write_tokens=200)
    assert "5.0k chars · 1.3k tok · cache 0 read, 200 written" in shown(
        [receipt_list.ReceiptRow("r", sent(usage=usage))], 100
    )


def test_with_little_room_the_largest_figures_stay() -> None:
    usage = Usage(input_tokens=1_300, cached_tokens=900)
    for width in (38, 50, 66, 120):
        text = shown([receipt_list.ReceiptRow("r", sent(usage=usage))], width)
        assert "turn 3" in text and "1.3k tok" in text and "900 read" in text, width


def test_an_answer_that_did_not_end_well_says_so() -> None:
    assert "stopped" in shown([receipt_list.ReceiptRow("r", sent(status=LegStatus.CANCELLED))])


def test_the_sum_of_a_session_names_what_it_does_not_know() -> None:
    legs = [sent(1, usage=Usage(input_tokens=100, cached_tokens=60)), sent(2)]
    words = receipt_list.sum_words(2, cache_use([each.measure for each in legs]))
    assert words == "2 legs · cache 60 read, ? written · 60 % of what was sent · 1 leg did not say"


def test_versions_say_who_wrote_them_and_unfold() -> None:
    versions = [brick(BrickKind.NEED, "second\nline", version=2, author="user"), brick(BrickKind.NEED, "first")]
    folded = shown(brick_versions.version_rows(versions), 100)
    assert "version 2 by user, turn 1" in folded and "second line" in folded
    assert "    second\n    line" in shown(brick_versions.version_rows(versions, {"version:2"}), 100)


TEXT = st.text(max_size=300) | st.just(HOSTILE)


@examples(st.lists(st.tuples(st.text(max_size=30), TEXT, st.booleans(), TEXT), max_size=6), st.integers(20, 130))
def test_rows_are_never_wider_than_the_list_and_their_heights_are_true(parts, width) -> None:
    segments = [segment(name, text, stable=stable, why=why) for name, text, stable, why in parts]
    given = Given.of_receipt(receipt(*segments))
    opened = {f"s:{n}" for n in range(len(segments))}
    for row in [*receipt_rows.head_rows(given, 9, "h"), *receipt_rows.segment_rows(given, "s", opened)]:
        lines = row.lines(width)
        assert len(lines) == row.height(width)
        assert all("\x1b" not in plain(line) for line in lines)
        if row.selectable or "text" in row.key:
            assert all(cells(line) <= max(width, 40) for line in lines)
