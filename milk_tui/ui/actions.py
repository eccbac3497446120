"""The one registry of what a person can do.

Bindings, footer, help (F1), command palette, slash commands and the table in the README are made from
``ACTIONS`` (``style.md``, "Our sheet"). The keys here are the built-in ones; ``[keys]`` in the config
replaces them by id.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from textual.binding import Binding, BindingType
from textual.keys import format_key

from milk_tui.ui.action import Action, Where
from milk_tui.ui.agent_commands import AGENT_ACTIONS
from milk_tui.ui.conversation_actions import CONVERSATION_ACTIONS
from milk_tui.ui.helper_actions import HELPER_ACTIONS
from milk_tui.ui.perception_commands import PERCEPTION_ACTIONS
from milk_tui.ui.prompt_actions import PROMPT_ACTIONS
from milk_tui.ui.screen_actions import SCREEN_ACTIONS
from milk_tui.ui.session_actions import SESSION_ACTIONS
from milk_tui.ui.work_actions import WORK_ACTIONS

__all__ = ["ACTIONS", "BY_COMMAND", "BY_ID", "Action", "Keymap", "Where", "bindings", "keymap"]

E, S, P = Where.EVERYWHERE, Where.SESSION, Where.PROMPT
F, B = Where.PERCEPTS, Where.MEMORY
ACTIONS: tuple[Action, ...] = (
    Action(
        "escalate",
        "escalate",
        "Text in the prompt: send this one turn to the escalation agent. Empty prompt: pin or unpin it. "
        "The command hands over what was asked last, with your reason.",
        S,
        ("ctrl+g",),
        "escalate",
        "[REASON]",
        footer=True,
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
        footer=True,
    ),
    Action(
        "bricks",
        "bricks",
        "The four bricks, what an escalation would send now, what was sent.",
        E,
        ("f3",),
        "bricks",
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
    ),
    Action(
        "sessions",
        "sessions",
        "Look into sessions, search in them, resume, rename, fork, write to a file, delete.",
        E,
        ("ctrl+o",),
        "sessions",
        aliases=("resume",),
        footer=True,
    ),
    Action(
        "escape",
        "stop",
        "The first that applies: close popup or dialog, drop the text selection, stop the running answer "
        "(what came stays, marked), leave the pane.",
        S,
        ("escape",),
        "stop",
        footer=True,
    ),
    Action("help", "help", "All keys and commands, searchable.", E, ("f1",), "help", footer=True),
    Action("hand-back", "hand back", "Return to the primary agent.", S, ("ctrl+l",), "handback"),
    Action("retry", "retry", "Ask again what was asked last.", S, (), "retry"),
    Action("need", "need", "Show or set what the session is about.", S, (), "need", "[TEXT]"),
    Action(
        "learn",
        "learn",
        "Remember a fact. `!` before it keeps one that looks like a secret.",
        S,
        (),
        "learn",
        "TEXT",
    ),
    Action(
        "accept-fact",
        "yes",
        "Decide for it: of two that may not both be true the newer replaces the older; what was held back holds; a "
        "proposed invariant becomes one; what an agent asks to forget goes.",
        F,
        ("y",),
        "accept",
        "ID",
    ),
    Action(
        "reject-fact",
        "no",
        "Decide against it: both facts hold; what was held back is forgotten; a proposed invariant goes; what an agent "
        "asks to forget stays.",
        F,
        ("n",),
        "reject",
        "ID",
    ),
    Action(
        "pin-fact",
        "pin",
        "Pin or unpin a fact: pinned facts go to the agents with every prompt.",
        F,
        ("p",),
        "pin",
        "ID",
    ),
    Action("edit-fact", "edit", "Say it in other words; an agent's fact becomes yours.", F, ("e",), "edit", "ID TEXT"),
    Action("forget-fact", "forget", "Forget a fact; undo brings it back.", F, ("x",), "forget", "ID"),
    Action(
        "restore-fact",
        "undo",
        "Bring back a fact that is gone; on any other, take back what was done last.",
        F,
        ("u",),
        "restore",
        "[ID]",
        aliases=("undo",),
    ),
    Action("mark-fact", "mark", "Mark facts: what is done then is done with all of them.", F, ("space",)),
    Action("filter-facts", "filter", "What an agent would be given for these words.", F, ("slash",)),
    Action(
        "fact-details", "details", "Full text, where it is from, its weight over time, what it replaced.", F, ("enter",)
    ),
    Action(
        "explain-fact",
        "why",
        "Why an agent is given it, or not, for the words in the filter, else for your last prompt.",
        F,
        ("question_mark",),
        "why",
        "[PROMPT]",
    ),
    Action("heavier-fact", "heavier", "Let it weigh more, by 0.05.", F, ("plus", "equals_sign"), "heavier", "ID"),
    Action("lighter-fact", "lighter", "Let it weigh less, by 0.05.", F, ("minus",), "lighter", "ID"),
    Action("readers-of-fact", "readers", "Give it to both agents, to one, to the other.", F, ("c",), "readers", "ID"),
    Action("promote-fact", "global", "Make it a fact of every session.", F, ("g",), "global", "ID"),
    Action(
        "merge-facts",
        "merge",
        "Two that say the same become one: the first that is marked stays.",
        F,
        ("m",),
        "merge",
        "ID ID",
    ),
    Action(
        "supersede-fact",
        "supersede",
        "The second that is marked holds instead of the first.",
        F,
        ("s",),
        "supersede",
        "OLD NEW",
    ),
    Action("clean-up", "clean up", "Facts you may want to be rid of, marked for you to look at.", B, ("b",), "cleanup"),
    Action("asked-agent", "whose", "In a filter: show what the other agent would be given.", B, ("a",)),
    Action("next-group", "next group", "To the next group of facts.", B, ("right_square_bracket",)),
    Action("previous-group", "last group", "To the group of facts before.", B, ("left_square_bracket",)),
    *AGENT_ACTIONS,
    *SCREEN_ACTIONS,
    *WORK_ACTIONS,
    *HELPER_ACTIONS,
    *PROMPT_ACTIONS,
    Action(
        "new-session",
        "new session",
        "Begin a session in this directory.",
        E,
        ("ctrl+n",),
        "new",
        aliases=("clear",),
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
    Action("theme", "theme", "Change the colours.", E, (), "theme", "[NAME]"),
    Action(
        "quit",
        "quit",
        "Save draft and session, and leave.",
        E,
        ("ctrl+q",),
        "quit",
        aliases=("exit",),
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


class Keymap(NamedTuple):
    """The keys in use: the built-in ones under what the config says, and what is wrong with that."""

    keys: Mapping[str, tuple[str, ...]]
    problems: tuple[str, ...] = ()

    def of(self, action: Action) -> tuple[str, ...]:
        return self.keys.get(action.id, action.keys)

    def shown(self, action: Action, limit: int = 3) -> str:
        """The keys as people write them: ``^g``, ``F2``, ``esc``."""
        return " ".join(display(key) for key in self.of(action)[:limit])

    def overrides(self) -> dict[str, str]:
        """What Textual's ``set_keymap`` takes."""
        return {id_: ",".join(keys) for id_, keys in self.keys.items() if keys}


