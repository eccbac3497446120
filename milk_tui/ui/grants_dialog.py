"""What the person allowed the agents in this directory; each can be taken back."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from milk_tui.core.grants import Grant
from milk_tui.core.text import one_line
from milk_tui.core.visible import visible
from milk_tui.store import Store, grants
from milk_tui.store.clock import now_ms
from milk_tui.ui import format as f
from milk_tui.ui.dialogs import Picker
from milk_tui.ui.row_list import Row
from milk_tui.ui.words import ItemRow

if TYPE_CHECKING:
    from textual.app import App


async def manage(app: App[int], store: Store, directory: str) -> None:
    """Show the grants of a directory until the person has enough; enter revokes one."""
    while True:
        found = await store.read(partial(grants.all_of, directory=directory))
        picker = Picker(
            "permissions here",
            partial(rows, found, now=now_ms()),
            hint="enter revokes · esc closes",
            empty="nothing was allowed beyond one request",
            wide=True,
        )
        chosen = await app.push_screen_wait(picker)
        if chosen is None:
            return
        await store.write(partial(grants.revoke, grant_id=int(chosen)))


def rows(found: Sequence[Grant], words: str, *, now: int) -> list[Row]:
    """Those that hold the words: who, which tool, what, until when."""
    wanted = words.casefold().split()
    listed: list[Row] = []
    for grant in found:
        text = f"{grant.agent_name} {grant.tool} {grant.covered} {grant.title}".casefold()
        if not all(word in text for word in wanted):
            continue
        until = "until you revoke it" if grant.session_id is None else "for its session"
        used = f"used {grant.uses} ×, {f.when(grant.used_ms, now)}" if grant.used_ms else "never used"
        kind = "every " if grant.pattern else ""
        listed.append(
            ItemRow(
                str(grant.id),
                (
                    (f"{one_line(grant.agent_name, 40)} · {grant.tool}", "strong"),
                    (f"  {kind}{one_line(visible(grant.covered), 300)}", ""),
                ),
                ((f"  {until} · {used}", "dim"),),
            )
        )
    return listed
