"""The rows in view: where the view stands, what it paints, what is selected.

Where the view stands is an explicit state: it follows the end, or it reads at an anchor (what the top row shows).
Only the person changes that. Whatever else happens (text arrives, heights turn out other than guessed, the width or
the theme changes), ``settle`` puts the view back to where the state says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Offset, Region, Size
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip
from textual.timer import Timer
from textual.widget import Widget

from milk_tui.ui.transcript.blocks import Block
from milk_tui.ui.transcript.document import Document
from milk_tui.ui.transcript.layout import Anchor, Spot
from milk_tui.ui.transcript.markdown import Paper
from milk_tui.ui.transcript.messages import FollowChanged
from milk_tui.ui.transcript.palette import COMPONENTS, NAMES, Palette
from milk_tui.ui.transcript.parts import Key
from milk_tui.ui.transcript.render import LEAD
from milk_tui.ui.transcript.selection import Place, entry_of, key_of, selected_text

_REST_S = 0.004
"""Seconds between two steps of work in the background, so that keys come first."""
_EXACT_PAGES = 3
"""A scroll of at most so many pages moves by measured rows; a longer one may go by guesses."""

Line = tuple[int, int, int, Block, int]
"""A row of the window: entry, block, row in the block, the block, its stamp when the row was taken."""


class View(ScrollView, can_focus=True):
    """Shows a document; knows nothing of what its entries mean."""

    COMPONENT_CLASSES: ClassVar[set[str]] = set(COMPONENTS)

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.document = Document(Paper(Palette(dict.fromkeys(NAMES, Style())), 80))
        self.cursor: tuple[Key, int] | None = None
        self._following = True
        self._anchor: Anchor | None = None
        self._new: set[Key] = set()
        self._window: list[Line] = []
        self._selected: tuple[Place, Place] | None = None
        self._mark = Style(reverse=True)
        self._moving = False
        self._painting = False
        self._stale = True
        self._worker: Timer | None = None
        self._prewarmed: Anchor | None = None

    @property
    def following(self) -> bool:
        """True while the view stays at the end whatever arrives."""
        return self._following

    @property
    def new_count(self) -> int:
        """Entries that are new or have grown since the person left the end."""
        return len(self._new)

    def follow(self) -> None:
        """Goes to the end and stays there."""
        self._set_following(True)
        self.settle()

    def read_at(self, spot: Spot) -> None:
        """Shows this row at the top, as far as there are rows below it; at the end of the rows the end is followed."""
        self._move(lambda: spot)

    def scroll_rows(self, rows: int) -> None:
        """Moves by measured rows, whatever the heights were guessed to be."""
        top = self.top()
        if top is not None and rows:
            self._move(lambda: self.document.walk(top, rows))

    def change_in_place(self, change: Callable[[], object]) -> None:
        """Something in view becomes higher or lower by the person's wish: what is above it stays where it is."""
        top = self.top()
        if top is None:
            change()
            self.settle()
            return
        anchor = self.document.anchor(top)

        def changed() -> Spot:
            change()
            return self.document.find(anchor) or self.document.last()

        self._move(changed)

    def _move(self, target: Callable[[], Spot]) -> None:
        """What the person does: afterwards the end is followed exactly when it is in view."""
        self._anchor = self.document.anchor(target())
        before, self._following = self._following, False
        self._settle()
        now = self.scroll_offset.y >= self.max_scroll_y
        self._following = before
        self._set_following(now)

    def top(self) -> Spot | None:
        """What the first row shows; ``None`` while nothing is shown."""
        if not len(self.document.entries) or not self._window:
            return None
        found = self.document.find(self._anchor) if self._anchor is not None else None
        return found or Spot(*self._window[0][:3])

    def settle(self) -> None:
        """Puts the view where its state says, measures what is in view, and repaints the rows that changed."""
        self._settle()
        if not self._following and self._window and not self.max_scroll_y:
            self._set_following(True)

    def _settle(self) -> None:
        if not self.is_attached:
            return
        width, height = self.scrollable_content_region.size
        if not width or not height:
            return
        self._renew_paper(width)
        document = self.document
        if not len(document.entries):
            self._place(0, 0)
            self._show([])
            return
        document.begin()
        document.rows.paper.colours.refill()
        spot = None
        if not self._following:
            spot = document.find(self._anchor) if self._anchor is not None else None
            end = document.walk(spot, height - 1) if spot is not None else None
            if spot is None or end is None or document.top(end) - document.top(spot) < height - 1:
                spot = None
        if spot is None:
            spot = document.walk(document.last(), 1 - height)
            self._anchor = document.anchor(spot)
        window = [(*line, line[3].stamp) for line in document.lines(spot, height)]
        self._place(document.total, document.top(spot))
        self._show(window)
        self._ask()
        self._prewarm_later()
        self._work_later()

    def _set_following(self, following: bool) -> None:
        if following:
            self._new.clear()
        if following != self._following:
            self._following = following
            self.post_message(FollowChanged(following, self.new_count))

    def note_new(self, key: Key) -> None:
        """Counts an entry that is new or has grown while the person reads elsewhere."""
        if not self._following and key not in self._new:
            self._new.add(key)
            self.post_message(FollowChanged(False, self.new_count))

    def _place(self, total: int, y: int) -> None:
        """Sizes and positions the scroll bar; the compositor is left alone (nothing but rows changes)."""
        with self._moves():
            size = Size(self.scrollable_content_region.width, total)
            if size != self.virtual_size:
                self.set_reactive(Widget.virtual_size, size)
                self._scroll_update(size)
            if self.scroll_y != y:
                self.scroll_target_y = y
                self.scroll_y = y

    @contextmanager
    def _moves(self) -> Iterator[None]:
        before, self._moving = self._moving, True
        try:
            yield
        finally:
            self._moving = before

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        if self.show_vertical_scrollbar:
            self.vertical_scrollbar.position = new_value
        rows = round(new_value) - round(old_value)
        if self._moving or not rows:
            return
        height = self.scrollable_content_region.height
        if abs(rows) <= _EXACT_PAGES * height:
            self.scroll_rows(rows)
        else:
            self._move(lambda: self.document.spot(round(new_value)))

    def _scroll_to(self, *args: Any, **options: Any) -> bool:
        options["animate"] = False
        return super()._scroll_to(*args, **options)

    def _size_updated(self, size: Size, virtual_size: Size, container_size: Size, layout: bool = True) -> bool:
        with self._moves():
            changed = super()._size_updated(size, virtual_size, container_size, layout)
        if changed:
            self._window = []
            self.settle()
        return changed

    def _ask(self) -> None:
        document = self.document
        if document.source is not None and document.wanted:
            keys = list(document.wanted)
            document.wanted.clear()
            document.source.request(keys)

    def _prewarm_later(self) -> None:
        if self._prewarmed != self._anchor and not (self._following and self.document.live):
            self._prewarmed = self._anchor
            self.call_after_refresh(self._prewarm)

    def _prewarm(self) -> None:
        """Measures (and fetches) the page above, so that it is there when the person scrolls up."""
        top = self.top()
        if top is None:
            return
        before = self.document.total
        self.document.walk(top, -self.scrollable_content_region.height)
        if self.document.total != before:
            self.settle()
        self._ask()

    def _work_later(self) -> None:
        if self._worker is None and self.document.busy:
            self._worker = self.set_timer(_REST_S, self._work)

    def _work(self) -> None:
        self._worker = None
        if self.document.work():
            self.settle()
        self._work_later()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._stale = True

    def _renew_paper(self, width: int) -> None:
        """Reads the styles again when they may have changed, and lays out for another width."""
        paper = self.document.rows.paper
        palette = paper.palette
        if self._stale:
            self._stale = False
            made = Palette.of(self)
            palette = palette if palette == made else made
            self._mark = self._selection_style()
        inner = max(width - len(LEAD) - 1, 8)
        if palette is not paper.palette or inner != paper.width:
            self.document.set_paper(Paper(palette, inner, paper.colours))
            self._window = []

    def _selection_style(self) -> Style:
        styles = self.screen.get_component_styles("screen--selection")
        background = self.background_colors[1] + styles.background
        color = styles.color.rich_color if styles.has_rule("color") and styles.color.a else None
        return Style(bgcolor=background.rich_color, color=color)

    def _show(self, window: list[Line]) -> None:
        """Takes the window and repaints the rows from the first to the last that differ."""
        old, self._window = self._window, window
        width, height = self.scrollable_content_region.size
        same = [a[2:] == b[2:] for a, b in zip(old, window, strict=False)]
        shown = max(len(old), len(window))
        same += [False] * (shown - len(same))
        if all(same) and old:
            return
        if not old:
            self.refresh()
            return
        first = same.index(False)
        last = shown - same[::-1].index(False)
        self.refresh(Region(0, first, width, min(last, height) - first))

    def render_lines(self, crop: Region) -> list[Strip]:
        if self._stale:
            self.settle()
        self._painting = True
        try:
            return super().render_lines(crop)
        finally:
            self._painting = False

    def render_line(self, y: int) -> Strip:
        """The row at ``y``: to be painted, or with the places behind its cells when the mouse asks."""
        width = self.scrollable_content_region.width
        palette = self.document.rows.paper.palette
        if y >= len(self._window):
            return Strip.blank(width, palette("text"))
        index, number, row, block, _ = self._window[y]
        key = key_of(index, number)
        made = self.document.rows.of(block)
        if row >= len(made):
            strip = Strip.blank(width, palette("text"))
            if self._painting:
                return strip
            offset = Style.from_meta({"offset": (len(block.source), key)})
            return Strip([Segment(" ", palette("text") + offset)] * width, width)
        if not self._painting:
            return made[row].aimed(width, key)
        span = self._span(key)
        strip = made[row].selected(width, span, self._mark) if span is not None else made[row].strip(width)
        if self.has_focus and self.cursor == (self.document.entries.items[index].key, number):
            lead, *rest = strip
            style = (lead.style or Style()) + Style(color=palette("text", "cursor").color)
            return Strip([Segment("▌", style), Segment(lead.text[1:], lead.style), *rest], width)
        return strip

    def selection_updated(self, selection: Selection | None) -> None:
        self._selected = self._bounds(selection)
        if self._selected is None:
            self.document.held = range(0)
        else:
            first, last = self._selected
            self.document.held = range(entry_of(first.key), entry_of(last.key) + 1)
            if self.document.live:
                self._set_following(False)
        self.refresh()

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        bounds = self._bounds(selection)
        return (selected_text(self.document, *bounds), "\n") if bounds is not None else None

    def text_select_all(self) -> None:
        """Selects what is in view: the whole session is millions of characters."""
        if (bounds := self._bounds(Selection(None, None))) is not None:
            self.select(*bounds)

    def select(self, first: Place, last: Place) -> None:
        selection = Selection(Offset(first.x, first.key), Offset(last.x, last.key))
        self.screen.selections = {self: selection}

    def _bounds(self, selection: Selection | None) -> tuple[Place, Place] | None:
        """A selection's places; where a drag came in from outside or went out, the edge of what is in view."""
        if selection is None or not self._window:
            return None
        if selection.start is not None:
            first = Place(selection.start.y, selection.start.x)
        else:
            index, number, row, block, _ = self._window[0]
            rows = self.document.rows.of(block)
            first = Place(key_of(index, number), rows[row].start if row < len(rows) else len(block.source))
        if selection.end is not None:
            last = Place(selection.end.y, selection.end.x)
        else:
            index, number, row, block, _ = self._window[-1]
            rows = self.document.rows.of(block)
            last = Place(key_of(index, number), rows[row].end if row < len(rows) else len(block.source))
        return min(first, last), max(first, last)

    def _span(self, key: int) -> tuple[int, int] | None:
        if self._selected is None:
            return None
        first, last = self._selected
        if not first.key <= key <= last.key:
            return None
        return first.x if key == first.key else 0, last.x if key == last.key else -1

    def on_focus(self, event: events.Focus) -> None:
        self.refresh()

    def on_blur(self, event: events.Blur) -> None:
        self.refresh()
