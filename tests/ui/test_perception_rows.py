"""Entries, costs and the time slider as text: what is believed, by whom, and what speaks against it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from milk_tui.core import perception
from milk_tui.core.perception_view import Dispute, EntryView, LayerView, SliceInfo, Version
from milk_tui.core.records import Layer, PerceptionEntry
from milk_tui.core.token_sizes import Tokens
from milk_tui.ui import perception_rows as rows
from milk_tui.ui.paint import cells, plain
from milk_tui.ui.perception_slider import places, slider_line
from tests.ui.samples import NOW


def entry(key: str = "decided", value: str = "use a queue", **more: object) -> PerceptionEntry:
    values: dict[str, object] = {"layer": Layer.FRAME, "writer": "claude", "turn_id": 4, "updated_ms": NOW, **more}
    return PerceptionEntry(key=key, value=value, **values)  # type: ignore[arg-type]


def layer(*entries: EntryView, proposals: tuple[EntryView, ...] = (), chars: int = 100) -> LayerView:
    return LayerView(layer=Layer.FRAME, entries=entries, proposals=proposals, chars=chars, budget=3_000)


def shown(view: LayerView, width: int = 60, **more: object) -> str:
    made = rows.layer_rows(view, **more)  # type: ignore[arg-type]
    return "\n".join(plain(line).rstrip() for row in made for line in row.lines(width))


def test_an_entry_says_its_reason_its_writer_and_its_time() -> None:
    text = shown(layer(EntryView(entry=entry(reason="retries"))))
    assert "decided\n     use a queue\n     because retries\n     claude · turn 4 · " in text


def test_each_line_of_a_list_has_its_own_reason_and_blocker() -> None:
    open_ones = entry("open", "who pays [blocked on legal]\nwhen [reason: deadline]")
    text = shown(layer(EntryView(entry=open_ones)))
    assert "   – who pays\n     waits for legal\n   – when\n     because deadline" in text
    assert "blocked" in text.split("\n")[0]


def test_what_speaks_against_an_entry_is_marked_in_words() -> None:
    disputed = Dispute(id=1, entry=entry(value="ours"), at_ms=NOW)
    view = EntryView(entry=entry(stale="a test failed"), unreasoned=("use a queue",), dispute=disputed, expired=True)
    text = shown(layer(view))
    assert all(mark in text.split("\n")[0] for mark in ("stale?", "conflict", "expired"))
    assert "! 1 decision without a reason" in text and "? a test failed" in text
    assert "the file overruled: ours · s swaps" in text and "no agent is given it any more" in text


def test_proposals_come_first_and_say_the_keys() -> None:
    text = shown(layer(EntryView(entry=entry("stack", "python")), proposals=(EntryView(entry=entry("soil", "clay")),)))
    assert (
        text.index("PROPOSED  y accepts · n rejects")
        < text.index("clay")
        < text.index("ACCEPTED")
        < text.index("python")
    )


def test_what_a_turn_changed_has_a_mark() -> None:
    assert " ± decided" in shown(layer(EntryView(entry=entry())), changed={"entry:decided"})


def test_archived_slices_can_be_opened_and_the_past_shows_none() -> None:
    slices = [
        SliceInfo(name="garden", open=False, entries=3, opened_ms=NOW, updated_ms=NOW),
        SliceInfo(name="kitchen", open=True, entries=1, opened_ms=NOW, updated_ms=NOW),
    ]
    assert "OTHER SLICES  o opens\n   garden" in shown(layer(), slices=slices)
    assert "kitchen" not in shown(layer(), slices=slices)
    assert shown(layer(), slices=slices, now=False).strip() == rows.PAST_EMPTY


def test_a_cost_says_when_it_is_over_and_whether_it_was_counted() -> None:
    assert rows.cost_words(layer(chars=600), Tokens(150, estimated=False)) == ("▰▱▱▱▱ 600/3.0k chars · 150 tok", False)
    words, over = rows.cost_words(layer(chars=3_400), None)
    assert words.endswith("3.4k/3.0k chars · 400 over · ~850 tok") and over


@given(
    st.lists(st.text(st.characters(codec="utf-8"), max_size=40), min_size=1, max_size=4),
    st.text(max_size=20),
    st.text(max_size=20),
)
def test_what_is_offered_for_editing_is_read_back_as_it_was(lines, reason, blocker) -> None:
    kept = perception.normal(entry(value="\n".join(lines), reason=reason, blocker=blocker))
    if not kept.value:
        return
    again = perception.normal(
        PerceptionEntry(
            layer=kept.layer,
            key=kept.key,
            value=rows.editable(kept),
            writer=kept.writer,
            turn_id=kept.turn_id,
            updated_ms=kept.updated_ms,
        )
    )
    assert again == kept


HOSTILE = "\x1b[31m" + "x" * 5_000 + "\u202e[red]"


@given(st.text(max_size=400) | st.just(HOSTILE), st.text(max_size=60), st.integers(20, 120))
def test_no_line_is_wider_than_the_pane_and_heights_are_true(value, reason, width) -> None:
    view = EntryView(entry=entry(value=value, reason=reason, blocker=reason, stale=reason, writer=reason))
    for row in rows.layer_rows(layer(view)):
        lines = row.lines(width)
        assert len(lines) == row.height(width)
        assert all(cells(line) <= max(width, 44) and "\x1b" not in plain(line) for line in lines)


def version(turn: int, changes: int = 1) -> Version:
    return Version(turn_id=turn, at_ms=NOW, changes=changes, writers=("qwen",))


def test_the_slider_has_a_stop_for_each_turn_with_changes_and_now() -> None:
    line, stops = slider_line([version(1), version(4), version(9)], 1, 80)
    assert plain(line).count("●") == 3 and plain(line).count("◉") == 1
    assert "turn 4 · 1 change by qwen" in plain(line)
    assert len(stops) == 4 and [plain(line)[stop] for stop in stops] == ["●", "◉", "●", "●"]


def test_now_is_the_last_stop() -> None:
    line, stops = slider_line([version(1)], None, 80)
    assert plain(line)[stops[-1]] == "◉" and "last change: turn 1" in plain(line)


def test_a_terminal_without_unicode_gets_ascii() -> None:
    line, _ = slider_line([version(1), version(2)], 0, 40, plain=True)
    assert plain(line).partition("turn")[0].isascii()


@given(st.sets(st.integers(1, 10_000), min_size=1, max_size=300), st.integers(4, 200))
def test_stops_are_in_order_and_on_the_track(turns, width) -> None:
    found = places([version(turn) for turn in sorted(turns)], width)
    assert len(found) == len(turns)
    assert found == sorted(found) and found[0] >= 0 and found[-1] < width
    if len(turns) <= width:
        assert len(set(found)) == len(found)
