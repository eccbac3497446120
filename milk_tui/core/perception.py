"""Reading what an agent writes about its task: ``key: value`` lines, merged by key (``semantics.md`` §5).

A block is a list of entries. An entry is ``key: value`` on one line, or ``key:`` followed by list lines (``- item``,
``1. item``) or indented lines, which become the lines of its value. What stands in brackets at the end says more:
``[reason: …]``, ``[blocked on …]``, ``[stale? …]``; on one line they belong to the entry, in a list to the item, and
right after ``key:`` to a whole list. A line that is neither belongs to the entry before it; before the first entry it
becomes an entry under the key ``note``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from milk_tui.core import perception_dense
from milk_tui.core import text as texts
from milk_tui.core.records import Layer, PerceptionEntry

BUDGET: dict[Layer, int] = {Layer.INVARIANT: 2_000, Layer.FRAME: 3_000, Layer.WORKING: 1_500}
"""Characters of each layer in the prompt (§5)."""

KEY_CHARS = 40
NOTE = "note"
NUMBERED = frozenset({"next", "steps", "plan", "todo"})
"""Keys whose lists have an order."""
LISTS = frozenset({"decided", "open", "acceptance", "constraints", "next", NOTE})
"""Keys that gather: said twice in one block, both are meant."""

_KEY = re.compile(r"^(?!\d+[.)]\s)(?P<key>[^\W_][\w ./-]{0,39}?)\s*:(?:\s+(?P<value>.*))?$")
_BULLET = re.compile(r"^[-*•](?:\s+|$)")
_MARKER = re.compile(r"^(?:[-*•]|\d{1,3}[.)])(?:\s+|$)")
_NOT_KEY = re.compile(r"[^\w ./-]+")
_MARK = re.compile(
    r"(?:^|(?<!\s)\s++)\[(?:(?P<reason>reason:)|(?P<blocker>blocked(?:\s+on|\s+by|:))|(?P<stale>stale\?))\s*+(?P<said>[^\[\]]*)\]\s*$",
    re.IGNORECASE,
)


class Item(Struct, frozen=True):
    """One line of an entry's value, with what is said about it."""

    text: str
    reason: str = ""
    blocker: str = ""
    stale: str = ""


def parse(layer: Layer, body: str) -> tuple[PerceptionEntry, ...]:
    """The entries of a block, in their order, the last of a repeated key winning (lists gather). An entry with an
    empty value means "remove this key". The dense notation is read as well."""
    body = texts.clean(body)
    if layer is Layer.WORKING and (dense := perception_dense.parse(body)) is not None:
        return tuple(made(layer, key, lines) for key, lines in dense)
    found: dict[str, list[str]] = {}
    current = ""
    for raw in body.splitlines():
        line = raw.rstrip()
        if not line.strip():
            continue
        if match := key_line(layer, line, inside=bool(current)):
            current, value = match
            before = found.pop(current, [])
            found[current] = [*(before if current in LISTS else ()), *([value] if value else ())]
        else:
            current = current or NOTE
            found.setdefault(current, []).append(line.strip())
    return tuple(made(layer, key, lines) for key, lines in found.items())


def key_line(layer: Layer, line: str, *, inside: bool) -> tuple[str, str] | None:
    """Key and value when the line begins an entry. ``inside``: an entry is open, whose list lines may follow.

    Invariants may be written as a list of entries (``- stack: python``).
    """
    if line[:1].isspace():
        return None
    bare = _BULLET.sub("", line)
    if bare != line and inside and layer is not Layer.INVARIANT:
        return None
    match = _KEY.match(bare)
    return (match["key"].strip().lower(), (match["value"] or "").strip()) if match else None


def made(layer: Layer, key: str, lines: Sequence[str]) -> PerceptionEntry:
    """The entry in its normal form: what ``parse(render(entry))`` gives back."""
    said: dict[str, str] = {}
    kept = [line for line in map(str.strip, lines) if line]
    if len(kept) > 1:
        kept = [line for line in map(_item, kept) if line]
    if len(kept) > 1 and not _without_marks(kept[0], {}):
        _without_marks(kept.pop(0), said)
    if len(kept) == 1:
        bare = _bullet_off(kept[0])
        more: dict[str, str] = {}
        if text := _without_marks(bare, more):
            said = more | said
        kept = [text or _mark_text(bare)]
    return PerceptionEntry(
        layer=layer,
        key=key_of(key),
        value="\n".join(kept),
        reason=said.get("reason", ""),
        blocker=said.get("blocker", ""),
        stale=said.get("stale", ""),
    )


