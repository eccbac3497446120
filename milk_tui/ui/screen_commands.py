"""The slash commands of the brick inspector and the perception screen: the same, without the screens."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING

from milk_tui.core.errors import MilkError

if TYPE_CHECKING:
    from milk_tui.core.records import BrickKind, Layer
    from milk_tui.engine.conductor import Conductor
    from milk_tui.ui.control import Control

NO_SESSION = "the session is not open yet"
_BRICKS = {
    "need": "current_need",
    "brief": "escalation_brief",
    "primary": "primary_summary",
    "escalation": "escalation_summary",
}


def screen_commands(control: Control, note: Callable[[str], None]) -> Mapping[str, Callable[[str], Awaitable[None]]]:
    """By the id of the action. ``note`` says what was done; ``MilkError`` goes through to the caller."""

    def conductor() -> Conductor:
        if control.conductor is None:
            raise MilkError(NO_SESSION)
        return control.conductor

    async def edit(argument: str) -> None:
        name, _, text = argument.partition(" ")
        kind = brick_named(name)
        await conductor().bricks.edit(kind, text.strip())
        note(f"the {name} is kept")

    async def rebuild(argument: str) -> None:
        made = await conductor().bricks.rebuild(brick_named(argument))
        note("it is as it would be built" if made is None else f"rebuilt, as version {made.version}")

    async def finish(argument: str) -> None:
        await conductor().finish_need()
        note("the need is done")

    async def believe(argument: str) -> None:
        from milk_tui.core import perception

        name, _, text = argument.partition(" ")
        layer = layer_named(name)
        entries = perception.parse(layer, text)
        if len(entries) != 1 or ":" not in text:
            raise MilkError("there is no entry in it", "write /believe frame KEY: VALUE")
        (entry,) = entries
        desk = conductor().perception
        if entry.value:
            await desk.edit(layer, entry.key, entry.value, entry.reason, entry.blocker)
        else:
            await desk.remove(layer, entry.key)
        note(f"{entry.key} is {'kept' if entry.value else 'gone'}; /unbelieve takes that back")

    async def undo(argument: str) -> None:
        undone = await conductor().perception.undo()
        note(f"undone: {undone}" if undone else "there is nothing to take back")

    async def open_slice(argument: str) -> None:
        await conductor().perception.open_slice(argument)
        note("the slice is open")

    return {
        "edit-brick": edit,
        "rebuild-brick": rebuild,
        "finish-need": finish,
        "edit-entry": believe,
        "undo-entry": undo,
        "open-slice": open_slice,
    }


def layer_named(name: str) -> Layer:
    """The layer that a person means by its name or its beginning. Raises MilkError."""
    from milk_tui.core.records import Layer

    wanted = name.strip().casefold()
    found = [layer for layer in Layer if wanted and f"{layer}s".startswith(wanted)]
    if len(found) != 1:
        raise MilkError(f"there is no layer “{name.strip()}”", f"they are {', '.join(Layer)}")
    return found[0]


def brick_named(name: str) -> BrickKind:
    """The brick that a person means by its name or its beginning. Raises MilkError."""
    from milk_tui.core.records import BrickKind

    wanted = name.strip().casefold()
    found = [kind for known, kind in _BRICKS.items() if wanted and known.startswith(wanted)]
    if len(found) != 1:
        raise MilkError(f"there is no brick “{name.strip()}”", f"they are {', '.join(_BRICKS)}")
    return BrickKind(found[0])
