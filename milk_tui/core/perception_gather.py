"""Lists of the frame that grow: a decision is not lost because the next one is written (``semantics.md`` §5).

``decided: X`` on one line adds X to what was decided; ``decided:`` with list lines is the whole list from then on. A
line that the new one replaces (the same subject, another value: ``core/judgement.py``) leaves; one that it may
contradict stays, marked.
"""

from __future__ import annotations

from msgspec.structs import replace

from milk_tui.core import statements
from milk_tui.core.comparison import compare
from milk_tui.core.judgement import Verdict, judge
from milk_tui.core.perception import Item, items, key_line, marks_of, normal
from milk_tui.core.records import Layer, PerceptionEntry
from milk_tui.core.text import clean, one_line

GROWING = frozenset({"decided", "open", "acceptance", "constraints"})


def added(layer: Layer, body: str) -> frozenset[str]:
    """The keys of growing lists that a block writes on lines of their own, without a list."""
    if layer is not Layer.FRAME:
        return frozenset()
    found: set[str] = set()
    listed: set[str] = set()
    current = ""
    for line in clean(body).splitlines():
        if not line.strip():
            continue
        if match := key_line(layer, line.rstrip(), inside=bool(current)):
            current = match[0]
            (found if match[1] else listed).add(current)
        else:
            listed.add(current)
    return frozenset(GROWING & (found - listed))


def gathered(before: PerceptionEntry, new: PerceptionEntry) -> PerceptionEntry:
    """The list with what ``new`` adds to it."""
    lines = list(items(before))
    for fresh in items(new):
        lines = [line for old in lines if (line := _beside(old, fresh)) is not None]
        lines.append(fresh)
    said = "\n".join(_line(new, item) for item in lines)
    return normal(replace(new, value=said, reason="", blocker="", stale=""))


def _beside(old: Item, new: Item) -> Item | None:
    """The older line as it stands beside the new one; ``None`` when it leaves."""
    if old.text.casefold() == new.text.casefold():
        return None
    said, before = statements.parse(new.text), statements.parse(old.text)
    match judge(said, before, compare(said, before)).verdict:
        case Verdict.SAME | Verdict.REPLACES:
            return None
        case Verdict.CONFLICTS:
            why = one_line(new.text.replace("[", "(").replace("]", ")"), 60)
            return Item(old.text, old.reason, old.blocker, old.stale or f"“{why}” was written later")
        case _:
            return old


def _line(entry: PerceptionEntry, item: Item) -> str:
    marks = replace(entry, reason=item.reason, blocker=item.blocker, stale=item.stale)
    return f"{item.text}{marks_of(marks)}"
