"""An entry while its leg runs: what has arrived so far, in the order in which it will be shown."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace

from milk_tui.core.records import ToolStatus
from milk_tui.core.text import StreamCleaner, clean
from milk_tui.ui.transcript.growing import MarkdownText
from milk_tui.ui.transcript.parts import (
    EntryBody,
    Fact,
    Markdown,
    Part,
    Progress,
    Thinking,
    Tool,
    interleave,
)

STEP = 12_000
"""Characters that are cut into blocks for one repaint."""
TAIL_CHARS = 4_000
"""Characters of a running call's output that are kept to show its end."""
WAITING = Progress("waiting for the first words …")


class Live:
    """Collects deltas; ``parts`` is taken once per repaint, however many deltas came."""

    def __init__(self, body: EntryBody) -> None:
        self._head: list[Part | MarkdownText] = [
            MarkdownText(clean(part.text)) if isinstance(part, Markdown) else part for part in body.parts
        ]
        self._thinking: list[str] = []
        self._middle: list[MarkdownText | Tool] = []
        self._notes: list[Part] = []
        self._progress: Progress | None = None
        self._cleaner = StreamCleaner()
        self._pending: list[str] = []
        self._chars = 0
        self._positions: dict[Hashable, int] = {}

    def text(self, delta: str) -> None:
        self._progress = None
        self._pending.append(delta)

    def thinking(self, delta: str) -> None:
        self._progress = None
        self._thinking.append(delta)

    def replace_text(self, text: str) -> None:
        """The whole answer so far is ``text``: the runtime took back what it said before."""
        self._pending.clear()
        self._cleaner = StreamCleaner()
        text = self._cleaner.feed(text)
        known = {part.text: part for part in self._middle if isinstance(part, MarkdownText)}
        tools = [(self._positions[part.id], part) for part in self._middle if isinstance(part, Tool)]
        self._middle = []
        for part in interleave(text, tools):
            if isinstance(part, Tool):
                self._middle.append(part)
            else:
                self._middle.append(known.get(part.text) or MarkdownText(part.text))
        self._chars = len(text)

    def tool_started(self, tool: Tool) -> None:
        self._flush()
        self._positions[tool.id] = self._chars
        self._middle.append(tool)

    def tool_output(self, tool_id: Hashable, text: str) -> None:
        """A piece of what a running call prints; the end of it all is kept."""
        for index, part in enumerate(self._middle):
            if isinstance(part, Tool) and part.id == tool_id and part.status is ToolStatus.RUNNING:
                self._middle[index] = replace(part, result=(part.result + clean(text))[-TAIL_CHARS:])

    def tool_finished(self, tool_id: Hashable, status: ToolStatus, result: str, note: str, took: str = "") -> None:
        for index, part in enumerate(self._middle):
            if isinstance(part, Tool) and part.id == tool_id:
                self._middle[index] = replace(part, status=status, result=result, note=note or part.note, took=took)

    def fact(self, fact: Fact) -> None:
        self._notes.append(fact)

    def progress(self, progress: Progress | None) -> None:
        """What it waits for now; over when words arrive."""
        self._progress = progress

    def parts(self) -> list[Part]:
        """What there is now; closes the Markdown blocks that the new text has closed."""
        self._flush()
        parts: list[Part] = []
        for part in self._head:
            parts.append(self._grown(part, final=True) if isinstance(part, MarkdownText) else part)
        if self._thinking:
            self._thinking = ["".join(self._thinking)]
            parts.append(Thinking(self._thinking[0]))
        for part in self._middle:
            final = part is not self._middle[-1]
            parts.append(part if isinstance(part, Tool) else self._grown(part, final=final))
        parts += self._notes
        if self._progress is not None:
            parts.append(self._progress)
        elif len(parts) == len(self._head):
            parts.append(WAITING)
        return parts

    def texts(self) -> list[MarkdownText]:
        """The growing texts in the order of the Markdown parts."""
        return [part for part in (*self._head, *self._middle) if isinstance(part, MarkdownText)]

    @property
    def behind(self) -> bool:
        """True when more arrived at once than is taken in at once."""
        return not all(text.caught_up for text in self.texts())

    def _grown(self, text: MarkdownText, *, final: bool) -> Markdown:
        if not text.complete:
            text.advance(final=final, limit=STEP)
        return Markdown(text.text)

    def finish(self) -> dict[str, MarkdownText]:
        """The texts by what they say, so that the finished entry need not cut them again."""
        self._pending.append(self._cleaner.close())
        self._flush()
        return {text.text: text for text in self.texts()}

    def _flush(self) -> None:
        if not self._pending:
            return
        text = self._cleaner.feed("".join(self._pending))
        self._pending.clear()
        if not text:
            return
        self._chars += len(text)
        last = self._middle[-1] if self._middle else None
        if not isinstance(last, MarkdownText):
            if not text.strip():
                return
            last = MarkdownText()
            self._middle.append(last)
        last.feed(text)
