"""Records of a session, with only what a test speaks of spelled out."""

from __future__ import annotations

from milk_tui.core.digest import CallDigest, TurnDigest
from milk_tui.core.records import (
    AgentName,
    Brick,
    BrickKind,
    Consumer,
    ContextMode,
    Layer,
    Leg,
    LegStatus,
    Message,
    MessageToolCall,
    NeedStatus,
    Percept,
    PerceptionEntry,
    PerceptScope,
    PerceptStatus,
    Producer,
    Role,
    ToolCall,
    ToolStatus,
    Turn,
    TurnStatus,
)
from milk_tui.core.thread import ThreadTurn

QWEN = AgentName(role=Role.PRIMARY, name="qwen", model="ollama_chat/qwen2.5-coder", nonce="aaaaaa")
CLAUDE = AgentName(role=Role.ESCALATION, name="claude", model="anthropic/claude-x", nonce="bbbbbb")
MAY_2 = 1_777_723_200_000
"""2026-05-02, 12:00 UTC."""


def turn(turn_id: int, prompt: str = "do it") -> Turn:
    return Turn(id=turn_id, session_id="s", created_ms=MAY_2, prompt=prompt, status=TurnStatus.DONE)


def leg(
    leg_id: int,
    text: str = "",
    *,
    turn_id: int | None = None,
    role: Role = Role.PRIMARY,
    status: LegStatus = LegStatus.DONE,
) -> Leg:
    return Leg(
        id=leg_id,
        turn_id=leg_id if turn_id is None else turn_id,
        session_id="s",
        role=role,
        agent_name=role.value,
        model="m",
        mode=ContextMode.FIRST,
        status=status,
        started_ms=MAY_2,
        text=text,
    )


def tool_call(
    call_id: int,
    name: str = "grep",
    arguments: str = "{}",
    result: str = "ok",
    *,
    status: ToolStatus = ToolStatus.OK,
    position: int = 0,
    started_ms: int = 0,
    ended_ms: int | None = None,
) -> ToolCall:
    return ToolCall(
        id=call_id,
        leg_id=1,
        call_id=f"c{call_id}",
        name=name,
        arguments=arguments,
        status=status,
        result=result,
        position=position,
        started_ms=started_ms,
        ended_ms=ended_ms,
    )


def call(name: str = "grep", arguments: str = "{}", result: str = "", *, ok: bool = True) -> CallDigest:
    return CallDigest(name=name, arguments=arguments, result=result, ok=ok)


def digest(
    leg_id: int,
    prompt: str = "do it",
    answer: str = "done",
    *calls: CallDigest,
    turn_id: int | None = None,
    role: Role = Role.PRIMARY,
) -> TurnDigest:
    return TurnDigest(
        turn_id=leg_id if turn_id is None else turn_id,
        leg_id=leg_id,
        role=role,
        prompt=prompt,
        answer=answer,
        calls=calls,
    )


def percept(
    number: int,
    content: str,
    *,
    consumer: Consumer = Consumer.ALL,
    status: PerceptStatus = PerceptStatus.LIVE,
    producer: Producer = Producer.USER,
    pinned: bool = False,
    tainted: bool = False,
) -> Percept:
    return Percept(
        id=f"{number:06x}00-0000-7000-8000-000000000000",
        content=content,
        producer=producer,
        agent_name="",
        consumer=consumer,
        scope=PerceptScope.SESSION,
        weight=900,
        pinned=pinned,
        status=status,
        created_ms=MAY_2,
        updated_ms=MAY_2,
        confirmed_ms=MAY_2,
        tainted=tainted,
    )


def entry(layer: Layer, key: str, value: str, *, reason: str = "", updated_ms: int = 0) -> PerceptionEntry:
    return PerceptionEntry(layer=layer, key=key, value=value, reason=reason, updated_ms=updated_ms)


def brick(kind: BrickKind, text: str, *, turn_id: int = 1, status: NeedStatus | None = None) -> Brick:
    if kind is BrickKind.NEED and status is None:
        status = NeedStatus.OPEN
    return Brick(kind=kind, text=text, version=1, turn_id=turn_id, updated_ms=MAY_2, author="user", status=status)


def tool_round(number: int, result: str, *, text: str = "", arguments: str = "{}") -> tuple[Message, ...]:
    asked = MessageToolCall(id=f"c{number}", name="grep", arguments=arguments)
    return (
        Message(role="assistant", content=text, tool_calls=(asked,)),
        Message(role="tool", content=result, tool_call_id=f"c{number}"),
    )


def thread_turn(leg_id: int, prompt: str, answer: str, *rounds: tuple[Message, ...]) -> ThreadTurn:
    return ThreadTurn(leg_id=leg_id, turn_id=leg_id, prompt=prompt, rounds=rounds, answer=answer)
