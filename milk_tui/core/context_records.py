"""What an agent is given: its context piece by piece, its thread, and the receipt of it."""

from __future__ import annotations

from msgspec import Struct

from milk_tui.core.states import ContextMode, Role


class Segment(Struct, frozen=True, kw_only=True):
    """One piece of a leg's context, or the reason why it is not there (``semantics.md`` §4)."""

    name: str
    text: str
    stable: bool
    """True when its bytes do not change within the session: part of the cacheable prefix."""
    included: bool
    why: str
    shrunk_from: int | None = None
    """Characters before the hard cap shrank it; ``None`` when it was not shrunk."""

    @property
    def chars(self) -> int:
        return len(self.text)

    @property
    def tokens_estimated(self) -> int:
        """A rough count (characters / 4, rounded up); shown as estimated."""
        return -(-len(self.text) // 4)


class Message(Struct, frozen=True, kw_only=True):
    """One message of an agent's own thread, in the shape that every provider can be given."""

    role: str
    """system · user · assistant · tool"""
    content: str = ""
    tool_calls: tuple[MessageToolCall, ...] = ()
    tool_call_id: str | None = None
    cache_point: bool = False
    """True at the end of a layer where a provider that has cache breakpoints should set one."""
    images: tuple[str, ...] = ()
    """Images of a user's message as data URLs."""


class MessageToolCall(Struct, frozen=True, kw_only=True):
    id: str
    name: str
    arguments: str


class TurnCut(Struct, frozen=True, kw_only=True):
    """What became of one turn of a bounded thread: tool rounds whose results shrank, and rounds that left."""

    leg_id: int
    shrunk: int = 0
    left: int = 0


class ThreadMark(Struct, frozen=True, kw_only=True):
    """Where an agent's bounded thread stands (``semantics.md`` §4). Positions are leg ids."""

    after: int = 0
    """Legs up to this one have left; the thread is made of the later ones."""
    upto: int = 0
    """The last leg that the bound was applied to."""
    gone: int = 0
    """How many turns have left in all."""
    fresh: bool = False
    """The thread starts at a fresh start (§4); what the agent did before is in its summary alone."""
    cuts: tuple[TurnCut, ...] = ()


class ContextPlan(Struct, frozen=True, kw_only=True):
    """What an agent is given for a leg; stored with the leg as its receipt and shown by the inspector."""

    role: Role
    mode: ContextMode
    segments: tuple[Segment, ...]
    thread: tuple[Message, ...] = ()
    thread_note: str = ""
    """What left the thread and why, when its bound was reached."""
    thread_mark: ThreadMark | None = None
    """Where the thread stands with this plan: kept when the leg has succeeded, given to the next plan."""
    thread_limit: int = 0
    """Characters that thread and running turn together may have; 0: no bound."""

    @property
    def chars(self) -> int:
        """Characters of every included segment: what the hard cap bounds (§4), without thread and prompt."""
        return sum(s.chars for s in self.segments if s.included)

    def segment(self, name: str) -> Segment | None:
        return next((s for s in self.segments if s.name == name), None)


class Receipt(Struct, frozen=True, kw_only=True):
    """The plan of a leg as it was sent, nonces masked."""

    leg_id: int
    turn_id: int
    role: Role
    agent_name: str
    mode: ContextMode
    segments: tuple[Segment, ...]
    sent_ms: int
    thread_messages: int = 0
    thread_chars: int = 0
    thread_note: str = ""

    @property
    def chars(self) -> int:
        return sum(s.chars for s in self.segments if s.included)
