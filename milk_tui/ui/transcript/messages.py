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


@dataclass
class CopyRequested(Message, namespace="transcript"):
    """The person wants this source text on the clipboard."""

    text: str


@dataclass
class ReceiptRequested(Message, namespace="transcript"):
    """The person wants to see what was sent for this entry."""

    key: Key
