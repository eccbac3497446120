"""What an agent says during a leg: shown as it comes, kept twice a second, its tags and calls taken up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from milk_tui import own_keys
from milk_tui.agents import events as said
from milk_tui.core import tags
from milk_tui.core.records import Leg, Usage
from milk_tui.engine import events, remote_legs
from milk_tui.engine.answer import Answer, Saver
from milk_tui.engine.capture import LegCaptures
from milk_tui.engine.leg_calls import LegCalls
from milk_tui.engine.patience import Patience
from milk_tui.safe_log import safe
from milk_tui.store import Store, legs

SUB_AGENT = "↳ "
"""Before the name of a tool that an agent's sub-agent called: no boundary of the leg."""


@dataclass(slots=True)
class LegSpeech:
    """``leg`` is the newest record of it: a runtime may take up another session while it answers."""

    store: Store
    leg: Leg
    answer: Answer
    captures: LegCaptures
    calls: LegCalls
    publish: Callable[..., None]
    """``LegRun._publish``: the kind of an event and its values beside session and leg."""
    usage: Usage = field(default_factory=Usage)
    cost_usd: float | None = None
    """Of the runtime's whole session, as it reported it last."""
    model: str = ""
    """The one that the runtime says it uses."""
    compacted: bool = False
    """True when the runtime shortened its history."""
    end: said.LegEnd = field(default_factory=lambda: said.LegEnd("cancelled"))
    _saver: Saver = field(init=False)

    def __post_init__(self) -> None:
        self._saver = Saver(self._save, self._save_failed)

    @property
    def is_silent(self) -> bool:
        """True when nothing was said and no tool was called."""
        return not self.answer.text.strip() and not self.calls.any

    async def hear(self, event: said.AgentEvent) -> None:
        match event:
            case said.TextDelta(text):
                await self._show(*self.answer.feed(text))
            case said.ThinkDelta(text):
                if shown := self.answer.think(text):
                    self.publish(events.LegThinking, text=shown)
                    self._saver.touch()
            case said.ToolStart(call_id, name, arguments, inside):
                await self._show(self.answer.pause(), [])
                name = f"{SUB_AGENT}{name}" if inside else name
                await self.calls.started(call_id, name, arguments, self.answer.chars)
            case said.ToolResult(call_id, ok, content):
                if await self.calls.finished(call_id, ok, content):
                    await self._block_begins()
            case said.RemoteStarted(remote_id, _, model):
                self.model = model
                if remote_id != self.leg.remote_session or model not in ("", self.leg.model):
                    self.leg = await remote_legs.adopt(self.store, self.leg, remote_id, model)
            case said.Compacted(before, after):
                self.compacted = True
                self.publish(events.LegNotice, text=_compacted(before, after))
            case said.BlockStarted():
                await self._block_begins()
            case said.UsageReported(usage, total):
                self.cost_usd = self.cost_usd if total is None else total
                self.spent(usage)
            case said.BlockReplaced():
                self.answer.rollback()
                await self.captures.rollback()
                self.publish(events.LegTextReplaced, text=self.answer.text)
                self._saver.touch()
            case said.Retrying(attempt, delay_s, reason):
                text = f"{safe(reason).rstrip('.')}: trying again in {delay_s:.0f} s (attempt {attempt})"
                self.publish(events.LegNotice, text=text, severity="warning", retry_in_s=delay_s)
            case said.Progress(text, fraction):
                self.publish(events.LegNotice, text=text, fraction=fraction)
            case said.NeedSuggested(text):
                await self.captures.need(text)
            case said.FactSuggested(text):
                await self.captures.remember(text)
            case said.EscalationAsked(reason):
                if self.captures.escalation is None:
                    await self.captures.escalate(reason, via="decision")
            case said.LegEnd():
                self.end = event

    def spent(self, usage: Usage) -> None:
        """A question to the other agent costs as a request of this leg does."""
        self.usage = self.usage.plus(usage)
        self.publish(events.UsageChanged, usage=self.usage)

    async def close(self, patience: Patience) -> None:
        """The end of the stream: what was held back is shown or taken up. The text is the caller's to store."""
        visible, found = self.answer.close()
        await self._show(visible, [])
        for capture in found:
            await patience.store(partial(self.captures.tag, capture))
        await self._saver.stop()
        await patience.store(self.captures.hear_outside)

    async def _block_begins(self) -> None:
        await self._show(self.answer.mark(), [])
        self.captures.mark()

    async def _show(self, visible: str, found: list[tags.Capture]) -> None:
        if visible:
            self.publish(events.LegText, text=visible)
            self._saver.touch()
        for capture in found:
            await self.captures.tag(capture)

    async def _save(self) -> None:
        await self.store.write(
            partial(
                legs.save_progress,
                leg_id=self.leg.id,
                text=own_keys.out(self.answer.text),
                thinking=own_keys.out(self.answer.thinking),
                usage=self.usage,
            )
        )

    def _save_failed(self, error: Exception) -> None:
        text = f"the answer could not be saved: {error}"
        self.publish(events.LegNotice, text=text, severity="error")


def _compacted(before: int | None, after: int | None) -> str:
    """What the person is told when the runtime shortened its history."""
    sizes = f" ({before:,} → {after:,} tokens)" if before and after else ""
    return f"it has shortened its conversation{sizes}; what it was told comes again with the next turn"
