"""Changed files and permissions on the screen: looked at, put back, revoked."""

from __future__ import annotations

import json
from pathlib import Path

from milk_tui.core.grants import Grant
from milk_tui.core.permissions import Scope, Verdict
from milk_tui.store import grants
from milk_tui.ui.changes_dialog import ChangesDialog

EDIT = json.dumps({"path": "shop.py", "old_text": "one", "new_text": "1"})


async def test_changed_files_are_listed_shown_and_put_back(open_desk, home: Path) -> None:
    file = home / "shop" / "shop.py"
    file.write_text("one\ntwo\n")
    async with open_desk() as desk:
        await desk.say(f"SCN:tool edit_file {EDIT}\nSCN:then SCN:say done")
        permissions = desk.app.control.conductor.permissions
        await desk.until(lambda: permissions.pending, "the request")
        permissions.answer(permissions.pending[0].id, Verdict(allowed=True, scope=Scope.ONCE))
        await desk.idle()
        await desk.say("/changes")
        await desk.sees("changed files", "shop.py  +1 −1", "changed, 1 time")
        await desk.press("enter")
        await desk.sees("before this session", "two")
        await desk.press("escape")
        file.write_text("mine\n")
        await desk.until(lambda: isinstance(desk.app.screen, ChangesDialog))
        await desk.press("r")
        await desk.sees("was changed by something else since")
        await desk.until(lambda: file.read_text() == "mine\n")
        await desk.press("r")
        await desk.sees("is as it was before this session", "changed no file")
        assert file.read_text() == "one\ntwo\n"


async def test_a_stopped_leg_takes_its_request_with_it(open_desk, home: Path) -> None:
    (home / "shop" / "shop.py").write_text("one\n")
    async with open_desk() as desk:
        await desk.say(f"SCN:tool edit_file {EDIT}\nSCN:then SCN:say done")
        await desk.sees("qwen asks")
        await desk.until(lambda: desk.app.main.permission is not None and desk.app.main.permission.has_focus)
        await desk.press("escape", "escape")
        await desk.idle()
        await desk.gone("qwen asks")
        assert desk.app.control.conductor.permissions.pending == ()
        assert (home / "shop" / "shop.py").read_text() == "one\n"


async def test_permissions_are_listed_and_one_is_revoked(open_desk) -> None:
    async with open_desk() as desk:
        store, directory = desk.app.control.workspace.store, desk.app.state.directory
        for pattern in ("pytest *", "make *"):
            grant = Grant(agent_name="qwen", tool="run_command", pattern=pattern, directory=directory, created_ms=1)
            await store.write(lambda db, grant=grant: grants.add(db, grant))
        await desk.say("/permissions")
        await desk.sees("qwen · run_command", "every pytest *", "until you revoke it · never used")
        await desk.press(*"make", "enter")
        await desk.gone("make *")
        left = await store.read(lambda conn: grants.all_of(conn))
        assert [grant.pattern for grant in left] == ["pytest *"]


async def test_revert_by_command_says_what_it_did(open_desk, home: Path) -> None:
    async with open_desk() as desk:
        await desk.say("/revert nowhere.py")
        await desk.sees("No changed file is called nowhere.py")
