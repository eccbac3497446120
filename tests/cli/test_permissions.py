"""``milk-tui permissions``: what was granted, seen and taken back."""

from __future__ import annotations

from pathlib import Path

import pytest

from milk_tui.core.grants import Grant
from milk_tui.core.records import Session
from milk_tui.store import Store, grants
from tests.cli.conftest import Milk


@pytest.fixture
def granted(stored: Session, home: Path) -> list[int]:
    store = Store.open(home / "data" / "milk.db")
    common = {"agent_name": "qwen", "tool": "run_command", "directory": stored.directory}
    rows = [
        Grant(**common, pattern="pytest *", title="run pytest", created_ms=1),  # type: ignore[arg-type]
        Grant(**common, arguments='{"command":"ls \\u202e"}', session_id=stored.id, created_ms=2),  # type: ignore[arg-type]
        Grant(**{**common, "directory": "/elsewhere"}, pattern="make *", created_ms=3),  # type: ignore[arg-type]
    ]
    ids = [store.write_sync(lambda db, row=row: grants.add(db, row)).id for row in rows]
    store.close()
    return ids


def test_without_grants_it_says_so(milk: Milk, stored: Session) -> None:
    assert "Nothing was allowed" in milk("permissions", "list").out
    assert milk("permissions", "list", "--json").json == []


def test_the_list_says_who_what_where_and_until_when(milk: Milk, granted: list[int], stored: Session) -> None:
    rows = milk("permissions", "list", "--json").json
    assert [row["id"] for row in rows] == [granted[1], granted[0]]
    assert (rows[0]["scope"], rows[1]["scope"]) == ("session", "always")
    shown = milk("permissions", "list").out
    assert "pytest * (pattern)" in shown
    assert f"the end of session {stored.id[:8]}" in shown
    assert "make *" not in shown
    assert "make *" in milk("permissions", "list", "--all").out


def test_a_grant_is_revoked_by_its_id(milk: Milk, granted: list[int]) -> None:
    assert milk("permissions", "revoke", str(granted[0])).out == "1 revoked.\n"
    assert [row["id"] for row in milk("permissions", "list", "--json").json] == [granted[1]]


def test_an_unknown_id_is_a_failure_that_names_it(milk: Milk, granted: list[int]) -> None:
    ran = milk("permissions", "revoke", "999")
    assert ran.code == 1
    assert "no permission 999" in ran.err


def test_all_means_this_directory_and_everywhere_means_everywhere(milk: Milk, granted: list[int]) -> None:
    assert milk("permissions", "revoke", "--all", "--json").json == {"revoked": 2, "missing": []}
    assert milk("permissions", "revoke", "--everywhere").out == "1 revoked.\n"


def test_revoking_nothing_named_is_wrong_usage(milk: Milk, granted: list[int]) -> None:
    assert milk("permissions", "revoke").code == 2
