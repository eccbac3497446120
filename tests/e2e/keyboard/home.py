"""The home that a walk begins in, and the program in it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from milk_tui.core.records import AgentName, Role, Session
from milk_tui.store import sessions
from tests.e2e.conftest import Place
from tests.e2e.keyboard.walk import MAIN, Walk

if TYPE_CHECKING:
    from sqlite_utils import Database

EDITOR = "the editor shows"
WRITTEN = "written elsewhere"


@contextmanager
def opened(place: Place, *, rows: int = 40, **names: str) -> Iterator[Walk]:
    """The program, with an editor that shows and writes by itself, and no clipboard beside the terminal's."""
    with place.open(rows=rows, **around(place)) as screen:  # type: ignore[arg-type]
        screen.wait_for(MAIN)
        yield Walk(screen, names)


def around(place: Place) -> dict[str, str]:
    """What the environment says of the programs around."""
    editor = place.root / "editor"
    editor.write_text(f"#!/bin/sh\nprintf '{EDITOR} '; cat \"$1\"; sleep 0.3; printf '{WRITTEN}' > \"$1\"\n")
    editor.chmod(0o755)
    own = str(editor)
    return {"EDITOR": own, "VISUAL": own, "DISPLAY": "", "WAYLAND_DISPLAY": ""}


def a_session(db: Database, place: Place) -> Session:
    """A session that the program goes on with when it is opened."""
    fast, deep = (
        AgentName(role=role, name=name, model=f"openai/{name}", nonce="abc123")
        for role, name in ((Role.PRIMARY, "fast"), (Role.ESCALATION, "deep"))
    )
    return sessions.create(db, directory=os.path.realpath(place.project), primary=fast, escalation=deep, title="seeded")
