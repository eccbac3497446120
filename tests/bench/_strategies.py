"""Six ways to carry a long session, each given the same turns: what would be sent for the next prompt?

The bound is the same for all but the full history: ``BOUND`` characters of thread. What a strategy gives beside the
thread (a summary, found turns, the perception) it pays for in the tokens that it sends.
"""

from __future__ import annotations

import re
import tempfile
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from milk_tui import recall
from milk_tui.agents.base import Caps
from milk_tui.config import Config, ContextConfig
from milk_tui.core import context
from milk_tui.core.cuts import cut_end
from milk_tui.core.records import AgentName, LegStatus, Message, Producer, Role, Session, ToolStatus, TurnStatus
from milk_tui.core.tags import TagKind
from milk_tui.engine.commit import Ending, commit
from milk_tui.engine.gather import LegView, Markers, Project, gather
from milk_tui.store import Store, captures, legs, percepts, sessions, tool_calls, turns
from tests.bench._scripts import ScriptTurn
from tests.bench._small_model import SmallModel

BOUND = 5_000
KEPT = 0.1
"""Share of the bound that a summarising strategy keeps verbatim when it summarises."""
SUMMARY_CHARS = 800
ANSWER_CHARS = 60
"""Of an answer that the model is to summarise; tool results are left out before, as the source document describes."""
SYSTEM = (
    "You are a coding assistant. You work with one person on one project. Answer briefly, use the tools, and keep to"
    " what was decided."
)


class Strategy(Protocol):
    """``request`` is what would be sent for a prompt; ``live`` lives through a turn."""

    name: str

    def request(self, prompt: str) -> list[str]: ...

    def live(self, turn: ScriptTurn) -> None: ...

    def close(self) -> None: ...


def as_text(turn: ScriptTurn) -> str:
    """A turn as a thread holds it."""
    rounds = "".join(f"assistant calls {call.name} {call.arguments}\ntool: {call.result}\n" for call in turn.calls)
    return f"user: {turn.prompt}\n{rounds}assistant: {turn.answer}"


@dataclass
class FullHistory:
    """Everything, always."""

    name: str = "full history"
    thread: list[str] = field(default_factory=list)

    def request(self, prompt: str) -> list[str]:
        return [SYSTEM, *self.thread, f"user: {prompt}"]

    def live(self, turn: ScriptTurn) -> None:
        self.thread.append(as_text(turn))

    def close(self) -> None:
        pass


@dataclass
class SlidingWindow(FullHistory):
    """The newest turns that fit."""

    name: str = "sliding window"

    def live(self, turn: ScriptTurn) -> None:
        self.thread.append(as_text(turn))
        while sum(map(len, self.thread)) > BOUND and len(self.thread) > 1:
            self.thread.pop(0)


@dataclass
class RollingSummary(FullHistory):
    """Past the bound the older turns become part of a summary, which is summarised again with them."""

    name: str = "summary, extractive"
    summary: str = ""
    turns: deque[ScriptTurn] = field(default_factory=deque)

    def request(self, prompt: str) -> list[str]:
        summary = [f"Summary of what was before:\n{self.summary}"] if self.summary else []
        return [SYSTEM, *summary, *map(as_text, self.turns), f"user: {prompt}"]

    def live(self, turn: ScriptTurn) -> None:
        self.turns.append(turn)
        if sum(len(as_text(each)) for each in self.turns) <= BOUND - SUMMARY_CHARS:
            return
        left: list[ScriptTurn] = []
        while sum(len(as_text(each)) for each in self.turns) > KEPT * BOUND and len(self.turns) > 1:
            left.append(self.turns.popleft())
        self.summary = self.summarised(left)

    def summarised(self, left: list[ScriptTurn]) -> str:
        """The sentences that weigh most, in their order, the old summary's among them."""
        told = [f"{each.prompt} {each.answer}" for each in left]
        sentences = [
            sentence.strip()
            for text in (self.summary, *told)
            for sentence in re.split(r"(?<=[.!?])\s+|\n", text)
            if sentence.strip()
        ]
        ranked = sorted(range(len(sentences)), key=lambda i: (-_weight(sentences[i]), -i))
        kept: list[int] = []
        room = SUMMARY_CHARS
        for index in ranked:
            if len(sentences[index]) + 1 <= room:
                kept.append(index)
                room -= len(sentences[index]) + 1
        return "\n".join(sentences[index] for index in sorted(kept))


_DECIDES = re.compile(
    r"(?i)\b(?:we|must|only|never|always|because|decided?|from now on|instead|now|listens?|uses?|kept|keep|called"
    r"|wins?)\b"
)


def _weight(sentence: str) -> float:
    """What an extractive summary looks at: words of deciding, numbers and names, and not too many words."""
    names = len(re.findall(r"(?<!^)\b[A-Z]\w+|\b\d+\b", sentence))
    return 2.0 * len(_DECIDES.findall(sentence)) + names - len(sentence) / 200


@dataclass
class ModelSummary(RollingSummary):
    """The summary is written by the embedded model into a template, from the last summary and the turns that leave."""

    name: str = "summary, by model"
    model: SmallModel | None = None

    def summarised(self, left: list[ScriptTurn]) -> str:
        assert self.model is not None
        told = "\n".join(f"user: {each.prompt}\nassistant: {cut_end(each.answer, ANSWER_CHARS)}" for each in left)
        text = (
            f"The summary so far:\n{self.summary or '(nothing yet)'}\n\nNew turns:\n{told}\n\n"
            "Write the summary anew, with three headings: Goal, Progress, Decisions. Keep every decision that holds,"
            " with names and numbers; leave out what was replaced. At most 70 words."
        )
        return self.model.ask("You summarise a coding session.", text, max_tokens=100)[:SUMMARY_CHARS].strip()


