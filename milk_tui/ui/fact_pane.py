"""A list of facts in its frame, with the filter over it and the line in which a fact is written anew."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.timer import Timer

from milk_tui.ui.fact_list import FactList

if TYPE_CHECKING:
    from textual.widgets import Input

    from milk_tui.core.records import Percept
    from milk_tui.ui.fact_edit import FactEdit
    from milk_tui.ui.fact_views import FoundView

FILTER = "/ filter"
FILTERING = "enter to the list · esc shows all"
EDITING = "enter keeps it · esc leaves it as it was"
TYPED_S = 0.05
"""Seconds after the last key in the filter before it is looked for."""


class FactPane(Vertical):
    """Facts with their filter, which appears when it is asked for."""

    @dataclass
    class FilterChanged(Message):
        """The words to filter by; empty shows all."""

        pane: FactPane
        words: str

    @dataclass
    class Edited(Message):
        """A fact has another text; ``insist``: though it was refused."""

        pane: FactPane
        percept: Percept
        text: str
        insist: bool

    def __init__(self, *, list_id: str, id: str, all_groups: bool = False) -> None:
        super().__init__(id=id, classes="pane fact-pane")
        self.facts = FactList(id=list_id, all_groups=all_groups)
        self.border_title = "percepts"
        self.border_subtitle = FILTER
        self._input: Input | None = None
        self._edit: FactEdit | None = None
        self._typed: Timer | None = None

    def compose(self) -> ComposeResult:
        yield self.facts

    @property
    def words(self) -> str:
        return self._input.value if self._input is not None else ""

    @property
    def editing(self) -> bool:
        return self._edit is not None

    def show_found(self, view: FoundView) -> None:
        """Results, if they are for the words that are still in the filter."""
        if self._input is not None and view.words == self.words:
            self.facts.show_view(view)

    async def close_filter(self) -> bool:
        """Take the filter away; True when there was one."""
        if await self.close_edit():
            return True
        if self._input is None:
            return False
        had_focus = self._input.has_focus
        await self._input.remove()
        self._input = None
        self.border_subtitle = FILTER
        self._stop_typed()
        self.facts.show_view(None)
        if had_focus:
            self.screen.set_focus(self.facts)
        return True

    async def close_edit(self) -> bool:
        """Leave the writing; True when there was some."""
        if self._edit is None:
            return False
        edit, self._edit = self._edit, None
        await edit.remove()
        self.border_subtitle = FILTERING if self._input is not None else FILTER
        self.screen.set_focus(self.facts)
        return True

    @on(FactList.FilterAsked)
    async def open_filter(self, event: FactList.FilterAsked | None = None, words: str = "") -> None:
        if event is not None:
            event.stop()
        self.facts.hand_over()
        await self.close_edit()
        if self._input is None:
            from milk_tui.ui.fact_filter import FactFilter

            self._input = FactFilter(words, self.facts)
            await self.mount(self._input, before=self.facts)
        elif words:
            self._input.value = words
        self.border_subtitle = FILTERING
        self.screen.set_focus(self._input)
        self.facts.taken_over()

    @on(FactList.Asked)
    async def edit_asked(self, event: FactList.Asked) -> None:
        """Writing happens here; what else is asked goes up."""
        if event.what != "edit":
            return
        event.stop()
        from milk_tui.ui.fact_edit import FactEdit

        self.facts.hand_over()
        await self.close_edit()
        self._edit = FactEdit(event.percept)
        await self.mount(self._edit)
        self._place_edit()
        self.border_subtitle = EDITING
        self.screen.set_focus(self._edit)
        self.facts.taken_over()

    def _place_edit(self) -> None:
        """Put the writing over the row of its fact."""
        if self._edit is None:
            return
        from milk_tui.ui.fact_rows import text_place

        x, width = text_place(self.facts.text_width)
        top = self.facts.region.y - self.content_region.y + self.facts.cursor_row
        y = max(0, min(top, self.content_size.height - 1))
        self._edit.styles.offset = (x, y)
        self._edit.styles.width = width
        self._edit.styles.max_height = max(1, min(6, self.content_size.height - y))

    def on_resize(self) -> None:
        self.call_after_refresh(self._place_edit)

    async def on_fact_edit_left(self, event: FactEdit.Left) -> None:
        event.stop()
        await self.close_edit()

    def on_fact_edit_kept(self, event: FactEdit.Kept) -> None:
        event.stop()
        self.post_message(self.Edited(self, event.percept, event.text, event.insist))

    def refuse_edit(self, text: str) -> None:
        """The text can't be kept as it is: it stays to be changed."""
        if self._edit is not None:
            self._edit.refused = text

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._stop_typed()
        self._typed = self.set_timer(TYPED_S if event.value.strip() else 0.001, self._say_words)

    def _say_words(self) -> None:
        self._typed = None
        if self._input is None:
            return
        if not self.words.strip():
            self.facts.show_view(None)
        self.post_message(self.FilterChanged(self, self.words))

    def _stop_typed(self) -> None:
        if self._typed is not None:
            self._typed.stop()
            self._typed = None
