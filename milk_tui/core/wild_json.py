"""JSON of other programs, read although it is not all Unicode. Pure.

A program that cuts its text between the halves of an emoji writes half a pair (``"\\ud83d"``), which strict readers
refuse. One such character must not cost a message, or a whole file of conversations.
"""

from __future__ import annotations

import json
from typing import Any

import msgspec


def decode(data: bytes) -> Any:
    """The value; half a surrogate pair in it is ``?``. Raises msgspec.MsgspecError, UnicodeDecodeError or
    RecursionError for what is no JSON."""
    try:
        return msgspec.json.decode(data)
    except msgspec.DecodeError as error:
        if b"\\u" not in data:
            raise
        try:
            whole = json.dumps(json.loads(data), ensure_ascii=False)
        except ValueError:
            raise error from None
        return msgspec.json.decode(whole.encode("utf-8", "replace"))


def encode(value: Any) -> str:
    """The value as JSON; half a surrogate pair in a text is ``?``. Raises what ``msgspec.json.encode`` does."""
    try:
        return msgspec.json.encode(value).decode()
    except UnicodeEncodeError:
        return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace").decode()