class _Recorded:
    """A session in a database of its own, as the program keeps it."""

    PRIMARY = AgentName(role=Role.PRIMARY, name="qwen", model="openai/bench", nonce="abc123")
    DEEP = AgentName(role=Role.ESCALATION, name="claude", model="openai/bench-deep", nonce="xyz789")

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="milk-strategies-")
        self.store = Store.open(Path(self._folder.name) / "milk.db")
        self.session: Session = self.store.write_sync(
            lambda db: sessions.create(db, directory=self._folder.name, primary=self.PRIMARY, escalation=self.DEEP)
        )
        self.config = Config(context=ContextConfig(thread_tokens=BOUND // 4))
        self.clock = 1_777_723_200_000

    def close(self) -> None:
        self.store.close()
        self._folder.cleanup()

    def tick(self) -> int:
        self.clock += 1_000
        return self.clock

    def view(self, role: Role, prompt: str, turn_id: int) -> LegView:
        return LegView(
            session=self.session,
            role=role,
            caps=Caps(window_tokens=32_000),
            config=self.config,
            project=Project(),
            turn_id=turn_id,
            prompt=prompt,
            may_escalate=role is Role.PRIMARY,
        )

    def plan(self, role: Role, prompt: str, turn_id: int):
        state = self.store.read_sync(lambda conn: gather(conn, self.view(role, prompt, turn_id)))
        return state, context.plan(state)

    def live(self, turn: ScriptTurn) -> int:
        """The turn as the engine stores it; its id."""
        role = Role.ESCALATION if turn.deep else Role.PRIMARY
        agent = self.DEEP if turn.deep else self.PRIMARY
        stored = self.store.write_sync(
            lambda db: turns.add(db, self.session.id, turn.prompt, owner=self.store.owner_id, now=self.tick())
        )
        state, plan = self.plan(role, turn.prompt, stored.id)

        def write(db) -> None:
            leg = legs.create(
                db,
                stored.id,
                role=role,
                agent_name=agent.name,
                model=agent.model,
                mode=plan.mode,
                owner=self.store.owner_id,
            )
            leg = legs.claim(db, leg.id) or leg
            for number, call in enumerate(turn.calls):
                made = tool_calls.start(
                    db, leg.id, call_id=f"c{number}", name=call.name, arguments=call.arguments, now=self.tick()
                )
                status = ToolStatus.OK if call.ok else ToolStatus.FAILED
                tool_calls.finish(db, made.id, status, call.result, now=self.tick())
            for kind, body in ((TagKind.FRAME, turn.frame), (TagKind.WORKING, turn.working)):
                if body:
                    captures.stage(db, leg.id, kind, body, now=self.tick())
            if turn.percept:
                producer = Producer.ESCALATION if turn.deep else Producer.PRIMARY
                percepts.stage(db, leg_id=leg.id, producer=producer, content=turn.percept, per_turn=8)
            ending = Ending(
                status=LegStatus.DONE,
                text=turn.answer,
                markers=Markers(
                    thread=plan.thread_mark,
                    need=state.need.text if state.need else "",
                    pinned=state.pinned_at_start,
                    invariants=state.invariants_at_start,
                ),
            )
            commit(db, leg, ending, budget_chars=self.config.context.context_budget_chars, now=self.tick())
            turns.finish(db, stored.id, TurnStatus.DONE)

        self.store.write_sync(write)
        return stored.id


class Retrieval:
    """The newest turns in half of the bound, and in the other half the older ones that our engine finds."""

    name = "retrieval"

    def __init__(self) -> None:
        self._recorded = _Recorded()
        self._texts: dict[int, str] = {}
        self._tail: deque[int] = deque()

    def request(self, prompt: str) -> list[str]:
        session_id = self._recorded.session.id
        hits = self._recorded.store.read_sync(lambda conn: recall.turns(conn, prompt, session_id=session_id, limit=20))
        found: list[int] = []
        room = BOUND // 2
        for hit in hits:
            text = self._texts.get(hit.turn_id, "")
            if text and hit.turn_id not in self._tail and len(text) <= room:
                found.append(hit.turn_id)
                room -= len(text)
        older = "\n".join(self._texts[turn] for turn in sorted(found))
        parts = [f"Earlier turns that may help:\n{older}"] if older else []
        return [SYSTEM, *(self._texts[turn] for turn in self._tail), *parts, f"user: {prompt}"]

    def live(self, turn: ScriptTurn) -> None:
        turn_id = self._recorded.live(turn)
        self._texts[turn_id] = as_text(turn)
        self._tail.append(turn_id)
        while sum(len(self._texts[each]) for each in self._tail) > BOUND // 2 and len(self._tail) > 1:
            self._tail.popleft()

    def close(self) -> None:
        self._recorded.close()


class Perception:
    """What milk does: the thread within the bound, and perception, percepts and bricks around it. The real engine."""

    name = "perception (milk)"

    def __init__(self) -> None:
        self._recorded = _Recorded()

    def request(self, prompt: str) -> list[str]:
        _, plan = self._recorded.plan(Role.PRIMARY, prompt, 2**62)
        return [_said(message) for message in context.messages(plan, prompt)]

    def live(self, turn: ScriptTurn) -> None:
        self._recorded.live(turn)

    def close(self) -> None:
        self._recorded.close()


def _said(message: Message) -> str:
    calls = "".join(f"\ncalls {call.name} {call.arguments}" for call in message.tool_calls)
    return f"{message.role}: {message.content}{calls}"
