"""An agent may only forget what it stated itself; of anything else it asks the person (``semantics.md`` §2 "Tools")."""

from __future__ import annotations

from milk_tui.core.records import Percept, PerceptStatus, Producer
from milk_tui.core.text import one_line

_ASKS = " asks to forget it"
_REASON_CHARS = 200


def note(agent_name: str, reason: str) -> str:
    """What stands beside a fact that an agent asked to forget, until the person has decided."""
    why = one_line(reason, _REASON_CHARS)
    return one_line(agent_name, 40) + _ASKS + (f": {why}" if why else "")


def asked(percept: Percept) -> bool:
    """True while the person is asked whether the fact goes."""
    return percept.status is PerceptStatus.SUSPECT and _ASKS in percept.note


def may_forget(percept: Percept, agent_name: str, producer: Producer) -> bool:
    """True for the agent's own unpinned facts: the name and the channel must be the same."""
    own = percept.producer is producer and percept.agent_name.casefold() == agent_name.casefold()
    return own and producer is not Producer.USER and not percept.pinned
