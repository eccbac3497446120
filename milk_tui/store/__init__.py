"""One SQLite file: schema and migrations, one module per kind of record, one writer thread."""

from __future__ import annotations

from milk_tui.store.database import Store

__all__ = ["Store"]
