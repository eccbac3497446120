"""What can be done in the brick inspector and in the perception screen."""

from __future__ import annotations

from milk_tui.ui.action import Action, Where

BRICKS, BELIEFS = Where.INSPECTOR, Where.PERCEPTION

SCREEN_ACTIONS: tuple[Action, ...] = (
    Action(
        "edit-brick",
        "edit",
        "Write a brick by hand: need, brief, primary or escalation. A summary holds until its agent has worked again.",
        BRICKS,
        ("e",),
        "brick",
        "NAME TEXT",
    ),
    Action(
        "rebuild-brick",
        "rebuild",
        "Make a summary anew from what its agent did: primary or escalation.",
        BRICKS,
        ("r",),
        "rebuild",
        "NAME",
    ),
    Action("finish-need", "done", "The need is fulfilled.", BRICKS, ("f",), "done"),
    Action(
        "brick-versions", "versions", "Every version of the brick; any two compared, one taken back.", BRICKS, ("v",)
    ),
    Action("mark-receipt", "mark", "Mark two receipts to see their difference.", BRICKS, ("space",)),
    Action(
        "compare-receipts",
        "difference",
        "The difference between two receipts: those that are marked, else this one and the one before it. The command "
        "takes the newest.",
        BRICKS,
        ("d",),
        "diff",
    ),
)
