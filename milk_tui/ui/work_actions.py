"""What can be done about the agents' work: answering what they ask, and looking at what they changed."""

from __future__ import annotations

from milk_tui.ui.action import Action, Takes, Where

A = Where.PERMISSION

WORK_ACTIONS: tuple[Action, ...] = (
    Action(
        "allow-once",
        "allow once",
        "Allow what the agent asks for, this once. The command may name how long: once, session, always.",
        A,
        ("y",),
        "allow",
        "[SCOPE]",
        takes=(Takes.SCOPE,),
    ),
    Action("allow-session", "this session", "Allow it for as long as this session lasts.", A, ("s",)),
    Action("allow-always", "always", "Allow it until you revoke it (milk-tui permissions).", A, ("a",)),
    Action(
        "allow-wider",
        "wider",
        "Let an answer that lasts cover the pattern that is shown, or exactly this request again.",
        A,
        ("w",),
    ),
    Action("deny", "deny", "Deny it; the agent is told your reason.", A, ("n",), "deny", "[REASON]"),
    Action(
        "changes",
        "changes",
        "The files that the agents changed in this session: each one's difference, and putting it back.",
        Where.SESSION,
        (),
        "changes",
        aliases=("diff",),
    ),
    Action(
        "revert-file",
        "put back",
        "Put a file back as it was before this session; once more where something else changed it since.",
        Where.CHANGES,
        ("r",),
        "revert",
        "PATH",
        takes=(Takes.CHANGED_FILE,),
    ),
    Action(
        "permissions",
        "permissions",
        "What you allowed the agents here; enter takes one back.",
        Where.SESSION,
        (),
        "permissions",
        aliases=("approvals", "allowed-tools"),
    ),
)
