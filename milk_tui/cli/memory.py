"""``milk-tui memory``: the facts, listed, searched, taught, pinned and forgotten."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from milk_tui.cli import output
from milk_tui.cli.memory_files import approve, export_facts, import_facts
from milk_tui.cli.memory_recall import search, why
from milk_tui.cli.memory_upkeep import consolidate
from milk_tui.cli.options import Options, json_option, pass_options
from milk_tui.core.errors import MilkError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlite_utils import Database

    from milk_tui.core.records import Percept
    from milk_tui.store import Store
    from milk_tui.store.percepts import Change

SHOWN_CHARS = 100
_WHAT = {
    "live": "remembered",
    "confirmed": "known already, confirmed",
    "superseded": "no longer holds",
    "merged": "says what is known",
    "suspected": "may contradict another (both stay; F2 asks)",
}
MOST = 10_000

session_option = click.option(
    "--session", metavar="NAME", help="Another session than the most recent of this directory."
)


@click.group()
def memory() -> None:
    """The facts that the agents share."""


for command in (search, why, consolidate, export_facts, import_facts, approve):
    memory.add_command(command)


@memory.command("list")
@session_option
@click.option("--forgotten", is_flag=True, help="Those that can be restored.")
@click.option("--all", "everywhere", is_flag=True, help="Those of every session.")
@json_option
@pass_options
def list_facts(options: Options, session: str | None, forgotten: bool, everywhere: bool, as_json: bool) -> None:
    """List facts.

    Those of this directory's most recent session, and those that are global.
    """
    if everywhere and (forgotten or session):
        raise click.UsageError("--all goes with neither --forgotten nor --session.")
    from milk_tui import recall
    from milk_tui.cli.stored import opened
    from milk_tui.store import percept_lists

    with opened(options) as store:
        where = _session_id(store, session)
        if everywhere:
            facts = store.read_sync(lambda conn: recall.search(conn, "", session_id=None, limit=MOST))
        elif forgotten:
            facts = store.read_sync(lambda conn: percept_lists.forgotten(conn, where))
        else:
            groups = store.read_sync(lambda conn: percept_lists.groups(conn, where))
            facts = [*groups.pinned, *groups.session, *groups.shared]
    _print(facts, as_json)


@memory.command()
@click.argument("ID")
@json_option
@pass_options
def show(options: Options, id: str, as_json: bool) -> None:
    """Print one fact with its source and its history."""
    from milk_tui.cli.stored import opened
    from milk_tui.store import percept_events, percept_lists

    with opened(options) as store:
        fact = store.read_sync(lambda conn: percept_lists.get(conn, id))
        if fact is None:
            raise MilkError(f"There is no fact {id}.", "See `milk-tui memory list`.")
        events = store.read_sync(lambda conn: percept_events.of_percept(conn, fact.id))
    if as_json:
        output.as_json({"fact": fact, "events": events})
        return
    output.line(f"{fact.short_id}  {fact.content}\n")
    for key, value in _details(fact):
        output.line(f"  {key:<10} {value}")
    output.line("\n  history")
    output.table(
        [
            (
                output.clock(event.at_ms),
                event.kind + (" (undone)" if event.undone else ""),
                event.actor,
                _weights(event.weight_before, event.weight_after),
                event.note,
            )
            for event in events
        ],
        indent="  ",
    )


@memory.command()
@click.argument("text", nargs=-1, required=True)
@click.option("--pin", is_flag=True, help="Give it to the agents with every prompt.")
@click.option("--global", "everywhere", is_flag=True, help="For all sessions, not only this one.")
@click.option("--allow-secret", is_flag=True, help="Store it although it looks like a secret.")
@session_option
@pass_options
def learn(
    options: Options,
    text: tuple[str, ...],
    pin: bool,
    everywhere: bool,
    allow_secret: bool,
    session: str | None,
) -> None:
    """Remember a fact.

    It belongs to this directory's most recent session; without one, to all sessions. @NAME: before it restricts it to
    that agent. What it updates is replaced, and can be restored."""
    from milk_tui.cli.stored import now_ms
    from milk_tui.core.percepts import SecretRefusedError
    from milk_tui.core.records import PerceptScope
    from milk_tui.engine import admission
    from milk_tui.store import sessions

    def add(db: Database, where: str) -> list[Change]:
        return admission.learn(
            db,
            " ".join(text),
            session=sessions.get(db.conn, where) if where else None,
            scope=PerceptScope.GLOBAL if everywhere or not where else PerceptScope.SESSION,
            pinned=pin,
            allow_secret=allow_secret,
            now=now_ms(),
        )

    try:
        _change(options, add, session)
    except SecretRefusedError as problem:
        raise MilkError(problem.what, "Add --allow-secret to store it anyway.") from problem


@memory.command()
@click.argument("ID")
@pass_options
def pin(options: Options, id: str) -> None:
    """Give a fact to the agents with every prompt."""
    from milk_tui.store import percepts

    _change(options, lambda db, _: percepts.pin(db, id, True))


@memory.command()
@click.argument("ID")
@pass_options
def unpin(options: Options, id: str) -> None:
    """Give a fact only when it fits the prompt."""
    from milk_tui.store import percepts

    _change(options, lambda db, _: percepts.pin(db, id, False))


@memory.command()
@click.argument("ID")
@pass_options
def forget(options: Options, id: str) -> None:
    """Forget a fact; it can be restored."""
    from milk_tui.store import percepts

    _change(options, lambda db, _: percepts.forget(db, id))


@memory.command()
@click.argument("ID")
@pass_options
def restore(options: Options, id: str) -> None:
    """Bring a forgotten fact back."""
    from milk_tui.store import percepts

    _change(options, lambda db, _: percepts.restore(db, id))


def _change(
    options: Options, what: Callable[[Database, str], Change | list[Change]], session: str | None = None
) -> None:
    from milk_tui.cli.stored import opened

    with opened(options) as store:
        where = _session_id(store, session)
        made = store.write_sync(lambda db: what(db, where))
    for change in made if isinstance(made, list) else [made]:
        words = _WHAT.get(change.what, change.what)
        output.line(f"{change.percept.short_id} {words}: {output.short(change.percept.content, SHOWN_CHARS)}")


def _session_id(store: Store, name: str | None) -> str:
    """The id of the session that is meant; empty when this directory has none and none was named."""
    from milk_tui.cli.stored import newest_here, session_called

    if name is not None:
        return session_called(store, name).id
    session = newest_here(store)
    return session.id if session else ""


def _print(facts: Sequence[Percept], as_json: bool) -> None:
    if as_json:
        output.as_json(list(facts))
        return
    if not facts:
        output.line("No facts.", err=True)
        return
    output.table(
        [
            (
                fact.short_id,
                "★" if fact.pinned else " ",
                f"{fact.weight / 1000:.2f}",
                fact.scope.value if fact.status.value == "live" else fact.status.value,
                fact.agent_name or fact.producer.value,
                "" if fact.consumer.value == "all" else f"→ {fact.consumer.value}",
                output.short(fact.content, SHOWN_CHARS),
            )
            for fact in facts
        ],
        head=("id", " ", "weight", "scope", "from", "for", "fact"),
    )


def _details(fact: Percept) -> list[tuple[str, str]]:
    rows = [
        ("status", fact.status.value + (", pinned" if fact.pinned else "")),
        ("weight", f"{fact.weight / 1000:.2f}"),
        ("from", fact.producer.value + (f" ({fact.agent_name})" if fact.agent_name else "")),
        ("for", fact.consumer.value),
        ("scope", fact.scope.value),
        ("learned", output.clock(fact.created_ms)),
        ("confirmed", output.clock(fact.confirmed_ms)),
        ("used", _uses(fact)),
    ]
    if fact.session_id:
        turn = f", turn {fact.turn_id}" if fact.turn_id else ""
        rows.append(("session", f"{fact.session_id[:8]}{turn}"))
    if fact.note:
        rows.append(("note", fact.note))
    return rows


def _uses(fact: Percept) -> str:
    """How many answers used what it says; that it was given alone does not count."""
    if not fact.used_ms:
        return "by no answer yet"
    return f"by {fact.uses} answer{'s' if fact.uses != 1 else ''}, last {output.clock(fact.used_ms)}"


def _weights(before: int | None, after: int | None) -> str:
    if after is None:
        return ""
    if before is None or before == after:
        return f"{after / 1000:.2f}"
    return f"{before / 1000:.2f} → {after / 1000:.2f}"
