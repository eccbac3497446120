"""What the transcript tells its owner."""

from __future__ import annotations

from dataclasses import dataclass

from textual.message import Message

from milk_tui.ui.transcript.parts import Key


@dataclass
class FollowChanged(Message, namespace="transcript"):
    """Whether the end is followed; while it is not, how many entries are new or have grown below."""

    following: bool
    new_count: int


@dataclass
class LinkClicked(Message, namespace="transcript"):
    """A link was clicked; nothing was opened. ``href`` comes from a model: show it before it is opened."""

    href: str
    text: str = ""
    """What stands in the conversation for it."""


@dataclass
class LinksRequested(Message, namespace="transcript"):
    """The person wants to choose among these links (text, address), those of the cursor's block first."""

    links: tuple[tuple[str, str], ...]


@dataclass
class CopyRequested(Message, namespace="transcript"):
    """The person wants this source text on the clipboard."""

    text: str


@dataclass
class ReceiptRequested(Message, namespace="transcript"):
    """The person wants to see what was sent for this entry."""

    key: Key


@dataclass
class TakeBackRequested(Message, namespace="transcript"):
    """The person wants a fact forgotten that is said to be remembered here."""

    fact: str


@dataclass
class QuoteRequested(Message, namespace="transcript"):
    """The person wants this source text in the prompt, as a quotation."""

    text: str


@dataclass
class OpenRequested(Message, namespace="transcript"):
    """The person wants to read this source text in their editor."""

    text: str


@dataclass
class AskOtherRequested(Message, namespace="transcript"):
    """The person wants the other agent's answer to the same prompt."""

    key: Key


@dataclass
class ForkRequested(Message, namespace="transcript"):
    """The person wants to go another way from this entry on."""

    key: Key


@dataclass
class MatchWanted(Message, namespace="transcript"):
    """To the next place (1) of what was searched for, or the one before (-1)."""

    by: int


@dataclass
class NothingThere(Message, namespace="transcript"):
    """What a key asked for is not there; ``text`` says so."""

    text: str
