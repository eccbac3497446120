"""The keys of the main screen, its panes and sizes (``ux.md``, "Keys" and "Main screen")."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual import events

from tests.ui.conftest import CONFIG, configure

LONG = "SCN:repeat 60 line\\n\\n"


async def test_escape_does_the_first_thing_that_applies(open_desk) -> None:
    async with open_desk() as desk:
        main = desk.app.main
        await desk.say("SCN:say Working on it. SCN:stall")
        await desk.until(lambda: desk.app.state.running is not None)
        await desk.write("/he")
        assert main.box.completion.is_open
        await desk.press("escape")
        assert not main.box.completion.is_open
        await desk.press("shift+left", "shift+left")
        assert main.prompt.selected_text == "he"
        await desk.press("escape")
        assert main.prompt.selected_text == ""
        assert desk.app.state.running is not None
        main.sidebar.pane.facts.focus()
        await desk.press("escape")
        await desk.until(lambda: desk.app.state.running is None, "the answer is stopped")
        await desk.press("escape")
        assert main.prompt.has_focus
        assert main.prompt.text == "/he"


async def test_escape_drops_a_selection_in_the_conversation_before_it_stops_the_answer(open_desk) -> None:
    async with open_desk() as desk:
        await desk.say(r"SCN:say S\x6fme words to select.\n\nMore. SCN:stall")
        await desk.sees("│  Some words to select.")
        transcript = desk.app.main.conversation.transcript
        row = next(y for y, line in enumerate(desk.text.split("\n")) if line.startswith("│  Some words"))
        await desk.pilot.mouse_down(transcript, offset=(2, row - transcript.region.y))
        await desk.pilot.hover(transcript, offset=(12, row - transcript.region.y))
        await desk.pilot.mouse_up(transcript, offset=(12, row - transcript.region.y))
        await desk.until(lambda: desk.app.main.get_selected_text(), "a selection")
        await desk.press("escape")
        assert not desk.app.main.get_selected_text()
        assert desk.app.state.running is not None
        await desk.press("escape")
        await desk.until(lambda: desk.app.state.running is None)


async def test_ctrl_c_copies_a_selection_and_says_honestly_where_it_went(open_desk, monkeypatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    async with open_desk() as desk:
        await desk.write("copy me")
        await desk.press("shift+home", "ctrl+c")
        await desk.sees("7 characters sent to the terminal (OSC 52)")
        assert desk.app.clipboard == "copy me"
        assert desk.app.main.prompt.text == "copy me"


async def test_ctrl_c_clears_and_undo_brings_it_back(open_desk) -> None:
    async with open_desk() as desk:
        await desk.write("do not lose me")
        await desk.press("ctrl+c")
        assert desk.app.main.prompt.text == ""
        await desk.press("ctrl+z")
        assert desk.app.main.prompt.text == "do not lose me"


async def test_ctrl_c_twice_on_an_empty_prompt_saves_and_quits(open_desk) -> None:
    async with open_desk() as desk:
        await desk.press("ctrl+c")
        await desk.sees("once more to save and quit")
        assert desk.app.return_value is None
        await desk.press("ctrl+c")
        await desk.until(lambda: desk.app.return_value == 0, "the program leaves")


async def test_f6_moves_through_the_panes_and_back(open_desk) -> None:
    async with open_desk() as desk:
        seen = []
        for key in ("f6", "f6", "f6", "shift+f6"):
            await desk.press(key)
            seen.append(desk.app.focused.id)
        assert seen == ["transcript", "facts", "prompt", "facts"]


async def test_keys_typed_in_the_prompt_are_text_there_and_commands_in_the_list(open_desk) -> None:
    async with open_desk() as desk:
        await desk.say("SCN:tag percept a fact of note SCN:say ok")
        await desk.sees("a fact of note", "SESSION 1")
        await desk.idle()
        await desk.write("px")
        assert desk.app.main.prompt.text == "px"
        desk.app.main.sidebar.pane.facts.focus()
        await desk.press("p")
        await desk.sees("★ PINNED 1")
        assert desk.app.main.prompt.text == "px"


async def test_the_sidebar_can_be_hidden(open_desk) -> None:
    async with open_desk() as desk:
        assert "percepts" in desk.text
        await desk.press("ctrl+s")
        assert "percepts" not in desk.text
        await desk.press("ctrl+s")
        assert "percepts" in desk.text


async def test_hiding_the_pane_that_has_the_focus_gives_it_to_the_prompt(open_desk) -> None:
    async with open_desk() as desk:
        desk.app.main.sidebar.pane.facts.focus()
        await desk.press("ctrl+s")
        assert desk.app.main.prompt.has_focus


@pytest.mark.parametrize(("width", "sidebar"), [(200, 60), (140, 44), (110, 44), (109, 30), (80, 30), (79, 0), (40, 0)])
async def test_the_sidebar_follows_the_width(open_desk, width: int, sidebar: int) -> None:
    async with open_desk((width, 24), ready=False) as desk:
        await desk.pilot.pause()
        assert desk.app.main.sidebar.region.width == sidebar


async def test_it_is_usable_at_40_by_12(open_desk) -> None:
    async with open_desk((40, 12)) as desk:
        await desk.sees("Ask, or / for commands", "F1 help")
        await desk.say("hi SCN:say Short answer.")
        await desk.sees("Short answer.")
        await desk.idle()
        await desk.write("/bri")
        await desk.sees("/bricks")
        await desk.press("escape", "f3")
        await desk.sees("brick inspector", "bricks   plan", "need")
        await desk.press("escape", "f1")
        await desk.sees("ON THE MAIN SCREEN")
        assert all(len(line) <= 40 for line in desk.text.split("\n"))


async def test_where_the_sidebar_has_no_room_its_key_opens_the_facts_full_screen(open_desk) -> None:
    async with open_desk((60, 20)) as desk:
        await desk.press("ctrl+s")
        await desk.sees("memory · 0 facts")


async def test_resizing_keeps_what_is_read(open_desk) -> None:
    async with open_desk((120, 30)) as desk:
        for number in range(6):
            await desk.say(f"question {number} {LONG}")
            await desk.idle()
        transcript = desk.app.main.conversation.transcript
        transcript.focus()
        for _ in range(3):
            await desk.press("pageup")
        await desk.pilot.pause(0.1)

        def top_line() -> str:
            return desk.text.split("\n")[2].strip("│ ")

        before = top_line()
        assert not transcript.following
        await desk.pilot.resize_terminal(90, 30)
        await desk.until(lambda: before.split("─")[0][:20] in desk.text.split("\n")[2], f"{before!r} on top")
        await desk.sees("^end follows")


async def test_new_text_does_not_move_what_is_read(open_desk) -> None:
    async with open_desk((120, 30)) as desk:
        await desk.say(f"old {LONG}")
        await desk.idle()
        await desk.say(r"new SCN:say begin\n\n SCN:pause 3 SCN:repeat 100 more\n\n")
        desk.app.main.conversation.transcript.focus()
        await desk.press("pageup", "pageup")

        def seen() -> list[str]:
            return [line[1:70] for line in desk.text.split("\n")[2:8]]

        reading = seen()
        await desk.until(lambda: "new ↓" in desk.text, "what is new below is said")
        await desk.idle()
        assert seen() == reading


async def test_the_conversation_is_paged_from_the_prompt_and_its_end_is_one_key_or_click_away(open_desk) -> None:
    async with open_desk(size=(100, 24)) as desk:
        await desk.say("long SCN:count 80 row\\n\\n")
        await desk.idle()
        main = desk.app.main
        await desk.press("pageup", "pageup")
        assert main.prompt.has_focus
        await desk.sees("^end follows")
        await desk.press("pagedown", "pageup", "ctrl+end")
        await desk.gone("^end follows")
        await desk.press("pageup", "pageup")
        await desk.sees("^end follows")
        lines = desk.text.split("\n")
        y = next(n for n, line in enumerate(lines) if "^end follows" in line)
        await desk.pilot.click(offset=(lines[y].index("^end") + 2, y))
        await desk.gone("^end follows")
        main.prompt.set_text("\n".join(map(str, range(30))))
        await desk.press("pageup")
        assert main.prompt.cursor_location[0] < 29
        assert main.conversation.transcript.following


async def test_sending_goes_to_the_end(open_desk) -> None:
    async with open_desk((120, 30)) as desk:
        await desk.say(f"old {LONG}")
        await desk.idle()
        desk.app.main.conversation.transcript.focus()
        await desk.press("pageup", "pageup")
        desk.app.main.prompt.focus()
        await desk.say("next SCN:say here")
        await desk.sees("here")
        assert desk.app.main.conversation.transcript.following


async def test_keys_from_the_config_hold_and_are_shown(open_desk, home: Path) -> None:
    configure(home, CONFIG + '\n[keys]\nhelp = "f9"\nescalate = ["f12", "f10"]\n')
    async with open_desk() as desk:
        await desk.sees("F9 help", "F12 escalate")
        await desk.press("f9")
        await desk.sees("ON THE MAIN SCREEN")
        await desk.press("escape", "f10")
        await desk.sees("◆ claude (pinned)")


async def test_a_wrong_key_in_the_config_is_said(open_desk, home: Path) -> None:
    configure(home, CONFIG + '\n[keys]\nescalte = "f9"\n')
    async with open_desk() as desk:
        await desk.sees("escalte: no such action")


async def test_an_unknown_command_is_said_and_kept(open_desk) -> None:
    async with open_desk() as desk:
        await desk.say("/escalte now")
        await desk.sees("there is no command /escalte")
        assert desk.app.main.prompt.text == "/escalte now"


@pytest.mark.parametrize("text", ["/usr/bin/env is a path", " /help as text", "/tmp/x"])
async def test_a_path_is_a_prompt(open_desk, text: str) -> None:
    async with open_desk() as desk:
        await desk.say(text + " SCN:say fine")
        await desk.sees("fine")


async def test_a_paste_goes_to_the_prompt_wherever_the_focus_is(open_desk) -> None:
    async with open_desk() as desk:
        await desk.press("f6")
        assert desk.app.focused.id == "transcript"
        desk.app.post_message(events.Paste("pasted words"))
        await desk.until(lambda: desk.app.main.prompt.text == "pasted words")
        assert desk.app.main.prompt.has_focus


async def test_the_footer_follows_the_focus(open_desk) -> None:
    async with open_desk() as desk:
        assert "p pin" not in desk.text
        desk.app.main.sidebar.pane.facts.focus()
        await desk.sees("u undo")
        assert "p pin" not in desk.text
        await desk.app.control.conductor.learn("a fact that can be pinned")
        await desk.sees("p pin  e edit  x forget  u undo")


async def test_a_click_on_a_key_of_the_footer_does_it(open_desk) -> None:
    async with open_desk() as desk:
        column = desk.text.split("\n")[-1].index("F3")
        await desk.pilot.click("#footer", offset=(column, 0))
        await desk.sees("if I escalated now")


async def test_nothing_ticks_when_nothing_runs(open_desk) -> None:
    async with open_desk() as desk:
        await desk.sees("to ● qwen")
        await desk.until(lambda: desk.app.state.host == "ready")
        await desk.pilot.pause()
        assert not desk.app.main._ticker._active.is_set()


async def test_themes_can_be_changed(open_desk) -> None:
    async with open_desk() as desk:
        for theme in ("milk-light", "ansi-dark", "nord", "milk-dark"):
            await desk.say(f"/theme {theme}")
            await desk.until(lambda theme=theme: desk.app.theme == theme)
        await desk.say("/theme nosuch")
        await desk.sees("there is no theme nosuch")


async def test_the_theme_of_the_config_holds(open_desk, home: Path) -> None:
    configure(home, CONFIG + '\n[ui]\ntheme = "milk-light"\nsidebar = false\n')
    async with open_desk() as desk:
        assert desk.app.theme == "milk-light"
        assert desk.app.main.sidebar.region.width == 0


async def test_without_colour_everything_still_says_what_it_is(open_desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with open_desk() as desk:
        await desk.say("SCN:tag percept plain fact SCN:say ok")
        await desk.sees("plain fact", "● qwen", "◆ claude")
        strips = desk.app.screen._compositor.render_strips()
        for strip in strips[:3]:
            for segment in strip.apply_filter(desk.app._filters[-1], desk.app.background_colors[0]):
                colour = segment.style.color if segment.style else None
                assert colour is None or colour.triplet is None or len(set(colour.triplet)) == 1
