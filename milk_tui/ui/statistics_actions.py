"""What the program says of itself: what the session used, and how everything is now."""

from __future__ import annotations

from milk_tui.ui.action import Action, Where

STATISTICS_ACTIONS: tuple[Action, ...] = (
    Action(
        "statistics",
        "statistics",
        "What the session used: tokens, cost and cached share per turn and agent, routes and facts, as plots.",
        Where.EVERYWHERE,
        (),
        "stats",
        aliases=("cost", "tokens", "usage", "statistics"),
    ),
    Action(
        "plotted-turn",
        "to the turn",
        "To the turn of the conversation that the plot points at.",
        Where.STATISTICS,
        ("enter",),
    ),
    Action(
        "status",
        "status",
        "How everything is: session, agents, context, cache, cost, model host and memory helper.",
        Where.SESSION,
        (),
        "status",
    ),
)
