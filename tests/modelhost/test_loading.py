"""While the library is imported nothing is looked through for garbage; afterwards it is again, whatever came of it."""

from __future__ import annotations

import gc

import pytest

from milk_tui.modelhost import loading


def test_garbage_is_looked_for_again_when_the_library_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = []
    monkeypatch.setattr(gc, "freeze", lambda: kept.append(gc.isenabled()))
    with loading.undisturbed():
        assert not gc.isenabled()
    assert gc.isenabled() and kept == [False]


def test_and_when_it_can_not_be_imported() -> None:
    with pytest.raises(ImportError), loading.undisturbed():
        raise ImportError("no such library")
    assert gc.isenabled()
