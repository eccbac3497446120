"""What the perception screen reads: the layers as of a stop in time, what changed there, what they cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from milk_tui.core import perception
from milk_tui.core.perception_view import LayerView, PerceptionView, Version
from milk_tui.core.records import Layer, Role
from milk_tui.core.token_sizes import Tokens
from milk_tui.engine.perception_desk import PerceptionDesk
from milk_tui.ui import inspector_reads
from milk_tui.ui.control import Control
from milk_tui.ui.diff_screen import Compared, Part
from milk_tui.ui.perception_rows import TITLES, entry_key
from milk_tui.ui.perception_slider import turn_name


class Seen(NamedTuple):
    """The perception at a stop, the stops, and the keys of what changed there, by layer."""

    view: PerceptionView
    versions: Sequence[Version]
    changed: Mapping[Layer, frozenset[str]]


async def look(desk: PerceptionDesk, at_turn: int | None) -> Seen:
    """``at_turn``: as of its end; ``None``: now, where no change is marked."""
    view, versions = await desk.layers(at_turn), await desk.versions()
    if at_turn is None:
        return Seen(view, versions, {})
    before = await desk.layers(_turn_before(versions, at_turn))
    return Seen(view, versions, {layer: _changed(before.layer(layer), view.layer(layer)) for layer in Layer})


async def difference(desk: PerceptionDesk, at_turn: int | None) -> Compared | None:
    """What the newest change did, or that of the turn; ``None`` when nothing was written yet."""
    versions = await desk.versions()
    if not versions:
        return None
    turn = versions[-1].turn_id if at_turn is None else at_turn
    earlier = _turn_before(versions, turn)
    before, after = await desk.layers(earlier), await desk.layers(at_turn)
    parts = [Part(TITLES[layer], _text(before.layer(layer)), _text(after.layer(layer))) for layer in Layer]
    old = turn_name(earlier) if earlier >= versions[0].turn_id else "before the first change"
    return Compared("what changed in the perception", old, "now" if at_turn is None else turn_name(turn), parts)


async def tokens(control: Control, view: PerceptionView) -> Mapping[Layer, Tokens]:
    """What each layer takes in a prompt of the primary."""
    texts = {layer: _given(view.layer(layer)) for layer in Layer}
    model = inspector_reads.model_of(control, Role.PRIMARY)
    counted = await inspector_reads.count(control, model, list(texts.values()))
    return {layer: counted[text] for layer, text in texts.items() if text in counted}


def _turn_before(versions: Sequence[Version], turn_id: int) -> int:
    """The stop before a turn; the turn before the first stop when there is none."""
    earlier = [version.turn_id for version in versions if version.turn_id < turn_id]
    return earlier[-1] if earlier else versions[0].turn_id - 1 if versions else turn_id - 1


def _changed(before: LayerView, after: LayerView) -> frozenset[str]:
    """Keys of the rows that are new or different."""
    old = {entry_key(each.entry): each.entry for each in (*before.entries, *before.proposals)}
    new = {entry_key(each.entry): each.entry for each in (*after.entries, *after.proposals)}
    return frozenset(key for key, entry in new.items() if old.get(key) != entry)


def _given(view: LayerView) -> str:
    return perception.render([each.entry for each in view.entries if not each.expired])


def _text(view: LayerView) -> str | None:
    """A layer as text, proposals marked; ``None`` when it is empty."""
    holds = [perception.rendered(each.entry) for each in view.entries]
    proposed = [f"(proposed) {perception.rendered(each.entry)}" for each in view.proposals]
    return "\n".join([*holds, *proposed]) or None
