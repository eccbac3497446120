from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from milk_tui.store import Store
from tests.store.conftest import empty_database, session, store

__all__ = ["empty_database", "other_store", "session", "store"]


@pytest.fixture
def other_store(tmp_path: Path, empty_database: Path) -> Iterator[Store]:
    """Another machine's database, empty."""
    shutil.copy(empty_database, tmp_path / "other.db")
    opened = Store.open(tmp_path / "other.db")
    yield opened
    opened.close()
