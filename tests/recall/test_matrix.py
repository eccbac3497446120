"""The nearest vectors, in one matrix and by bits."""

from __future__ import annotations

import pytest

np = pytest.importorskip("numpy")

from milk_tui.recall import matrix  # noqa: E402
from milk_tui.recall.encoder import DIMENSIONS  # noqa: E402
from milk_tui.recall.matrix import Matrix, pack, unpack  # noqa: E402
from milk_tui.store.vectors import Placed  # noqa: E402


def unit(seed):
    vector = np.random.default_rng(seed).standard_normal(DIMENSIONS).astype(np.float32)
    return vector / np.linalg.norm(vector)


def between(one, other, share):
    vector = one * share + other * (1 - share)
    return (vector / np.linalg.norm(vector)).astype(np.float32)


class Vectors:
    """A matrix and what it would find in the store."""

    def __init__(self, *, large=matrix.LARGE):
        self.stored = {}
        self.matrix = Matrix(lambda seqs: [(seq, pack(self.stored[seq])) for seq in seqs], large=large)

    def put(self, seq, vector, session=None, consumer="all"):
        self.stored[seq] = vector
        self.matrix.put(Placed(seq, session, consumer), vector)

    def near(self, question, *, session="", reader="", limit=5, among=()):
        return self.matrix.nearest(question, session_id=session, reader=reader, limit=limit, among=list(among))


@pytest.fixture(params=["one matrix", "by bits"])
def vectors(request):
    return Vectors(large=matrix.LARGE if request.param == "one matrix" else 0)


def seqs(nearest):
    return [fact.seq for fact in nearest.facts]


def test_the_nearest_come_first_with_their_cosines(vectors):
    question = unit(0)
    for seq in range(1, 600):
        vectors.put(seq, unit(seq))
    for seq, share in ((600, 0.9), (601, 0.7), (602, 0.8)):
        vectors.put(seq, between(question, unit(seq), share))
    found = vectors.near(question, limit=3)
    assert seqs(found) == [600, 602, 601]
    for fact in found.facts:
        assert fact.cosine == pytest.approx(float(vectors.stored[fact.seq] @ question), abs=2e-3)
        assert fact.above > 5


def test_a_fact_is_only_found_where_it_may_be_given(vectors):
    question = unit(0)
    vectors.put(1, question, session="a")
    vectors.put(2, question, session="b")
    vectors.put(3, question, consumer="primary")
    vectors.put(4, question, consumer="escalation")
    vectors.put(5, question)
    assert set(seqs(vectors.near(question))) == {1, 2, 3, 4, 5}
    assert set(seqs(vectors.near(question, session="a"))) == {1, 3, 4, 5}
    assert set(seqs(vectors.near(question, session="none", reader="primary"))) == {3, 5}
    assert set(seqs(vectors.near(question, session="b", reader="escalation"))) == {2, 4, 5}


def test_what_is_moved_replaced_or_dropped_is_found_accordingly(vectors):
    question = unit(0)
    vectors.put(1, question, session="a")
    vectors.matrix.move(Placed(1, None, "all"))
    assert seqs(vectors.near(question, session="b")) == [1]
    vectors.put(1, -question)
    assert vectors.near(question).facts[0].cosine == pytest.approx(-1, abs=1e-2)
    vectors.matrix.drop(1)
    assert vectors.near(question).facts == [] and len(vectors.matrix) == 0
    vectors.matrix.drop(1)
    vectors.matrix.move(Placed(1, None, "all"))
    vectors.put(1, question)
    assert seqs(vectors.near(question)) == [1]


def test_facts_that_are_asked_for_by_name_are_there_however_far(vectors):
    question = unit(0)
    for seq in range(1, 50):
        vectors.put(seq, between(question, unit(seq), 0.6))
    vectors.put(50, -question)
    found = vectors.near(question, limit=2, among=[50, 99])
    assert seqs(found)[-1] == 50 and len(found.facts) == 3


def test_pairs_that_are_nearly_the_same_are_named(vectors):
    question = unit(0)
    vectors.put(1, between(question, unit(1), 0.7))
    vectors.put(2, between(vectors.stored[1], unit(2), 0.95))
    vectors.put(3, between(question, unit(3), 0.7))
    assert vectors.near(question).copies == [(1, 2)] or vectors.near(question).copies == [(2, 1)]


def test_nothing_is_nearest_among_nothing(vectors):
    assert vectors.near(unit(0)).facts == []


def test_it_turns_to_bits_when_it_grows_large_and_finds_the_same():
    small, large = Vectors(), Vectors(large=300)
    question = unit(0)
    for seq in range(1, 1_000):
        vector = between(question, unit(seq), 0.2 + seq * 7919 % 1_000 / 2_000)
        small.put(seq, vector)
        large.put(seq, vector)
    assert seqs(small.near(question, limit=20)) == seqs(large.near(question, limit=20))
    one, other = small.near(question, limit=1).facts[0], large.near(question, limit=1).facts[0]
    assert one.above == pytest.approx(other.above, rel=0.15)


def test_deviations_are_sober_among_few_facts():
    few = Vectors()
    question = unit(0)
    few.put(1, between(question, unit(1), 0.6))
    (fact,) = few.near(question).facts
    assert 0 < fact.above < 15


def test_a_blob_that_is_no_vector_is_refused():
    assert np.allclose(unpack(pack(unit(1))), unit(1), atol=1e-3)
    for blob in (b"", b"x", b"x" * 766):
        with pytest.raises(ValueError):
            unpack(blob)
