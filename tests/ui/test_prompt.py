"""The prompt: what the keys do, and that nothing that was written is ever lost (``ux.md``, ``style.md``)."""

from __future__ import annotations

import pytest
from textual import events
from textual.app import App, ComposeResult
from textual.containers import Container
from textual.pilot import Pilot

from milk_tui.ui import actions, themes
from milk_tui.ui.choices import Choice, Kind, Word, command_beginning, word_at
from milk_tui.ui.prompt import Prompt
from milk_tui.ui.prompt_box import PromptBox


class Desk(App[None]):
    CSS_PATH = themes.style_sheets("looks", "main")

    def __init__(self) -> None:
        super().__init__()
        self.register_theme(themes.DARK)
        self.theme = themes.DARK.name
        self.sent: list[str] = []
        self.chosen: list[str] = []

    def compose(self) -> ComposeResult:
        yield Container(id="body")
        yield PromptBox()

    def on_mount(self) -> None:
        self.prompt.focus()

    @property
    def box(self) -> PromptBox:
        return self.query_one(PromptBox)

    @property
    def prompt(self) -> Prompt:
        return self.query_one(Prompt)

    def on_prompt_submitted(self, event: Prompt.Submitted) -> None:
        self.sent.append(event.text)
        self.prompt.past.sent(event.text)

    def on_prompt_box_command_chosen(self, event: PromptBox.CommandChosen) -> None:
        self.chosen.append(event.action.id)


async def typed(pilot: Pilot[None], *keys: str) -> None:
    for key in keys:
        await pilot.press(key)
    await pilot.pause()


async def write(pilot: Pilot[None], text: str) -> None:
    await typed(pilot, *("space" if c == " " else "slash" if c == "/" else c for c in text))


async def test_enter_sends_and_empties() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        await write(pilot, "hello")
        await typed(pilot, "enter")
        assert app.sent == ["hello"]
        assert app.prompt.text == ""


@pytest.mark.parametrize("key", ["ctrl+j", "alt+enter", "shift+enter"])
async def test_a_newline_key_never_sends(key: str) -> None:
    app = Desk()
    async with app.run_test() as pilot:
        await write(pilot, "one")
        await typed(pilot, key)
        await write(pilot, "two")
        assert app.sent == []
        assert app.prompt.text == "one\ntwo"
        await typed(pilot, "enter")
        assert app.sent == ["one\ntwo"]


async def test_a_blank_prompt_is_not_sent() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        await typed(pilot, "space", "ctrl+j", "enter")
        assert app.sent == []


async def test_it_grows_to_ten_rows_and_then_scrolls() -> None:
    app = Desk()
    async with app.run_test(size=(60, 30)) as pilot:
        for _ in range(30):
            await pilot.press("ctrl+j")
        await pilot.pause()
        assert app.prompt.size.height == 10
        assert app.prompt.max_scroll_y > 0


async def test_keys_are_dealt_with_in_the_order_in_which_they_came() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        for key, character in (
            *((c, c) for c in "hello"),
            ("backspace", None),
            ("backspace", None),
            *((c, c) for c in "XY"),
            ("left", None),
            ("left", None),
            ("Z", "Z"),
            ("enter", "\r"),
            ("n", "n"),
        ):
            app.post_message(events.Key(key, character))
        await pilot.pause()
        await pilot.pause()
        assert app.sent == ["helZXY"]
        assert app.prompt.text == "n"


async def test_a_paste_is_one_block_and_never_sends() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        app.post_message(events.Paste("one\r\ntwo\rthree\n"))
        await pilot.pause()
        assert app.sent == []
        assert app.prompt.text == "one\ntwo\nthree\n"
        await typed(pilot, "ctrl+z")
        assert app.prompt.text == ""


async def test_a_paste_loses_its_terminal_escapes() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        app.post_message(events.Paste("safe\x1b]52;c;ZXZpbA==\x07\x1b[31m text\u202e"))
        await pilot.pause()
        assert app.prompt.text == "safe text"


