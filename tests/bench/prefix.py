"""How much of each request is the same bytes as the one before, in scripted sessions (``semantics.md`` §4).

A request is compared with the previous one of the same agent. ``median`` is over all requests of 50 turns with both
agents, ``overflow_median`` over 300 turns, which pass the thread's bound several times. ``opening_…`` is the same for
the first request of each turn alone, which the last answer, a new prompt and another volatile part make different;
``talk_…`` is a session of 50 turns without a single tool call. ``replayed`` holds the same figures for a caller that
replays what was delivered once (``context.delivered``) instead of having the whole summary in every request.
"""

from __future__ import annotations

import random
import statistics
from dataclasses import dataclass, field
from typing import Any

from msgspec import json

from milk_tui.core import bricks, context, instructions
from milk_tui.core.context import ContextState, ModeInputs
from milk_tui.core.digest import CallDigest, TurnDigest
from milk_tui.core.records import (
    Brick,
    BrickKind,
    ContextPlan,
    Layer,
    Message,
    MessageToolCall,
    PerceptionEntry,
    Role,
    ThreadMark,
)
from milk_tui.core.thread import ThreadTurn
from tests.bench import Options
from tests.core import session_makers as make

_WORDS = tuple(
    "the queue parser token index cache retry lock reads writes module test fails because after when".split()  # noqa: SIM905
)


def run(options: Options) -> dict[str, Any]:
    figures, samples = _sessions(replays=False)
    replayed, replayed_samples = _sessions(replays=True)
    counts = (10, 100, 300 if options.quick else 1_000)
    largest = max(_escalation_chars(turns, replays) for turns in counts for replays in (False, True))
    return {
        **figures,
        "max_escalation_chars": largest,
        "replayed": replayed,
        "samples": {"sessions": samples, "replayed": replayed_samples},
    }


def _sessions(*, replays: bool) -> tuple[dict[str, float], dict[str, list[float]]]:
    session = Script(seed=1, replays=replays)
    talk = Script(seed=3, replays=replays, tools=False)
    overflow = Script(seed=2, replays=replays)
    for script, turns in ((session, 50), (talk, 50), (overflow, 300)):
        for _ in range(turns):
            script.turn()
    figures = {
        "median": statistics.median(session.shares),
        "overflow_median": statistics.median(overflow.shares),
        "opening_median": statistics.median(session.opening),
        "overflow_opening_median": statistics.median(overflow.opening),
        "talk_median": statistics.median(talk.shares),
        "turns_that_left": overflow.agents[Role.PRIMARY].mark.gone,
    }
    return figures, {"session": session.shares, "overflow": overflow.shares, "talk": talk.shares}


@dataclass
class AgentSide:
    """What the session keeps for one agent."""

    thread: list[ThreadTurn] = field(default_factory=list)
    digests: list[TurnDigest] = field(default_factory=list)
    summary: Brick | None = None
    mark: ThreadMark = field(default_factory=ThreadMark)
    last_leg: int = 0
    last_request: bytes = b""


