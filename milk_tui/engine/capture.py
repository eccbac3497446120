"""What an agent says beside its answer during a leg, by tag or by tool: both ways end here (``semantics.md`` §1)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from milk_tui.agents.base import ToolOutcome
from milk_tui.core import bricks as brick_rules
from milk_tui.core.currency import take_replaced
from milk_tui.core.errors import PerceptRefusedError
from milk_tui.core.perception import parse
from milk_tui.core.percepts import without_label
from milk_tui.core.records import AgentName, Layer, Leg, Percept, PerceptionEntry, Producer, Role, Session
from milk_tui.core.secret_scan import secret_kind
from milk_tui.core.tags import Capture, TagKind, mask, split_consumer
from milk_tui.core.text import clean, one_line
from milk_tui.engine import memory_answers, memory_forgetting
from milk_tui.engine.events import AnyEvent, LegNotice, PerceptChanged, PerceptRefused
from milk_tui.store import Store, captures, percepts
from milk_tui.store.clock import now_ms

if TYPE_CHECKING:
    from sqlite_utils import Database

    from milk_tui.recall import Semantic

_LAYERS = {TagKind.FRAME: Layer.FRAME, TagKind.WORKING: Layer.WORKING, TagKind.INVARIANT: Layer.INVARIANT}
_KINDS = {layer: kind for kind, layer in _LAYERS.items()}
MOST_REASON_CHARS = 4_000
"""Of the reason why an agent hands over."""


class LegCaptures:
    """The captures of one running leg. Each is staged at once, so that a kill can't lose it, and shown live.

    ``may_escalate`` is False for an agent that has nobody to hand over to; ``facts_per_turn`` bounds a flood;
    ``position`` says how many characters of the answer there are. ``tainted``: the turn has read something from
    outside, so that its facts retire and become nothing by themselves (``recall.md``, "Safety").
    """

    def __init__(
        self,
        store: Store,
        session: Session,
        leg: Leg,
        publish: Callable[[AnyEvent], None],
        *,
        may_escalate: bool,
        tainted: bool = False,
        facts_per_turn: int,
        position: Callable[[], int] | None = None,
        semantic: Semantic | None = None,
    ) -> None:
        self._facts_per_turn = facts_per_turn
        self._position = position or (lambda: 0)
        self._store = store
        self._session = session
        self._leg = leg
        self._publish = publish
        self._may_escalate = may_escalate
        self._tainted = tainted
        self._semantic = semantic
        self._since_mark: list[tuple[str, str | int]] = []
        self.escalation: str | None = None
        """The reason why the agent hands over, once it has said so."""
        self.via = ""
        """How it said so: tool, tag or decision."""
        self.replaces: dict[str, tuple[str, ...]] = {}
        """By percept, the short ids that its author named as replaced."""
        self.perceived: dict[tuple[Layer, str], PerceptionEntry] = {}
        """What was written into the perception so far, the last of a key."""
        self.any = False
        """True when something was said, so that a leg without text is not empty."""

    def taint(self) -> None:
        """From here on the turn has read something from outside."""
        self._tainted = True

    def mark(self) -> None:
        """A block begins: ``rollback`` undoes what comes from here on."""
        self._since_mark.clear()

    async def rollback(self) -> None:
        """The runtime took the block back: what it said beside its text was never said."""
        facts = [str(key) for what, key in self._since_mark if what == "percept"]
        others = [int(key) for what, key in self._since_mark if what == "capture"]
        if any(what == "escalate" for what, _ in self._since_mark):
            self.escalation = None
        self._since_mark.clear()
        if not (facts or others):
            return

        def undo(db: Database) -> list[percepts.Change]:
            captures.drop(db, others)
            return percepts.drop_staged(db, self._leg.id, facts) if facts else []

        for change in await self._store.write(undo):
            self._changed(change)

    async def tag(self, capture: Capture) -> None:
        """A tag was read in the answer."""
        if capture.refused:
            self._refuse(capture.body, capture.refused)
            return
        match capture.kind:
            case TagKind.PERCEPT:
                await self.remember(capture.body)
            case TagKind.NEED:
                await self.need(capture.body)
            case TagKind.ESCALATE:
                await self.escalate(capture.body, via="tag")
            case kind:
                await self.perceive(_LAYERS[kind], capture.body)

    async def recall(self, query: str, limit: int | None) -> ToolOutcome:
        """What is remembered about it, as the agent may see it."""
        look = partial(
            memory_answers.recalled,
            query=query,
            reader=self._leg.role,
            reach=(self._session.id,),
            limit=limit,
            semantic=self._semantic,
        )
        return self._masked(await self._store.read(look))

    async def get(self, reference: str) -> ToolOutcome:
        """One fact with its origin and state."""
        look = partial(memory_answers.described, reference=reference, reader=self._leg.role, reach=(self._session.id,))
        return self._masked(await self._store.read(look))

    async def browse(self, pinned: bool | None, limit: int, offset: int) -> ToolOutcome:
        """The facts that the agent may see, the weightiest first."""
        look = partial(
            memory_answers.listed,
            reader=self._leg.role,
            reach=(self._session.id,),
            pinned=pinned,
            limit=limit,
            offset=offset,
        )
        return self._masked(await self._store.read(look))

    async def forget(self, reference: str, reason: str) -> ToolOutcome:
        """Take back an own fact; about any other one the person is asked."""
        forget = partial(
            memory_forgetting.forgotten,
            reference=reference,
            agent_name=self._leg.agent_name,
            producer=self._producer,
            reader=self._leg.role,
            reach=(self._session.id,),
            reason="" if secret_kind(reason) else reason,
            leg_id=self._leg.id,
            now=now_ms(),
        )
        outcome, changes = await self._store.write(forget)
        for change in changes:
            self._changed(change)
        return outcome

    async def remember(self, fact: str) -> ToolOutcome:
        """Stage a fact; a consumer hint at its beginning restricts who gets it."""
        primary, escalation = self._session.primary.name, _name(self._session.escalation)
        consumer, content = split_consumer(fact.strip(), primary, escalation)
        content, replaces = take_replaced(without_label(content))
        try:
            change = await self._store.write(
                partial(
                    percepts.stage,
                    leg_id=self._leg.id,
                    producer=self._producer,
                    content=content,
                    consumer=consumer,
                    per_turn=self._facts_per_turn,
                    position=self._position(),
                    tainted=self._tainted,
                )
            )
        except PerceptRefusedError as refused:
            self._refuse(content, str(refused))
            return ToolOutcome(str(refused), ok=False)
        self.any = True
        self._since_mark.append(("percept", change.percept.id))
        if replaces:
            self.replaces[change.percept.id] = replaces
        self._changed(change)
        return ToolOutcome(_remembered(change.percept, change.what))

    async def hear_outside(self) -> None:
        """An agent whose tools run in a process of their own has asked for the escalation agent there."""
        if self.escalation is not None or not self._may_escalate:
            return
        staged = await self._store.read(partial(captures.staged, leg_id=self._leg.id))
        if reason := next((c.body for c in staged if c.kind is TagKind.ESCALATE), ""):
            await self.escalate(reason)

    async def need(self, text: str) -> ToolOutcome:
        """Stage the current need; the last one of the leg wins."""
        line = brick_rules.need_line(text)
        if not line:
            return ToolOutcome("The need is blank: nothing changed.", ok=False)
        if not await self._stage(TagKind.NEED, line):
            return ToolOutcome("Not kept: it looks like it holds a secret.", ok=False)
        return ToolOutcome(f"The current need is now: {line}")

    async def escalate(self, reason: str, *, via: str = "tool") -> ToolOutcome:
        """Ask for the escalation agent; it takes over when this leg has ended."""
        line = one_line(reason, MOST_REASON_CHARS)
        if not self._may_escalate:
            self._publish(
                LegNotice(
                    session_id=self._session.id,
                    leg_id=self._leg.id,
                    text="asked to escalate, but there is nobody to hand over to",
                    severity="warning",
                )
            )
            return ToolOutcome("There is no other agent to hand over to: go on yourself.", ok=False)
        if not line:
            return ToolOutcome("Say why in one sentence.", ok=False)
        self.escalation, self.via = line, via
        self.any = True
        self._since_mark.append(("escalate", 0))
        return ToolOutcome(f"{_name(self._session.escalation)} takes over when you stop. Stop now.")

    async def perceive(self, layer: Layer, body: str) -> ToolOutcome:
        """Stage entries of the perception; an invariant is a proposal until the person accepts it."""
        entries = parse(layer, body)
        if not entries:
            return ToolOutcome("Nothing to keep: write lines of 'key: value'.", ok=False)
        if not await self._stage(_KINDS[layer], body):
            return ToolOutcome("Not kept: it looks like it holds a secret.", ok=False)
        self.perceived.update(((entry.layer, entry.key), entry) for entry in entries)
        keys = ", ".join(entry.key for entry in entries)
        proposed = " as a proposal for the person" if layer is Layer.INVARIANT else ""
        return ToolOutcome(f"Kept in the {layer} layer{proposed}: {keys}.")

    @property
    def _producer(self) -> Producer:
        return Producer.PRIMARY if self._leg.role is Role.PRIMARY else Producer.ESCALATION

    def _masked(self, outcome: ToolOutcome) -> ToolOutcome:
        return ToolOutcome(mask(outcome.content, self._session.nonces), outcome.ok)

    async def _stage(self, kind: TagKind, body: str) -> bool:
        if secret := secret_kind(body):
            self._refuse(body, f"Not kept ({kind}): it looks like it holds a secret ({secret}).")
            return False
        staged = await self._store.write(partial(captures.stage, leg_id=self._leg.id, kind=kind, body=body))
        self.any = True
        self._since_mark.append(("capture", staged))
        return True

    def _changed(self, change: percepts.Change) -> None:
        self._publish(PerceptChanged(session_id=self._session.id, percept=change.percept, what=change.what))

    def _refuse(self, content: str, why: str) -> None:
        shown = "" if secret_kind(content) else clean(content[:200])
        self._publish(PerceptRefused(session_id=self._session.id, content=shown, why=why, leg_id=self._leg.id))


def _name(agent: AgentName | None) -> str:
    return agent.name if agent else ""


def _remembered(percept: Percept, what: str) -> str:
    known = " (it was known already)" if what in ("repeated", "confirmed") else ""
    return f"Remembered as {percept.short_id}{known}."
