"""The three ways in which ``-p`` shows a turn: text, one JSON object, one event a line."""

from __future__ import annotations

import sys
from typing import Protocol

import click

from milk_tui.cli import output
from milk_tui.cli.masking import masked
from milk_tui.cli.progress import ProgressLine
from milk_tui.core.records import LegStatus
from milk_tui.engine.events import (
    AgentStatus,
    AnyEvent,
    HostChanged,
    LegFinished,
    LegNotice,
    LegStarted,
    LegText,
    LegTextReplaced,
    Notice,
    PerceptRefused,
    TurnQueued,
)
from milk_tui.engine.headless import Gathered, Outcome


class Reader(Protocol):
    """Hears every event of the session, then the outcome of the turn."""

    def hear(self, event: AnyEvent, gathered: Gathered) -> None: ...

    def end(self, outcome: Outcome) -> None: ...


def reader_for(form: str) -> Reader:
    """``form``: text · json · stream-json."""
    kinds: dict[str, type[Reader]] = {"text": TextReader, "json": JsonReader, "stream-json": EventReader}
    return kinds[form]()


class EventReader:
    """One event a line, as it happens."""

    def hear(self, event: AnyEvent, gathered: Gathered) -> None:
        import msgspec

        sys.stdout.buffer.write(msgspec.json.encode(masked(event)) + b"\n")
        sys.stdout.buffer.flush()

    def end(self, outcome: Outcome) -> None:
        pass


class JsonReader:
    """Notices while it runs, one object at the end."""

    def __init__(self) -> None:
        self._notices = Notices()

    def hear(self, event: AnyEvent, gathered: Gathered) -> None:
        self._notices.hear(event)

    def end(self, outcome: Outcome) -> None:
        self._notices.end()
        document = masked(outcome)
        document["error"] = masked(outcome.error)
        output.as_json(document)


class TextReader:
    """The answer's text on standard output while it arrives; everything else on standard error."""

    def __init__(self) -> None:
        self._notices = Notices()
        self._printed: dict[int, str] = {}
        self._last = "\n"

    def hear(self, event: AnyEvent, gathered: Gathered) -> None:
        self._notices.hear(event)
        match event:
            case LegText() if gathered.leg_of_turn(event.leg_id):
                self._print(event.leg_id, event.text)
            case LegTextReplaced() if gathered.leg_of_turn(event.leg_id):
                self._replace(event.leg_id, event.text)
            case LegFinished() if gathered.leg_of_turn(event.leg_id):
                self._replace(event.leg_id, event.text)
                self._print_end()
                if event.status is LegStatus.EMPTY:
                    self._notices.say(f"The answer of {event.role.value} is empty.")
            case _:
                pass

    def end(self, outcome: Outcome) -> None:
        self._notices.end()
        self._print_end()

    def _print(self, leg_id: int, text: str) -> None:
        if not text:
            return
        self._notices.end()
        if leg_id not in self._printed and self._printed:
            self._print_end()
            click.echo()
        self._printed[leg_id] = self._printed.get(leg_id, "") + text
        self._last = text[-1]
        click.echo(text, nl=False)

    def _replace(self, leg_id: int, text: str) -> None:
        """The whole text as it now is: only what is new of it is printed, all of it when the start has
        changed."""
        before = self._printed.get(leg_id, "")
        if text.startswith(before):
            self._print(leg_id, text[len(before) :])
            return
        self._print_end()
        self._notices.say("The answer was begun again.")
        self._printed[leg_id] = ""
        self._print(leg_id, text)

    def _print_end(self) -> None:
        if self._last != "\n":
            click.echo()
            self._last = "\n"


class Notices:
    """What a person should know meanwhile, on standard error; each line once."""

    def __init__(self) -> None:
        self._progress = ProgressLine()
        self._said: set[str] = set()

    def hear(self, event: AnyEvent) -> None:
        match event:
            case LegNotice(fraction=None) | Notice():
                self.say(event.text)
            case AgentStatus(state="loading") | LegNotice():
                self._progress.show(event.text, event.fraction)
            case AgentStatus(state="down"):
                self.say(event.text)
            case HostChanged(state="restarting" | "failed"):
                self.say(f"Model host {event.state}: {event.detail}")
            case LegStarted(escalated=True):
                self.say(f"◆ escalated to {event.agent_name}: {event.reason}".rstrip(": "))
            case PerceptRefused():
                self.say(f"Not remembered: {event.why}")
            case TurnQueued() if event.why:
                self.say(f"Waiting: {event.why}")
            case _:
                pass

    def say(self, words: str) -> None:
        if words and words not in self._said and words != self._progress.step:
            self._said.add(words)
            self._progress.clear()
            output.line(output.short(words, 1_000), err=True)

    def end(self) -> None:
        self._progress.clear()
