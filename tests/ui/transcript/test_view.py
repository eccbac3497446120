"""Where the view stands: it follows the end or reads where the person left it, and never jumps by itself."""

from __future__ import annotations

import pytest
from textual import events

from milk_tui.ui.transcript import Entry, EntryBody, EntryKind, Markdown, Transcript
from milk_tui.ui.transcript.document import KEPT_CHARS
from milk_tui.ui.transcript.render import KEPT_ROWS
from tests.support.polling import until
from tests.ui.transcript.support import TranscriptApp, leg, painted, prompt, session, show

SIZE = (80, 24)


async def test_a_session_opens_at_its_end_and_follows():
    async with TranscriptApp().run_test(size=SIZE) as pilot:
        transcript, _ = await show(pilot, session(200))
        assert painted(transcript)[-2] == "answer 199"
        assert transcript.following
        assert transcript.scroll_y == transcript.max_scroll_y > 0


async def test_a_short_session_fills_from_the_top():
    async with TranscriptApp().run_test(size=SIZE) as pilot:
        transcript, _ = await show(pilot, [prompt(1, "hello"), leg(1, "hi")])
        assert painted(transcript)[:5] == ["you · 14:02", "hello", "", "● qwen · 14:02", "hi"]
        assert transcript.following


async def test_opening_a_long_session_touches_only_what_is_seen():
    async with TranscriptApp().run_test(size=SIZE) as pilot:
        _, small = await show(pilot, session(50))
        few = len(set(small.got))
        _, large = await show(pilot, session(3_000))
        assert len(set(large.got)) <= few + 2
        assert few < 30


async def test_pages_up_and_down_join_without_a_jump_however_wrong_the_guesses():
    async with TranscriptApp().run_test(size=SIZE) as pilot:
        transcript, _ = await show(pilot, session(120))
        for _ in range(40):
            before = painted(transcript)
            await pilot.press("pageup")
            assert painted(transcript)[-1] == before[0]
        for _ in range(15):
            before = painted(transcript)
            await pilot.press("pagedown")
            assert painted(transcript)[0] == before[-1]


async def test_lines_move_by_one():
    async with TranscriptApp().run_test(size=SIZE) as pilot:
        transcript, _ = await show(pilot, session(60))
        for _ in range(60):
            before = painted(transcript)
            await pilot.press("up")
            assert painted(transcript)[1:] == before[:-1]


async def test_scrolling_up_leaves_the_end_and_the_end_key_returns():
    app = TranscriptApp()
    async with app.run_test(size=SIZE) as pilot:
        transcript, _ = await show(pilot, session(30))
        await pilot.press("up")
        assert app.said == [Transcript.FollowChanged(False, 0)] and not transcript.following
        await pilot.press("end")
        assert app.said[1:] == [Transcript.FollowChanged(True, 0)] and transcript.following


async def test_scrolling_back_to_the_bottom_follows_again():
    async with TranscriptApp().run_test(size=SIZE) as pilot:
        transcript, _ = await show(pilot, session(30))
        await pilot.press("pageup")
        assert not transcript.following
        await pilot.press("pagedown")
        assert transcript.following


async def test_moves_that_go_nowhere_say_nothing():
    app = TranscriptApp()
    async with app.run_test(size=SIZE) as pilot:
        transcript, _ = await show(pilot, [prompt(1, "short")])
        await pilot.press("up", "down", "pageup", "pagedown", "home")
        transcript, _ = await show(pilot, session(30))
        await pilot.press("down", "pagedown", "end")
        assert transcript.following and app.said == []


async def test_what_fits_is_followed():
    app = TranscriptApp()
    async with app.run_test(size=SIZE) as pilot:
        transcript, _ = await show(pilot, session(8))
        await pilot.press("home")
        assert not transcript.following
        for turn in range(1, 8):
            transcript.remove_entry(("turn", turn))
            transcript.remove_entry(("leg", turn))
        assert transcript.following


async def test_the_wheel_is_the_person_too():
    async with TranscriptApp().run_test(size=SIZE) as pilot:
        transcript, _ = await show(pilot, session(30))
        before = painted(transcript)
        up = events.MouseScrollUp(transcript, 5, 5, 0, 0, 0, False, False, False, 5, 5)
        transcript.post_message(up)
        await pilot.pause()
        moved = before.index(painted(transcript)[3]) if painted(transcript)[3] in before else 0
        assert not transcript.following and painted(transcript) != before and moved < 3


async def test_new_text_does_not_move_a_reader_and_is_counted():
    app = TranscriptApp()
    async with app.run_test(size=SIZE) as pilot:
        transcript, _ = await show(pilot, session(30))
        await pilot.press("pageup", "pageup")
        before = painted(transcript)
        transcript.append(*prompt(900, "new question"))
        transcript.append(*leg(900), live=True)
        for n in range(40):
            transcript.stream_text(("leg", 900), f"line {n}\n\n")
        await until(lambda: transcript._timer is None)
        assert painted(transcript) == before
        assert transcript.new_count == 2
        assert app.said[-1] == Transcript.FollowChanged(False, 2)
        transcript.follow()
        assert transcript.new_count == 0


