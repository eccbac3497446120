"""Shorter renderings of single segments: what leaves a block first when it must get smaller
(``semantics.md`` §4).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from milk_tui.core import blocks
from milk_tui.core.cuts import cut_inside
from milk_tui.core.drafts import Shrink
from milk_tui.core.records import Layer, PerceptionEntry

_TURN = "\n\n## Turn "


def lines_shrinker(render: Callable[[Sequence[str]], str], lines: Sequence[str]) -> Shrink:
    """Shrinks a block of lines, best first, by leaving out the last ones."""

    def shrink(limit: int) -> str:
        for count in range(len(lines) - 1, 0, -1):
            text = render(lines[:count])
            if len(text) <= limit:
                return text
        return ""

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


def working_shrinker(entries: Sequence[PerceptionEntry]) -> Shrink:
    """Shrinks the working set: oldest tool results first, then the entries that were touched longest ago."""

    def shrink(limit: int) -> str:
        kept = list(entries)
        left = 0
        while kept and len(blocks.entries(Layer.WORKING, kept, left)) > limit:
            index = next((i for i, e in enumerate(kept) if _is_results(e)), None)
            left += 1
            if index is not None and "\n" in kept[index].value:
                kept[index] = replace(kept[index], value=kept[index].value.split("\n", 1)[1])
            else:
                oldest = min(range(len(kept)), key=lambda i: kept[i].updated_ms)
                del kept[oldest if index is None else index]
        return blocks.entries(Layer.WORKING, kept, left)

    return shrink


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

    def shrink(limit: int) -> str:
        kept = list(entries)
        left = 0
        while len(blocks.entries(layer, kept, left)) > limit:
            index = next((i for i in reversed(range(len(kept))) if not keep(kept[i])), None)
            if index is None:
                break
            del kept[index]
            left += 1
        return cut_inside(blocks.entries(layer, kept, left), limit)

    return shrink


def _is_results(entry: PerceptionEntry) -> bool:
    return entry.key.startswith(("recent", "result", "tool"))


def _is_decision(entry: PerceptionEntry) -> bool:
    return entry.key.startswith("deci")
