"""The check of what a helper answered (``semantics.md`` §6, "Answer"): one JSON object, or a failed run.

Nothing here trusts the text: it came from a model that read records, prompts and files.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from milk_tui.core.cuts import escape, plain
from milk_tui.core.text import one_line

SEND, NONE = "send_message", "none"
MOST_CITATIONS = 5
_KEYS = frozenset({"action", "message", "citations"})
_SENTENCE_END = re.compile(r"(?<![.!?…。！？])[.!?…。！？]++[\"'”’)\]»*_`]*(?=\s|$)")
_ABBREVIATED = re.compile(r"(?i)\b(?:e\.g|i\.e|etc|vs|approx|no|z\.b)\.")


class Given(Struct, frozen=True):
    """Something that the helper was given and may cite: its day, as it stands in the record."""

    id: str
    date: str


class Answer(Struct, frozen=True):
    """``text`` is empty when the helper has nothing to say."""

    text: str = ""
    citations: tuple[str, ...] = ()


class BadAnswerError(ValueError):
    """The answer is not one; the message says why, in the words of the run log."""


def check(raw: str, given: Mapping[str, Given], *, may_send: bool, max_bytes: int) -> Answer:
    """The answer that ``raw`` is. Raises ``BadAnswerError`` for anything else.

    ``given``: what the run was given, by id. A message is two or three sentences, names the first record that it cites
    and the day of it, and cites nothing that was not given.
    """
    size = len(raw.encode("utf-8", "replace"))
    if size > max_bytes:
        raise BadAnswerError(f"the answer has {size:,} bytes, {max_bytes:,} are allowed")
    found = _object(raw)
    if unknown := found.keys() - _KEYS:
        raise BadAnswerError(f"the answer has fields that are not known: {one_line(', '.join(sorted(unknown)), 80)}")
    action = found.get("action")
    if action not in (SEND, NONE):
        raise BadAnswerError("the action is neither send_message nor none")
    message, citations = found.get("message", ""), found.get("citations", [])
    if not isinstance(message, str | None) or not isinstance(citations, list | None):
        raise BadAnswerError("message must be text and citations a list")
    if action == NONE:
        if (message or "").strip() or citations:
            raise BadAnswerError("the action is none, yet there is a message")
        return Answer()
    if not may_send:
        raise BadAnswerError("the profile may not send messages")
    ids = _citations(citations or [], given)
    text = " ".join(plain(message or "").split())
    if not text:
        raise BadAnswerError("the message is empty")
    _complete(text, [given[each] for each in ids])
    return Answer(text=escape(text), citations=ids)


def _object(raw: str) -> dict[str, Any]:
    def no_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len({key for key, _ in pairs}) != len(pairs):
            raise BadAnswerError("a field is there twice")
        return dict(pairs)

    try:
        found = json.loads(raw, object_pairs_hook=no_twice)
    except RecursionError:
        raise BadAnswerError("the answer is nested too deeply") from None
    except BadAnswerError:
        raise
    except ValueError:
        raise BadAnswerError("the answer is not exactly one JSON object") from None
    if not isinstance(found, dict):
        raise BadAnswerError("the answer is not exactly one JSON object")
    return found


def _citations(cited: list[Any], given: Mapping[str, Given]) -> tuple[str, ...]:
    if not cited:
        raise BadAnswerError("nothing is cited")
    if len(cited) > MOST_CITATIONS:
        raise BadAnswerError(f"more than {MOST_CITATIONS} citations")
    for each in cited:
        if not isinstance(each, str) or each not in given:
            raise BadAnswerError(f"it cites {one_line(str(each), 60)!r}, which it was not given")
    return tuple(dict.fromkeys(cited))


def _complete(text: str, cited: list[Given]) -> None:
    if not any(each.id in text for each in cited):
        raise BadAnswerError("the message does not name the record it cites")
    if not any(each.date in text for each in cited if each.id in text):
        raise BadAnswerError("the message does not give the record's date")
    rest = _ABBREVIATED.sub("", text)
    for each in sorted(cited, key=lambda given: -len(given.id)):
        rest = rest.replace(each.id, "it")
    ends = [found.end() for found in _SENTENCE_END.finditer(rest)]
    sentences = len(ends) + (not ends or ends[-1] < len(rest))
    if not 2 <= sentences <= 3:
        raise BadAnswerError(f"the message has {sentences} sentences, two or three are asked for")


def schema() -> dict[str, Any]:
    """The answer as a JSON Schema, for models whose output can be constrained."""
    return {
        "type": "object",
        "properties": {
            "action": {"type": "string", "enum": [NONE, SEND]},
            "message": {"type": "string"},
            "citations": {"type": "array", "items": {"type": "string"}, "maxItems": MOST_CITATIONS},
        },
        "required": ["action", "message", "citations"],
        "additionalProperties": False,
    }
