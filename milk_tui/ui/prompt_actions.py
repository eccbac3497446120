"""What can be done with what is written: where it would go, what goes with it, a command instead of it."""

from __future__ import annotations

from milk_tui.ui.action import Action, Takes, Where

S, P = Where.SESSION, Where.PROMPT

PROMPT_ACTIONS: tuple[Action, ...] = (
    Action(
        "explain-route",
        "route",
        "Which agent this prompt would go to, and why; without one, the last that was sent. Nothing is sent.",
        S,
        (),
        "route",
        "[PROMPT]",
    ),
    Action(
        "run-command",
        "run",
        "Run a shell command into the conversation; `!` before it does the same. The agents get its output with the "
        "next prompt.",
        S,
        (),
        "run",
        "COMMAND",
        aliases=("bash", "shell"),
    ),
    Action(
        "attach",
        "attach",
        "Name a file, folder or image that goes with the prompt; `@` in the prompt does the same.",
        S,
        (),
        "attach",
        "[PATH]",
        aliases=("add", "file", "mention"),
        takes=(Takes.FILE,),
    ),
    Action(
        "mcp-servers",
        "MCP servers",
        "The MCP servers of the config and how they are; with a name, connect that one anew.",
        S,
        (),
        "mcp",
        "[NAME]",
        aliases=("mcps",),
        takes=(Takes.SERVER,),
    ),
    Action("attach-image", "image", "Attach the image that is in the clipboard.", S, (), "image", aliases=("paste",)),
    Action(
        "open-paste",
        "open paste",
        "Put the text of a paste that is shown as one word in its place, to edit it; writing in the word does it too.",
        P,
        ("tab",),
    ),
    Action(
        "page-up",
        "page up",
        "The conversation a page up; in a prompt longer than its frame, the cursor.",
        P,
        ("pageup",),
    ),
    Action("page-down", "page down", "The conversation a page down; in a long prompt, the cursor.", P, ("pagedown",)),
    Action(
        "queue",
        "waiting prompts",
        "The prompts that wait while an answer runs: take one back to edit it, drop one, put them in another order.",
        S,
        ("ctrl+t",),
        "queue",
    ),
    Action("follow", "follow", "To the end of the conversation, and stay there whatever comes.", S, ("ctrl+end",)),
)
