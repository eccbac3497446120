"""What the agents changed in files is listed with its difference and can be put back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from milk_tui.core.errors import MilkError
from milk_tui.core.permissions import Verdict
from milk_tui.core.records import Role
from milk_tui.engine.changes_desk import ChangesDesk
from milk_tui.store import Store
from milk_tui.tools.changes import Changes
from milk_tui.tools.registry import FAMILIES, Caller, Toolset, assemble
from milk_tui.tools.site import Site
from tests.store.makers import make_session


class Shop:
    """A directory with files, an agent that works there, and the person's hand on it."""

    def __init__(self, folder: Path, store: Store) -> None:
        self.folder = folder
        session = make_session(store, str(folder))
        self.site = Site(folder, session_id=session.id, store=store, changes=Changes(store, session.id))
        self.desk = ChangesDesk(store, lambda: session, self.site)

        async def allow(request) -> Verdict:
            return Verdict(allowed=True)

        self.tools = Toolset(assemble(FAMILIES), self.site, Caller(Role.PRIMARY, "qwen"), allow)

    async def __call__(self, name: str, **arguments: object) -> None:
        outcome = await self.tools.run("1", name, json.dumps(arguments))
        assert outcome.ok, outcome.content

    def text(self, name: str) -> str | None:
        path = self.folder / name
        return path.read_text() if path.exists() else None


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    store = Store.open(tmp_path / "milk.db")
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "a.py").write_text("one\ntwo\n")
    (folder / "b.py").write_text("b\n")
    yield Shop(folder, store)
    store.close()


async def test_several_changes_of_a_file_are_one_from_first_to_last(shop: Shop) -> None:
    await shop("edit_file", path="a.py", old_text="one", new_text="1")
    await shop("edit_file", path="a.py", old_text="two", new_text="2")
    (changed,) = await shop.desk.files()
    assert (changed.name, changed.file.times, changed.diff.counts, changed.since) == ("a.py", 2, "+2 −2", False)
    assert changed.texts == ("one\ntwo\n", "1\n2\n")


async def test_every_kind_of_change_is_put_back(shop: Shop) -> None:
    await shop("edit_file", path="a.py", old_text="one", new_text="1")
    await shop("write_file", path="new/c.py", content="c\n")
    await shop("move_file", path="b.py", to="moved.py")
    await shop("delete_file", path="a.py")
    names = [changed.name for changed in await shop.desk.files()]
    assert names == ["a.py", "new/c.py", "moved.py", "b.py"]
    for name in names:
        await shop.desk.revert(name)
    assert [shop.text(name) for name in names] == ["one\ntwo\n", None, None, "b\n"]
    assert await shop.desk.files() == []


async def test_a_file_that_is_as_it_was_is_not_listed(shop: Shop) -> None:
    await shop("edit_file", path="a.py", old_text="one", new_text="1")
    await shop("edit_file", path="a.py", old_text="1", new_text="one")
    assert await shop.desk.files() == []


async def test_what_somebody_else_changed_since_is_put_back_only_when_the_person_insists(shop: Shop) -> None:
    await shop("edit_file", path="a.py", old_text="one", new_text="1")
    (shop.folder / "a.py").write_text("mine\n")
    (changed,) = await shop.desk.files()
    assert changed.since
    with pytest.raises(MilkError, match="changed by something else"):
        await shop.desk.revert("a.py")
    assert shop.text("a.py") == "mine\n"
    await shop.desk.revert("a.py", insist=True)
    assert shop.text("a.py") == "one\ntwo\n"


async def test_after_a_revert_the_agent_must_read_the_file_again(shop: Shop) -> None:
    await shop("read_file", path="a.py")
    await shop("write_file", path="a.py", content="x\n")
    await shop.desk.revert("a.py")
    outcome = await shop.tools.run("1", "write_file", '{"path": "a.py", "content": "y"}')
    assert "Read it first" in outcome.content


async def test_mode_and_bytes_come_back(shop: Shop) -> None:
    path = shop.folder / "run.sh"
    path.write_bytes(b"#!/bin/sh\r\necho \xe9\r\n")
    path.chmod(0o755)
    await shop("delete_file", path="run.sh")
    await shop.desk.revert("run.sh")
    assert path.read_bytes() == b"#!/bin/sh\r\necho \xe9\r\n"
    assert path.stat().st_mode & 0o777 == 0o755


async def test_an_unknown_name_is_said(shop: Shop) -> None:
    with pytest.raises(MilkError, match="No changed file"):
        await shop.desk.revert("nope")