class Script:
    """A session played without models: prompts, tool rounds, answers, facts and perception drawn from a seed.

    Every tenth turn escalates and the escalation keeps the session for the turn after. The need changes
    every twelve turns, the frame every twenty-five, the working set with every turn; five to twelve facts
    are recalled.
    """

    def __init__(self, seed: int, *, replays: bool, tools: bool = True) -> None:
        self.random = random.Random(seed)
        self.replays = replays
        self.tools = tools
        self.agents = {role: AgentSide() for role in Role}
        self.shares: list[float] = []
        self.opening: list[float] = []
        self.turns = 0
        self.legs = 0
        self.need: Brick | None = None
        self.frame: list[PerceptionEntry] = [make.entry(Layer.FRAME, "slice", "023-points")]
        self.facts = [make.percept(n, self.words(14)) for n in range(1, 200)]
        self.pinned = tuple(make.percept(900 + n, self.words(10), pinned=True) for n in range(3))
        self.project = self.words(400)

    def turn(self) -> None:
        self.turns += 1
        number = self.turns
        if number % 12 == 1:
            self.need = bricks.need(self.need, self.words(12), turn_id=number, now_ms=0, author="primary")
        if number % 25 == 0:
            self.frame.append(make.entry(Layer.FRAME, f"decided {number}", self.words(12), reason=self.words(5)))
        prompt = self.words(25)
        if number % 10 == 0:
            self._leg(Role.PRIMARY, prompt, answer_words=20)
            self._leg(Role.ESCALATION, prompt, answer_words=300, brief=self.words(15))
        elif number % 10 == 1 and number > 1:
            self._leg(Role.ESCALATION, prompt, answer_words=250)
        else:
            self._leg(Role.PRIMARY, prompt, answer_words=self.random.randint(40, 260))

    def plan(self, role: Role, prompt: str, brief: str = "") -> ContextPlan:
        own, other = self.agents[role], self.agents[role.other]
        since = [d for d in self.agents[Role.PRIMARY].digests if d.leg_id > own.last_leg]
        recalled = self.random.sample(self.facts, self.random.randint(5, 12))
        state = ContextState(
            role=role,
            agent=make.QWEN if role is Role.PRIMARY else make.CLAUDE,
            other=make.CLAUDE if role is Role.PRIMARY else make.QWEN,
            directory="/home/me/project",
            mode=ModeInputs(
                started=own.last_leg > 0,
                other_worked=other.last_leg > own.last_leg,
                primary_turns=len(since) if role is Role.ESCALATION else 0,
            ),
            instructions=instructions.protocol("full", "q1w2e3", "qwen", "claude"),
            project_name="AGENTS.md",
            project_text=self.project,
            pinned_at_start=self.pinned,
            pinned=self.pinned,
            frame=tuple(self.frame),
            working=self._working(),
            need=self.need,
            need_age=(self.turns - 1) % 12,
            brief=bricks.brief(None, brief, turn_id=self.turns, now_ms=0, author="primary"),
            own_summary=own.summary,
            other_summary=other.summary,
            other_delta=self._delta(other, own.last_leg) if self.replays else None,
            facts=tuple(recalled),
            thread=tuple(t for t in own.thread if t.leg_id > own.mark.after),
            mark=own.mark,
            prompt=prompt,
        )
        return context.plan(state)

    def _delta(self, other: AgentSide, since_leg: int) -> bricks.Rendering:
        return bricks.delta(reversed(other.digests), "the other", since_leg=since_leg)

    def _leg(self, role: Role, prompt: str, *, answer_words: int, brief: str = "") -> None:
        self.legs += 1
        side = self.agents[role]
        plan = self.plan(role, prompt, brief)
        rounds = self._rounds()
        running: list[Message] = []
        self._request(side, context.messages(plan, prompt), opening=True)
        for made in rounds:
            running += made
            self._request(side, context.messages(plan, prompt, running), opening=False)
        answer = self.words(answer_words)
        assert plan.thread_mark is not None
        side.mark = plan.thread_mark
        side.thread.append(
            ThreadTurn(
                leg_id=self.legs,
                turn_id=self.turns,
                prompt=prompt,
                rounds=tuple(rounds),
                answer=answer,
                delivered=context.delivered(plan.segments) if self.replays else "",
            )
        )
        side.last_leg = self.legs
        self._rebuild(side, role, prompt, rounds, answer)

    def _rebuild(
        self, side: AgentSide, role: Role, prompt: str, rounds: list[tuple[Message, ...]], answer: str
    ) -> None:
        calls = tuple(
            CallDigest(name=c.name, arguments=c.arguments, result=result.content[:500])
            for asked, *results in rounds
            for c, result in zip(asked.tool_calls, results, strict=True)
        )
        side.digests.append(
            TurnDigest(turn_id=self.turns, leg_id=self.legs, role=role, prompt=prompt, answer=answer, calls=calls)
        )
        rendering = bricks.full(reversed(side.digests), role.value, total=len(side.digests))
        side.summary = bricks.rebuilt(side.summary, side.digests[-1], rendering, now_ms=0) or side.summary

    def _request(self, side: AgentSide, messages: tuple[Message, ...], *, opening: bool) -> None:
        sent = b"".join(json.encode((m.role, m.content, m.tool_calls, m.tool_call_id)) for m in messages)
        if side.last_request:
            share = _common_prefix(side.last_request, sent) / len(sent)
            self.shares.append(share)
            if opening:
                self.opening.append(share)
        side.last_request = sent

    def _rounds(self) -> list[tuple[Message, ...]]:
        if not self.tools:
            return []
        return [self._round(n) for n in range(self.random.choice((0, 0, 1, 1, 2, 3)))]

    def _round(self, number: int) -> tuple[Message, ...]:
        call_id = f"c{self.legs}_{number}"
        asked = MessageToolCall(id=call_id, name="read_file", arguments=f'{{"path": "src/{self.words(1)}.py"}}')
        return (
            Message(role="assistant", content=self.words(8), tool_calls=(asked,)),
            Message(role="tool", content=self.words(self.random.randint(20, 300)), tool_call_id=call_id),
        )

    def _working(self) -> tuple[PerceptionEntry, ...]:
        return (
            make.entry(Layer.WORKING, "file", f"src/{self.words(1)}.py"),
            make.entry(Layer.WORKING, "hypothesis", self.words(12)),
            make.entry(Layer.WORKING, "next", self.words(10)),
        )

    def words(self, count: int) -> str:
        return " ".join(self.random.choices(_WORDS, k=count))


def _common_prefix(before: bytes, now: bytes) -> int:
    low, high = 0, min(len(before), len(now))
    while low < high:
        middle = (low + high + 1) // 2
        if before[:middle] == now[:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _escalation_chars(turns: int, replays: bool) -> int:
    """Characters of what an escalation is given, thread and prompt aside, with everything there is at its
    largest.
    """
    script = Script(seed=turns, replays=replays)
    for _ in range(turns):
        script.turn()
    script.project = script.words(4_000)
    script.facts = [make.percept(n, script.words(25)) for n in range(1, 60)]
    script.frame += [make.entry(Layer.FRAME, f"open {n}", script.words(60)) for n in range(9)]
    script.agents[Role.ESCALATION].summary = make.brick(
        BrickKind.ESCALATION_SUMMARY, "## Turn 1\n" + script.words(2_400)
    )
    script.agents[Role.ESCALATION].last_leg = 1
    plan = script.plan(Role.ESCALATION, "go", script.words(200))
    sent = context.messages(plan, "go")
    return sum(len(m.content) for m in (*(m for m in sent if m.role == "system"), sent[-1])) - len("go")
