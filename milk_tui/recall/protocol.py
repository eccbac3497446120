"""What the program and its recall worker say to each other: one JSON object a line (``recall/worker.py``)."""

from __future__ import annotations

import msgspec
from msgspec import Struct


class Nearness(Struct, frozen=True):
    """A fact's row number, its cosine to the question, and how far that is above the usual, in deviations."""

    seq: int
    cosine: float
    above: float


class Nearest(Struct, frozen=True):
    facts: list[Nearness]
    """The nearest ones, and of the facts that were named those that have a vector."""
    copies: list[tuple[int, int]]
    """Pairs of them that say nearly the same."""


class Hint(Struct, frozen=True, tag="hint"):
    """A question that will be asked: it can be read already."""

    text: str


class Ask(Struct, frozen=True, tag="ask"):
    """``session_id`` empty: facts of all sessions; ``reader`` empty: facts for anybody; ``among``: row numbers of facts
    whose nearness is wanted too."""

    id: int
    text: str
    session_id: str
    reader: str
    limit: int
    among: list[int]


class Compare(Struct, frozen=True, tag="compare"):
    """How near each of the texts is to the question."""

    id: int
    text: str
    texts: list[str]


class Wake(Struct, frozen=True, tag="wake"):
    """Facts have changed."""


class Settle(Struct, frozen=True, tag="settle"):
    """To be answered when every fact that there is now has its vector."""

    id: int


class Answer(Struct, frozen=True, tag="answer"):
    id: int
    nearest: Nearest


class Compared(Struct, frozen=True, tag="compared"):
    id: int
    cosines: list[float]


class Settled(Struct, frozen=True, tag="settled"):
    id: int


class Ready(Struct, frozen=True, tag="ready"):
    """The model is loaded. Said again when the numbers change: facts that have a vector, and that wait for one."""

    embedded: int
    waiting: int


class Unavailable(Struct, frozen=True, tag="unavailable"):
    """The worker can't work, and leaves."""

    what: str
    hint: str


Request = Hint | Ask | Compare | Wake | Settle
Reply = Answer | Compared | Settled | Ready | Unavailable

MAX_TEXT = 2_000
"""Characters of a question that are sent; the model reads fewer."""

_encoder = msgspec.json.Encoder()
_requests: msgspec.json.Decoder[Request] = msgspec.json.Decoder(Request)
_replies: msgspec.json.Decoder[Reply] = msgspec.json.Decoder(Reply)


def line(message: Request | Reply) -> bytes:
    return _encoder.encode(message) + b"\n"


def request(text: bytes) -> Request:
    """Raises msgspec.MsgspecError."""
    return _requests.decode(text)


def reply(text: bytes) -> Reply:
    """Raises msgspec.MsgspecError."""
    return _replies.decode(text)


def question(text: str) -> str:
    """As much of a text as is sent; a lone surrogate can't be, and says nothing."""
    return text[:MAX_TEXT].encode(errors="replace").decode()
