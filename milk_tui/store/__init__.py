"""One SQLite file: schema and migrations, one module per kind of record, one writer thread."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from milk_tui.store.database import Store
else:

    def __getattr__(name: str) -> object:
        """The store's threads and event loop are imported with the first use of it: a hook only reads."""
        if name != "Store":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from milk_tui.store.database import Store

        return Store


__all__ = ["Store"]
