"""What can be done with the settings and with who plays which role."""

from __future__ import annotations

from milk_tui.ui.action import Action, Takes, Where

S = Where.SETTINGS

SETTINGS_ACTIONS: tuple[Action, ...] = (
    Action(
        "settings",
        "settings",
        "Every setting: what it does, its value and where that is from; to change, to set back. Agents: to add, to try "
        "out and give roles to. With words: what they find.",
        Where.EVERYWHERE,
        ("f8",),
        "settings",
        "[WORDS]",
        aliases=("config",),
    ),
    Action(
        "model",
        "model",
        "Give a role to another model, found by words: the primary's when no role is said. With `default` behind it "
        "the config says so from now on.",
        Where.SESSION,
        (),
        "model",
        "[ROLE] [NAME] [default]",
        aliases=("models",),
        takes=(Takes.ROLE_OR_AGENT, Takes.AGENT),
    ),
    Action("edit-setting", "change", "Change it: a switch at once, anything else in its own way.", S, ("enter",)),
    Action("reset-setting", "default", "Set it back to its default.", S, ("r",)),
    Action("undo-setting", "undo", "Take back what was changed last.", S, ("u",)),
    Action("filter-settings", "find", "Find settings by words: name, value, what it does.", S, ("slash",)),
    Action("add-agent", "add agent", "Add an agent to the config.", S, ("a",)),
    Action("test-agent", "say hello", "Ask the agent to say hello, through its real runtime.", S, ("t",)),
    Action("primary-agent", "primary", "Make it the primary agent.", S, ("p",)),
    Action("escalation-agent", "escalation", "Make it the escalation agent.", S, ("e",)),
    Action("remove-agent", "remove", "Take the agent out of the config; undo brings it back.", S, ("x",)),
)
