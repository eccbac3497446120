"""“Say hello”: one short turn through an agent's real runtime, to see that it answers, how fast, and else why not."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Callable
from contextlib import aclosing

from msgspec import Struct

from milk_tui.agents.base import Agent, LegRequest
from milk_tui.agents.events import LegEnd, Progress, Retrying, TextDelta, ThinkDelta
from milk_tui.core.errors import MilkError
from milk_tui.core.records import ContextMode, ContextPlan, Role, Segment
from milk_tui.core.text import clean, one_line

PROMPT = "Say hello in one short sentence."
SECONDS = 300.0
"""The longest that it may take: an embedded model's weights may have to be loaded first."""
LONGEST = 400
"""Characters of the answer that are kept."""

_SYSTEM = "The person checks whether you can be reached. Answer in one short sentence, without tools."
_NEXT = {
    "auth": "Check that its key is the right one, and that the variable which holds it is set where milk-tui starts.",
    "unreachable": "Start its server, or correct api_base.",
    "timeout": "It is slow or busy: try again, or raise timeouts.first_byte.",
    "no_agent": "Install the program, or correct its command.",
    "rate_limit": "Wait a moment, or look at your plan with the provider.",
}


class Hello(Struct, frozen=True, kw_only=True):
    """How it went. Seconds until the first piece of the answer (``None``: there was none) and until the end."""

    ok: bool
    answer: str = ""
    first_s: float | None = None
    total_s: float = 0.0
    problem: str = ""
    hint: str = ""

    @property
    def line(self) -> str:
        """The result in one line."""
        if not self.ok:
            return f"{self.problem} {self.hint}".strip()
        first = "" if self.first_s is None else f" (first word {_seconds(self.first_s)})"
        return f"answered in {_seconds(self.total_s)}{first}: “{one_line(self.answer, 120)}”"


async def say_hello(
    agent: Agent, role: Role, directory: str, *, progress: Callable[[str], None] = lambda _: None
) -> Hello:
    """Ask the agent, which is not closed; ``progress`` hears what can be seen meanwhile. Cancelling stops it."""
    segment = Segment(name="identity", text=_SYSTEM, stable=True, included=True, why="a trial")
    request = LegRequest(
        role=role,
        plan=ContextPlan(role=role, mode=ContextMode.FIRST, segments=(segment,)),
        prompt=PROMPT,
        session_id=f"hello-{uuid.uuid4()}",
        directory=directory,
        static=_SYSTEM,
        need="a greeting",
    )
    begun = time.monotonic()
    answer, first = "", None
    end: LegEnd | None = None
    try:
        async with asyncio.timeout(SECONDS), aclosing(agent.run(request)) as events:  # type: ignore[type-var]
            async for event in events:
                match event:
                    case TextDelta(text=text):
                        first = first or time.monotonic() - begun
                        answer = (answer + text)[:LONGEST]
                        progress(one_line(answer, LONGEST))
                    case ThinkDelta():
                        progress("it thinks …")
                    case Progress(text=text) | Retrying(reason=text):
                        progress(one_line(text, 200))
                    case LegEnd():
                        end = event
                    case _:
                        pass
    except TimeoutError:
        return Hello(ok=False, problem=f"No answer within {SECONDS:.0f} s.", hint=_NEXT["timeout"], total_s=SECONDS)
    except MilkError as error:
        return Hello(ok=False, problem=error.what, hint=error.hint, total_s=time.monotonic() - begun)
    finally:
        await agent.leave(request.session_id)
    total = time.monotonic() - begun
    if end is not None and end.error is not None:
        said = end.error
        hint = said.hint if said.hint and said.hint not in _EMPTY_HINTS else _NEXT.get(said.kind.value, said.hint)
        return Hello(ok=False, problem=one_line(said.message, 300), hint=hint, total_s=total)
    answer = clean(answer).strip()
    if not answer:
        return Hello(
            ok=False, problem="It answered, but without a word.", hint="Try another model, or look at its settings."
        )
    return Hello(ok=True, answer=answer, first_s=first, total_s=total)


_EMPTY_HINTS = ("Send the prompt again.", "Try again.")


def _seconds(seconds: float) -> str:
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"