async def test_new_text_moves_the_view_while_the_end_is_followed():
    async with TranscriptApp().run_test(size=SIZE) as pilot:
        transcript, _ = await show(pilot, session(30))
        transcript.append(*leg(900), live=True)
        for n in range(40):
            transcript.stream_text(("leg", 900), f"line {n}\n\n")
            await pilot.pause()
        await until(lambda: "line 39" in painted(transcript))
        assert transcript.scroll_y == transcript.max_scroll_y


@pytest.mark.parametrize("up", [0, 3, 11])
async def test_a_reader_keeps_the_place_when_the_width_changes(up):
    async with TranscriptApp().run_test(size=(100, 24)) as pilot:
        transcript, _ = await show(pilot, session(60))
        for _ in range(up):
            await pilot.press("pageup")
        index = transcript._window[0][0]
        for width in (60, 41, 120, 100):
            await pilot.resize_terminal(width, 24)
            await pilot.pause()
            if up:
                assert transcript._window[0][0] == index
            else:
                assert transcript.following and painted(transcript)[-2] == "answer 59"


async def test_a_reader_in_the_middle_of_a_paragraph_keeps_the_words_at_the_top():
    text = " ".join(f"word{n}" for n in range(600))
    async with TranscriptApp().run_test(size=(100, 20)) as pilot:
        transcript, _ = await show(pilot, [prompt(1, "x"), leg(1, text), prompt(2, "y"), leg(2, text)])
        await pilot.press("pageup", "pageup")
        first = painted(transcript)[0].split()[0]
        await pilot.resize_terminal(50, 20)
        await pilot.pause()
        assert first in painted(transcript)[0]
        await pilot.resize_terminal(100, 20)
        await pilot.pause()
        assert painted(transcript)[0].split()[0] == first


async def test_a_height_change_keeps_the_reader_too():
    async with TranscriptApp().run_test(size=SIZE) as pilot:
        transcript, _ = await show(pilot, session(60))
        await pilot.press("pageup", "pageup")
        top = painted(transcript)[:5]
        await pilot.resize_terminal(80, 12)
        await pilot.pause()
        assert painted(transcript)[:5] == top


@pytest.mark.parametrize("theme", ["textual-light", "ansi-dark", "ansi-light", "nord"])
async def test_another_theme_changes_the_colours_and_nothing_else(theme):
    app = TranscriptApp()
    async with app.run_test(size=SIZE) as pilot:
        transcript, _ = await show(pilot, session(60))
        await pilot.press("pageup")
        before, palette = painted(transcript), transcript.document.rows.paper.palette
        app.theme = theme
        await pilot.pause()
        assert painted(transcript) == before
        assert transcript.document.rows.paper.palette != palette


async def test_bodies_are_asked_for_once_and_shown_when_they_come():
    async with TranscriptApp().run_test(size=SIZE) as pilot:
        transcript, source = await show(pilot, session(50), at_once=False)
        assert "⋯ loading" in painted(transcript)
        for _ in range(20):
            keys = source.deliver()
            assert len(keys) < 40
            if not keys:
                break
            transcript.bodies_loaded(keys)
            await pilot.pause()
        assert "⋯ loading" not in painted(transcript)
        assert painted(transcript)[-2] == "│ line_49_14 = 14"
        assert transcript.following


async def test_bodies_that_come_late_do_not_move_the_reader():
    async with TranscriptApp().run_test(size=SIZE) as pilot:
        transcript, source = await show(pilot, session(50), at_once=False)
        for _ in range(20):
            transcript.bodies_loaded(source.deliver())
            await pilot.pause()
        await pilot.press("up")
        transcript.show_entry(("leg", 20))
        for _ in range(20):
            transcript.bodies_loaded(source.deliver())
            await pilot.pause()
        assert painted(transcript)[:2] == ["● qwen · 14:02", "answer 20"]


async def test_a_body_that_has_vanished_is_an_empty_entry():
    async with TranscriptApp().run_test(size=SIZE) as pilot:
        made = [prompt(1, "hello"), (Entry(("leg", 1), EntryKind.LEG), EntryBody(()))]
        transcript, _ = await show(pilot, made)
        assert painted(transcript)[:3] == ["you · 14:02", "hello", ""]


async def test_prompts_are_reached_by_key():
    async with TranscriptApp().run_test(size=SIZE) as pilot:
        transcript, _ = await show(pilot, session(40))
        await pilot.press("home", "right_square_bracket", "right_square_bracket")
        assert painted(transcript)[:2] == ["you · 14:02", "question 2"]
        await pilot.press("ctrl+up")
        assert painted(transcript)[1] == "question 1"
        await pilot.press("end", "right_square_bracket")
        assert transcript.following


async def test_home_shows_the_beginning():
    async with TranscriptApp().run_test(size=SIZE) as pilot:
        transcript, _ = await show(pilot, session(40))
        await pilot.press("home")
        assert painted(transcript)[:2] == ["you · 14:02", "question 0"]
        assert transcript.scroll_y == 0