def normal(entry: PerceptionEntry) -> PerceptionEntry:
    """The entry as it is kept: clean text, one item a line, marks in their places. Idempotent."""
    form = made(entry.layer, entry.key, texts.clean(entry.value).splitlines())
    marks = {name: _mark_text(getattr(entry, name)) or getattr(form, name) for name in ("reason", "blocker", "stale")}
    return replace(entry, key=form.key, value=form.value, **(marks if form.value else dict.fromkeys(marks, "")))


def key_of(text: str) -> str:
    """The text as a key: lower case, at most ``KEY_CHARS`` characters, only what a key may hold."""
    key = " ".join(_NOT_KEY.sub(" ", texts.clean(text).lower()).split())
    while key and (key[0] in "_./- " or _MARKER.match(key)):
        key = _MARKER.sub("", key).lstrip("_./- ")
    key = key[:KEY_CHARS].strip()
    return key if key and _KEY.match(f"{key}:") else NOTE


def items(entry: PerceptionEntry) -> tuple[Item, ...]:
    """The lines of the value with their reasons and blockers; a single line has the entry's."""
    lines = entry.value.splitlines()
    if len(lines) == 1:
        return (Item(lines[0], entry.reason, entry.blocker, entry.stale),)
    found = []
    for line in lines:
        said: dict[str, str] = {}
        text = _without_marks(line, said)
        found.append(Item(text, said.get("reason", ""), said.get("blocker", ""), said.get("stale", "")))
    return tuple(found)


def render(entries: Iterable[PerceptionEntry], budget: int | None = None) -> str:
    """The entries as the lines that ``parse`` reads. Past ``budget`` characters the oldest entries are left out and
    the number is said, so that the agent tidies up."""
    rows = [rendered(e) for e in entries if e.value]
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


def dense(entries: Iterable[PerceptionEntry]) -> str:
    """The entries on the one line of the dense notation."""
    shown = [entry for entry in entries if entry.value]
    return perception_dense.render(shown, map(marks_of, shown))


def rendered(entry: PerceptionEntry) -> str:
    """One entry as the lines that ``parse`` reads."""
    marks = marks_of(entry)
    lines = entry.value.splitlines()
    if len(lines) <= 1:
        return f"{entry.key}: {entry.value}{marks}"
    numbered = entry.key in NUMBERED
    rows = (f"\n  {f'{n}.' if numbered else '-'} {_item(line)}" for n, line in enumerate(lines, start=1))
    return f"{entry.key}:{marks}{''.join(rows)}"


def same(one: PerceptionEntry | None, other: PerceptionEntry | None) -> bool:
    """Whether both say the same, doubts included, or are both not there."""
    if one is None or other is None:
        return one is other
    said = (one.value, one.reason, one.blocker, one.stale)
    return said == (other.value, other.reason, other.blocker, other.stale)


def marks_of(entry: PerceptionEntry) -> str:
    """Reason, blocker and doubt in brackets, as they stand behind a value."""
    reason = f" [reason: {entry.reason}]" if entry.reason else ""
    blocker = f" [blocked on {entry.blocker}]" if entry.blocker else ""
    stale = f" [stale? {entry.stale}]" if entry.stale else ""
    return f"{reason}{blocker}{stale}"


def _bullet_off(line: str) -> str:
    while (bare := _BULLET.sub("", line).strip()) != line:
        line = bare
    return line


def _item(line: str) -> str:
    line = line.strip()
    while (bare := _MARKER.sub("", line).strip()) != line:
        line = bare
    return line


def _without_marks(line: str, said: dict[str, str]) -> str:
    """The line without the marks at its end, which go into ``said``; the last of a kind counts."""
    while match := _MARK.search(line):
        name = next(name for name in ("reason", "blocker", "stale") if match[name])
        said.setdefault(name, _mark_text(match["said"]))
        line = line[: match.start()].rstrip()
    return line


def _mark_text(text: str) -> str:
    return " ".join(texts.clean(text).replace("[", "(").replace("]", ")").split())
