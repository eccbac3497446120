"""milk-tui: one person, one terminal, two agents, one memory."""

__version__ = "0.1.0"
