"""``milk-tui bricks``: the four summaries that one agent is given of the other's work."""

from __future__ import annotations

import click

from milk_tui.cli import output
from milk_tui.cli.options import Options, json_option, pass_options


@click.group()
def bricks() -> None:
    """The summary bricks of a session."""


@bricks.command()
@click.argument("name", required=False)
@json_option
@pass_options
def show(options: Options, name: str | None, as_json: bool) -> None:
    """Print the need, the brief and both summaries.

    NAME is a session's title or the beginning of its id; without one it is the most recent of this directory.
    """
    from milk_tui.cli.stored import opened, session_called
    from milk_tui.core.records import BrickKind
    from milk_tui.store import bricks as stored

    with opened(options) as store:
        session = session_called(store, name)
        found = store.read_sync(lambda conn: stored.current(conn, session.id))
    if as_json:
        output.as_json({"session": session.id, "bricks": [found[kind] for kind in BrickKind if kind in found]})
        return
    for number, kind in enumerate(BrickKind):
        brick = found.get(kind)
        output.line(f"{'' if number == 0 else chr(10)}── {kind.value.replace('_', ' ')}")
        if brick is None or not brick.text:
            output.line("(nothing yet)")
            continue
        facts = [
            f"{len(brick.text):,} characters",
            f"version {brick.version}",
            f"turn {brick.turn_id}",
            brick.author,
        ]
        facts += [brick.status.value] if brick.status else []
        facts += [
            f"{count} {what}"
            for count, what in (
                (brick.collapsed, "calls collapsed"),
                (brick.cut, "cut"),
                (brick.dropped, "dropped"),
            )
            if count
        ]
        output.line(f"   {' · '.join(facts)}\n{brick.text}")
