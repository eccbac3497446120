"""``milk-tui -p``: one turn without the screen; the same events as the screen's, as text or JSON."""

from __future__ import annotations

import asyncio
import os
import signal
import stat
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from milk_tui.cli import output
from milk_tui.cli.options import Options
from milk_tui.core.errors import MilkError

if TYPE_CHECKING:
    from milk_tui.engine.headless import Outcome

LARGEST_INPUT = 16_000_000
"""Bytes that are read from standard input."""

INTERRUPTED = 130


def run_prompt(options: Options, prompt: str, session: str | None, resume: bool, escalate: bool, form: str) -> int:
    """Run the turn and print it; 0 answered, 1 failed, 130 interrupted."""
    whole = whole_prompt(prompt)
    return asyncio.run(_run(options, whole, session, resume, escalate, form))


def whole_prompt(said: str) -> str:
    """The prompt with what is piped in behind it; ``-`` stands for standard input alone. Raises
    ``UsageError`` when nothing is left to ask."""
    piped = _piped()
    if said == "-":
        whole = piped
    else:
        said = said.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        whole = f"{said}\n\n{piped}" if piped.strip() else said
    if not whole.strip():
        raise click.UsageError("The prompt is empty: give a text after -p, or pipe one in with -p -.")
    return whole


def _piped() -> str:
    """Standard input when it is a pipe, a socket or a file; nothing for a terminal or a device."""
    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode
    except (OSError, ValueError, AttributeError):
        return ""
    if not (stat.S_ISFIFO(mode) or stat.S_ISREG(mode) or stat.S_ISSOCK(mode)):
        return ""
    data = sys.stdin.buffer.read(LARGEST_INPUT + 1)
    if len(data) > LARGEST_INPUT:
        raise MilkError(
            f"Standard input holds more than {LARGEST_INPUT // 1_000_000} MB.",
            "Pipe in the part that matters.",
        )
    return data.decode("utf-8", "replace")


async def _run(options: Options, prompt: str, session: str | None, resume: bool, escalate: bool, form: str) -> int:
    from milk_tui.cli.readers import reader_for
    from milk_tui.engine.headless import run_turn
    from milk_tui.engine.workspace import Workspace

    new = session is None and not resume
    stop, interrupted = asyncio.Event(), []

    def interrupt() -> None:
        interrupted.append(True)
        stop.set()
        loop.remove_signal_handler(signal.SIGINT)

    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGINT, interrupt)
    reader = reader_for(form)
    workspace = Workspace.open(replace(options.launch(session=session, new=new), one_shot=True))
    try:
        await workspace.start()
        conductor = await workspace.open_session(session, new=new)
        outcome = await run_turn(conductor, prompt, escalate=escalate, emit=reader.hear, stop=stop)
    finally:
        await workspace.aclose()
    reader.end(outcome)
    return INTERRUPTED if interrupted else _verdict(outcome)


def _verdict(outcome: Outcome) -> int:
    from milk_tui.core.records import TurnStatus

    if outcome.status is TurnStatus.DONE:
        return 0
    error = outcome.error
    output.error(f"{error.message} {error.hint}" if error else f"The turn is {outcome.status.value}.")
    return 1
