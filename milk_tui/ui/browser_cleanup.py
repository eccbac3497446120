"""The menu of what could be cleaned up: how many facts of each kind there are, and which to look at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from milk_tui.core.cleanup import Candidates, CleanUp
from milk_tui.ui import format as f
from milk_tui.ui.dialogs import Picker
from milk_tui.ui.fact_views import CLEAN_UPS
from milk_tui.ui.row_list import Row
from milk_tui.ui.words import ItemRow

if TYPE_CHECKING:
    from textual.app import App

    from milk_tui.engine.memory import MemoryDesk


async def look(desk: MemoryDesk) -> Mapping[CleanUp, Candidates]:
    """Look through all facts for each kind."""
    return {kind: await desk.candidates(kind) for kind in CleanUp}


async def choose(app: App[int], found: Mapping[CleanUp, Candidates]) -> Candidates | None:
    """Let the person choose a kind; ``None`` when they don't."""
    some = any(candidates.percepts for candidates in found.values())
    picker = Picker(
        "clean up memory",
        lambda words: menu_rows(list(found.values()), words),
        hint=f"{'enter shows them · nothing is forgotten yet' if some else 'nothing to clean up'} · esc closes",
    )
    chosen = await app.push_screen_wait(picker)
    return found[CleanUp(chosen)] if chosen is not None else None


def menu_rows(found: Sequence[Candidates], words: str) -> list[Row]:
    """One entry for each kind; one without facts can't be chosen."""
    rows: list[Row] = []
    for candidates in found:
        number = len(candidates.percepts)
        if words.casefold().strip() not in candidates.kind:
            continue
        rows.append(
            ItemRow(
                candidates.kind.value,
                (
                    (f"  {f.pad(candidates.kind.value, 16)}", "strong" if number else "dim"),
                    (f.plural(number, "fact") if number else "none", "" if number else "dim"),
                    (f", {len(candidates.marked):,} marked at first" if candidates.marked else "", "dim"),
                ),
                ((f"    {CLEAN_UPS[candidates.kind]}", "dim"),),
                selectable=bool(number),
            )
        )
    return rows
