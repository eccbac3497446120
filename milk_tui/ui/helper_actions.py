"""What can be done about the memory helper and about decisions."""

from __future__ import annotations

from milk_tui.ui.action import Action, Where

H = Where.HELPER

HELPER_ACTIONS: tuple[Action, ...] = (
    Action(
        "helper",
        "memory helper",
        "The notes of the memory helper and its runs: drop a note that waits, or send it now.",
        Where.SESSION,
        (),
        "helper",
    ),
    Action("drop-note", "drop", "Take back a note that waits; the command means the newest.", H, ("x",), "dropnote"),
    Action(
        "send-note",
        "send now",
        "Hand a note over at the next boundary of any kind, at once when nobody works; the command means the newest.",
        H,
        ("s",),
        "sendnote",
    ),
    Action("keep-note", "keep", "Make a fact of the note.", H, ("f",), "keepnote"),
    Action(
        "decide",
        "decide",
        "Record a decision in the project's memory folder. The first sentence is its title; why: and replaces: may "
        "follow. The id of a fact makes a record of it.",
        Where.SESSION,
        (),
        "decide",
        "TEXT",
    ),
)
