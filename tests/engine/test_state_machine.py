"""Whatever a person does with a session, in whatever order, by one program or two: nothing is lost, and the database
stays one that can be.

A Hypothesis state machine over the real engine and store with a scripted agent. ``--deep`` tries many more ways.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import tempfile
from collections.abc import Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from milk_tui.core.records import LegStatus, PerceptStatus, Role, TurnStatus
from milk_tui.engine.conductor import Conductor
from milk_tui.engine.launch import Launch
from milk_tui.engine.workspace import HOST_COMMAND_VARIABLE, Workspace
from milk_tui.store import integrity, legs, percept_lists, sessions
from tests.support.polling import until

pytestmark = pytest.mark.slow

CONFIG = """
[memory]
semantic = false
[helper]
enabled = false
[routing]
weigh = false
max_escalations_per_hour = 10000
"""


@dataclass
class Sent:
    """A prompt as the person sent it, and what must become of it."""

    turn: int
    prompt: str
    ends: set[TurnStatus]
    says: str = ""
    """What the answer begins with, when the turn is done."""
    by: Role | None = None
    dropped: bool = False
    program: int = 0


@dataclass
class Held:
    """A turn that says something and is then silent until it is let go."""

    sent: Sent
    gate: Path


class SessionMachine(RuleBasedStateMachine):
    """One session; program 0 is there all the time, program 1 comes and goes."""

    runs = steps = 0
    """Of all machines, for the report."""

    def __init__(self) -> None:
        super().__init__()
        SessionMachine.runs += 1
        self.loop = asyncio.new_event_loop()
        self.folder = Path(tempfile.mkdtemp(prefix="milk-tui-machine-"))
        self.before = {name: os.environ.get(name) for name in self._environment()}
        os.environ.update(self._environment())
        (self.folder / "home" / "config").mkdir(parents=True)
        config = self.folder / "home" / "config" / "config.toml"
        config.write_text(CONFIG)
        config.chmod(0o600)
        self.project = self.folder / "project"
        self.project.mkdir()
        self.programs: dict[int, tuple[Workspace, Conductor]] = {}
        self.session = ""
        self.sent: list[Sent] = []
        self.held: dict[int, Held | None] = {}
        self.facts: dict[str, str] = {}
        self.gone: dict[str, str] = {}
        self.host_died = False
        self.number = 0

    def _environment(self) -> dict[str, str]:
        return {
            "MILK_TUI_HOME": str(self.folder / "home"),
            "MILK_TUI_PROBE_PORTS": "none",
            "OPENAI_API_KEY": "test-key-of-no-worth",
            HOST_COMMAND_VARIABLE: f"{sys.executable} -m tests.support.scripted_host",
        }

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self.loop.run_until_complete(asyncio.wait_for(work, 60))

    async def _open(self, program: int) -> None:
        workspace = Workspace.open(Launch(directory=self.project, primary="openai/fast", escalation="openai/deep"))
        conductor = await workspace.open_session(self.session or None)
        await workspace.start()
        await until(lambda: workspace.roster.known and conductor.ready, what="discovery")
        await conductor.resume_waiting()
        self.programs[program] = (workspace, conductor)
        self.held.setdefault(program, None)

    async def _close(self, program: int) -> None:
        workspace, _ = self.programs.pop(program)
        await workspace.aclose()
        held = self.held.get(program)
        if held is not None:
            held.sent.ends = {TurnStatus.CANCELLED, TurnStatus.INTERRUPTED}
            held.gate.touch()
        self.held[program] = None

    def conductor(self, program: int) -> Conductor:
        return self.programs[program if program in self.programs else 0][1]

    def program(self, wanted: int) -> int:
        return wanted if wanted in self.programs else 0

    @initialize()
    def begin(self) -> None:
        self.run(self._open(0))
        self.session = self.conductor(0).session.id

    def idle(self, program: int) -> bool:
        return self.held.get(program) is None

    async def _settled(self, program: int) -> None:
        """Unless a turn is held, everything has come to its end."""
        if self.idle(program):
            await self.conductor(program).wait_idle()

    def submit(self, program: int, does: str, ends: set[TurnStatus], *, says: str = "", **asked: Any) -> Sent:
        self.number += 1
        prompt = f"number {self.number} {does}".strip()
        turn = self.run(self.conductor(program).submit(prompt, **asked))
        by = Role.ESCALATION if asked.get("escalate") else None
        sent = Sent(turn, prompt, ends, says, by, program=program)
        self.sent.append(sent)
        self.run(self._settled(program))
        return sent

    @rule(which=st.integers(0, 1), escalate=st.booleans(), words=st.integers(1, 12))
    def prompt(self, which: int, escalate: bool, words: int) -> None:
        says = f"answer {self.number + 1} " + "word " * words
        self.submit(self.program(which), f"SCN:say {says}", {TurnStatus.DONE}, says=says.strip(), escalate=escalate)

    @rule(which=st.integers(0, 1), escalate=st.booleans())
    def prompt_with_a_fact(self, which: int, escalate: bool) -> None:
        fact = f"Part {self.number + 1} is {self.number * 7 + 13} metres long."
        program = self.program(which)
        self.submit(program, f"SCN:say ok SCN:tag percept {fact}", {TurnStatus.DONE}, says="ok", escalate=escalate)
        if self.idle(program):
            self.run(self._find(fact))

    async def _find(self, fact: str) -> None:
        store = self.programs[0][0].store
        found = await store.read(lambda conn: percept_lists.select(conn, "content = ? AND status = 'live'", [fact]))
        assert len(found) == 1, f"{fact} is there {len(found)} times"
        self.facts[found[0].id] = fact

    @rule(which=st.integers(0, 1), code=st.sampled_from([401, 404, 500]))
    def prompt_that_fails(self, which: int, code: int) -> None:
        self.submit(self.program(which), f"SCN:err {code}", {TurnStatus.FAILED})

    @rule(which=st.integers(0, 1))
    def prompt_that_breaks_off(self, which: int) -> None:
        self.submit(self.program(which), "SCN:say half an answer SCN:cut", {TurnStatus.FAILED})

    @precondition(lambda self: not self.host_died)
    @rule(which=st.integers(0, 1))
    def prompt_whose_host_dies(self, which: int) -> None:
        """Once: a host that dies again and again is not started any more."""
        self.host_died = True
        self.submit(self.program(which), "SCN:say half SCN:host die", {TurnStatus.FAILED})

    @rule(which=st.integers(0, 1))
    def prompt_that_hands_over(self, which: int) -> None:
        does = 'SCN:say first SCN:tool escalate {"reason": "too hard"}SCN:then SCN:say second'
        self.submit(self.program(which), does, {TurnStatus.DONE})

    @rule(which=st.integers(0, 1))
    def prompt_with_a_need(self, which: int) -> None:
        self.submit(self.program(which), "SCN:say ok SCN:tag need Find the long part.", {TurnStatus.DONE}, says="ok")

    @precondition(lambda self: any(self.idle(program) for program in self.programs))
    @rule(which=st.integers(0, 1), escalate=st.booleans())
    def prompt_that_goes_on_and_on(self, which: int, escalate: bool) -> None:
        program = self.program(which)
        if not self.idle(program):
            return
        self.number += 1
        gate = self.folder / f"gate-{self.number}"
        prompt = f"number {self.number} SCN:say begun SCN:until {gate}"
        turn = self.run(self.conductor(program).submit(prompt, escalate=escalate))
        sent = Sent(turn, prompt, {TurnStatus.DONE}, "begun", Role.ESCALATION if escalate else None, program=program)
        self.sent.append(sent)
        self.held[program] = Held(sent, gate)
        self.run(until(lambda: self.conductor(program).running is not None, what="the leg runs"))

    def _held(self) -> list[int]:
        return [program for program in self.programs if not self.idle(program)]

    @precondition(lambda self: self._held())
    @rule(data=st.data())
    def let_go(self, data: st.DataObject) -> None:
        program = data.draw(st.sampled_from(self._held()))
        held = self.held[program]
        assert held is not None
        held.gate.touch()
        self.held[program] = None
        self.run(self._settled(program))

    @precondition(lambda self: self._held())
    @rule(data=st.data())
    def stop(self, data: st.DataObject) -> None:
        program = data.draw(st.sampled_from(self._held()))
        held = self.held[program]
        assert held is not None
        held.sent.ends = {TurnStatus.CANCELLED}
        self.run(self.conductor(program).stop())
        self.held[program] = None
        self.run(self._settled(program))
        held.gate.touch()

    @precondition(lambda self: any(self.conductor(p).queued for p in self.programs))
    @rule(data=st.data())
    def drop_what_waits(self, data: st.DataObject) -> None:
        program = data.draw(st.sampled_from([p for p in self.programs if self.conductor(p).queued]))
        turn = data.draw(st.sampled_from([t.id for t in self.conductor(program).queued]))
        text = self.run(self.conductor(program).drop_queued(turn))
        sent = next(each for each in self.sent if each.turn == turn)
        assert text == sent.prompt
        sent.dropped, sent.ends = True, {TurnStatus.CANCELLED}

    @precondition(lambda self: self.sent and not self._held())
    @rule(data=st.data(), role=st.sampled_from([None, Role.PRIMARY, Role.ESCALATION]))
    def retry(self, data: st.DataObject, role: Role | None) -> None:
        kept = [
            each
            for each in self.sent
            if not each.dropped
            and "until" not in each.prompt
            and "host die" not in each.prompt
            and "tag" not in each.prompt
        ]
        if not kept:
            return
        old = data.draw(st.sampled_from(kept))
        turn = self.run(self.conductor(0).retry(old.turn, role=role))
        self.sent.append(Sent(turn, old.prompt, old.ends, old.says, role))
        self.run(self._settled(0))

    @rule(which=st.integers(0, 1), pinned=st.booleans())
    def person_learns(self, which: int, pinned: bool) -> None:
        self.number += 1
        text = f"The person knows that door {self.number} is painted in colour {self.number * 3}."
        percept = self.run(self.conductor(self.program(which)).learn(text, pinned=pinned))
        self.facts[percept.id] = text

    @precondition(lambda self: self.facts)
    @rule(which=st.integers(0, 1), data=st.data())
    def forget(self, which: int, data: st.DataObject) -> None:
        fact = data.draw(st.sampled_from(sorted(self.facts)))
        self.run(self.conductor(self.program(which)).forget(fact))
        self.gone[fact] = self.facts.pop(fact)

    @precondition(lambda self: self.gone)
    @rule(which=st.integers(0, 1), data=st.data())
    def restore(self, which: int, data: st.DataObject) -> None:
        fact = data.draw(st.sampled_from(sorted(self.gone)))
        self.run(self.conductor(self.program(which)).restore(fact))
        self.facts[fact] = self.gone.pop(fact)

    @precondition(lambda self: self.facts)
    @rule(which=st.integers(0, 1), data=st.data(), pinned=st.booleans())
    def pin(self, which: int, data: st.DataObject, pinned: bool) -> None:
        fact = data.draw(st.sampled_from(sorted(self.facts)))
        self.run(self.conductor(self.program(which)).pin(fact, pinned))

    @rule(which=st.integers(0, 1))
    def hand_back(self, which: int) -> None:
        self.run(self.conductor(self.program(which)).hand_back())

    @rule(which=st.integers(0, 1), role=st.sampled_from([None, Role.ESCALATION]))
    def pin_agent(self, which: int, role: Role | None) -> None:
        self.run(self.conductor(self.program(which)).pin_agent(role))

    @rule(which=st.integers(0, 1))
    def person_sets_the_need(self, which: int) -> None:
        self.number += 1
        self.run(self.conductor(self.program(which)).set_need(f"Measure part {self.number}."))

    @rule(text=st.text(max_size=40))
    def draft(self, text: str) -> None:
        self.run(self.conductor(0).save_draft(text))

    @precondition(lambda self: not self._held())
    @rule()
    def restart(self) -> None:
        self.run(self._close(0))
        self.run(self._open(0))
        self.run(self._settled(0))

    @precondition(lambda self: not self.idle(0))
    @rule()
    def restart_in_the_middle(self) -> None:
        """What waited goes on in the next run; what ran is marked."""
        self.run(self._close(0))
        self.run(self._open(0))
        self.run(self._settled(0))

    @precondition(lambda self: 1 not in self.programs)
    @rule()
    def second_program_comes(self) -> None:
        self.run(self._open(1))

    @precondition(lambda self: 1 in self.programs)
    @rule()
    def second_program_goes(self) -> None:
        self.run(self._close(1))

    @invariant()
    def the_database_is_one_that_can_be(self) -> None:
        SessionMachine.steps += 1
        if self.programs:
            found = self.run(self.programs[0][0].store.read(integrity.problems))
            assert found == [], found

    @invariant()
    def every_prompt_is_there_once_and_ended_as_it_must(self) -> None:
        if not self.programs:
            return
        store = self.programs[0][0].store
        waiting = {turn.id for program in self.programs for turn in self.conductor(program).queued}
        held = {self.held[program].sent.turn for program in self._held()}  # type: ignore[union-attr]
        there = self.run(
            store.read(
                lambda conn: conn.execute(
                    "select id, prompt, status from turns where session_id = ? order by id", [self.session]
                ).fetchall()
            )
        )
        by_id = {row[0]: row for row in there}
        assert sorted(by_id) == sorted(each.turn for each in self.sent)
        for each in self.sent:
            _, prompt, status = by_id[each.turn]
            assert prompt == each.prompt
            if each.turn in held or (each.turn in waiting):
                assert status in (TurnStatus.RUNNING, TurnStatus.PENDING)
            elif self.idle(each.program):
                assert status in each.ends, f"{each.prompt}: {status}"

    @invariant()
    def every_answer_is_there_whole(self) -> None:
        if not self.programs:
            return
        store = self.programs[0][0].store
        for each in self.sent[-4:]:
            if each.dropped or not each.says or not self.idle(each.program):
                continue
            told = self.run(store.read(lambda conn, turn=each.turn: legs.of_turn(conn, turn)))
            if told and told[-1].status is LegStatus.DONE:
                assert told[-1].text == each.says
                assert each.by is None or told[-1].role is each.by

    @invariant()
    def every_fact_stands_as_it_was_left(self) -> None:
        if not self.programs:
            return
        store = self.programs[0][0].store
        for fact in self.facts:
            assert (
                self.run(store.read(lambda conn, id_=fact: percept_lists.get(conn, id_))).status is PerceptStatus.LIVE
            )
        for fact in self.gone:
            kept = self.run(store.read(lambda conn, id_=fact: percept_lists.get(conn, id_)))
            assert kept.status is PerceptStatus.FORGOTTEN

    @invariant()
    def both_programs_know_the_same_session(self) -> None:
        for program in self.programs:
            stored = self.run(self.programs[0][0].store.read(lambda conn: sessions.get(conn, self.session)))
            assert stored.id == self.conductor(program).session.id

    def teardown(self) -> None:
        try:
            for held in self.held.values():
                if held is not None:
                    held.gate.touch()
            for program in list(self.programs):
                self.run(self._close(program))
        finally:
            self.loop.close()
            shutil.rmtree(self.folder, ignore_errors=True)
            for name, value in self.before.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value


def test_nothing_that_a_person_does_in_any_order_loses_anything(deep: bool, record_property: Any) -> None:
    record_property("seed", 0)
    SessionMachine.runs = SessionMachine.steps = 0
    run_state_machine_as_test(
        SessionMachine,
        settings=settings(
            max_examples=1_500 if deep else 12,
            stateful_step_count=40 if deep else 25,
            deadline=None,
            derandomize=not deep,
            suppress_health_check=list(HealthCheck),
            phases=[Phase.generate, *([Phase.shrink] if deep else [])],
            report_multiple_bugs=False,
        ),
    )
    record_property("tried", SessionMachine.runs)
    record_property("figures", f"{SessionMachine.steps:,} steps, everything looked at after each")
