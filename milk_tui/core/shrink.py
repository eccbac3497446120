"""Shorter renderings of single segments: what leaves a block first when it must get smaller
(``semantics.md`` §4).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from msgspec.structs import replace

from milk_tui.core import blocks
from milk_tui.core.cuts import cut_inside
from milk_tui.core.drafts import Shrink
from milk_tui.core.records import Layer, PerceptionEntry

_TURN = "\n\n## Turn "


def _leaving_out(render: Callable[[int], str], most: int, limit: int) -> str:
    """``render(count)`` for the fewest things left out that makes at most ``limit`` characters of it;
    ``most`` is how many there are. Longer than ``limit`` when even that is too long.
    """
    low, high = 1, most
    while low < high:
        middle = (low + high) // 2
        if len(render(middle)) <= limit:
            high = middle
        else:
            low = middle + 1
    return render(low)


def lines_shrinker(render: Callable[[Sequence[str]], str], lines: Sequence[str]) -> Shrink:
    """Shrinks a block of lines, best first, by leaving out the last ones."""

    def shrink(limit: int) -> str:
        text = _leaving_out(lambda count: render(lines[: len(lines) - count]), len(lines), limit)
        return text if len(text) <= limit else ""

    return shrink


def summary_shrinker(agent: str, text: str, which: str) -> Shrink:
    """Shrinks a summary by leaving out its oldest turns; a newest turn that is still too long is cut."""

    def shrink(limit: int) -> str:
        mark = "[earlier turns left out]\n\n"
        room = limit - len(blocks.summary(agent, "", which)) - len(mark)
        if room <= 0:
            return ""
        at = text.find(_TURN, max(0, len(text) - room - 2))
        if at >= 0:
            kept = text[at + 2 :]
        else:
            newest = text[text.rfind(_TURN) + 1 :].lstrip()
            kept = cut_inside(newest, room)
        return blocks.summary(agent, mark + kept, which)

    return shrink


def working_shrinker(entries: Sequence[PerceptionEntry], *, dense: bool = False) -> Shrink:
    """Shrinks the working set: oldest tool results first, then the entries that were touched longest ago."""
    order: list[tuple[int, int]] = []
    for index, entry in enumerate(entries):
        if _is_results(entry):
            order += ((index, line) for line in range(entry.value.count("\n") + 1))
    others = (index for index, entry in enumerate(entries) if not _is_results(entry))
    order += ((index, 0) for index in sorted(others, key=lambda i: entries[i].updated_ms))

    def render(count: int) -> str:
        gone = Counter(index for index, _ in order[:count])
        kept = [
            replace(entry, value=value)
            for index, entry in enumerate(entries)
            if (value := _without_first_lines(entry, gone[index]))
        ]
        return blocks.entries(Layer.WORKING, kept, count, dense=dense)

    def shrink(limit: int) -> str:
        return _leaving_out(render, len(order), limit)

    return shrink


def _without_first_lines(entry: PerceptionEntry, count: int) -> str:
    if not count:
        return entry.value
    return "\n".join(entry.value.split("\n")[count:]) if _is_results(entry) else ""


def frame_shrinker(entries: Sequence[PerceptionEntry]) -> Shrink:
    """Shrinks the frame: its last entries leave first, and decisions stay; a frame of nothing but too many
    decisions is cut inside, because the cap is hard.
    """
    return entries_shrinker(Layer.FRAME, entries, keep=_is_decision)


def entries_shrinker(
    layer: Layer,
    entries: Sequence[PerceptionEntry],
    keep: Callable[[PerceptionEntry], bool] = lambda _: False,
) -> Shrink:
    """Shrinks a layer by leaving out its last entries, except those to ``keep``."""

    leaving = [index for index, entry in enumerate(entries) if not keep(entry)][::-1]

    def render(count: int) -> str:
        gone = set(leaving[:count])
        return blocks.entries(layer, [e for index, e in enumerate(entries) if index not in gone], count)

    def shrink(limit: int) -> str:
        text = _leaving_out(render, len(leaving), limit) if leaving else render(0)
        return cut_inside(text, limit)

    return shrink


def _is_results(entry: PerceptionEntry) -> bool:
    return entry.key.startswith(("recent", "result", "tool"))


def _is_decision(entry: PerceptionEntry) -> bool:
    return entry.key.startswith("deci")
