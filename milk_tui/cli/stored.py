"""The database, as commands open it: for the time of one command."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from milk_tui.cli import output
from milk_tui.cli.options import Options
from milk_tui.core.errors import MilkError

if TYPE_CHECKING:
    from milk_tui.core.records import Session
    from milk_tui.store import Store


@contextmanager
def opened(options: Options) -> Iterator[Store]:
    """The store; what it has to say about how it was opened goes to standard error."""
    from milk_tui.store import Store

    store = Store.open(options.database_file)
    try:
        for notice in store.notices:
            output.line(notice, err=True)
        yield store
    finally:
        store.close()


def newest_here(store: Store) -> Session | None:
    """The session of this directory that was used last."""
    from milk_tui.store import sessions

    return store.read_sync(lambda conn: sessions.newest(conn, str(Path.cwd())))


def session_called(store: Store, name: str | None) -> Session:
    """The session that a person means, by default the newest of this directory. Raises ``MilkError``."""
    from milk_tui.store import sessions

    here = str(Path.cwd())
    if name is None:
        found = newest_here(store)
        problem = f"No session in {here}."
    else:
        found = store.read_sync(lambda conn: sessions.by_name(conn, name, here))
        problem = f"No session is called '{name}'."
    if found is None:
        raise MilkError(problem, "See `milk-tui sessions list --all`.")
    return found


def now_ms() -> int:
    from milk_tui.store.clock import now_ms

    return now_ms()
