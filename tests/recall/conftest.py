from __future__ import annotations

from tests.store.conftest import session, store

__all__ = ["session", "store"]
