"""A home of the program's own with a database that has been used for long: 10,000 turns, 10,000 facts."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from milk_tui.core.records import AgentName, ContextMode, LegStatus, Role, RouteDecision, TurnStatus, Usage
from milk_tui.store import Store, legs, percepts, sessions, turns
from tests.bench.startup import home

if TYPE_CHECKING:
    from sqlite_utils import Database

PRIMARY = AgentName(role=Role.PRIMARY, name="bench", model="openai/bench", nonce="abc123")
ROUTE = RouteDecision(role=Role.PRIMARY, rule="primary", reason="nothing else applies")
ANSWER = """the handler retries `charge()` when the **queue** times out, but the first call may still succeed.

```python
def handle(self, job):
    return self.gateway.charge(job.amount, key=job.id)
```

1. give every job an *idempotency key*
2. pass it on to `gateway.charge(…)`
"""


def used_home(folder: Path, name: str, directory: Path, *, many: int) -> dict[str, str]:
    """The environment of a home whose newest session in ``directory`` has ``many`` turns, and as many facts."""
    environ = home(folder, name)
    store = Store.open(Path(environ["MILK_TUI_HOME"]) / "data" / "milk.db")
    try:
        store.write_sync(lambda db: _fill(db, store.owner_id, directory, many))
    finally:
        store.close()
    return environ


def _fill(db: Database, owner: str, directory: Path, many: int) -> None:
    session = sessions.create(db, directory=os.path.realpath(directory), primary=PRIMARY, title="a long one")
    for number in range(many):
        turn = turns.add(db, session.id, f"question {number}: why does checkout charge twice?", owner=owner)
        turns.start(db, turn.id, ROUTE, owner=owner)
        leg = legs.create(
            db,
            turn.id,
            role=Role.PRIMARY,
            agent_name=PRIMARY.name,
            model=PRIMARY.model,
            mode=ContextMode.FIRST,
            owner=owner,
        )
        legs.claim(db, leg.id)
        legs.finish(db, leg.id, LegStatus.DONE, text=ANSWER, usage=Usage(input_tokens=900, output_tokens=90))
        turns.finish(db, turn.id, TurnStatus.DONE)
        percepts.add(db, content=f"service number {number} listens on port {number + 1000}", session_id=session.id)
