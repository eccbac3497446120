"""The whole transcript as rows, without a screen: what is where, what is measured, what is still to be fetched.

Every height is either measured or a guess. Whoever shows rows walks over them (``walk``), which measures; the guesses
left elsewhere only decide how long the scroll bar looks. Cost follows the rows that are walked over, never the number
of entries.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Iterable, Iterator, Set

from msgspec import structs

from milk_tui.core.text import clean
from milk_tui.ui.transcript.blocks import Block, Held, Placeholder
from milk_tui.ui.transcript.compose import compose
from milk_tui.ui.transcript.growing import MarkdownText
from milk_tui.ui.transcript.layout import Anchor, Layout, Spot
from milk_tui.ui.transcript.live import Live
from milk_tui.ui.transcript.markdown import Paper
from milk_tui.ui.transcript.model import Entries, estimate
from milk_tui.ui.transcript.parts import BodySource, Entry, EntryBody, EntryKind, Key, Markdown, Part
from milk_tui.ui.transcript.render import Rows

KEPT_CHARS = 1_000_000
"""Characters of laid-out entries kept in memory, with what their blocks cost."""
AT_ONCE = 16_000
"""Characters of an entry that are cut into blocks while it is laid out; the rest in ``work`` steps."""
STEP = 6_000


class Document:
    def __init__(self, paper: Paper) -> None:
        self.entries = Entries()
        self.rows = Rows(paper)
        self.source: BodySource | None = None
        self.wanted: dict[Key, None] = {}
        """Keys whose bodies were missing; the owner takes them out."""
        self.live: dict[Key, Live] = {}
        self.held: range = range(0)
        """Entries that are not forgotten for now (a selection covers them)."""
        self._layouts: OrderedDict[Key, Layout] = OrderedDict()
        self._bodies: dict[Key, EntryBody] = {}
        self._opened: dict[Key, set[Hashable]] = {}
        self._unfinished: dict[Key, None] = {}
        self._changed: set[Key] = set()
        self._chars = 0
        self._pass = 0

    def begin(self) -> None:
        """A new pass over the rows: what this one and the one before it touch is not forgotten meanwhile."""
        self._pass += 1

    @property
    def total(self) -> int:
        """Rows in all, measured or guessed."""
        self._count()
        return self.entries.heights.total

    def load(self, entries: Iterable[Entry], source: BodySource | None) -> None:
        for state in (self._layouts, self._bodies, self._opened, self._unfinished, self.live, self.wanted):
            state.clear()
        self._changed.clear()
        self._chars = 0
        self.rows.clear()
        self.source = source
        self.entries.load(entries)

    def add(self, entry: Entry, body: EntryBody | None, before: Key | None = None) -> int:
        if entry.key in self.entries:
            raise ValueError(f"the transcript has an entry {entry.key!r} already")
        if before is not None and before in self.entries:
            index = self.entries.index(before)
            self.entries.insert(index, entry)
        else:
            index = self.entries.append(entry)
        if body is not None:
            self._bodies[entry.key] = body
        return index

    def remove(self, key: Key) -> None:
        self._forget(key)
        self.live.pop(key, None)
        self._bodies.pop(key, None)
        self._opened.pop(key, None)
        self.entries.remove(key)

    def start(self, key: Key) -> Live:
        """The entry takes deltas from now on; what it says so far stays above them."""
        if key not in self.live:
            body = self._bodies.get(key) or (self.source.get(key) if self.source else None) or EntryBody(())
            self.live[key] = Live(body)
            self._forget(key)
        return self.live[key]

    def finish(self, key: Key, body: EntryBody) -> None:
        """The entry is ``body`` from now on; texts that were streamed are not cut again."""
        live = self.live.pop(key, None)
        known = live.finish() if live is not None else {}
        self._bodies[key] = body
        layout = self._layouts.get(key)
        if layout is not None:
            layout.parts, layout.texts = body.parts, self._texts(body.parts, known)
            self._arrange(key, layout)
            self._forget_old()
        elif key in self.entries:
            self._resize(key, body)

    def renew(self, keys: Iterable[Key]) -> None:
        """Bodies are there, or are others than before."""
        for key in keys:
            self.wanted.pop(key, None)
            if key in self.entries and key not in self.live:
                self._bodies.pop(key, None)
                self._forget(key)

    def refresh(self, key: Key) -> None:
        """Takes what was streamed into a live entry since the last time."""
        live = self.live.get(key)
        layout = self._layouts.get(key)
        if live is not None and layout is not None:
            layout.parts, layout.texts = live.parts(), live.texts()
            self._arrange(key, layout)

    def toggle(self, key: Key, fold: Hashable) -> bool:
        """Folds or unfolds; True when it is open now."""
        opened = self._opened.setdefault(key, set())
        opened.symmetric_difference_update({fold})
        layout = self._layouts.get(key)
        if layout is not None:
            self._arrange(key, layout)
        return fold in opened

    def unfold(self, key: Key, folds: Iterable[Hashable]) -> None:
        """Opens these folds; those that are open stay so."""
        opened = self._opened.setdefault(key, set())
        if not opened.issuperset(folds := set(folds)):
            opened |= folds
            if (layout := self._layouts.get(key)) is not None:
                self._arrange(key, layout)

    def set_paper(self, paper: Paper) -> None:
        """Another width or other styles: everything on screen is made again, the rest when it is reached."""
        old, self.rows.paper = self.rows.paper, paper
        self.rows.clear()
        if old.width == paper.width:
            return
        self.entries.width = max(paper.width, 1)
        self.entries.estimate_all()
        for key, layout in self._layouts.items():
            layout.set(layout.blocks, paper.width)
            self._changed.add(key)

    def layout(self, index: int) -> Layout:
        """The entry's blocks; a placeholder (and a wish) while its body is not there."""
        key = self.entries.items[index].key
        layout = self._layouts.get(key)
        if layout is not None:
            self._layouts.move_to_end(key)
            layout.used = self._pass
            return layout
        if key in self.live:
            layout = self._layouts[key] = Layout()
            layout.used = self._pass
            self.refresh(key)
            return layout
        body = self._body(key)
        if body is None:
            self.wanted[key] = None
            return self._placeholder(index)
        layout = self._layouts[key] = Layout(body.parts, self._texts(body.parts, {}))
        layout.used = self._pass
        self._arrange(key, layout)
        self._forget_old()
        return layout

    def top(self, spot: Spot) -> int:
        """The row of the transcript at which a spot is."""
        self._count()
        layout = self.layout(spot.index)
        return self.entries.heights.top(spot.index) + layout.tops[spot.block] + spot.row

    def spot(self, row: int) -> Spot:
        """What is at a row, as far as heights are known."""
        self._count()
        index, inside = self.entries.heights.locate(row)
        block, rest = self.layout(index).locate(inside)
        return Spot(index, block, rest)

    def walk(self, spot: Spot, rows: int) -> Spot:
        """The spot so many rows further down (or up), every row on the way measured; stops at the ends."""
        spot = self._walk_down(spot, rows) if rows >= 0 else self._walk_up(spot, -rows)
        self._count()
        return spot

    def last(self) -> Spot:
        """The last row. Needs at least one entry."""
        index = len(self.entries) - 1
        blocks = self.layout(index).blocks
        self._measure(blocks[-1])
        return Spot(index, len(blocks) - 1, blocks[-1].height - 1)

    def lines(self, spot: Spot, rows: int) -> Iterator[tuple[int, int, int, Block]]:
        """``(entry, block, row, the block)`` for so many rows from a spot on, measured."""
        index, number, row = spot.index, spot.block, spot.row
        while rows > 0 and index < len(self.entries):
            blocks = self.layout(index).blocks
            while number < len(blocks) and rows > 0:
                block = blocks[number]
                self._measure(block)
                while row < block.height and rows > 0:
                    yield index, number, row, block
                    row += 1
                    rows -= 1
                number, row = number + 1, 0
            self._changed.add(self.entries.items[index].key)
            index, number = index + 1, 0
        self._count()

    def anchor(self, spot: Spot) -> Anchor:
        """A spot in words that hold through changes."""
        block = self.layout(spot.index).blocks[spot.block]
        place = block.start
        if spot.row < block.rows and not isinstance(block.shape, Placeholder):
            place += self.rows.of(block)[spot.row].start
        key = self.entries.items[spot.index].key
        return Anchor(key, block.part, place, spot.block, spot.row, block.rows)

    def find(self, anchor: Anchor) -> Spot | None:
        """Where an anchor is now; ``None`` when its entry is gone."""
        if anchor.key not in self.entries:
            return None
        index = self.entries.index(anchor.key)
        layout = self.layout(index)
        number = anchor.block
        same = number < len(layout.blocks) and (layout.blocks[number].part == anchor.part)
        if not same or not (0 <= anchor.place - layout.blocks[number].start <= len(layout.blocks[number].source)):
            number = layout.find(anchor.part, anchor.place)
        block = layout.blocks[number]
        self._measure(block)
        if isinstance(block.shape, Placeholder):
            return Spot(index, number, min(anchor.row, block.height - 1))
        if anchor.row >= anchor.rows:
            return Spot(index, number, min(block.rows + anchor.row - anchor.rows, block.height - 1))
        made = self.rows.of(block)
        x = anchor.place - block.start
        if anchor.row < len(made) and made[anchor.row].start == x:
            return Spot(index, number, anchor.row)
        row = max((i for i, row in enumerate(made) if row.start <= x), default=0)
        return Spot(index, number, row)

    @property
    def busy(self) -> bool:
        return bool(self._unfinished) or self.rows.paper.colours.busy

    def work(self) -> bool:
        """One bounded step of what waits; True when rows that may be on screen changed."""
        for key in self._unfinished:
            layout = self._layouts[key]
            for text in layout.texts:
                if not text.complete:
                    text.advance(final=True, limit=STEP)
                    break
            self._arrange(key, layout)
            return layout.complete
        code = self.rows.paper.colours.work()
        if code is None:
            return False
        for block in self.rows.showing(code):
            block.stamp += 1
        return True

    def _measure(self, block: Block) -> None:
        if not block.exact and not isinstance(block.shape, Placeholder):
            self.rows.of(block)

    def _walk_down(self, spot: Spot, rows: int) -> Spot:
        index, number, row = spot.index, spot.block, spot.row + rows
        while True:
            blocks = self.layout(index).blocks
            self._changed.add(self.entries.items[index].key)
            while number < len(blocks):
                self._measure(blocks[number])
                height = blocks[number].height
                if row < height:
                    return Spot(index, number, row)
                row -= height
                number += 1
            if index + 1 >= len(self.entries):
                return Spot(index, len(blocks) - 1, blocks[-1].height - 1)
            index, number = index + 1, 0

    def _walk_up(self, spot: Spot, rows: int) -> Spot:
        index, number, row = spot.index, spot.block, spot.row - rows
        while row < 0:
            if number == 0:
                if index == 0:
                    return Spot(0, 0, 0)
                index -= 1
                number = len(self.layout(index).blocks)
                continue
            number -= 1
            block = self.layout(index).blocks[number]
            self._measure(block)
            self._changed.add(self.entries.items[index].key)
            row += block.height
        return Spot(index, number, row)

    def _count(self) -> None:
        """Brings the sums up to date after blocks were measured."""
        for key in self._changed:
            layout = self._layouts.get(key)
            if layout is not None:
                layout.update()
                self.entries.heights[self.entries.index(key)] = layout.height
        self._changed.clear()

    def _body(self, key: Key) -> EntryBody | None:
        body = self._bodies.get(key)
        if body is None and self.source is not None:
            body = self.source.get(key)
        return body

    def _texts(self, parts: Iterable[Part], known: dict[str, MarkdownText]) -> list[MarkdownText]:
        texts = []
        budget = AT_ONCE
        for part in parts:
            if isinstance(part, Markdown):
                safe = clean(part.text)
                text = known.get(safe) or MarkdownText(safe)
                if budget > 0 and not text.complete:
                    text.advance(final=True, limit=budget)
                budget -= len(safe)
                texts.append(text)
        return texts

    def _arrange(self, key: Key, layout: Layout) -> None:
        """Makes the blocks of a layout again from its parts; blocks that are the same objects stay measured."""
        following = iter(layout.texts)
        opened: Set[Hashable] = self._opened.get(key, set())
        self._chars -= layout.chars
        layout.set(compose(layout.parts, opened, lambda: next(following)), self.rows.paper.width)
        self._chars += layout.chars
        if layout.complete or key in self.live:
            self._unfinished.pop(key, None)
        else:
            self._unfinished[key] = None
        self._changed.add(key)
        self._count()

    def _resize(self, key: Key, body: EntryBody) -> None:
        """A better guess for an entry that is out of sight."""
        index = self.entries.index(key)
        entry = structs.replace(self.entries.items[index], chars=body.chars, lines=0)
        self.entries.items[index] = entry
        self.entries.heights[index] = estimate(entry, self.entries.width)

    def _placeholder(self, index: int) -> Layout:
        layout = Layout()
        rows = max(self.entries.heights[index] - 1, 1)
        block = Block("", Placeholder(), "text", Held(""), rows=rows, exact=True, gap=1)
        block.width = self.rows.paper.width
        layout.set([block], block.width)
        return layout

    def _forget(self, key: Key) -> None:
        layout = self._layouts.pop(key, None)
        if layout is not None:
            self._chars -= layout.chars
        self._unfinished.pop(key, None)

    def _forget_old(self) -> None:
        if self._chars <= KEPT_CHARS:
            return
        self._count()
        for key, layout in list(self._layouts.items()):
            index = self.entries.index(key)
            if layout.used >= self._pass - 1 or key in self.live or index in self.held:
                continue
            self._forget(key)
            if self.source is not None and self.entries.items[index].kind is not EntryKind.NOTICE:
                self._bodies.pop(key, None)
            if self._chars <= KEPT_CHARS:
                return
