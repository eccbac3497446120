from __future__ import annotations

from tests.store.conftest import empty_database, session, store

__all__ = ["empty_database", "session", "store"]
