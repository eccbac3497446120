"""What can be done in the conversation, with the block that the cursor is on."""

from __future__ import annotations

from milk_tui.ui.action import Action, Where

C = Where.CONVERSATION

CONVERSATION_ACTIONS: tuple[Action, ...] = (
    Action("previous-prompt", "prompt above", "To your prompt before.", C, ("left_square_bracket", "ctrl+up")),
    Action("next-prompt", "prompt below", "To your next prompt.", C, ("right_square_bracket", "ctrl+down")),
    Action("previous-escalation", "escalation above", "To the escalation before.", C, ("left_curly_bracket",)),
    Action("next-escalation", "escalation below", "To the next escalation.", C, ("right_curly_bracket",)),
    Action("next-match", "next match", "To the next place of what was searched for last (ctrl+f).", C, ("n",)),
    Action("previous-match", "match before", "To the place before of what was searched for last.", C, ("N",)),
    Action("block-above", "block above", "To the block above.", C, ("k",)),
    Action("block-below", "block below", "To the block below.", C, ("j",)),
    Action("toggle-fold", "fold", "Open or fold thinking or a tool call; see what was sent.", C, ("enter", "space")),
    Action("copy-block", "copy block", "Copy the block's source.", C, ("y",)),
    Action("copy-code", "copy code", "Copy the code that the block is, or the next one below it.", C, ("c",)),
    Action(
        "copy-answer",
        "copy answer",
        "Copy the whole prompt or answer; the command copies the newest answer.",
        C,
        ("a",),
        "copy",
    ),
    Action("links", "links", "The links of the block, its answer and all in view: open or copy one.", C, ("l",)),
    Action("quote-block", "quote", "Quote the block into the prompt.", C, ("q",)),
    Action("open-block", "open in editor", "Read the whole prompt or answer in $EDITOR.", C, ("o",)),
    Action("ask-other", "ask the other", "The same prompt for the other agent; both answers stay.", C, ("r",), "other"),
    Action("fork-here", "fork here", "Go another way from this turn on, in a copy of the session.", C, ("f",)),
)
