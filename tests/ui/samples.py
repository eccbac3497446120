"""Small records for tests of single widgets."""

from __future__ import annotations

from milk_tui.core.records import (
    AgentName,
    Brick,
    BrickKind,
    Consumer,
    ContextMode,
    Percept,
    PerceptScope,
    PerceptStatus,
    Producer,
    Receipt,
    Role,
    Segment,
    Session,
)
from milk_tui.ui.state import SessionState

NOW = 1_772_000_000_000


def percept(number: int, content: str = "a fact", **changes: object) -> Percept:
    values: dict[str, object] = {
        "id": f"{number:08x}-0000-7000-8000-000000000000",
        "content": content,
        "producer": Producer.PRIMARY,
        "agent_name": "qwen",
        "consumer": Consumer.ALL,
        "scope": PerceptScope.SESSION,
        "weight": 700,
        "pinned": False,
        "status": PerceptStatus.LIVE,
        "created_ms": NOW,
        "updated_ms": NOW + number,
        "confirmed_ms": NOW,
        **changes,
    }
    return Percept(**values)  # type: ignore[arg-type]


def session(**changes: object) -> Session:
    values: dict[str, object] = {
        "id": "01900000-0000-7000-8000-000000000001",
        "directory": "/tmp/shop",
        "title": "refactor-auth",
        "created_ms": NOW,
        "updated_ms": NOW,
        "primary": AgentName(role=Role.PRIMARY, name="qwen2.5-coder", model="m", nonce="aaaaaa"),
        "escalation": AgentName(role=Role.ESCALATION, name="claude", model="n", nonce="bbbbbb"),
        **changes,
    }
    return Session(**values)  # type: ignore[arg-type]


def state(**changes: object) -> SessionState:
    made = SessionState(directory="/tmp/shop", ready=True)
    made.begin(session(**changes))
    return made


def brick(kind: BrickKind, text: str, **changes: object) -> Brick:
    values: dict[str, object] = {"kind": kind, "text": text, "version": 1, "turn_id": 1, "updated_ms": NOW}
    return Brick(**{**values, **changes})  # type: ignore[arg-type]


def segment(name: str, text: str = "", *, stable: bool = False, why: str = "") -> Segment:
    return Segment(name=name, text=text, stable=stable, included=bool(text), why=why)


def receipt(*segments: Segment, leg_id: int = 7, role: Role = Role.ESCALATION) -> Receipt:
    return Receipt(
        leg_id=leg_id,
        turn_id=3,
        role=role,
        agent_name="claude",
        mode=ContextMode.FIRST,
        segments=segments,
        sent_ms=NOW,
    )