def keymap(configured: Mapping[str, Iterable[str]]) -> Keymap:
    """Check ``[keys]``: an unknown id, or a key used twice in a pane, is left out and said."""
    keys: dict[str, tuple[str, ...]] = {}
    problems: list[str] = []
    for id_, wanted in configured.items():
        action = BY_ID.get(id_)
        if action is None or not action.keys:
            problems.append(f"[keys] {id_}: no such action; F1 lists them")
            continue
        taken = {
            key: other.id
            for other in ACTIONS
            if other is not action and _meet(other.where, action.where)
            for key in keys.get(other.id, () if other.id in configured else other.keys)
        }
        free = []
        for key in wanted:
            if key in taken:
                problems.append(f"[keys] {id_}: {key} already means {taken[key]}")
            else:
                free.append(key)
        if free:
            keys[id_] = tuple(free)
    return Keymap(keys, tuple(problems))


def _meet(one: Where, other: Where) -> bool:
    """True when both panes can have the keys at the same time; a dialog has them alone."""
    wide = {Where.EVERYWHERE, Where.SESSION}
    if Where.SESSIONS in (one, other):
        return one is other
    if Where.MEMORY in (one, other):
        return {one, other} <= {Where.MEMORY, Where.PERCEPTS, Where.EVERYWHERE}
    if {one, other} & {Where.INSPECTOR, Where.PERCEPTION}:
        return one is other or Where.EVERYWHERE in (one, other)
    return one is other or one in wide or other in wide


_SHORT = {"escape": "esc", "slash": "/", "question_mark": "?", "space": "space", "plus": "+", "minus": "-"}


def display(key: str) -> str:
    """A key as the footer writes it."""
    *modifiers, name = key.split("+")
    if name[0] == "f" and name[1:].isdigit():
        name = name.upper()
    name = _SHORT.get(name) or format_key(name)
    return "".join("^" if modifier == "ctrl" else f"{modifier}+" for modifier in modifiers) + name


def matching(prefix: str) -> list[Action]:
    """Actions whose command begins with ``prefix`` (no slash), then those that hold it."""
    commands = [action for action in ACTIONS if action.command]
    first = [a for a in commands if any(name.startswith(prefix) for name in (a.command, *a.aliases))]
    rest = [a for a in commands if a not in first and (prefix in a.command or prefix in a.title)]
    return [*sorted(first, key=lambda action: action.command), *rest]


def readme_table(keys: Keymap | None = None) -> str:
    """The README's table of keys and commands, Markdown."""
    keys = keys or Keymap({})
    rows = ["| key | command | does | where |", "|---|---|---|---|"]
    for action in ACTIONS:
        pressed = " · ".join(f"`{key}`" for key in keys.of(action))
        usage = f"`{action.usage}`" if action.command else ""
        rows.append(f"| {pressed} | {usage} | {action.help} | {action.where} |")
    return "\n".join(rows) + "\n"
