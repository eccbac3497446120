"""Reading what an agent writes about its task: ``key: value`` lines, merged by key (``semantics.md`` §5).

A block is a list of entries. An entry is ``key: value`` on one line, or ``key:`` followed by list lines (``- item``)
or indented lines, which become the lines of its value. ``[reason: …]`` at the end of a value is its reason. A line
that is neither belongs to the entry before it; before the first entry it becomes an entry under the key ``note``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from milk_tui.core import text as texts
from milk_tui.core.records import Layer, PerceptionEntry

BUDGET: dict[Layer, int] = {Layer.INVARIANT: 2_000, Layer.FRAME: 3_000, Layer.WORKING: 1_500}
"""Characters of each layer in the prompt (§5)."""

_KEY = re.compile(r"^(?P<key>[^\W_][\w ./-]{0,39}?)\s*:(?:\s+(?P<value>.*))?$")
_REASON = re.compile(r"\s*\[reason:\s*(?P<reason>[^\]]+)\]\s*$", re.IGNORECASE)


def parse(layer: Layer, body: str) -> tuple[PerceptionEntry, ...]:
    """The entries of a block, in their order, the last of a repeated key winning. An entry with an empty value
    means "remove this key"."""
    found: dict[str, list[str]] = {}
    current = ""
    for raw in texts.clean(body).splitlines():
        line = raw.rstrip()
        if not line.strip():
            continue
        match = None if line[0].isspace() or line.lstrip().startswith("- ") else _KEY.match(line)
        if match:
            current = match["key"].strip().lower()
            found.pop(current, None)
            value = (match["value"] or "").strip()
            found[current] = [value] if value else []
        else:
            current = current or "note"
            found.setdefault(current, []).append(line.strip())
    return tuple(_entry(layer, key, lines) for key, lines in found.items())


def _entry(layer: Layer, key: str, lines: Sequence[str]) -> PerceptionEntry:
    value = "\n".join(lines)
    reason = ""
    if len(lines) == 1 and (match := _REASON.search(value)):
        reason = match["reason"].strip()
        value = value[: match.start()]
    return PerceptionEntry(layer=layer, key=key, value=value, reason=reason)


def render(entries: Iterable[PerceptionEntry], budget: int | None = None) -> str:
    """The entries as the lines that ``parse`` reads. Past ``budget`` characters the oldest entries are left out and
    the number is said, so that the agent tidies up."""
    rows = [_render(e) for e in entries if e.value]
    if budget is None or sum(len(r) + 1 for r in rows) <= budget:
        return "\n".join(rows)
    kept: list[str] = []
    room = budget - 60
    for row in reversed(rows):
        if len(row) + 1 > room:
            break
        kept.append(row)
        room -= len(row) + 1
    left = len(rows) - len(kept)
    kept.append(f"({left} older entries left out: over {budget} characters, please tidy)")
    return "\n".join(reversed(kept))


def _render(entry: PerceptionEntry) -> str:
    reason = f" [reason: {entry.reason}]" if entry.reason else ""
    if "\n" not in entry.value:
        return f"{entry.key}: {entry.value}{reason}"
    lines = "".join(f"\n  {line}" if line.startswith("- ") else f"\n  - {line}" for line in entry.value.splitlines())
    return f"{entry.key}:{lines}{reason}"
