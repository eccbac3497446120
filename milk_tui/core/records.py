"""The records of a session: what the store keeps, the engine changes and the screen shows.

Every record is frozen; a change is a new record. Times are UTC milliseconds (``_ms``), weights are thousandths,
sizes are characters unless the name says bytes or tokens. Positions in a session are turn ids, never list lengths
(``semantics.md``, "Words").

The one place that the rest of the program takes them from.
"""

from __future__ import annotations

from milk_tui.core.context_records import (
    ContextPlan,
    Message,
    MessageToolCall,
    Receipt,
    Segment,
    ThreadMark,
    TurnCut,
)
from milk_tui.core.memory_records import (
    BIRTH_WEIGHT,
    PINNED_WEIGHT,
    Brick,
    Percept,
    PerceptionEntry,
)
from milk_tui.core.session_records import (
    AgentName,
    Leg,
    LegError,
    RouteDecision,
    ScorePart,
    Session,
    SessionRow,
    ToolCall,
    Turn,
    Usage,
)
from milk_tui.core.states import (
    BrickKind,
    Consumer,
    ContextMode,
    ErrorKind,
    Layer,
    LegStatus,
    NeedStatus,
    PerceptScope,
    PerceptStatus,
    Producer,
    Role,
    ToolStatus,
    TurnStatus,
)

__all__ = [
    "BIRTH_WEIGHT",
    "PINNED_WEIGHT",
    "AgentName",
    "Brick",
    "BrickKind",
    "Consumer",
    "ContextMode",
    "ContextPlan",
    "ErrorKind",
    "Layer",
    "Leg",
    "LegError",
    "LegStatus",
    "Message",
    "MessageToolCall",
    "NeedStatus",
    "Percept",
    "PerceptScope",
    "PerceptStatus",
    "PerceptionEntry",
    "Producer",
    "Receipt",
    "Role",
    "RouteDecision",
    "ScorePart",
    "Segment",
    "Session",
    "SessionRow",
    "ThreadMark",
    "ToolCall",
    "ToolStatus",
    "Turn",
    "TurnCut",
    "TurnStatus",
    "Usage",
]
