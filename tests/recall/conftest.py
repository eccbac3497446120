from __future__ import annotations

import pytest

from tests.recall.memory import Memory
from tests.store.conftest import empty_database, session, store

__all__ = ["empty_database", "session", "store"]


@pytest.fixture
def memory(store, session):
    return Memory(store, session)