async def test_the_cursor_walks_over_blocks_and_stays_in_view():
    async with TranscriptApp().run_test(size=SIZE) as pilot:
        transcript, _ = await show(pilot, session(40))
        for _ in range(60):
            await pilot.press("k")
            strips = transcript.render_lines(transcript.size.region)
            marks = [strip.text[0] for strip in strips]
            assert "▌" in marks
        assert not transcript.following


async def test_an_idle_transcript_has_no_timer():
    async with TranscriptApp().run_test(size=SIZE) as pilot:
        transcript, _ = await show(pilot, session(40))
        transcript.append(*leg(900), live=True)
        transcript.stream_text(("leg", 900), "```python\nx = 1\n```\n")
        await until(lambda: any("x = 1" in row for row in painted(transcript)))
        transcript.finish(("leg", 900), EntryBody((Markdown("```python\nx = 1\n```\n"),)))
        await until(
            lambda: not transcript.document.busy
            and not [timer for timer in transcript._timers if timer._task and not timer._task.done()]
        )


async def test_memory_is_bounded_while_the_whole_session_is_read():
    async with TranscriptApp().run_test(size=SIZE) as pilot:
        text = "para of words and more\n\n" * 400
        made = [pair for turn in range(400) for pair in (prompt(turn, "q"), leg(turn, text))]
        transcript, _ = await show(pilot, made)
        for turn in range(0, 400, 3):
            transcript.show_entry(("leg", turn))
            transcript.scroll_rows(300)
        document = transcript.document
        assert len(document.rows) <= KEPT_ROWS
        assert sum(layout.chars for layout in document._layouts.values()) <= KEPT_CHARS + 300 * 10


async def test_answers_larger_than_what_is_kept_are_cut_once_while_they_are_in_view():
    text = "para of words\n\n" * 100_000
    async with TranscriptApp().run_test(size=SIZE) as pilot:
        transcript, source = await show(pilot, [leg(1, text), prompt(2, "q"), leg(2, text), prompt(3, "r")])
        transcript.show_entry(("turn", 2))
        transcript.scroll_rows(-3)
        source.got.clear()
        for _ in range(5):
            transcript.settle()
        assert source.got == []


async def test_entries_can_be_taken_out_and_put_in_between():
    async with TranscriptApp().run_test(size=SIZE) as pilot:
        transcript, _ = await show(pilot, [prompt(1, "one"), prompt(3, "three")])
        transcript.append(*prompt(2, "two"), before=("turn", 3))
        transcript.remove_entry(("turn", 1))
        transcript.remove_entry(("turn", 1))
        assert [row for row in painted(transcript) if row in ("one", "two", "three")] == ["two", "three"]
        with pytest.raises(ValueError, match="already"):
            transcript.append(*prompt(2, "again"))


async def test_an_entry_can_say_something_else():
    async with TranscriptApp().run_test(size=SIZE) as pilot:
        transcript, source = await show(pilot, [prompt(1, "one")])
        source.bodies[("turn", 1)] = prompt(1, "other")[1]
        transcript.update(("turn", 1))
        assert "other" in painted(transcript)
        transcript.update(("turn", 1), prompt(1, "given")[1])
        assert "given" in painted(transcript)
        transcript.update(("turn", 99))


async def test_hidden_and_tiny_views_do_no_harm():
    app = TranscriptApp()
    async with app.run_test(size=SIZE) as pilot:
        transcript, _ = await show(pilot, session(10))
        for size in ((40, 12), (9, 4), (4, 3), (80, 24)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
        assert painted(transcript)[-2] == "│ line_9_14 = 14"
        transcript.display = False
        transcript.append(*prompt(77, "while hidden"))
        await pilot.pause()
        transcript.display = True
        await pilot.pause()
        assert "while hidden" in painted(transcript)


async def test_a_far_jump_by_the_scroll_bar_lands_on_rows():
    async with TranscriptApp().run_test(size=SIZE) as pilot:
        transcript, _ = await show(pilot, session(300))
        transcript.scroll_to(y=transcript.max_scroll_y // 2, animate=False)
        await pilot.pause()
        assert not transcript.following
        assert any(row for row in painted(transcript))
        before = painted(transcript)
        await pilot.press("up")
        assert painted(transcript)[1:] == before[:-1]


async def test_what_is_said_before_the_widget_is_on_a_screen_is_shown_later():
    transcript = Transcript()
    transcript.load([prompt(1, "early")[0]])
    transcript.update(("turn", 1), prompt(1, "early")[1])
    transcript.append(*leg(1), live=True)
    transcript.stream_text(("leg", 1), "streamed early")
    app = TranscriptApp()
    async with app.run_test(size=SIZE):
        await app.query_one("#frame").remove_children()
        await app.query_one("#frame").mount(transcript)
        early = ["you · 14:02", "early", "", "● qwen · 14:02", "streamed early"]
        await until(lambda: painted(transcript)[:5] == early)
