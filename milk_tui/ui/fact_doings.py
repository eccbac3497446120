"""What a key or a command does with facts. It knows the desk of the session, and no widget."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from milk_tui.core import forgetting
from milk_tui.core.errors import MilkError
from milk_tui.core.records import Consumer, Percept, PerceptScope, PerceptStatus
from milk_tui.ui import format as f

if TYPE_CHECKING:
    from milk_tui.engine.memory import MemoryDesk
    from milk_tui.ui.control import Control
    from milk_tui.ui.fact_list import FactList

UNDO = "undo takes it back"
_GONE = frozenset({PerceptStatus.SUPERSEDED, PerceptStatus.FORGOTTEN})
_NEXT_READER = {
    Consumer.ALL: Consumer.PRIMARY,
    Consumer.PRIMARY: Consumer.ESCALATION,
    Consumer.ESCALATION: Consumer.ALL,
}
_READERS = {Consumer.ALL: "both agents", Consumer.PRIMARY: "the primary", Consumer.ESCALATION: "the escalation agent"}


class FactDoings:
    """``say`` shows a line where the person looks. ``MilkError`` goes through to the caller."""

    def __init__(self, control: Control, say: Callable[[str], None]) -> None:
        self._control = control
        self._say = say
        self._doing: dict[str, Callable[[Sequence[Percept]], Awaitable[None]]] = {
            "pin": self.pin,
            "forget": self.forget,
            "restore": self.restore,
            "heavier": self.heavier,
            "lighter": self.lighter,
            "readers": self.readers,
            "promote": self.promote,
            "merge": self.merge,
            "supersede": self.supersede,
        }

    async def do(self, asked: FactList.Asked) -> None:
        """Do what a list asks for."""
        if asked.what in ("accept", "reject"):
            await self._decide(asked, accepted=asked.what == "accept")
        elif (doing := self._doing.get(asked.what)) is not None and (asked.percepts or not asked.proposal):
            await doing(asked.percepts)

    async def pin(self, facts: Sequence[Percept]) -> None:
        """Unpin when all are pinned."""
        pinned = not all(fact.pinned for fact in facts)
        await self._desk.pin([fact.id for fact in facts], pinned)
        self._done(f"{_named(facts)} {'pinned' if pinned else 'unpinned'}")

    async def forget(self, facts: Sequence[Percept]) -> None:
        await self._desk.forget([fact.id for fact in facts])
        self._done(f"{_named(facts)} forgotten")

    async def restore(self, facts: Sequence[Percept]) -> None:
        """Bring back what is gone of these; when nothing is, undo what was done last."""
        gone = [fact for fact in facts if fact.status in _GONE]
        if gone:
            await self._desk.bring_back([fact.id for fact in gone])
            self._say(f"{_named(gone)} brought back")
        else:
            undone = await self._desk.undo()
            self._say(f"undone: {undone}" if undone else "nothing is left to undo")

    async def heavier(self, facts: Sequence[Percept]) -> None:
        await self._weigh(facts, 1)

    async def lighter(self, facts: Sequence[Percept]) -> None:
        await self._weigh(facts, -1)

    async def readers(self, facts: Sequence[Percept]) -> None:
        """Give to both agents, one of them, the other."""
        reader = _NEXT_READER[facts[0].consumer]
        await self._desk.restrict([fact.id for fact in facts], reader)
        self._done(f"{_named(facts)} {_verb(facts, 'goes', 'go')} to {_READERS[reader]}")

    async def promote(self, facts: Sequence[Percept]) -> None:
        local = [fact for fact in facts if fact.scope is PerceptScope.SESSION]
        if not local:
            self._say(f"{_named(facts)} {_verb(facts, 'is', 'are')} global already")
            return
        await self._desk.promote([fact.id for fact in local])
        self._done(f"{_named(local)} {_verb(local, 'is', 'are')} global")

    async def merge(self, facts: Sequence[Percept]) -> None:
        """Of two facts that say the same the first stays."""
        if len(facts) != 2:
            raise MilkError("Mark the fact to keep, then the one that says the same.", "Space marks.")
        await self._desk.merge(facts[0].id, facts[1].id)
        self._done(f"{facts[1].short_id} merged into {facts[0].short_id}")

    async def supersede(self, facts: Sequence[Percept]) -> None:
        if len(facts) != 2:
            raise MilkError("Mark the old fact, then the one that holds instead.", "Space marks.")
        await self._desk.supersede(facts[0].id, facts[1].id)
        self._done(f"{facts[1].short_id} holds instead of {facts[0].short_id}")

    async def edit(self, fact: Percept, text: str, *, insist: bool = False) -> None:
        """Raises PerceptRefusedError; ``insist`` keeps what looks like a secret."""
        edited = await self._desk.edit(fact.id, text, override_secret=insist)
        self._done(f"{edited.short_id} is yours now")

    async def settle(self, facts: Sequence[Percept], *, accepted: bool) -> None:
        await self._desk.settle([fact.id for fact in facts], accepted=accepted)
        wishes = all(forgetting.asked(fact) for fact in facts)
        yes, no = ("forgotten, as asked", "kept") if wishes else ("accepted", "rejected")
        self._done(f"{_named(facts)} {yes if accepted else no}")

    async def settle_proposal(self, key: str, *, accepted: bool) -> None:
        await self._desk.settle_proposal(key, accepted=accepted)
        self._done(f"the invariant {key} {'holds now' if accepted else 'is rejected'}")

    async def _decide(self, asked: FactList.Asked, *, accepted: bool) -> None:
        if asked.proposal:
            await self.settle_proposal(asked.proposal, accepted=accepted)
        elif asked.pair is not None:
            newer, older = asked.pair.newer, asked.pair.older
            await self._desk.decide(newer.id, older.id, replace=accepted)
            said = f"{newer.short_id} holds instead of {older.short_id}" if accepted else "both facts hold"
            self._done(said)
        elif asked.percepts:
            await self.settle(asked.percepts, accepted=accepted)

    async def _weigh(self, facts: Sequence[Percept], steps: int) -> None:
        await self._desk.weigh([fact.id for fact in facts], steps)
        more = "more" if steps > 0 else "less"
        self._done(f"{_named(facts)} {_verb(facts, 'weighs', 'weigh')} {more}")

    def _done(self, said: str) -> None:
        self._say(f"{said} · {UNDO}")

    @property
    def _desk(self) -> MemoryDesk:
        if self._control.conductor is None:
            raise MilkError("The session is not open yet.")
        return self._control.conductor.memory


def _named(facts: Sequence[Percept]) -> str:
    return facts[0].short_id if len(facts) == 1 else f.plural(len(facts), "fact")


def _verb(facts: Sequence[Percept], one: str, many: str) -> str:
    return one if len(facts) == 1 else many
