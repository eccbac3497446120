"""``milk-tui perception``: what the agents believe about the task: read it, correct it, keep it in a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from milk_tui.cli import output
from milk_tui.cli.options import Options, json_option, pass_options

if TYPE_CHECKING:
    from milk_tui.core.perception_view import EntryView, LayerView, PerceptionView
    from milk_tui.core.records import Session
    from milk_tui.engine.perception_file import Taken
    from milk_tui.store import Store

LAYERS = click.Choice(["invariant", "frame", "working"])
session_option = click.option(
    "--session", "name", metavar="NAME", help="Another session than the most recent of this directory."
)


@click.group()
def perception() -> None:
    """What the agents believe about the task: invariants, frame, working set."""


@perception.command()
@click.argument("name", required=False)
@click.option("--turn", type=click.IntRange(min=0), metavar="N", help="As of the end of turn N.")
@click.option("--dense", is_flag=True, help="The working set on one line, as models can be given it.")
@json_option
@pass_options
def show(options: Options, name: str | None, turn: int | None, dense: bool, as_json: bool) -> None:
    """Print invariants, frame and working set.

    NAME is a session's title or the beginning of its id; without one it is the most recent of this directory.
    """
    from milk_tui.cli.stored import opened, session_called
    from milk_tui.core import perception as rules
    from milk_tui.core.records import Layer
    from milk_tui.engine import perception_reading

    with opened(options) as store:
        session = session_called(store, name)
        view = store.read_sync(lambda conn: perception_reading.view(conn, session.id, turn))
    if as_json:
        output.as_json(_document(session, view))
        return
    if dense:
        output.line(rules.dense(each.entry for each in view.layer(Layer.WORKING).entries if not each.expired))
        return
    _print(view)


def _document(session: Session, view: PerceptionView) -> dict[str, object]:
    def entry(each: EntryView) -> dict[str, object]:
        return {
            "entry": each.entry,
            "items": each.items,
            "expired": each.expired,
            "without_reason": each.unreasoned,
            "overruled": each.dispute.entry if each.dispute else None,
        }

    return {
        "session": session.id,
        "slice": view.slice,
        "turn": view.newest_turn if view.at_turn is None else view.at_turn,
        "layers": {
            layer.layer.value: {
                "characters": layer.chars,
                "tokens_estimated": layer.tokens_estimated,
                "budget": layer.budget,
                "entries": [entry(each) for each in layer.entries],
                "proposals": [entry(each) for each in layer.proposals],
            }
            for layer in view.layers
        },
        "slices": view.slices,
    }


def _print(view: PerceptionView) -> None:
    from milk_tui.core.perception_file import TITLES

    for number, layer in enumerate(view.layers):
        over = f", {layer.over:,} over the budget: tidy it" if layer.over else ""
        size = f"{layer.chars:,} of {layer.budget:,} characters{over}"
        output.line(f"{chr(10) if number else ''}── {TITLES[layer.layer].lower()} · {size}")
        _print_layer(layer)
    others = [each for each in view.slices if not each.open]
    if others:
        output.line("\n── archived slices")
        for each in others:
            name = each.name or "(without a name)"
            output.line(f"{name} · {each.entries} entries · {output.clock(each.updated_ms)}")


def _print_layer(layer: LayerView) -> None:
    from milk_tui.core import perception as rules

    if not layer.entries and not layer.proposals:
        output.line("(nothing yet)")
    for each in (*layer.entries, *layer.proposals):
        entry = each.entry
        output.line(rules.rendered(entry))
        told = [
            entry.writer,
            f"turn {entry.turn_id}" if entry.turn_id else "",
            "proposed: accept it in F4" if entry.proposed else "",
            "untouched for long: no agent is given it" if each.expired else "",
            f"without a reason: {'; '.join(each.unreasoned)}" if each.unreasoned else "",
            f"the file overruled: {output.short(each.dispute.entry.value, 80)}" if each.dispute else "",
        ]
        output.line(f"    {' · '.join(part for part in told if part)}")


@perception.command()
@click.argument("layer", required=False, type=LAYERS)
@click.argument("key", required=False)
@session_option
@json_option
@pass_options
def history(options: Options, layer: str | None, key: str | None, name: str | None, as_json: bool) -> None:
    """Print the turns that changed something, or every version of one entry: LAYER KEY."""
    from milk_tui.cli.stored import opened, session_called
    from milk_tui.core.perception import key_of
    from milk_tui.core.records import Layer
    from milk_tui.store import perception as stored

    if layer is not None and key is None:
        raise click.UsageError("Which entry? Name its KEY too.")
    with opened(options) as store:
        session = session_called(store, name)
        if layer is None or key is None:
            turns = store.read_sync(lambda conn: stored.versions(conn, session.id))
            if as_json:
                output.as_json({"session": session.id, "versions": turns})
                return
            rows = [
                (f"turn {v.turn_id}", output.clock(v.at_ms), f"{v.changes} changes", ", ".join(v.writers))
                for v in turns
            ]
            output.table(rows, head=("turn", "when", "what", "by"))
            return
        entries = store.read_sync(lambda conn: stored.history(conn, session.id, Layer(layer), key_of(key)))
    if as_json:
        output.as_json({"session": session.id, "entries": entries})
        return
    if not entries:
        output.line(f"There never was an entry {key} in the {layer} layer.")
    for entry in entries:
        when = output.clock(entry.updated_ms)
        where = f" · turn {entry.turn_id}" if entry.turn_id else ""
        doubt = f" [stale? {entry.stale}]" if entry.stale else ""
        output.line(f"{when} · {entry.writer}{where}\n    {entry.value or '(removed)'}{doubt}")


@perception.command()
@session_option
@json_option
@pass_options
def edit(options: Options, name: str | None, as_json: bool) -> None:
    """Edit all three layers in your editor ($VISUAL or $EDITOR), in the form of perception.md."""
    from milk_tui.cli.stored import now_ms, opened
    from milk_tui.engine import perception_file

    with opened(options) as store:
        session = _session(store, name)
        before = store.read_sync(lambda conn: perception_file.text_of(conn, session.id))
        after = click.edit(before, extension=".md")
        if after is None or after == before:
            output.line("Nothing was changed.")
            return
        taken = store.write_sync(lambda db: perception_file.take(db, session.id, after, now=now_ms(), base=before))
        store.write_sync(lambda db: perception_file.written(db, session.id, after, now=now_ms()))
    _say(taken, as_json)


@perception.command()
@click.argument("file", required=False, type=click.Path(path_type=Path))
@session_option
@click.option("--dense", is_flag=True, help="The working set on one line.")
@click.option("--git-ignore", is_flag=True, help="Have git leave the file alone (.git/info/exclude).")
@pass_options
def write(options: Options, file: Path | None, name: str | None, dense: bool, git_ignore: bool) -> None:
    """Write perception.md beside the code, or FILE. Comments and unknown sections of an older one stay."""
    from milk_tui.cli.stored import now_ms, opened, session_called
    from milk_tui.core.perception_file import NAME
    from milk_tui.engine import perception_file

    with opened(options) as store:
        session = session_called(store, name)
        path = (file or Path(session.directory) / NAME).absolute()
        own = path == Path(session.directory) / NAME
        there = perception_file.read_text(path)
        if own and there is not None:
            _say(store.write_sync(lambda db: perception_file.take(db, session.id, there, now=now_ms())), False)
        text = store.read_sync(lambda conn: perception_file.text_of(conn, session.id, base=there or "", dense=dense))
        perception_file.write_text(path, text)
        if own:
            store.write_sync(lambda db: perception_file.written(db, session.id, text, now=now_ms()))
    output.line(f"Written: {path}")
    if git_ignore:
        output.line(f"Git leaves it alone: {perception_file.git_ignore(path)}")
    elif perception_file.git_ignored(path) is False:
        output.line("Git sees it. With --git-ignore it is left out.", err=True)


@perception.command()
@click.argument("file", required=False, type=click.Path(path_type=Path))
@session_option
@json_option
@pass_options
def read(options: Options, file: Path | None, name: str | None, as_json: bool) -> None:
    """Take over what perception.md, or FILE, says, key by key. Where both sides changed, the file's value holds and
    ours is kept for a swap (F4)."""
    from milk_tui.cli.stored import now_ms, opened
    from milk_tui.core.errors import MilkError
    from milk_tui.core.perception_file import NAME
    from milk_tui.engine import perception_file

    with opened(options) as store:
        session = _session(store, name)
        path = (file or Path(session.directory) / NAME).absolute()
        text = perception_file.read_text(path)
        if text is None:
            raise MilkError(f"There is no {path}.", "Write it with: milk-tui perception write")
        base = None if path == Path(session.directory) / NAME else ""
        taken = store.write_sync(lambda db: perception_file.take(db, session.id, text, now=now_ms(), base=base))
    _say(taken, as_json)


def _session(store: Store, name: str | None) -> Session:
    """The session that is meant; in a directory without any, one is begun."""
    from milk_tui.cli.stored import newest_here, session_called

    found = newest_here(store) if name is None else None
    if found is not None or name is not None:
        return found or session_called(store, name)
    from milk_tui.engine import casting
    from milk_tui.store import sessions

    return store.write_sync(lambda db: sessions.create(db, directory=str(Path.cwd()), primary=casting.unknown()))


def _say(taken: Taken, as_json: bool) -> None:
    if as_json:
        output.as_json(taken)
        return
    for entry in taken.entries:
        output.line(f"{entry.layer.value} {entry.key}: {output.short(entry.value, 200) or '(removed)'}")
    output.line(taken.words or "Nothing was changed.")
