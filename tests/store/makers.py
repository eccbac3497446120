"""Short ways to the records that the tests of the store need."""

from __future__ import annotations

from milk_tui.core.records import (
    AgentName,
    ContextMode,
    Leg,
    LegStatus,
    Role,
    RouteDecision,
    Session,
    Turn,
    Usage,
)
from milk_tui.store import Store, legs, sessions, turns

PRIMARY = AgentName(role=Role.PRIMARY, name="qwen", model="ollama_chat/qwen", nonce="abc123")
ESCALATION = AgentName(role=Role.ESCALATION, name="claude", model="anthropic/claude", nonce="xyz789")
ROUTE = RouteDecision(role=Role.PRIMARY, rule="primary", reason="nothing else applies")


def make_session(store: Store, directory: str = "/work/shop", **more) -> Session:
    return store.write_sync(
        lambda db: sessions.create(db, **{"directory": directory, "primary": PRIMARY, "escalation": ESCALATION, **more})
    )


def make_turn(store: Store, session: Session, prompt: str = "hello", **more) -> Turn:
    return store.write_sync(lambda db: turns.add(db, session.id, prompt, owner=store.owner_id, **more))


def make_leg(store: Store, turn: Turn, role: Role = Role.PRIMARY, *, claimed: bool = True, **more) -> Leg:
    agent = PRIMARY if role is Role.PRIMARY else ESCALATION

    def write(db):
        turns.start(db, turn.id, ROUTE, owner=store.owner_id)
        leg = legs.create(
            db,
            turn.id,
            **{
                "role": role,
                "agent_name": agent.name,
                "model": agent.model,
                "mode": ContextMode.FIRST,
                "owner": store.owner_id,
                **more,
            },
        )
        return legs.claim(db, leg.id) if claimed else leg

    return store.write_sync(write)


def end_leg(store: Store, leg: Leg, text: str = "", status: LegStatus = LegStatus.DONE, **more) -> bool:
    return store.write_sync(lambda db: legs.finish(db, leg.id, status, text=text, usage=Usage(), **more))


def answered(
    store: Store, session: Session, prompt: str, text: str, role: Role = Role.PRIMARY, status=LegStatus.DONE
) -> Leg:
    """A whole turn with one leg."""
    leg = make_leg(store, make_turn(store, session, prompt), role)
    end_leg(store, leg, text, status)
    return store.read_sync(lambda conn: legs.get(conn, leg.id))
