"""What the prompt keeps beside its text: folded pastes, and the way through earlier prompts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

FOLD_CHARS = 10_000
"""A paste with more characters is shown as one word: the editor wraps the whole line at each key."""
FOLD_LINES = 200
END_CHARS = 400
"""Of a large prompt that comes back: so much of both ends stays as it was written."""
END_LINES = 5
EXPANDED_CHARS = 400_000
"""A longer paste is not opened in the prompt: the person's editor is the place for it."""
EXPANDED_LINE = 20_000

_TOKEN = re.compile(r"⟦pasted #\d+ · [^⟦⟧]*⟧")


class Fold(NamedTuple):
    """The word of a paste in a line: where it stands, and what it stands for."""

    start: int
    end: int
    text: str

    @property
    def opens(self) -> bool:
        """True when it can be edited in the prompt without holding up the keys."""
        return len(self.text) <= EXPANDED_CHARS and max(map(len, self.text.split("\n"))) <= EXPANDED_LINE


class Folds:
    """Large pastes, each shown as one word and put back when the text is sent, saved or edited.

    The word can't be changed by hand: whoever writes in it opens it.
    """

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def fold(self, text: str) -> str:
        """``text`` itself when it is small, else the word that stands for it."""
        return text if _is_small(text) else self._word(text)

    def _word(self, text: str) -> str:
        lines = text.count("\n") + (not text.endswith("\n"))
        size = f"{len(text):,} characters" if lines == 1 else f"{lines:,} lines · {len(text):,} characters"
        token = f"⟦pasted #{len(self._texts) + 1} · {size}⟧"
        self._texts[token] = text
        return token

    def fold_again(self, text: str) -> str:
        """A whole prompt that comes back: what was pasted into it is a word again; of one that is still large, or whose
        pastes are not known (it is from another day), the middle becomes one and both ends stay readable."""
        if _is_small(text):
            return text
        again = text
        for token, known in reversed(self._texts.items()):
            again = again.replace(known, token)
        if _is_small(again):
            return again
        head = _end(text)
        tail = len(text) - _end(text[:head:-1])
        return f"{text[:head]}{self._word(text[head:tail])}{text[tail:]}"

    def expand(self, text: str) -> str:
        """The text with every word put back."""
        if not self._texts:
            return text
        return _TOKEN.sub(lambda match: self._texts.get(match[0], match[0]), text)

    def in_line(self, line: str) -> list[Fold]:
        """The words that stand in a line."""
        if not self._texts:
            return []
        found = [(match, self._texts.get(match[0])) for match in _TOKEN.finditer(line)]
        return [Fold(match.start(), match.end(), text) for match, text in found if text is not None]


def _end(text: str) -> int:
    """How many characters at the beginning of a large text stay as they are: whole lines, else words, if it has
    some."""
    cut = 0
    for _ in range(END_LINES):
        line_end = text.find("\n", cut, END_CHARS) + 1
        if not line_end:
            break
        cut = line_end
    return cut or text.rfind(" ", 0, END_CHARS) + 1


def _is_small(text: str) -> bool:
    return len(text) <= FOLD_CHARS and text.count("\n") < FOLD_LINES


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
