"""The difference between two things that consist of named texts: receipts, versions of a brick, two perceptions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen

from milk_tui.core.text import clean, one_line
from milk_tui.ui import format as f
from milk_tui.ui.diff_lines import compare
from milk_tui.ui.diff_rows import SIDE_BY_SIDE_FROM, difference_rows
from milk_tui.ui.on_top import OnTop
from milk_tui.ui.paint import Line
from milk_tui.ui.row_list import Row, RowList
from milk_tui.ui.themes import style_sheets
from milk_tui.ui.words import ItemRow, TextRow, blank


@dataclass(frozen=True, slots=True)
class Part:
    """One named text in its old and its new form; ``None`` where it is not there."""

    name: str
    old: str | None
    new: str | None

    @property
    def same(self) -> bool:
        return self.old == self.new


@dataclass(frozen=True, slots=True)
class Compared:
    """Two things: what each is called, and their parts."""

    title: str
    old: str
    new: str
    parts: Sequence[Part]


class DiffScreen(OnTop, ModalScreen[None]):
    """Side by side from 120 columns on, one under the other else; ``s`` changes that."""

    CSS_PATH = style_sheets("dialogs", "inspector")
    BINDINGS: ClassVar = [
        Binding("escape,q", "close", "Close", show=False),
        Binding("s", "turn", "Side by side", show=False),
        Binding("n", "change(1)", "Next change", show=False),
        Binding("p,N", "change(-1)", "Change before", show=False),
    ]

    def __init__(self, compared: Compared) -> None:
        super().__init__(classes="dialog")
        self._compared = compared
        self._differences = [
            compare(_shown(part.old), _shown(part.new)) if not part.same else None for part in compared.parts
        ]
        self._opened: set[str] = set()
        self._sides: bool | None = None
        """What the person chose; ``None``: by the width."""
        self.list = RowList(id="difference")

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog-box pane -full-box") as box:
            box.border_title = Content(self._compared.title)
            box.border_subtitle = "n p changes · s side by side · esc closes"
            yield self.list

    def on_mount(self) -> None:
        self._draw()

    def on_resize(self) -> None:
        self._draw()

    @property
    def side_by_side(self) -> bool:
        return self.app.size.width >= SIDE_BY_SIDE_FROM if self._sides is None else self._sides

    def _draw(self) -> None:
        self.list.set_rows(self._rows())

    def _rows(self) -> list[Row]:
        compared, sides = self._compared, self.side_by_side
        rows: list[Row] = [_Heads("heads", compared.old, compared.new, sides), blank("gap")]
        if all(part.same for part in compared.parts):
            rows.append(TextRow("equal", "They are equal.", "good"))
        for number, (part, found) in enumerate(zip(compared.parts, self._differences, strict=True)):
            key = f"part:{number}"
            rows.append(ItemRow(key, _part_line(part, found)))
            if found is not None:
                rows += difference_rows(
                    found, prefix=key, side_by_side=sides, is_open=lambda fold: fold in self._opened
                )
                rows.append(blank(f"{key}:gap"))
        return rows

    @on(RowList.Chosen)
    def chosen(self, event: RowList.Chosen) -> None:
        event.stop()
        self._opened ^= {event.key}
        self._draw()

    def action_turn(self) -> None:
        self._sides = not self.side_by_side
        self._draw()

    def action_change(self, step: int) -> None:
        """To the next part that changed."""
        changed = [f"part:{number}" for number, part in enumerate(self._compared.parts) if not part.same]
        order = [row.key for row in self.list.rows]
        at = self.list.cursor
        places = [order.index(key) for key in changed if key in order]
        ahead = [place for place in places if (place > at if step > 0 else place < at)]
        if ahead:
            self.list.go_to(order[ahead[0] if step > 0 else ahead[-1]])

    def action_close(self) -> None:
        self.dismiss(None)


def _shown(text: str | None) -> str:
    """As it is drawn: no escapes, tabs as spaces."""
    return clean(text or "").expandtabs(4)


def _part_line(part: Part, found: object) -> Line:
    name = one_line(part.name.replace("_", " "), 80)
    if part.same:
        size = f"{f.count(len(part.old or ''))} chars" if part.old else "in neither"
        return ((f" = {name}", "dim"), (f"  equal, {size}" if part.old else f"  {size}", "dim"))
    if part.old is None:
        return ((f" + {name}", "added"), (f"  new, {f.count(len(part.new or ''))} chars", "dim"))
    if part.new is None:
        return ((f" - {name}", "removed"), (f"  gone, {f.count(len(part.old))} chars", "dim"))
    added, removed = getattr(found, "added", 0), getattr(found, "removed", 0)
    return (
        (f" ≠ {name}", "strong"),
        (f"  {f.count(len(part.old))} → {f.count(len(part.new))} chars  ", "dim"),
        (f"-{removed}", "removed"),
        (" ", ""),
        (f"+{added}", "added"),
    )


@dataclass(frozen=True, slots=True)
class _Heads:
    """What is compared: old and new."""

    key: str
    old: str
    new: str
    side_by_side: bool
    selectable: bool = False

    def height(self, width: int) -> int:
        return 1 if self.side_by_side else 2

    def lines(self, width: int) -> Sequence[Line]:
        if not self.side_by_side:
            old, new = f.fit(self.old, width - 2), f.fit(self.new, width - 2)
            return [(("- ", "removed"), (old, "strong")), (("+ ", "added"), (new, "strong"))]
        half = max(8, (width - 3) // 2)
        return [
            (
                ("- ", "removed"),
                (f.pad(self.old, half - 2), "strong"),
                (" │ ", "dim"),
                ("+ ", "added"),
                (f.fit(self.new, half - 2), "strong"),
            )
        ]
