"""The one registry of what a person can do.

Bindings, footer, help (F1), command palette, slash commands and the table in the README are made from
``ACTIONS`` (``style.md``, "Our sheet"). The keys here are the built-in ones; ``[keys]`` in the config
replaces them by id.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from textual.binding import Binding, BindingType

from milk_tui.ui.action import WAYS, Action, Takes, Where
from milk_tui.ui.agent_commands import AGENT_ACTIONS
from milk_tui.ui.conversation_actions import CONVERSATION_ACTIONS
from milk_tui.ui.fact_actions import FACT_ACTIONS
from milk_tui.ui.helper_actions import HELPER_ACTIONS
from milk_tui.ui.keymap import Keymap, checked, display
from milk_tui.ui.perception_commands import PERCEPTION_ACTIONS
from milk_tui.ui.prompt_actions import PROMPT_ACTIONS
from milk_tui.ui.screen_actions import SCREEN_ACTIONS
from milk_tui.ui.session_actions import SESSION_ACTIONS
from milk_tui.ui.settings_actions import SETTINGS_ACTIONS
from milk_tui.ui.statistics_actions import STATISTICS_ACTIONS
from milk_tui.ui.work_actions import WORK_ACTIONS

__all__ = ["ACTIONS", "BY_COMMAND", "BY_ID", "WAYS", "Action", "Keymap", "Where", "bindings", "display", "keymap"]

E, S, P = Where.EVERYWHERE, Where.SESSION, Where.PROMPT
ACTIONS: tuple[Action, ...] = (
    Action(
        "escalate",
        "escalate",
        "Text in the prompt: send this one turn to the escalation agent. Empty prompt: pin or unpin it. "
        "The command hands over what was asked last, with your reason.",
        S,
        ("ctrl+g",),
        "escalate",
        "[REASON/fresh]",
        footer=True,
        takes=(Takes.FRESH,),
    ),
    Action("palette", "commands", "Find and run any command.", E, ("ctrl+p",), "palette", footer=True),
    Action(
        "memory",
        "memory",
        "All facts, full screen; filtered by these words.",
        E,
        ("f2",),
        "memory",
        "[WORDS]",
        aliases=("facts", "memories"),
        footer=True,
    ),
    Action(
        "bricks",
        "bricks",
        "The four bricks, what an escalation would send now, what was sent.",
        E,
        ("f3",),
        "bricks",
        aliases=("context", "receipts"),
        footer=True,
    ),
    Action(
        "perception",
        "perception",
        "What the agents believe, as of any turn, to correct. With a word: do that with its file.",
        E,
        ("f4",),
        "perception",
        "[write/read/ignore]",
        footer=True,
        takes=(Takes.FILE_DOING,),
    ),
    Action(
        "sessions",
        "sessions",
        "Look into sessions, search in them, resume, rename, fork, write to a file, delete. With a title or the "
        "beginning of an id: go on with that one.",
        E,
        ("ctrl+o",),
        "sessions",
        "[NAME]",
        aliases=("resume", "continue", "session"),
        footer=True,
        takes=(Takes.SESSION,),
    ),
    Action(
        "escape",
        "stop",
        "The first that applies: close popup or dialog, drop the text selection, stop the running answer "
        "(what came stays, marked), leave the pane.",
        S,
        ("escape",),
        "stop",
        aliases=("cancel", "interrupt"),
        footer=True,
    ),
    Action(
        "help",
        "help",
        "All keys and commands, searchable; those of the pane that you are in come first.",
        E,
        ("f1",),
        "help",
        "[WORDS]",
        aliases=("commands", "keys", "shortcuts", "keybindings"),
        footer=True,
        takes=(Takes.COMMAND,),
    ),
    Action("hand-back", "hand back", "Return to the primary agent.", S, ("ctrl+l",), "handback"),
    Action("retry", "retry", "Ask again what was asked last.", S, (), "retry", aliases=("again", "regenerate")),
    Action(
        "need",
        "need",
        "Show or set what the session is about.",
        S,
        (),
        "need",
        "[TEXT]",
        aliases=("goal",),
        takes=(Takes.NEED,),
    ),
    Action(
        "learn",
        "learn",
        "Remember a fact. `!` before it keeps one that looks like a secret.",
        S,
        (),
        "learn",
        "TEXT",
        aliases=("remember",),
    ),
    *FACT_ACTIONS,
    *AGENT_ACTIONS,
    *SCREEN_ACTIONS,
    *WORK_ACTIONS,
    *HELPER_ACTIONS,
    *STATISTICS_ACTIONS,
    *SETTINGS_ACTIONS,
    *PROMPT_ACTIONS,
    Action(
        "new-session",
        "new session",
        "Begin a session in this directory.",
        E,
        ("ctrl+n",),
        "new",
        aliases=("clear", "reset"),
    ),
    *PERCEPTION_ACTIONS,
    *SESSION_ACTIONS,
    *CONVERSATION_ACTIONS,
    Action("sidebar", "sidebar", "Show or hide facts and bricks.", S, ("ctrl+s",), "sidebar"),
    Action("next-pane", "next pane", "Move to the next pane.", E, ("f6",), "pane", priority=True),
    Action("previous-pane", "last pane", "Move to the pane before.", E, ("shift+f6",), priority=True),
    Action(
        "send",
        "send",
        "Send the prompt; while an answer runs it waits in the queue.",
        P,
        ("enter",),
    ),
    Action(
        "newline",
        "new line",
        "A new line in the prompt.",
        P,
        ("ctrl+j", "alt+enter", "shift+enter"),
    ),
    Action(
        "history-search",
        "history",
        "Search the earlier prompts of this directory; up and down step through them.",
        S,
        ("ctrl+r",),
        "history",
    ),
    Action("editor", "editor", "Write the prompt in $EDITOR.", S, ("f5",), "editor"),
    Action("take-back", "take back", "Take the waiting prompt back into the input.", S, (), "unqueue"),
    Action(
        "copy",
        "copy",
        "Copy the selection. Without one: clear the prompt; twice on an empty prompt: save and quit.",
        S,
        ("ctrl+c",),
    ),
    Action(
        "theme",
        "theme",
        "Change the colours.",
        E,
        (),
        "theme",
        "[NAME]",
        aliases=("themes", "colors"),
        takes=(Takes.THEME,),
    ),
    Action(
        "quit",
        "quit",
        "Save draft and session, and leave.",
        E,
        ("ctrl+q",),
        "quit",
        aliases=("exit", "q"),
        priority=True,
    ),
)
"""Every action, in the order of the footer and of help."""

BY_ID: Mapping[str, Action] = {action.id: action for action in ACTIONS}
BY_COMMAND: Mapping[str, Action] = {
    name: action for action in ACTIONS for name in (action.command, *action.aliases) if name
}


def bindings(where: Where) -> list[BindingType]:
    """Textual's bindings for the actions of a pane."""
    return [
        Binding(
            ",".join(action.keys),
            action.method,
            action.title,
            show=action.footer,
            priority=action.priority,
            tooltip=action.help,
            id=action.id,
        )
        for action in ACTIONS
        if action.where is where and action.keys
    ]


