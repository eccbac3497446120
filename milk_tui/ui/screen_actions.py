"""What can be done in the brick inspector and in the perception screen."""

from __future__ import annotations

from milk_tui.ui.action import Action, Takes, Where

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
        takes=(Takes.BRICK,),
    ),
    Action(
        "rebuild-brick",
        "rebuild",
        "Make a summary anew from what its agent did: primary or escalation.",
        BRICKS,
        ("r",),
        "rebuild",
        "NAME",
        takes=(Takes.SUMMARY,),
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
        "compare",
    ),
    Action(
        "edit-entry",
        "edit",
        "Write an entry of the perception anew. The command adds or changes one; without a value it goes.",
        BELIEFS,
        ("e",),
        "believe",
        "LAYER KEY: VALUE",
        takes=(Takes.LAYER, Takes.ENTRY),
    ),
    Action("add-entry", "add", "Write a new entry into the layer.", BELIEFS, ("a",)),
    Action("remove-entry", "remove", "The entry no longer holds; undo brings it back.", BELIEFS, ("x",)),
    Action(
        "accept-entry",
        "yes",
        "A proposed invariant holds from now on; a conflict with the file is settled as it stands.",
        BELIEFS,
        ("y",),
    ),
    Action("reject-entry", "no", "A proposed invariant goes.", BELIEFS, ("n",)),
    Action("swap-entry", "swap", "What the file overruled holds again.", BELIEFS, ("s",)),
    Action("undo-entry", "undo", "Take back what was done with the perception last.", BELIEFS, ("u",), "unbelieve"),
    Action("earlier", "earlier", "What was believed a change earlier.", BELIEFS, ("left_square_bracket",)),
    Action("later", "later", "What was believed a change later.", BELIEFS, ("right_square_bracket",)),
    Action("compare-turns", "difference", "What changed against the turn before.", BELIEFS, ("d",)),
    Action("entry-history", "history", "Every version of the entry.", BELIEFS, ("v",)),
    Action(
        "open-slice",
        "open slice",
        "Take a slice up again, or begin one: its frame is there, the working set is empty.",
        BELIEFS,
        ("o",),
        "slice",
        "NAME",
        takes=(Takes.SLICE,),
    ),
)
