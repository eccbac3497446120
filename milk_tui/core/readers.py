"""Who reads memory: one of the two agents, or a client that is none of them and is given only what is for all."""

from __future__ import annotations

from typing import Literal

from milk_tui.core.records import Consumer, Role

Reader = Role | Literal[Consumer.ALL]
"""The value is the one of the column ``reader`` of the views that apply the consumer filter."""

EVERYBODY: Literal[Consumer.ALL] = Consumer.ALL
"""The reader that is given only facts for all."""
