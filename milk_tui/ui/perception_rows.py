"""The layers of a perception as rows: what is believed, by whom, since when, and what speaks against it. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from milk_tui.core import perception
from milk_tui.core.perception_view import EntryView, LayerView, SliceInfo
from milk_tui.core.records import Layer, PerceptionEntry
from milk_tui.core.text import one_line
from milk_tui.core.token_sizes import Tokens, estimate
from milk_tui.ui import format as f
from milk_tui.ui.paint import Line, Piece, spread
from milk_tui.ui.receipt_rows import tokens_words
from milk_tui.ui.row_list import Heading, Row
from milk_tui.ui.words import TextRow, blank

LONGEST = 600
"""Characters of one line that are shown; its history shows all of it."""
MOST_LINES = 60
TITLES = {Layer.INVARIANT: "invariants", Layer.FRAME: "frame", Layer.WORKING: "working set"}
EMPTY = {
    Layer.INVARIANT: "no project truths yet. An agent proposes one (y accepts it), or you add one with a: stack, "
    "conventions, what is forbidden. Both agents and later sessions of this directory are given them.",
    Layer.FRAME: "no slice is open yet. An agent writes story, decisions and open questions when it starts one, or you "
    "with a: slice: NAME opens one.",
    Layer.WORKING: "nothing in hand yet. An agent notes file, hypothesis and next step after each action; tool results "
    "come by themselves.",
}
PAST_EMPTY = "nothing was written here by then"


def entry_key(entry: PerceptionEntry) -> str:
    return f"{'proposed' if entry.proposed else 'entry'}:{entry.key}"


def editable(entry: PerceptionEntry) -> str:
    """The value as it is written, with its reasons and blockers: what ``perception.normal`` reads."""
    body = perception.rendered(entry)[len(entry.key) + 1 :]
    return "\n".join(line.strip() for line in body.strip().split("\n"))


def cost_words(view: LayerView, tokens: Tokens | None) -> tuple[str, bool]:
    """What a layer takes in a prompt, against its budget; True when it is over."""
    size = tokens_words(tokens or estimate(view.chars))
    gauge = f.gauge(view.chars / max(1, view.budget), 5)
    over = f"{f.count(view.over)} over · " if view.over else ""
    return f"{gauge} {f.count(view.chars)}/{f.count(view.budget)} chars · {over}{size}", bool(view.over)


def layer_rows(
    view: LayerView, *, changed: Collection[str] = (), slices: Sequence[SliceInfo] = (), now: bool = True
) -> list[Row]:
    """Proposals first, then what holds; under the frame the slices that can be opened again. ``changed``: keys of rows
    that the turn on show has changed."""
    rows: list[Row] = []
    if view.proposals:
        rows.append(Heading("proposed", ((" PROPOSED ", "heading"), (" y accepts · n rejects" if now else "", "dim"))))
        for each in view.proposals:
            rows += [EntryRow(entry_key(each.entry), each, entry_key(each.entry) in changed), _gap(each)]
    if view.proposals and view.entries:
        rows.append(Heading("accepted", ((" ACCEPTED", "heading"),)))
    for each in view.entries:
        rows += [EntryRow(entry_key(each.entry), each, entry_key(each.entry) in changed), _gap(each)]
    if not rows:
        rows.append(TextRow("empty", EMPTY[view.layer] if now else PAST_EMPTY, "dim", (" ", "")))
    archived = [each for each in slices if not each.open] if now else []
    if archived:
        rows += [blank("gap:slices"), Heading("slices", ((" OTHER SLICES", "heading"), ("  o opens", "dim")))]
        rows += [SliceRow(f"slice:{each.name}", each) for each in archived]
    return rows


def _gap(view: EntryView) -> Row:
    return blank(f"gap:{entry_key(view.entry)}")


@dataclass(frozen=True, slots=True)
class SliceRow:
    """A slice that was put aside."""

    key: str
    slice: SliceInfo
    selectable: bool = True

    def height(self, width: int) -> int:
        return 1

    def lines(self, width: int) -> Sequence[Line]:
        about = f"{f.plural(self.slice.entries, 'entry', 'entries')} · {f.moment(self.slice.updated_ms)[5:]} "
        name = f.fit(one_line(self.slice.name, 80), max(8, width - len(about) - 4))
        return (spread(((f"   {name}", ""),), ((about, "dim"),), width),)


@dataclass(frozen=True, slots=True)
class EntryRow:
    """An entry: key and marks, its lines with their reasons and blockers, who wrote it and when."""

    key: str
    view: EntryView
    changed: bool = False
    selectable: bool = True

    def height(self, width: int) -> int:
        return len(self.lines(width))

    def lines(self, width: int) -> Sequence[Line]:
        entry = self.view.entry
        gone = self.view.expired
        lines: list[Line] = [self._head(width)]
        for text, look, mark in self._texts():
            for number, row in enumerate(f.wrap(text, width - 5)):
                lines.append(
                    ((f"   {mark if number == 0 else ' '} ", "dim"), (row, "dim" if gone and not look else look))
                )
        for text, look in self._remarks():
            lines += [(("     ", ""), (row, look)) for row in f.wrap(text, width - 6)]
        about = [one_line(entry.writer, 40), f"turn {entry.turn_id}" if entry.turn_id else ""]
        about.append(f.moment(entry.updated_ms)[5:] if entry.updated_ms else "")
        lines.append((("     ", ""), (f.fit(" · ".join(filter(None, about)), width - 6), "dim")))
        return lines

    def _head(self, width: int) -> Line:
        entry = self.view.entry
        marks = [
            (word, look)
            for word, look, is_so in (
                ("stale?", "warning", bool(entry.stale)),
                ("conflict", "error", self.view.dispute is not None),
                ("expired", "dim", self.view.expired),
                ("blocked", "warning", bool(self.view.blocked)),
            )
            if is_so
        ]
        right: list[Piece] = []
        for word, look in marks:
            right += [(word, look), (" ", "")]
        gutter: Piece = (" ±", "key") if self.changed else ("  ", "")
        return spread((gutter, (f" {one_line(entry.key, 40)}", "heading")), tuple(right), width)

    def _texts(self) -> list[tuple[str, str, str]]:
        """The lines of the value: text, look, mark."""
        items = self.view.items
        found: list[tuple[str, str, str]] = []
        for item in items[:MOST_LINES]:
            found.append((one_line(item.text, LONGEST), "", "–" if len(items) > 1 else " "))
            if item.reason:
                found.append((f"because {one_line(item.reason, LONGEST)}", "dim", " "))
            if item.blocker:
                found.append((f"waits for {one_line(item.blocker, LONGEST)}", "warning", " "))
        if len(items) > MOST_LINES:
            found.append((f"… {len(items) - MOST_LINES} more lines: enter shows them", "dim", " "))
        return found

    def _remarks(self) -> list[tuple[str, str]]:
        view, entry = self.view, self.view.entry
        found: list[tuple[str, str]] = []
        if entry.reason and len(view.items) > 1:
            found.append((f"because {one_line(entry.reason, LONGEST)}", "dim"))
        if entry.blocker and len(view.items) > 1:
            found.append((f"waits for {one_line(entry.blocker, LONGEST)}", "warning"))
        if view.unreasoned:
            found.append((f"! {f.plural(len(view.unreasoned), 'decision')} without a reason", "warning"))
        if entry.stale:
            found.append((f"? {one_line(entry.stale, LONGEST)}", "warning"))
        if view.dispute is not None:
            other = one_line(view.dispute.entry.value, LONGEST) or "(removed)"
            found.append((f"⇄ the file overruled: {other} · s swaps, y leaves it so", "error"))
        if view.expired:
            found.append(("no agent is given it any more: nobody touched it for long", "dim"))
        return found
