"""What the prompt keeps beside its text: folded pastes, and the way through earlier prompts."""

from __future__ import annotations

import re
from collections.abc import Sequence

FOLD_CHARS = 10_000
"""A paste with more characters is shown as one word: the editor wraps the whole line at each key."""
FOLD_LINES = 200

_TOKEN = re.compile(r"⟦pasted #\d+ · [^⟦⟧]*⟧")


class Folds:
    """Large pastes, each shown as one word and put back when the text is sent, saved or edited elsewhere.

    A word that was changed by hand is plain text.
    """

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def fold(self, text: str) -> str:
        """``text`` itself when it is small, else the word that stands for it."""
        lines = text.count("\n") + 1
        if len(text) <= FOLD_CHARS and lines <= FOLD_LINES:
            return text
        token = f"⟦pasted #{len(self._texts) + 1} · {lines:,} lines · {len(text):,} characters⟧"
        self._texts[token] = text
        return token

    def expand(self, text: str) -> str:
        """The text with every word put back."""
        if not self._texts:
            return text
        return _TOKEN.sub(lambda match: self._texts.get(match[0], match[0]), text)

    def token_before(self, line: str, column: int) -> int:
        """The length of the word that ends at ``column``; 0 when none does."""
        return next(
            (len(match[0]) for match in _TOKEN.finditer(line) if match.end() == column and match[0] in self._texts),
            0,
        )


class History:
    """Earlier prompts, newest first, with what is being written as the entry before the first.

    An earlier prompt that was changed keeps the change until something is sent.
    """

    def __init__(self, prompts: Sequence[str] = ()) -> None:
        self._prompts = list(prompts)
        self._position = -1
        self._changed: dict[int, str] = {}

    def set(self, prompts: Sequence[str]) -> None:
        """Take the prompts of a directory; what is being written stays."""
        self._prompts = list(prompts)
        self._changed = {-1: self._changed[-1]} if -1 in self._changed else {}
        self._position = -1

    def offer(self, text: str) -> None:
        """Put a text one step up from what is being written."""
        if text in self._prompts:
            self._prompts.remove(text)
        self._prompts.insert(0, text)

    @property
    def prompts(self) -> Sequence[str]:
        return self._prompts

    def older(self, text: str) -> str | None:
        """One step back from ``text``; ``None`` at the oldest."""
        return self._step(text, 1)

    def newer(self, text: str) -> str | None:
        """One step forward; ``None`` at what is being written."""
        return self._step(text, -1)

    def sent(self, text: str) -> None:
        """A prompt was sent: it is the newest now, and the way through begins anew."""
        if text in self._prompts:
            self._prompts.remove(text)
        self._prompts.insert(0, text)
        self._changed.clear()
        self._position = -1

    def _step(self, text: str, step: int) -> str | None:
        target = self._position + step
        if not -1 <= target < len(self._prompts):
            return None
        self._changed[self._position] = text
        self._position = target
        return self._changed.get(target, self._prompts[target] if target >= 0 else "")
