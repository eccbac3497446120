"""How often the small models are right: ``python -m tests.embedded.rates small tiny``.

The prompts here were not used while the instructions were worded. Needs the weights in the user's cache.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from milk_tui.agents.base import LegRequest
from milk_tui.agents.embedded_agent import EmbeddedAgent
from milk_tui.agents.events import FactSuggested, NeedSuggested, TextDelta, UsageReported
from milk_tui.config import Config
from milk_tui.core.records import ContextMode, ContextPlan, Role
from milk_tui.embedded.manager import EmbeddedManager
from milk_tui.engine.embedding import embedded_settings
from milk_tui.modelhost.client import ModelHost

EASY = (
    "What does the yield keyword do?",
    "How do I list files in a folder with Python?",
    "Say thanks to my colleague in one sentence.",
    "What is the square root of 81?",
    "Write a SQL query that counts the rows of a table.",
    "Good morning!",
    "What is the difference between = and ==?",
    "Convert 5 miles to kilometres.",
    "Rename the function foo to bar.",
    "How do I create a branch in git?",
)
HARD = (
    "Design the data model and the API of a booking system for three airlines.",
    "Track down why our queue workers deadlock under load and fix them all.",
    "Migrate the whole front end from JavaScript to TypeScript.",
    "Review our authentication code for security holes.",
    "Plan a zero-downtime move of the database to another region.",
    "Rework the cache layer so that it survives a node failure.",
    "Write the architecture document for our new event pipeline.",
    "Find out why memory grows in the ingest service over several days.",
    "Split the billing module into services and write integration tests.",
    "Work out a strategy for rolling out feature flags across six teams.",
)
FACTS = (
    "We use PostgreSQL 16 for the shop.",
    "Remember that the API port is 8412.",
    "The search index is rebuilt every Sunday night.",
    "Our mobile app is written in Kotlin. How do I parse JSON there?",
    "Please note that the EU data must stay in Ireland.",
    "I am a nurse and new to programming.",
    "The owner of the mail service is the platform team.",
    "We replaced Celery with Dramatiq in spring. Write a task that sends a mail.",
    "Commit messages are written in the imperative, keep that in mind.",
    "All timestamps in the database are UTC.",
)
NO_FACTS = (
    "What port does PostgreSQL use?",
    "The third paragraph is boring.",
    "Can you explain closures?",
    "Your regex matches too much.",
    "That is not what I asked.",
    "The chart has no legend.",
    "The numbers do not add up.",
    "Use a dict for that.",
    "My terminal prints question marks.",
    "Which editor should I use?",
    "The names are in the wrong order.",
    "The compiler complains about line 12.",
    "Tell me a joke.",
    "Everything after the comma is cut off.",
    "Shorten this text to two lines.",
    "The last suggestion was best.",
    "One of the tests takes too long.",
    "Both files have the same content.",
    "Check the spelling of this sentence.",
    "The button does nothing.",
)


class _Lab:
    """One agent, asked many prompts; only what the rates are about is run."""

    def __init__(self, size: str, manager: EmbeddedManager, host: ModelHost) -> None:
        self.agent = EmbeddedAgent("lab", size, manager, host)
        self.manager = manager
        self.size = size

    async def decides(self, prompt: str) -> str:
        _, reason = await self.agent._decide(await self.manager.ready(self.size), prompt)
        return "hard" if reason else "easy"

    async def beside(self, prompt: str) -> tuple[str, str]:
        """The need and the fact that one prompt brings."""
        need = fact = ""
        request = _request(prompt)
        async for event in self.agent._beside(await self.manager.ready(self.size), request):
            match event:
                case NeedSuggested(text=text):
                    need = text
                case FactSuggested(text=text):
                    fact = text
        return need, fact

    async def speed(self) -> dict[str, float]:
        """Seconds to the first piece and tokens a second of one answer."""
        start = time.monotonic()
        first = 0.0
        tokens = 0
        request = _request("Explain in about ten sentences what a hash table is.")
        async for event in self.agent.run(request):
            match event:
                case TextDelta():
                    first = first or time.monotonic() - start
                    last = time.monotonic() - start
                case UsageReported(usage=usage):
                    tokens = max(tokens, usage.output_tokens or 0)
        return {"first_s": round(first, 2), "tokens_s": round(tokens / (last - first), 1), "tokens": tokens}


def _request(prompt: str) -> LegRequest:
    return LegRequest(Role.PRIMARY, ContextPlan(role=Role.PRIMARY, mode=ContextMode.FIRST, segments=()), prompt)


async def measure(size: str, host: ModelHost, runtime: Path, verbose: bool) -> dict[str, object]:
    settings = replace(embedded_settings(Config(), may_fetch=False), runtime_dir=runtime, grace_s=0.0)
    manager = EmbeddedManager(settings)
    start = time.monotonic()
    endpoint = await manager.ready(size)
    ready = time.monotonic() - start
    lab = _Lab(size, manager, host)
    wrong: list[str] = []
    needs: dict[str, str] = {}
    speed = await lab.speed()
    for prompt in (*EASY, *HARD):
        if (await lab.decides(prompt) == "hard") != (prompt in HARD):
            wrong.append(f"decision: {prompt}")
    for prompt in (*FACTS, *NO_FACTS):
        need, fact = await lab.beside(prompt)
        needs[prompt] = need
        if bool(fact) != (prompt in FACTS):
            wrong.append(f"fact {fact!r}: {prompt}")
    for prompt in (*EASY, *HARD):
        needs[prompt], fact = await lab.beside(prompt)
        if fact:
            wrong.append(f"fact {fact!r}: {prompt}")
    resident = _resident_kb(endpoint.pid)
    await manager.aclose()
    if verbose:
        for prompt, need in needs.items():
            print(f"  {prompt!r} → {need!r}")
    missed = [w for w in wrong if w.startswith("fact")]
    return {
        "size": size,
        "ready_s": round(ready, 2),
        "resident_mb": resident // 1000,
        **speed,
        "decisions": f"{20 - len([w for w in wrong if w.startswith('decision')])}/20",
        "facts_caught": f"{10 - len([w for w in missed if w.split(': ', 1)[1] in FACTS])}/10",
        "facts_invented": f"{len([w for w in missed if w.split(': ', 1)[1] not in FACTS])}/40",
        "wrong": wrong,
    }


def _resident_kb(pid: int) -> int:
    status = Path(f"/proc/{pid}/status")
    return int(status.read_text().split("VmRSS:")[1].split("kB")[0]) if status.exists() else 0


async def main() -> None:
    verbose = "-v" in sys.argv
    sizes = [size for size in sys.argv[1:] if size != "-v"] or ["small", "tiny"]
    with tempfile.TemporaryDirectory() as folder:
        host = ModelHost(Path(folder) / "host.log")
        await host.start()
        try:
            for size in sizes:
                print(json.dumps(await measure(size, host, Path(folder), verbose), ensure_ascii=False))
        finally:
            await host.aclose()


if __name__ == "__main__":
    asyncio.run(main())