@pytest.mark.parametrize("size", [20_000, 1_000_000])
async def test_a_large_paste_is_one_word_on_the_screen_and_whole_when_sent(size: int) -> None:
    app = Desk()
    async with app.run_test() as pilot:
        pasted = "some words of a log file\n" * (size // 25)
        await write(pilot, "see ")
        app.post_message(events.Paste(pasted))
        await pilot.pause()
        await write(pilot, " ok")
        assert len(app.prompt.text) < 100
        assert "characters⟧ ok" in app.prompt.text
        await typed(pilot, "enter")
        assert app.sent == [f"see {pasted} ok"]


async def test_up_and_down_go_through_earlier_prompts_and_keep_the_draft() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        app.prompt.past.set(["newest", "older"])
        await write(pilot, "draft")
        seen = []
        for key in ("up", "up", "up", "down", "down", "down"):
            await typed(pilot, key)
            seen.append(app.prompt.text)
        assert seen == ["newest", "older", "older", "newest", "draft", "draft"]


async def test_up_moves_inside_a_prompt_of_several_lines_first() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        app.prompt.past.set(["earlier"])
        await write(pilot, "a")
        await typed(pilot, "ctrl+j")
        await write(pilot, "b")
        await typed(pilot, "up")
        assert app.prompt.text == "a\nb"
        await typed(pilot, "up")
        assert app.prompt.text == "earlier"
        await typed(pilot, "down")
        assert app.prompt.text == "a\nb"


async def test_up_moves_inside_a_wrapped_line_first() -> None:
    app = Desk()
    async with app.run_test(size=(30, 12)) as pilot:
        app.prompt.past.set(["earlier"])
        await write(pilot, "w " * 20)
        await typed(pilot, "up")
        assert app.prompt.text == "w " * 20


async def test_a_changed_earlier_prompt_keeps_the_change_until_something_is_sent() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        app.prompt.past.set(["one", "two"])
        await typed(pilot, "up", "x", "up", "down")
        assert app.prompt.text == "onex"
        await typed(pilot, "enter", "up", "up")
        assert app.sent == ["onex"]
        assert app.prompt.text == "one"


async def test_what_could_not_be_sent_comes_back_before_what_was_written_since() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        await write(pilot, "new")
        app.prompt.put_back("lost")
        assert app.prompt.text == "lost\nnew"
        await typed(pilot, "ctrl+z")
        assert app.prompt.text == "new"


async def test_other_keys_from_the_config_take_effect() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        app.box.use_keys(actions.keymap({"send": ("f10",), "newline": ("enter",)}))
        await write(pilot, "a")
        await typed(pilot, "enter", "b", "f10")
        assert app.sent == ["a\nb"]


@pytest.mark.parametrize(
    ("lines", "beginning"),
    [
        (["/"], ""),
        (["/esc"], "esc"),
        (["/hand-back"], "hand-back"),
        (["/learn x"], None),
        (["/usr/bin"], None),
        (["esc"], None),
        (["/a", ""], None),
        (["/é"], None),
    ],
)
def test_what_is_the_beginning_of_a_command(lines: list[str], beginning: str | None) -> None:
    assert command_beginning(lines) == beginning


async def test_commands_are_offered_while_one_is_typed() -> None:
    app = Desk()
    async with app.run_test(size=(80, 24)) as pilot:
        await write(pilot, "/")
        assert app.box.completion.is_open
        await write(pilot, "hel")
        assert app.box.completion.current.action is actions.BY_ID["help"]
        await typed(pilot, "enter")
        assert app.chosen == ["help"]
        assert app.prompt.text == ""
        assert not app.box.completion.is_open


async def test_a_command_that_needs_more_is_completed_and_not_run() -> None:
    app = Desk()
    async with app.run_test(size=(80, 24)) as pilot:
        await write(pilot, "/lea")
        await typed(pilot, "enter")
        assert (app.prompt.text, app.chosen, app.sent) == ("/learn ", [], [])
        await write(pilot, "x")
        await typed(pilot, "enter")
        assert app.sent == ["/learn x"]


async def test_tab_completes_and_never_runs() -> None:
    app = Desk()
    async with app.run_test(size=(80, 24)) as pilot:
        await write(pilot, "/qui")
        await typed(pilot, "tab")
        assert (app.prompt.text, app.chosen) == ("/quit ", [])
        assert app.prompt.has_focus


async def test_up_and_down_choose_among_the_commands() -> None:
    app = Desk()
    async with app.run_test(size=(80, 24)) as pilot:
        await write(pilot, "/")
        first = app.box.completion.current
        await typed(pilot, "down")
        second = app.box.completion.current
        assert second is not first
        await typed(pilot, "up", "up")
        assert app.box.completion.current not in (first, second)


async def test_an_unknown_command_can_still_be_sent_as_text() -> None:
    app = Desk()
    async with app.run_test(size=(80, 24)) as pilot:
        await write(pilot, "/zzz")
        assert not app.box.completion.is_open
        await typed(pilot, "enter")
        assert app.sent == ["/zzz"]


async def test_a_note_stays_until_the_text_changes() -> None:
    app = Desk()
    async with app.run_test(size=(80, 24)) as pilot:
        await write(pilot, "abc")
        app.box.note("[b]no[/b] such command", "warning")
        await pilot.pause()
        note = app.box.query_one("#prompt-note")
        assert note.display
        assert "[b]no[/b]" in str(note.render())
        await write(pilot, "d")
        assert not note.display


async def test_it_has_no_timer_when_idle() -> None:
    app = Desk()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert not app.prompt.cursor_blink
        assert not app.prompt.blink_timer._active.is_set()


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("/he", Word(Kind.COMMAND, "he", 1)),
        ("/theme mi", Word(Kind.ARGUMENT, "mi", 7, "theme")),
        ("/theme ", Word(Kind.ARGUMENT, "", 7, "theme")),
        ("/quit now", None),
        ("/nonsense x", None),
        ("look @src/ha", Word(Kind.FILE, "src/ha", 5)),
        ("/usr/bin @a", Word(Kind.FILE, "a", 9)),
        ("mail me@example.org", None),
    ],
)
def test_what_can_be_completed(text: str, word: Word | None) -> None:
    assert word_at([text], 0, len(text)) == word


async def test_arguments_are_offered_and_none_is_taken_unless_chosen() -> None:
    async def find(command: str, written: str) -> list[Choice]:
        return [Choice(name) for name in ("milk-dark", "milk-light") if command == "theme" and written in name]

    app = Desk()
    async with app.run_test(size=(80, 24)) as pilot:
        app.box.find_arguments = find
        await write(pilot, "/theme ")
        await pilot.pause()
        assert app.box.completion.is_open
        await typed(pilot, "enter")
        assert app.sent == ["/theme "]
        await write(pilot, "/theme lig")
        await pilot.pause()
        await typed(pilot, "tab")
        assert app.prompt.text == "/theme milk-light "
        await typed(pilot, "enter")
        assert app.sent[1:] == ["/theme milk-light "]
