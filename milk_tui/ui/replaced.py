"""Commands that users of other programs type and that are none here: what does the same, or why nothing has to.

Names that mean the same here are aliases in the registry (``actions.py``); these are said instead of done.
"""

from __future__ import annotations

from collections.abc import Mapping

_SAID: Mapping[str, str] = {
    "compact compress summarize summarise": (
        "nothing has to be compacted: old turns leave the context by themselves, summaries, facts and the perception "
        "carry on. /bricks shows what is sent, /fresh begins anew from what is believed"
    ),
    "init": (
        "nothing has to be set up: what agents learn is kept by itself. /learn TEXT adds a fact, /perception write "
        "makes a file of what is believed"
    ),
    "redo": "in a list of facts u takes back and brings back; /restore ID brings one fact back",
    "rewind checkpoint timeline": (
        "f on a turn of the conversation (F6, [ and ]) goes another way from there, in a copy; /changes puts files back"
    ),
    "login logout auth connect": (
        "keys are read from the environment and are never kept here; milk-tui setup names them, milk-tui doctor says "
        "what was found"
    ),
    "doctor": "!milk-tui doctor runs it here; in a shell it is milk-tui doctor",
    "bug feedback": "nothing is sent anywhere; what milk-tui doctor prints belongs into a report of an error",
    "review security-review": "it is a prompt like any other: write what to look at; ctrl+g sends it to the deep agent",
    "vim": "F5 opens the prompt in your own $EDITOR",
    "hooks": (
        "Claude Code runs its own hooks as it is installed; milk-tui hook install gives it this memory outside of the "
        "screen"
    ),
    "share unshare": "nothing is uploaded; /export talk.html writes one page that you can give away",
    "drop": "take its @name out of the prompt; /bricks shows what went with the earlier ones",
    "ls files map": "@ in the prompt finds files; /changes lists those that the agents changed",
    "git commit test lint make": "! before it runs it in a shell: !git status; the agents get what it prints",
    "ask architect code plan mode chat-mode chat": (
        "there are no modes: agents read freely and ask before they change something (/permissions); ctrl+g sends one "
        "prompt to the deeper agent"
    ),
    "think effort reasoning-effort think-tokens fast": (
        "that belongs to the model: /agent ROLE MODEL takes another one, [agents.NAME] in the config says more of it"
    ),
    "web fetch": "name the page in your prompt: agents with tools get it and ask you first",
    "voice": "there is no input by voice",
    "todos todo tasks": "what is being done stands in the working set: /perception, or F4",
    "add-dir cd directory": (
        "a session belongs to the folder in which it began: start milk-tui in the other one. What lies outside is read "
        "when you allow it"
    ),
    "output-style statusline": "the screen is set in [ui] of the config; /theme changes its colours",
    "terminal-setup": "alt+enter and ctrl+j are a new line in every terminal; milk-tui doctor looks at this one",
    "skills plugin plugins extensions tools": "/mcp shows the servers that bring tools; the config has the rest",
    "load import": "milk-tui sessions import takes over the sessions of other programs",
    "upgrade update release-notes": "pip install --upgrade milk-tui, in the environment that it was installed in",
    "details thinking verbose": (
        "enter on thinking or a tool call in the conversation opens and folds it (F6 goes there, k and j from block to "
        "block)"
    ),
}

REPLACED: Mapping[str, str] = {name: text for names, text in _SAID.items() for name in names.split()}
"""What to say, by the command's name."""
