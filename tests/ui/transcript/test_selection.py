"""Mouse, folds and copying: what is copied is the source, never what was painted."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from textual.pilot import Pilot
from textual.selection import SELECT_ALL, Selection

from milk_tui.core.records import Role, ToolStatus
from milk_tui.ui.transcript import EntryBody, Header, ReceiptLine, Thinking, Tool, Transcript
from milk_tui.ui.transcript.selection import word_at
from tests.ui.transcript.support import TranscriptApp, leg, painted, prompt, session, show

SIZE = (60, 30)
TEXT = (
    "The *handler* retries `charge()` when the **queue** times out, and this sentence is long.\n\n"
    "- first item\n- second item\n\n"
    "```python\ndef f(x):\n    return x\n```\n\n"
    "| a | b |\n|---|---|\n| one | two |\n\n"
    "漢字 and emoji 👍 end"
)


def at(transcript: Transcript, words: str) -> tuple[int, int]:
    """The cell where some words are painted."""
    for y, row in enumerate(painted(transcript)):
        if words in row:
            from rich.cells import cell_len

            return cell_len(row[: row.index(words)]) + 2, y
    raise AssertionError(f"{words!r} is not on the screen: {painted(transcript)}")


async def drag(pilot: Pilot[None], transcript: Transcript, first: str, last: str, *, past: bool = False) -> str:
    """Selects from the first letter of ``first`` to the last letter of ``last``; what would be copied."""
    from rich.cells import cell_len

    x1, y1 = at(transcript, first)
    x2, y2 = at(transcript, last)
    x2 = x2 + cell_len(last) - 1 + (3 if past else 0)
    await pilot.mouse_down(transcript, offset=(x1, y1))
    await pilot.hover(transcript, offset=(x2, y2))
    await pilot.mouse_up(transcript, offset=(x2, y2))
    await pilot.pause()
    return pilot.app.screen.get_selected_text() or ""


@pytest.mark.parametrize(
    ("first", "last", "copied"),
    [
        ("retries", "retries", "retries"),
        ("charge", "queue", "charge()` when the **queue"),
        ("The", "long.", TEXT.split("\n\n")[0]),
        ("queue", "second", "queue** times out, and this sentence is long.\n\n- first item\n- second"),
        ("first", "item", "first item"),
        ("def", "x):", "def f(x):"),
        ("def", "return", "def f(x):\n    return"),
        ("one", "one", "one"),
        ("second", "def", "second item\n\n```python\ndef"),
        ("字", "👍", "字 and emoji 👍"),
    ],
)
async def test_a_drag_copies_the_source(first, last, copied):
    async with TranscriptApp().run_test(size=SIZE) as pilot:
        transcript, _ = await show(pilot, [leg(1, TEXT)])
        assert await drag(pilot, transcript, first, last) == copied


async def test_a_drag_past_the_end_of_a_row_stays_in_its_text():
    async with TranscriptApp().run_test(size=SIZE) as pilot:
        transcript, _ = await show(pilot, [leg(1, TEXT)])
        assert await drag(pilot, transcript, "def", "f(x):", past=True) in ("def f(x):", "def f(x):\n")
        assert await drag(pilot, transcript, "second", "second item", past=True) == "second item"


async def test_a_drag_upwards_is_the_same():
    async with TranscriptApp().run_test(size=SIZE) as pilot:
        transcript, _ = await show(pilot, [leg(1, TEXT)])
        x1, y1 = at(transcript, "second")
        x2, y2 = at(transcript, "first")
        await pilot.mouse_down(transcript, offset=(x1, y1))
        await pilot.hover(transcript, offset=(x2, y2))
        await pilot.mouse_up(transcript, offset=(x2, y2))
        assert pilot.app.screen.get_selected_text() == "first item\n- s"


async def test_entries_are_an_empty_line_apart():
    async with TranscriptApp().run_test(size=SIZE) as pilot:
        transcript, _ = await show(pilot, [prompt(1, "ask this\nplease"), leg(1, "answer *it*"), prompt(2, "next")])
        copied = await drag(pilot, transcript, "this", "next")
        assert copied == "this\nplease\n\n● qwen · 14:02\nanswer *it*\n\nyou · 14:02\nnext"


async def test_a_selection_stays_on_its_words_when_rows_move():
    async with TranscriptApp().run_test(size=SIZE) as pilot:
        transcript, _ = await show(pilot, [leg(1, TEXT)])
        before = await drag(pilot, transcript, "queue", "second")
        await pilot.resize_terminal(35, 40)
        await pilot.pause()
        transcript.append(*leg(2, "more text"))
        await pilot.pause()
        assert pilot.app.screen.get_selected_text() == before


def marked(transcript: Transcript) -> str:
    """The characters that are painted as selected."""
    background = transcript._mark.bgcolor
    return "".join(
        segment.text
        for strip in transcript.render_lines(transcript.size.region)
        for segment in strip
        if segment.style is not None and segment.style.bgcolor == background
    )


@pytest.mark.parametrize(("first", "last", "shown"), [("字", "👍", "字 and emoji 👍"), ("one", "two", "onetwo")])
async def test_what_is_marked_is_what_is_copied(first, last, shown):
    async with TranscriptApp().run_test(size=SIZE) as pilot:
        transcript, _ = await show(pilot, [leg(1, TEXT)])
        await drag(pilot, transcript, first, last)
        assert marked(transcript) == shown
        pilot.app.screen.clear_selection()
        await pilot.pause()
        assert marked(transcript) == ""


async def test_two_clicks_take_the_word_and_three_the_block():
    async with TranscriptApp().run_test(size=SIZE) as pilot:
        transcript, _ = await show(pilot, [leg(1, TEXT)])
        await pilot.double_click(transcript, offset=at(transcript, "second"))
        assert pilot.app.screen.get_selected_text() == "second"
        await pilot.triple_click(transcript, offset=at(transcript, "return"))
        assert pilot.app.screen.get_selected_text() == "```python\ndef f(x):\n    return x\n```"
        await pilot.triple_click(transcript, offset=at(transcript, "handler"))
        assert pilot.app.screen.get_selected_text() == TEXT.split("\n\n")[0]


async def test_select_all_takes_what_is_in_view_not_the_session():
    async with TranscriptApp().run_test(size=SIZE) as pilot:
        transcript, _ = await show(pilot, session(400))
        text, _ = transcript.get_selection(SELECT_ALL) or ("", "")
        assert "question 399" in text and "question 380" not in text


async def test_a_drag_that_leaves_the_view_ends_at_its_edge():
    async with TranscriptApp().run_test(size=SIZE) as pilot:
        transcript, _ = await show(pilot, session(400))
        await pilot.press("pageup")
        last = painted(transcript)[-1]
        text, _ = transcript.get_selection(Selection(None, None)) or ("", "")
        assert last.strip(" │▪◦•▌") in text
        assert len(text) < 4_000


async def test_escape_and_a_click_drop_the_selection():
    async with TranscriptApp().run_test(size=SIZE) as pilot:
        transcript, _ = await show(pilot, [leg(1, TEXT)])
        await drag(pilot, transcript, "queue", "second")
        await pilot.press("escape")
        assert not pilot.app.screen.get_selected_text()


async def test_selecting_while_text_arrives_leaves_the_end():
    async with TranscriptApp().run_test(size=SIZE) as pilot:
        transcript, _ = await show(pilot, session(10))
        transcript.append(*leg(900), live=True)
        for n in range(30):
            transcript.stream_text(("leg", 900), f"line {n}\n\n")
        transcript._tick()
        await drag(pilot, transcript, "line 25", "line 27")
        before = painted(transcript)
        for n in range(30):
            transcript.stream_text(("leg", 900), f"later {n}\n\n")
        transcript._tick()
        assert painted(transcript) == before
        assert pilot.app.screen.get_selected_text() == "line 25\n\nline 26\n\nline 27"


async def test_a_click_on_the_mark_opens_and_folds():
    parts = (
        Thinking("deep thoughts\nof two lines"),
        Tool("t", "read_file", '{"path": "a.py"}', "x = 1\n", ToolStatus.OK),
    )
    async with TranscriptApp().run_test(size=SIZE) as pilot:
        transcript, _ = await show(pilot, [leg(1, *parts)])
        await pilot.click(transcript, offset=at(transcript, "▸ thinking"))
        assert "│ deep thoughts" in painted(transcript)
        await pilot.click(transcript, offset=at(transcript, "▸ read_file"))
        start = painted(transcript).index("    │ arguments")
        assert painted(transcript)[start + 1 : start + 4] == ['    │ {"path": "a.py"}', "    │ result", "    │ x = 1"]
        await pilot.click(transcript, offset=at(transcript, "▾ thinking"))
        assert "│ deep thoughts" not in painted(transcript)


async def test_keys_fold_and_copy_the_block_under_the_cursor():
    app = TranscriptApp()
    async with app.run_test(size=SIZE) as pilot:
        transcript, _ = await show(pilot, [leg(1, Thinking("deep thoughts"), TEXT)])
        await pilot.press("home", "j")
        await pilot.press("enter")
        assert "│ deep thoughts" in painted(transcript)
        await pilot.press("space")
        assert "│ deep thoughts" not in painted(transcript)
        await pilot.press("j", "y")
        assert app.said[-1] == Transcript.CopyRequested(TEXT.split("\n\n")[0])
        await pilot.press("j", "j", "j", "y")
        assert app.said[-1] == Transcript.CopyRequested("```python\ndef f(x):\n    return x\n```")


async def test_a_fold_that_opens_keeps_the_reader():
    async with TranscriptApp().run_test(size=SIZE) as pilot:
        made = [*session(20), leg(500, Thinking("thought\n" * 200), "text"), *session(3)[-2:]]
        transcript, _ = await show(pilot, [*made[:-2], prompt(501, "x"), leg(501, "y " * 900)])
        transcript.show_entry(("leg", 500))
        top = painted(transcript)[:2]
        await pilot.press("j", "enter")
        assert painted(transcript)[0] == top[0]
        assert painted(transcript)[2] == "│ thought"


async def test_a_fold_that_opens_at_the_end_stays_where_it_was_clicked():
    app = TranscriptApp()
    async with app.run_test(size=SIZE) as pilot:
        transcript, _ = await show(pilot, [*session(9), leg(500, Thinking("thought\n" * 200), "text")])
        x, y = at(transcript, "▸ thinking")
        await pilot.click(transcript, offset=(x, y))
        assert painted(transcript)[y].startswith("▾ thinking")
        assert not transcript.following
        await pilot.click(transcript, offset=(x, y))
        assert transcript.following
        assert app.said == [Transcript.FollowChanged(False, 0), Transcript.FollowChanged(True, 0)]
        assert at(transcript, "▸ thinking") == (x, y)


async def test_links_and_receipts_are_told_not_opened():
    app = TranscriptApp()
    async with app.run_test(size=SIZE) as pilot:
        made = leg(1, "see [the docs](https://example.com/d) there")
        body = EntryBody((ReceiptLine("sent 5.1k chars", "F3"), Header("claude", Role.ESCALATION), *made[1].parts[1:]))
        transcript, _ = await show(pilot, [(made[0], body)])
        await pilot.click(transcript, offset=at(transcript, "docs"))
        assert app.said[-1] == Transcript.LinkClicked("https://example.com/d", "the docs")
        await pilot.click(transcript, offset=at(transcript, "[F3]"))
        assert app.said[-1] == Transcript.ReceiptRequested(("leg", 1))
        count = len(app.said)
        await pilot.click(transcript, offset=at(transcript, "there"))
        assert len(app.said) == count


async def test_ctrl_c_copies_the_selection():
    app = TranscriptApp()
    async with app.run_test(size=SIZE) as pilot:
        transcript, _ = await show(pilot, [leg(1, TEXT)])
        await drag(pilot, transcript, "queue", "second")
        await pilot.press("ctrl+c")
        assert app.clipboard == "queue** times out, and this sentence is long.\n\n- first item\n- second"


@pytest.mark.parametrize(
    ("text", "x", "word"),
    [
        ("see payments/handler.py.", 8, "payments/handler.py"),
        ("say hello-world!", 6, "hello-world"),
        ("a b", 1, " "),
        ("漢字です", 1, "漢字です"),
        ("one\ntwo", 4, "two"),
    ],
)
def test_a_word_is_what_a_person_means_by_one(text, x, word):
    first, last = word_at(text, x)
    assert text[first:last] == word


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="ab./- \n漢", min_size=1, max_size=30), st.data())
def test_a_word_contains_the_character_it_was_asked_for(text, data):
    x = data.draw(st.integers(0, len(text) - 1))
    first, last = word_at(text, x)
    assert first <= x < last <= len(text)
