"""The pieces that the embedding model reads are those of BERT's own tokenizer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from milk_tui.recall import wordpiece
from milk_tui.recall.wordpiece import MAX_PIECES, pieces, vocabulary

FACTS = Path(__file__).parents[1] / "data" / "memory" / "facts.jsonl"


def named(text):
    pieces_of = {number: piece for piece, number in vocabulary().items()}
    return [pieces_of[number] for number in pieces(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "[CLS] [SEP]"),
        ("The embedding", "[CLS] the em ##bed ##ding [SEP]"),
        ("don't", "[CLS] don ' t [SEP]"),
        ("Café", "[CLS] cafe [SEP]"),
        ("a\x00b\u200bc\ufffd d", "[CLS] abc d [SEP]"),
        ("a\tb\u00a0c\n", "[CLS] a b c [SEP]"),
        ("x" * 101, "[CLS] [UNK] [SEP]"),
        ("$5.00", "[CLS] $ 5 . 00 [SEP]"),
    ],
)
def test_text_becomes_pieces(text, expected):
    assert " ".join(named(text)) == expected


def test_the_vocabulary_is_whole():
    assert len(vocabulary()) == 30_522
    assert (vocabulary()["[PAD]"], vocabulary()["[CLS]"], vocabulary()["[SEP]"]) == (0, 101, 102)


def test_a_long_text_is_cut_and_still_ends():
    found = pieces("word " * 10_000)
    assert len(found) == MAX_PIECES
    assert (found[0], found[-1]) == (101, 102)


@given(st.text(max_size=300))
def test_any_text_gives_known_pieces_between_the_two_marks(text):
    found = pieces(text)
    assert (found[0], found[-1]) == (101, 102)
    assert 2 <= len(found) <= MAX_PIECES
    assert all(0 <= number < 30_522 for number in found)


def test_the_pieces_are_those_of_the_reference():
    tokenizers = pytest.importorskip("tokenizers")
    reference = tokenizers.BertWordPieceTokenizer(dict(vocabulary()), lowercase=True)
    reference.enable_truncation(MAX_PIECES)
    texts = [
        text
        for line in FACTS.open(encoding="utf-8")
        for text in list(json.loads(line).values())
        if isinstance(text, str)
    ]
    assert len(texts) > 2_000
    assert [text for text in texts if pieces(text) != reference.encode(text).ids] == []


def test_the_ideographs_stand_alone():
    assert wordpiece.pieces("中文") == [101, 1746, 1861, 102]
