"""Two other ways to a prompt: earlier ones, searched, and the person's own editor."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.app import App, SuspendNotSupported

from milk_tui.core.errors import MilkError
from milk_tui.core.text import one_line
from milk_tui.ui import editor
from milk_tui.ui.dialogs import Picker
from milk_tui.ui.row_list import Row
from milk_tui.ui.words import ItemRow

if TYPE_CHECKING:
    from milk_tui.ui.prompt import Prompt

SHOWN_CHARS = 400


async def search_history(app: App[int], prompt: Prompt, earlier: Sequence[str]) -> None:
    """Choose an earlier prompt of the directory; it replaces what is written (undo brings that back).

    ``earlier`` are those of the database, newest first; what was typed since this program began stands before them.
    """
    prompts = tuple(dict.fromkeys((*prompt.past.prompts, *earlier)))
    picker = Picker(
        "earlier prompts",
        lambda words: history_rows(prompts, words),
        placeholder="type what it said",
        empty="no earlier prompt of this directory says that",
        wide=True,
    )
    chosen = await app.push_screen_wait(picker)
    if chosen is not None:
        prompt.set_text(prompts[int(chosen)])


def history_rows(prompts: Sequence[str], words: str) -> list[Row]:
    """The prompts that hold all words, newest first."""
    wanted = words.casefold().split()
    rows: list[Row] = []
    for number, text in enumerate(prompts):
        folded = text.casefold()
        if all(word in folded for word in wanted):
            rows.append(ItemRow(str(number), ((one_line(text, SHOWN_CHARS), ""),)))
    return rows


async def write_elsewhere(app: App[int], prompt: Prompt, terminal: int | None) -> None:
    """Write the prompt in ``$EDITOR``; what runs goes on meanwhile. Raises MilkError."""
    text = prompt.full_text
    try:
        with app.suspend(), app.batch_update():
            written = await asyncio.to_thread(editor.edit, text, terminal)
    except SuspendNotSupported as error:
        raise MilkError("An editor can't be opened here.", "This terminal can't be handed over.") from error
    finally:
        app.refresh(layout=True)
    if written != text:
        prompt.set_text(written)
    prompt.focus()
