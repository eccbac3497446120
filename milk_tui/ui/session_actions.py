"""What can be done with sessions: in their list, and with the one on the screen."""

from __future__ import annotations

from milk_tui.ui.action import Action, Takes, Where

L = Where.SESSIONS

SESSION_ACTIONS: tuple[Action, ...] = (
    Action(
        "search",
        "search",
        "Search in all that was said in the session; up and down go from place to place.",
        Where.SESSION,
        ("ctrl+f",),
        "search",
        "[WORDS]",
    ),
    Action(
        "rename-session",
        "rename",
        "Give the session a title.",
        L,
        ("ctrl+r",),
        "rename",
        "TITLE",
        priority=True,
        takes=(Takes.TITLE,),
    ),
    Action(
        "fork-session",
        "fork",
        "Go another way: a copy of the session with its facts and bricks. The command copies the one on the screen "
        "and goes on with the copy.",
        L,
        ("ctrl+y",),
        "fork",
        "[TITLE]",
        aliases=("branch",),
        priority=True,
    ),
    Action(
        "export-session",
        "write to file",
        "Write the session to a file: its name ends in .md, .html or .json.",
        L,
        ("ctrl+t",),
        "export",
        "[FILE]",
        aliases=("save",),
        priority=True,
        takes=(Takes.EXPORT,),
    ),
    Action("delete-session", "delete", "Delete the session; undo brings it back.", L, ("ctrl+d",), priority=True),
    Action(
        "undelete-session",
        "undo",
        "Bring back the session that was deleted last.",
        L,
        ("ctrl+z",),
        "undelete",
        priority=True,
    ),
    Action("all-sessions", "all / here", "Sessions of every directory, or here.", L, ("tab",), priority=True),
)
