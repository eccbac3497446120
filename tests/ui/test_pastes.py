"""A paste of any size is one thing in the prompt: shown small, never lost, opened by whoever edits it; files that are
dropped on the terminal become mentions."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual import events
from textual.pilot import Pilot

from milk_tui.core import pasted
from milk_tui.ui.prompt import Prompt
from milk_tui.ui.prompt_text import EXPANDED_CHARS, FOLD_CHARS, Folds
from tests.support.polling import until
from tests.ui.test_prompt import Desk, typed, write

LOG = "some words of a log file\n" * 800
SIZE = (100, 30)


async def paste(pilot: Pilot[None], text: str) -> None:
    """Paste, and wait until the prompt is done with it: a key that comes after it is dealt with after it."""
    prompt = pilot.app.query_one(Prompt)
    seen: list[str] = []
    prompt.post_message(events.Paste(text))
    prompt.call_later(seen.append, "done")
    await until(lambda: seen, what="the paste")
    await pilot.pause()


@pytest.mark.parametrize("key", ["backspace", "ctrl+w"])
async def test_it_is_taken_away_as_a_whole_and_undo_brings_it_back(key: str) -> None:
    app = Desk()
    async with app.run_test(size=SIZE) as pilot:
        await paste(pilot, LOG)
        await typed(pilot, key)
        assert app.prompt.text == ""
        await typed(pilot, "ctrl+z")
        assert app.prompt.full_text == LOG
        await typed(pilot, "ctrl+y")
        assert app.prompt.text == ""


async def test_the_cursor_goes_over_it_and_not_through_it() -> None:
    app = Desk()
    async with app.run_test(size=SIZE) as pilot:
        await write(pilot, "ab")
        await paste(pilot, LOG)
        await typed(pilot, "left", "delete")
        assert app.prompt.text == "ab"
        await typed(pilot, "ctrl+z", "left", "right")
        await write(pilot, "x")
        assert app.prompt.full_text == f"abx{LOG}"


async def test_tab_opens_it_and_undo_folds_it_again() -> None:
    app = Desk()
    async with app.run_test(size=SIZE) as pilot:
        await write(pilot, "see ")
        await paste(pilot, LOG)
        await typed(pilot, "tab")
        assert app.prompt.text == f"see {LOG}"
        await write(pilot, "X")
        assert app.prompt.full_text == f"see X{LOG}"
        await typed(pilot, "ctrl+z", "ctrl+z")
        assert app.prompt.text.startswith("see ⟦pasted #1")
        assert app.prompt.full_text == f"see {LOG}"


async def test_who_writes_in_its_word_opens_it_and_loses_nothing() -> None:
    app = Desk()
    async with app.run_test(size=SIZE) as pilot:
        await paste(pilot, LOG)
        app.prompt.move_cursor((0, 5))
        await write(pilot, "q")
        assert app.prompt.text == LOG


async def test_a_selection_that_ends_in_it_takes_all_of_it() -> None:
    app = Desk()
    async with app.run_test(size=SIZE) as pilot:
        await write(pilot, "ab")
        await paste(pilot, LOG)
        app.prompt.selection = ((0, 1), (0, 8))
        await typed(pilot, "backspace")
        assert app.prompt.text == "a"


async def test_one_too_long_to_be_edited_stays_a_word_and_says_where_it_can_be() -> None:
    app = Desk()
    async with app.run_test(size=SIZE) as pilot:
        whole = "x" * (EXPANDED_CHARS + 1)
        await paste(pilot, whole)
        await typed(pilot, "tab")
        assert len(app.prompt.text) < 100
        assert app.prompt.full_text == whole
        assert "F5" in str(app.box.query_one("#prompt-note").render())


async def test_five_megabytes_are_one_word_at_once_and_whole_when_sent() -> None:
    app = Desk()
    async with app.run_test(size=SIZE) as pilot:
        whole = "log line with words 123\n" * 220_000
        await paste(pilot, whole)
        await write(pilot, "ok")
        assert len(app.prompt.text) < 100
        await typed(pilot, "enter")
        assert app.sent == [f"{whole}ok"]


async def test_tab_without_a_paste_goes_on_to_the_next_pane() -> None:
    app = Desk()
    async with app.run_test(size=SIZE) as pilot:
        await write(pilot, "ab")
        await typed(pilot, "tab")
        assert app.prompt.text == "ab"


@given(
    st.lists(st.sampled_from(["a word ", "two\nlines\n", "x" * FOLD_CHARS, "é" * 300, "l\n" * 250]), min_size=1),
    st.booleans(),
)
def test_whatever_comes_back_is_short_on_the_screen_and_whole_when_expanded(pieces: list[str], known: bool) -> None:
    folds = Folds()
    if known:
        for piece in pieces:
            folds.fold(piece)
    whole = "".join(pieces)
    shown = folds.fold_again(whole)
    assert folds.expand(shown) == whole
    assert len(shown) <= FOLD_CHARS + 100


def test_of_a_long_prompt_of_another_day_both_ends_can_be_read() -> None:
    shown = Folds().fold_again(f"please look at this:\n{LOG}and say why it fails")
    assert shown.startswith("please look at this:\n")
    assert shown.endswith("and say why it fails")
    assert "⟦pasted #1" in shown


@pytest.mark.parametrize(
    ("text", "readings"),
    [
        ("/home/me/a.py", (("/home/me/a.py",),)),
        ("'/home/me/my shot.PNG' ", (("/home/me/my shot.PNG",),)),
        ("/home/me/my\\ shot.png", (("/home/me/my\\ shot.png",), ("/home/me/my shot.png",))),
        ("file:///home/me/a%20b.jpg", (("/home/me/a b.jpg",),)),
        ("file://host/home/me/a.txt", (("/home/me/a.txt",),)),
        ("/a.py /b c.py", (("/a.py /b c.py",),)),
        ("/a.py '/b c.py'", (("/a.py '/b c.py",), ("/a.py", "/b c.py"))),
        ("/a.py\r\n/b.py", (("/a.py", "/b.py"),)),
        ("~/x.webp", (("~/x.webp",),)),
        ("a.py", ()),
        ("see /a.png", ()),
        ("/a.png\nand more", ()),
        ("/a\x1b[31m", ()),
        ("", ()),
    ],
)
def test_what_a_paste_may_mean_as_paths(text: str, readings: tuple[tuple[str, ...], ...]) -> None:
    assert pasted.paths(text) == readings


@given(st.text(alphabet="/~ '\"\\\nab.f:ile%20", max_size=60))
def test_any_text_has_readings_that_are_paths_or_none(text: str) -> None:
    for reading in pasted.paths(text):
        assert reading
        assert all(path.startswith(("/", "~/", "file://")) and "\n" not in path for path in reading)


async def test_paths_of_files_that_are_there_become_mentions_and_undo_gives_the_paths_back(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").touch()
    (tmp_path / "with space.txt").touch()
    app = Desk()
    async with app.run_test(size=SIZE) as pilot:
        app.prompt.directory = lambda: str(tmp_path)
        await write(pilot, "see ")
        dropped = f"{tmp_path}/src/a.py '{tmp_path}/with space.txt'"
        await paste(pilot, dropped)
        assert app.prompt.text == 'see @src/a.py @"with space.txt" '
        await typed(pilot, "ctrl+z")
        assert app.prompt.text == f"see {dropped}"


async def test_a_folder_and_a_file_elsewhere_keep_their_whole_path(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    app = Desk()
    async with app.run_test(size=SIZE) as pilot:
        app.prompt.directory = lambda: str(tmp_path / "here")
        await paste(pilot, f"{tmp_path}/there")
        assert app.prompt.text == f"@{tmp_path}/there/ "


@pytest.mark.parametrize("before", ["!cat ", "/attach ", "see @", "the `"])
async def test_in_commands_mentions_and_code_a_path_stays_as_it_is(tmp_path: Path, before: str) -> None:
    app = Desk()
    async with app.run_test(size=SIZE) as pilot:
        app.prompt.insert_text(before)
        await paste(pilot, str(tmp_path))
        assert app.prompt.text == f"{before}{tmp_path}"


async def test_what_is_not_there_is_text() -> None:
    app = Desk()
    async with app.run_test(size=SIZE) as pilot:
        await paste(pilot, "/no/such/file.py")
        assert app.prompt.text == "/no/such/file.py"
