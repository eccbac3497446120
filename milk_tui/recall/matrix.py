"""The vectors of all facts in memory, and the nearest of them to a question.

Up to ``LARGE`` facts they are one matrix of 32-bit floats, which one product compares. Above, each is kept as one bit a
dimension: those that agree in the most bits are compared exactly, with vectors that ``fetch`` brings (``recall.md``).
Belongs to one thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from milk_tui.recall.encoder import DIMENSIONS
from milk_tui.recall.protocol import Nearest, Nearness
from milk_tui.store.vectors import Placed

LARGE = 200_000
NEAR_COPY = 0.92
RESCORED = 4_000
SAMPLE = 4_096
"""Vectors from which the usual nearness is learned when there are more than ``LARGE``."""

_PRIOR_MEAN, _PRIOR_SPREAD, _PRIOR_COUNT = 0.1, 0.1, 30.0
"""What the cosines of unrelated texts are like; counts as much as so many facts."""
_EVERYONE = {"all": 0, "primary": 1, "escalation": 2}

Vectors = NDArray[np.float32]
Fetch = Callable[[Iterable[int]], list[tuple[int, bytes]]]


def unpack(blob: bytes) -> Vectors:
    """Raises ValueError for what is no vector."""
    vector = np.frombuffer(blob, dtype="<f2")
    if vector.shape != (DIMENSIONS,):
        raise ValueError("not a vector of this model")
    return vector.astype(np.float32)


def pack(vector: Vectors) -> bytes:
    return vector.astype("<f2").tobytes()


class Matrix:
    def __init__(self, fetch: Fetch, *, large: int = LARGE) -> None:
        self._fetch = fetch
        self._large = large
        self._at: dict[int, int] = {}
        self._sessions: dict[str | None, int] = {None: 0}
        self._seqs = np.zeros(256, dtype=np.int64)
        self._session = np.zeros(256, dtype=np.int32)
        self._consumer = np.zeros(256, dtype=np.int8)
        self._rows: Vectors | None = np.zeros((256, DIMENSIONS), dtype=np.float32)
        self._bits = np.zeros((0, DIMENSIONS // 64), dtype=np.uint64)
        self._sample: Vectors = np.zeros((0, DIMENSIONS), dtype=np.float32)
        self._used = 0

    def __len__(self) -> int:
        return len(self._at)

    def __contains__(self, seq: int) -> bool:
        return seq in self._at

    def put(self, place: Placed, vector: Vectors) -> None:
        """Add a fact, or replace its vector and its place."""
        row = self._at.get(place.seq)
        if row is None:
            row = self._used
            if row == len(self._seqs):
                self._grow()
            self._used += 1
            self._at[place.seq] = row
            self._seqs[row] = place.seq
        self._move(row, place)
        if self._rows is not None:
            self._rows[row] = vector
            if len(self._at) > self._large:
                self._become_large()
        else:
            self._bits[row] = _bits(vector[None])[0]

    def move(self, place: Placed) -> None:
        """The fact may be given elsewhere now; nothing for one without a vector."""
        row = self._at.get(place.seq)
        if row is not None:
            self._move(row, place)

    def drop(self, seq: int) -> None:
        row = self._at.pop(seq, None)
        if row is not None:
            self._session[row] = -1

    def nearest(
        self, question: Vectors, *, session_id: str | None, reader: str, limit: int, among: Sequence[int]
    ) -> Nearest:
        """``session_id`` empty: facts of all sessions; ``reader`` empty: facts for anybody."""
        seen = self._seen(session_id, reader)
        if not len(seen):
            return Nearest([], [])
        if self._rows is not None:
            cosines = (self._rows[: self._used] @ question)[seen]
            mean, spread = _usual(cosines)
            best = seen[_top(cosines, limit)]
        else:
            mean, spread = _usual(self._sample @ question)
            best = self._agreeing(question, seen)
        named = [self._at[seq] for seq in among if seq in self._at]
        rows = np.unique(np.concatenate([best, np.array(named, dtype=np.int64)]))
        seqs, vectors = self._exact(rows)
        near = vectors @ question
        kept = np.argsort(-near, kind="stable")
        wanted = set(among)
        facts = [
            Nearness(int(seqs[i]), round(float(near[i]), 4), round(float((near[i] - mean) / spread), 4))
            for rank, i in enumerate(kept)
            if rank < limit or int(seqs[i]) in wanted
        ]
        chosen = {fact.seq for fact in facts}
        inside = np.array([int(seq) in chosen for seq in seqs])
        return Nearest(facts, _copies(seqs[inside], vectors[inside]))

    def _move(self, row: int, place: Placed) -> None:
        self._session[row] = self._sessions.setdefault(place.session_id, len(self._sessions))
        self._consumer[row] = _EVERYONE.get(place.consumer, 0)

    def _seen(self, session_id: str | None, reader: str) -> NDArray[np.int64]:
        session = self._session[: self._used]
        seen = session >= 0
        if session_id:
            seen &= (session == 0) | (session == self._sessions.get(session_id, -2))
        if reader:
            consumer = self._consumer[: self._used]
            seen &= (consumer == 0) | (consumer == _EVERYONE.get(reader, 0))
        return np.flatnonzero(seen)

    def _agreeing(self, question: Vectors, seen: NDArray[np.int64]) -> NDArray[np.int64]:
        differing = np.bitwise_count(self._bits[seen] ^ _bits(question[None])[0]).sum(axis=1, dtype=np.int32)
        return seen[_top(-differing, RESCORED)]

    def _exact(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], Vectors]:
        if self._rows is not None:
            return self._seqs[rows], self._rows[rows]
        found = self._fetch(int(seq) for seq in self._seqs[rows])
        seqs = np.array([seq for seq, _ in found], dtype=np.int64)
        vectors = [unpack(blob) for _, blob in found]
        return seqs, np.stack(vectors) if vectors else np.zeros((0, DIMENSIONS), dtype=np.float32)

    def _grow(self) -> None:
        size = len(self._seqs) * 2
        self._seqs = np.resize(self._seqs, size)
        self._session = np.resize(self._session, size)
        self._consumer = np.resize(self._consumer, size)
        if self._rows is not None:
            grown = np.empty((size, DIMENSIONS), dtype=np.float32)
            grown[: self._used] = self._rows[: self._used]
            self._rows = grown
        else:
            self._bits = np.resize(self._bits, (size, self._bits.shape[1]))

    def _become_large(self) -> None:
        assert self._rows is not None
        used = self._rows[: self._used]
        every = max(1, self._used // SAMPLE)
        self._sample = used[::every][:SAMPLE].copy()
        self._bits = np.zeros((len(self._seqs), DIMENSIONS // 64), dtype=np.uint64)
        self._bits[: self._used] = _bits(used)
        self._rows = None


def _bits(vectors: Vectors) -> NDArray[np.uint64]:
    return np.packbits(vectors > 0, axis=1).view(np.uint64)


def _top(values: NDArray[np.float32] | NDArray[np.int32], limit: int) -> NDArray[np.int64]:
    """Positions of the largest values, in no order."""
    if len(values) <= limit:
        return np.arange(len(values))
    return np.argpartition(-values, limit - 1)[:limit]


def _usual(cosines: Vectors) -> tuple[float, float]:
    """Mean and deviation, held near what they usually are while there are few facts."""
    count = float(len(cosines))
    mean = (float(cosines.sum()) + _PRIOR_MEAN * _PRIOR_COUNT) / (count + _PRIOR_COUNT)
    variance = (float(cosines.var()) * count + _PRIOR_SPREAD**2 * _PRIOR_COUNT) / (count + _PRIOR_COUNT)
    return mean, max(variance**0.5, 1e-3)


def _copies(seqs: NDArray[np.int64], vectors: Vectors) -> list[tuple[int, int]]:
    pairs = np.argwhere(np.triu(vectors @ vectors.T > NEAR_COPY, k=1))
    return [(int(seqs[a]), int(seqs[b])) for a, b in pairs]
