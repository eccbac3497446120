"""One word from a model: for questions that have a few possible answers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Protocol, runtime_checkable

ASKED_CHARS = 4_000
"""Of a text that is asked about: its beginning and its end."""


@runtime_checkable
class Chooser(Protocol):
    """An agent whose model can be asked beside the conversation."""

    async def choose(self, instruction: str, text: str, choices: Sequence[str]) -> str:
        """The one of ``choices`` that the model says about ``text``; empty when it says anything else.

        Raises MilkError when it can't be asked.
        """
        ...


def the_choice(answer: str, choices: Sequence[str]) -> str:
    """The choice that an answer names: exactly one of them, as a word; else empty."""
    named = {choice for choice in choices if re.search(rf"(?<!\w){re.escape(choice)}(?!\w)", answer, re.IGNORECASE)}
    return named.pop() if len(named) == 1 else ""


def shortened(text: str) -> str:
    """A long text by its two ends, where a wish stands."""
    if len(text) <= ASKED_CHARS:
        return text
    half = ASKED_CHARS // 2
    return f"{text[:half]}\n[…]\n{text[-half:]}"


def grammar(choices: Sequence[str]) -> str:
    """The choices as a grammar of llama.cpp's server."""
    return "root ::= " + " | ".join(f'"{choice}"' for choice in choices)
