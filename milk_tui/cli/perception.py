"""``milk-tui perception``: what the agents noted about the task, layer by layer."""

from __future__ import annotations

import click

from milk_tui.cli import output
from milk_tui.cli.options import Options, json_option, pass_options


@click.group()
def perception() -> None:
    """What the agents believe about the task."""


@perception.command()
@click.argument("name", required=False)
@json_option
@pass_options
def show(options: Options, name: str | None, as_json: bool) -> None:
    """Print invariants, frame and working set.

    NAME is a session's title or the beginning of its id; without one it is the most recent of this directory.
    """
    from milk_tui.cli.stored import opened, session_called
    from milk_tui.core.records import Layer
    from milk_tui.store import perception as stored

    with opened(options) as store:
        session = session_called(store, name)
        entries = store.read_sync(lambda conn: stored.current(conn, session.id))
    if as_json:
        output.as_json({"session": session.id, "entries": entries})
        return
    for number, layer in enumerate(Layer):
        output.line(f"{'' if number == 0 else chr(10)}── {layer.value}")
        of_layer = [entry for entry in entries if entry.layer is layer]
        if not of_layer:
            output.line("(nothing yet)")
        for entry in of_layer:
            told = [
                entry.writer,
                f"turn {entry.turn_id}" if entry.turn_id else "",
                "proposed" if entry.proposed else "",
            ]
            output.line(f"{entry.key}: {entry.value}" + (f" — {entry.reason}" if entry.reason else ""))
            output.line(f"    {' · '.join(part for part in told if part)}")