def dialog_bindings(where: Where) -> list[BindingType]:
    """Those of a dialog with keys of its own: help is there too, which the app alone can't give it."""
    help_ = BY_ID["help"]
    return [*bindings(where), Binding(",".join(help_.keys), "app.help", help_.title, show=False, id=help_.id)]


def keymap(configured: Mapping[str, Iterable[str]]) -> Keymap:
    """The keys in use under what ``[keys]`` of the config says, and what is wrong with that."""
    return checked(configured, ACTIONS)


def matching(prefix: str) -> list[Action]:
    """Actions whose command begins with ``prefix`` (no slash), the one that is called so first, then those that hold
    it."""
    commands = [action for action in ACTIONS if action.command]
    first = [a for a in commands if any(name.startswith(prefix) for name in (a.command, *a.aliases))]
    rest = [a for a in commands if a not in first and (prefix in a.command or prefix in a.title)]
    return [*sorted(first, key=lambda a: (prefix not in (a.command, *a.aliases), a.command)), *rest]


def readme_table(keys: Keymap | None = None) -> str:
    """The README's table of keys and commands, Markdown."""
    keys = keys or Keymap({})
    rows = ["| key | command | does | where |", "|---|---|---|---|"]
    for action in ACTIONS:
        pressed = " · ".join(f"`{key}`" for key in keys.of(action))
        usage = f"`{action.usage}`" if action.command else ""
        rows.append(f"| {pressed} | {usage} | {action.help} | {action.where} |")
    return "\n".join(rows) + "\n"
