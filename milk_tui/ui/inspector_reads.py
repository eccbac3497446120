"""What the inspector reads of a session: bricks, the plan, receipts in pages, sizes, tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from milk_tui.core.errors import MilkError
from milk_tui.core.records import Brick, BrickKind, ContextPlan, Receipt, Role
from milk_tui.core.token_sizes import Measure, Tokens
from milk_tui.ui.control import Control

if TYPE_CHECKING:
    from milk_tui.store.receipt_lists import SentLeg


class Plan(NamedTuple):
    """What an escalation would send now; without a plan ``problem`` says why."""

    plan: ContextPlan | None
    problem: str = ""


class Page(NamedTuple):
    """Receipts, newest first, and how many there are in all."""

    sent: Sequence[SentLeg]
    total: int


async def plan(control: Control) -> Plan:
    try:
        found = await control.plan_escalation()
    except MilkError as error:
        return Plan(None, str(error))
    return Plan(found, "" if found else "the session is not open yet")


async def receipts(control: Control, *, before_leg: int | None = None) -> Page:
    if control.workspace is None or not control.session_id:
        return Page((), 0)
    from milk_tui.store import receipt_lists

    session_id = control.session_id
    return await control.workspace.store.read(
        lambda conn: Page(
            receipt_lists.page(conn, session_id, before_leg=before_leg), receipt_lists.count(conn, session_id)
        )
    )


async def sent(control: Control, leg_id: int) -> SentLeg | None:
    if control.workspace is None:
        return None
    from milk_tui.store import receipt_lists

    return await control.workspace.store.read(lambda conn: receipt_lists.one(conn, leg_id))


async def measures(control: Control, known: Sequence[Measure] = ()) -> list[Measure]:
    """The sizes of all legs, oldest first; of those that are known only the newest is read again."""
    if control.workspace is None or not control.session_id:
        return []
    from milk_tui.store import receipt_lists

    session_id = control.session_id
    from_leg = known[-1].leg_id if known else 0
    new = await control.workspace.store.read(lambda conn: receipt_lists.measures(conn, session_id, from_leg=from_leg))
    return [*known[:-1], *new]


async def versions(control: Control, kind: BrickKind, *, before: int | None = None) -> list[Brick]:
    """Versions of a brick, newest first."""
    if control.workspace is None:
        return []
    from milk_tui.store import bricks

    session_id = control.session_id
    return await control.workspace.store.read(lambda conn: bricks.history(conn, session_id, kind, before=before))


async def pair(control: Control, older: int, newer: int) -> tuple[Receipt, Receipt] | None:
    """Two receipts by their legs; ``None`` when one is gone."""
    first, second = await control.receipt(older), await control.receipt(newer)
    return (first, second) if first is not None and second is not None else None


def model_of(control: Control, role: Role) -> str:
    """The model that plays the role; empty when nobody does."""
    agent = control.workspace.roster.get(role) if control.workspace is not None else None
    return agent.model if agent is not None else ""


async def count(control: Control, model: str, texts: Sequence[str]) -> Mapping[str, Tokens]:
    """The size of each text, by text."""
    if control.workspace is None or not model:
        return {}
    distinct = list(dict.fromkeys(texts))
    return dict(zip(distinct, await control.workspace.tokens.count(model, distinct), strict=True))
