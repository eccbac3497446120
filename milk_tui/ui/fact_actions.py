"""What can be done with facts, in the lists of them and in the memory browser."""

from __future__ import annotations

from milk_tui.ui.action import Action, Takes, Where

F, B = Where.PERCEPTS, Where.MEMORY

FACT_ACTIONS: tuple[Action, ...] = (
    Action(
        "accept-fact",
        "yes",
        "Decide for it: of two that may not both be true the newer replaces the older; what was held back holds; a "
        "proposed invariant becomes one; what an agent asks to forget goes.",
        F,
        ("y",),
        "accept",
        "ID",
        takes=(Takes.FACT,),
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
        takes=(Takes.FACT,),
    ),
    Action(
        "pin-fact",
        "pin",
        "Pin or unpin a fact: pinned facts go to the agents with every prompt.",
        F,
        ("p",),
        "pin",
        "ID",
        takes=(Takes.FACT,),
    ),
    Action(
        "edit-fact",
        "edit",
        "Say it in other words; an agent's fact becomes yours.",
        F,
        ("e",),
        "edit",
        "ID TEXT",
        takes=(Takes.FACT,),
    ),
    Action(
        "forget-fact", "forget", "Forget a fact; undo brings it back.", F, ("x",), "forget", "ID", takes=(Takes.FACT,)
    ),
    Action(
        "restore-fact",
        "undo",
        "Bring back a fact that is gone; on any other, take back what was done last.",
        F,
        ("u",),
        "restore",
        "[ID]",
        aliases=("undo",),
        takes=(Takes.GONE_FACT,),
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
    Action(
        "heavier-fact",
        "heavier",
        "Let it weigh more, by 0.05.",
        F,
        ("plus", "equals_sign"),
        "heavier",
        "ID",
        takes=(Takes.FACT,),
    ),
    Action(
        "lighter-fact", "lighter", "Let it weigh less, by 0.05.", F, ("minus",), "lighter", "ID", takes=(Takes.FACT,)
    ),
    Action(
        "readers-of-fact",
        "readers",
        "Give it to both agents, to one, to the other.",
        F,
        ("c",),
        "readers",
        "ID",
        takes=(Takes.FACT,),
    ),
    Action(
        "promote-fact", "global", "Make it a fact of every session.", F, ("g",), "global", "ID", takes=(Takes.FACT,)
    ),
    Action(
        "merge-facts",
        "merge",
        "Two that say the same become one: the first that is marked stays.",
        F,
        ("m",),
        "merge",
        "ID ID",
        takes=(Takes.FACT, Takes.FACT),
    ),
    Action(
        "supersede-fact",
        "supersede",
        "The second that is marked holds instead of the first.",
        F,
        ("s",),
        "supersede",
        "OLD NEW",
        takes=(Takes.FACT, Takes.FACT),
    ),
    Action("clean-up", "clean up", "Facts you may want to be rid of, marked for you to look at.", B, ("b",), "cleanup"),
    Action("asked-agent", "whose", "In a filter: show what the other agent would be given.", B, ("a",)),
    Action("next-group", "next group", "To the next group of facts.", B, ("right_square_bracket",)),
    Action("previous-group", "last group", "To the group of facts before.", B, ("left_square_bracket",)),
)
