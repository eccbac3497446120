"""What is said of the cache before a prompt is sent, against what is sent then: the real requests of both agents."""

from __future__ import annotations

import hashlib
import json
from itertools import takewhile

from milk_tui.core.records import Role
from milk_tui.engine import cache_outlook
from tests.engine.conftest import Stage

ROLES = {"fast": Role.PRIMARY, "deep": Role.ESCALATION}
LONG = "SCN:say " + " ".join(hashlib.md5(bytes([number])).hexdigest() for number in range(250))


class Watcher:
    """Looks ahead before each prompt, and compares its requests with those before afterwards."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self._last: dict[Role, str] = {}

    def _requests(self) -> list[tuple[Role, str]]:
        lines = self.stage.record.read_text().splitlines() if self.stage.record.exists() else []
        made = [json.loads(line) for line in lines]
        return [(ROLES[each["model"].rpartition("/")[2]], json.dumps(each["messages"])) for each in made]

    async def say(self, prompt: str, **asked: object) -> list[tuple[Role, bool, bool]]:
        """Who was asked; whether a cold cache was said before, and whether most of the request is new."""
        stage, before = self.stage, len(self._requests())
        await stage.conductor.store.write(lambda db: db.execute("update legs set cached_tokens = 1").fetchall())
        said = {role: (await cache_outlook.look(stage.workspace, stage.conductor, role)).cold for role in Role}
        await stage.say(prompt, **asked)
        seen = []
        for role, sent in self._requests()[before:]:
            last = self._last.get(role, sent)
            alike = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(sent, last, strict=False)))
            seen.append((role, said[role] is not None, 2 * alike < len(last)))
            self._last[role] = sent
        return seen


async def test_a_cold_cache_is_said_when_most_of_what_was_sent_is_read_anew_and_only_then(stage) -> None:
    watcher = Watcher(stage)
    prompts = [
        "what is this? SCN:say one",
        f"and more {LONG}",
        "who pays? SCN:tag frame slice: charge SCN:tag percept the shop uses scylla SCN:say two",
        "the frame is another now SCN:say three",
        "and stays as it is SCN:say four",
        f"design it SCN:tag escalate it is hard {LONG}",
        "go on SCN:tag frame story: one key SCN:tag brief keys SCN:say six",
        "the frame is another now SCN:say seven",
        "and stays as it is SCN:say eight",
    ]
    seen = [each for prompt in prompts for each in await watcher.say(prompt)]
    await stage.conductor.hand_back()
    for prompt in ("back again SCN:say nine", "and on SCN:say ten"):
        seen += await watcher.say(prompt)
    assert [each for each in seen if each[1] and not each[2]] == []
    assert [each for each in seen if each[0] is Role.PRIMARY and each[1] is not each[2]] == []
    told = [role for role, said, _ in seen if said]
    assert told == [Role.PRIMARY, Role.ESCALATION, Role.PRIMARY], "after each frame, both when they are asked next"


async def test_nothing_is_said_while_the_other_agent_is_looked_for(stage) -> None:
    watcher = Watcher(stage)
    await watcher.say(f"what is this? {LONG}")
    await watcher.say("and more SCN:say two")
    await stage.conductor.store.write(lambda db: db.execute("update legs set cached_tokens = 1").fetchall())
    roster = stage.workspace.roster
    other = roster.agents.pop(Role.ESCALATION)
    assert (await cache_outlook.look(stage.workspace, stage.conductor, Role.PRIMARY)).cold is not None
    roster.known = False
    assert (await cache_outlook.look(stage.workspace, stage.conductor, Role.PRIMARY)).cold is None
    roster.known, roster.agents[Role.ESCALATION] = True, other
    assert (await cache_outlook.look(stage.workspace, stage.conductor, Role.PRIMARY)).cold is None
