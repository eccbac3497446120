"""A small app around a transcript, and a source of bodies that loads when the test says so."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from textual.app import App, ComposeResult
from textual.containers import Vertical
from textual.geometry import Region
from textual.pilot import Pilot

from milk_tui.core.records import Role
from milk_tui.ui.transcript import Entry, EntryBody, EntryKind, Header, Key, Markdown, Part, Prompt, Transcript

STYLES = Path(__file__).parents[3] / "styles" / "transcript.tcss"


class Source:
    """Bodies by key. ``at_once=False``: a body is there only after ``deliver``."""

    def __init__(self, bodies: dict[Key, EntryBody], *, at_once: bool = True) -> None:
        self.bodies = bodies
        self.ready: set[Key] = set(bodies) if at_once else set()
        self.asked: list[Key] = []
        self.got: list[Key] = []

    def get(self, key: Key) -> EntryBody | None:
        self.got.append(key)
        return self.bodies.get(key) if key in self.ready else None

    def request(self, keys: Sequence[Key]) -> None:
        self.asked += keys

    def deliver(self) -> list[Key]:
        keys = list(dict.fromkeys(self.asked))
        self.asked.clear()
        self.ready |= set(keys)
        return keys


class TranscriptApp(App[None]):
    """Keeps every message of the transcript in ``said``."""

    CSS_PATH = STYLES
    CSS = "#frame { border: round $foreground 20%; }"
    ENABLE_COMMAND_PALETTE = False

    def __init__(self) -> None:
        super().__init__()
        self.said: list[object] = []

    def compose(self) -> ComposeResult:
        with Vertical(id="frame"):
            yield Transcript(id="transcript")

    @property
    def transcript(self) -> Transcript:
        return self.query_one(Transcript)

    def on_transcript_follow_changed(self, message: Transcript.FollowChanged) -> None:
        self.said.append(message)

    def on_transcript_link_clicked(self, message: Transcript.LinkClicked) -> None:
        self.said.append(message)

    def on_transcript_copy_requested(self, message: Transcript.CopyRequested) -> None:
        self.said.append(message)

    def on_transcript_receipt_requested(self, message: Transcript.ReceiptRequested) -> None:
        self.said.append(message)


def prompt(turn: int, text: str) -> tuple[Entry, EntryBody]:
    return Entry(("turn", turn), EntryKind.PROMPT, len(text)), EntryBody((Prompt(text, "14:02"),))


def leg(turn: int, *parts: Part | str) -> tuple[Entry, EntryBody]:
    """An answer of the primary; a string is Markdown."""
    made = [Markdown(part) if isinstance(part, str) else part for part in parts]
    chars = sum(len(part.text) for part in made if isinstance(part, Markdown))
    body = EntryBody((Header("qwen", Role.PRIMARY, "14:02"), *made))
    return Entry(("leg", turn), EntryKind.LEG, chars), body


def session(turns: int) -> list[tuple[Entry, EntryBody]]:
    """Turns whose answers are of very different heights, and are guessed wrongly."""
    made: list[tuple[Entry, EntryBody]] = []
    for turn in range(turns):
        made.append(prompt(turn, f"question {turn}"))
        kind = turn % 4
        text = f"answer {turn}\n\n"
        if kind == 0:
            text += "\n".join(f"- item {turn}.{n}" for n in range(12))
        elif kind == 1:
            text += "```python\n" + "\n".join(f"line_{turn}_{n} = {n}" for n in range(15)) + "\n```"
        elif kind == 2:
            text += f"words of {turn} " * 60
        made.append(leg(turn, text))
    return made


async def show(
    pilot: Pilot[None], made: Iterable[tuple[Entry, EntryBody]], *, at_once: bool = True
) -> tuple[Transcript, Source]:
    made = list(made)
    source = Source({entry.key: body for entry, body in made}, at_once=at_once)
    transcript = pilot.app.query_one(Transcript)
    transcript.load([entry for entry, _ in made], source)
    transcript.focus()
    await pilot.pause()
    return transcript, source


def painted(transcript: Transcript) -> list[str]:
    """The rows as they are painted, right-stripped, without the column of the cursor."""
    width, height = transcript.scrollable_content_region.size
    return [strip.text[2:].rstrip() for strip in transcript.render_lines(Region(0, 0, width, height))]
