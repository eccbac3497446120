"""What an agent says about its work, made harmless at the one door that every kind of agent comes through.

Its answer and its thoughts come in pieces, which ``answer.py`` cleans; results of tools, where they are
kept.
"""

from __future__ import annotations

from dataclasses import replace

from msgspec import structs

from milk_tui.agents import events as said
from milk_tui.core.text import one_line, spelled_out

NAME_CHARS, LINE_CHARS = 80, 400


def harmless(event: said.AgentEvent) -> said.AgentEvent:
    """The event with names and notices as one line each, and arguments without a character that can't be seen."""
    match event:
        case said.ToolStart():
            name = one_line(event.name, NAME_CHARS) or "tool"
            return replace(event, name=name, arguments=spelled_out(event.arguments))
        case said.Progress():
            return replace(event, text=one_line(event.text, LINE_CHARS))
        case said.Retrying():
            return replace(event, reason=one_line(event.reason, LINE_CHARS))
        case said.RemoteStarted():
            return replace(event, model=one_line(event.model, NAME_CHARS))
        case said.LegEnd(error=error) if error is not None:
            message, hint = one_line(error.message, LINE_CHARS), one_line(error.hint, LINE_CHARS)
            return replace(event, error=structs.replace(error, message=message, hint=hint))
        case _:
            return event
