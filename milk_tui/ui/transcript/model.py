"""The list of entries: what there is and how many rows each one takes, known or guessed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from milk_tui.ui.transcript.heights import Heights
from milk_tui.ui.transcript.parts import Entry, Key


class Entries:
    """Entries in order, found by key or by row.

    A height is an estimate for the width until the entry is laid out (``heights[index] = rows``).
    """

    def __init__(self) -> None:
        self.items: list[Entry] = []
        self.heights = Heights()
        self.width = 80
        self._index: dict[Key, int] = {}

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.items)

    def __contains__(self, key: Key) -> bool:
        return key in self._index

    def index(self, key: Key) -> int:
        """Raises ``KeyError`` for a key that is not in the list."""
        return self._index[key]

    def load(self, entries: Iterable[Entry]) -> None:
        """Replaces all; of entries with the same key the last one counts."""
        self.items = list(entries)
        self._index = {entry.key: index for index, entry in enumerate(self.items)}
        if len(self._index) != len(self.items):
            self.items = [self.items[index] for index in sorted(self._index.values())]
            self._index = {entry.key: index for index, entry in enumerate(self.items)}
        self.estimate_all()

    def estimate_all(self) -> None:
        width = self.width
        # ``estimate`` for all of them, written out: 20,000 calls would be half of opening a session
        self.heights = Heights(
            [2 + max(e.lines or e.chars // 60, -(-e.chars // width), 1) + e.extra for e in self.items]
        )

    def append(self, entry: Entry) -> int:
        index = len(self.items)
        self.items.append(entry)
        self._index[entry.key] = index
        self.heights.append(estimate(entry, self.width))
        return index

    def insert(self, index: int, entry: Entry) -> None:
        self.items.insert(index, entry)
        self.heights.insert(index, estimate(entry, self.width))
        self._renumber(index)

    def remove(self, key: Key) -> int:
        """Takes the entry out and returns where it was."""
        index = self._index.pop(key)
        del self.items[index]
        self.heights.delete(index)
        self._renumber(index)
        return index

    def neighbour(self, index: int, wanted: Callable[[Entry], bool], step: int) -> int | None:
        """The next (``step`` 1) or previous (-1) entry that is wanted."""
        index += step
        while 0 <= index < len(self.items):
            if wanted(self.items[index]):
                return index
            index += step
        return None

    def _renumber(self, first: int) -> None:
        for index in range(first, len(self.items)):
            self._index[self.items[index].key] = index


def estimate(entry: Entry, width: int) -> int:
    """Rows that an entry will take at a width, guessed from its size: header, text, what stands beside, a gap."""
    chars = entry.chars
    return 2 + max(entry.lines or chars // 60, -(-chars // width), 1) + entry.extra
