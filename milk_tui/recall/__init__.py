"""Ranking facts for a prompt: one entry point for contexts, tools, the browser's filter and the command
line.
"""

from __future__ import annotations

from milk_tui.recall.lexical import for_leg, pinned_for, search

__all__ = ["for_leg", "pinned_for", "search"]
