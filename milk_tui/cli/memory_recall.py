"""``milk-tui memory search`` and ``why``: what is found, with every score, and why an agent would be given it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from milk_tui.cli import output
from milk_tui.cli.options import Options, json_option, pass_options
from milk_tui.core.errors import MilkError
from milk_tui.core.records import Role

if TYPE_CHECKING:
    from milk_tui.core.records import ScorePart, Session
    from milk_tui.recall import Explanation, Semantic
    from milk_tui.store import Store

SHOWN_CHARS = 100
LOAD_WITHIN_S = 15.0
EMBED_WITHIN_S = 5.0
EMBEDDED_MOST = 200
"""New facts whose vectors a command waits for; it tells of more."""

words_only_option = click.option("--words-only", is_flag=True, help="Find by words alone, not by meaning.")
session_option = click.option(
    "--session", metavar="NAME", help="Another session than the most recent of this directory."
)


@click.command()
@click.argument("words", nargs=-1, required=True)
@session_option
@click.option("--limit", type=click.IntRange(1, 1_000), default=20, show_default=True)
@words_only_option
@json_option
@pass_options
def search(
    options: Options, words: tuple[str, ...], session: str | None, limit: int, words_only: bool, as_json: bool
) -> None:
    """Find facts by words and meaning, best first, with their scores."""
    from milk_tui import recall
    from milk_tui.cli.stored import newest_here, opened, session_called

    text = " ".join(words)
    with opened(options) as store, _semantic(options, store, words_only) as semantic:
        meant = session_called(store, session) if session else newest_here(store)
        where = meant.id if meant else ""
        hits = store.read_sync(lambda conn: recall.find(conn, text, session_id=where, limit=limit, semantic=semantic))
        _mend(store)
    if as_json:
        output.as_json(hits)
        return
    if not hits:
        output.line("No facts.", err=True)
        return
    rows = [
        (
            f"{hit.score:.2f}",
            hit.percept.short_id,
            "★" if hit.percept.pinned else " ",
            hit.percept.scope.value if hit.percept.status.value == "live" else hit.percept.status.value,
            output.short(hit.percept.content, SHOWN_CHARS),
        )
        for hit in hits
    ]
    output.table(rows, head=("score", "id", " ", "scope", "fact"))


@click.command()
@click.argument("prompt", nargs=-1, required=True)
@click.option("--for", "agent", metavar="AGENT", help="Only this agent: its name, or primary or escalation.")
@session_option
@words_only_option
@json_option
@pass_options
def why(
    options: Options,
    prompt: tuple[str, ...],
    agent: str | None,
    session: str | None,
    words_only: bool,
    as_json: bool,
) -> None:
    """Say which facts an agent would be given for a prompt, and why.

    Every fact that came into question is listed with the parts of its score, and with the reason when it is left out.
    """
    from milk_tui import recall
    from milk_tui.cli.stored import newest_here, opened, session_called

    text, memory = " ".join(prompt), options.loaded.config.memory
    with opened(options) as store, _semantic(options, store, words_only) as semantic:
        meant = session_called(store, session) if session or agent else newest_here(store)

        def explain(role: Role | None) -> Explanation:
            return store.read_sync(
                lambda conn: recall.why(
                    conn,
                    text,
                    role=role,
                    session_id=meant.id if meant else "",
                    max_items=memory.max_items,
                    max_bytes=memory.max_bytes,
                    semantic=semantic,
                )
            )

        roles = _roles(meant, agent) if meant else [None]
        explained = [(_named(meant, role), explain(role)) for role in roles]
        _mend(store)
    if as_json:
        output.as_json([explanation for _, explanation in explained])
        return
    for number, (name, explanation) in enumerate(explained):
        if number:
            output.line()
        _say(name, explanation)


def _named(session: Session | None, role: Role | None) -> str:
    agent = session.agent(role) if session and role else None
    if role is None:
        return "an agent of a new session"
    return f"{agent.name} ({role.value})" if agent and agent.name else role.value


def _roles(session: Session, agent: str | None) -> list[Role | None]:
    there = [role for role in Role if session.agent(role) is not None]
    if agent is None:
        return [*there]
    for role in there:
        named = session.agent(role)
        if agent.casefold() in (role.value, named.name.casefold() if named else ""):
            return [role]
    names = ", ".join(named.name or role.value for role in there if (named := session.agent(role)))
    raise MilkError(f"No agent of this session is called '{agent}'.", f"There are: {names}.")


def _say(name: str, explanation: Explanation) -> None:
    given = len(explanation.given)
    output.line(f"{name} would be given {given} fact{'s' if given != 1 else ''} · {explanation.engine}")
    for title, found in (
        ("looked for", explanation.words),
        ("too common", explanation.common),
        ("in no fact", explanation.unknown),
    ):
        if found:
            output.line(f"  {title}: {output.short(', '.join(found), 400)}")
    if explanation.past:
        output.line("  the prompt asks about the past: what was replaced counts too")
    if explanation.note:
        output.line(f"  {output.short(explanation.note, 400)}")
    for item in explanation.items:
        reason = item.reason.value + (f": {item.detail}" if item.detail else "")
        output.line(
            f"  {'✓' if item.given else '·'} {item.score:5.2f}  {item.percept.short_id}"
            f"  {output.short(item.percept.content, SHOWN_CHARS)}"
        )
        aside = f" · {output.short(item.percept.aside, 200)}" if item.percept.aside else ""
        output.line(f"           {output.short(reason, 160)} · {_shown(item.parts)}{aside}")


def _shown(parts: tuple[ScorePart, ...]) -> str:
    return ", ".join(f"{p.name} {p.value:.2f}" + (f" ({p.detail})" if p.detail else "") for p in parts)


@contextmanager
def _semantic(options: Options, store: Store, words_only: bool) -> Iterator[Semantic | None]:
    """The semantic side for the time of one command, loaded; ``None`` when it isn't wanted or isn't there."""
    from milk_tui.recall import Phase, Semantic

    memory = options.loaded.config.memory
    if words_only or not memory.semantic:
        yield None
        return
    semantic = Semantic(store.path, model_path=memory.model_path)
    semantic.start()
    try:
        state = semantic.wait(LOAD_WITHIN_S)
        if 0 < state.waiting <= EMBEDDED_MOST:
            semantic.embedded(EMBED_WITHIN_S)
        elif state.waiting:
            output.line(f"{state.waiting:,} facts are found by words alone so far: they have no vectors yet.", err=True)
        if state.phase is Phase.FAILED:
            output.line(f"Found by words alone: {state.what} {state.hint}".strip(), err=True)
        yield semantic
    finally:
        semantic.close()


def _mend(store: Store) -> None:
    """A damaged index that the command met is made anew, and that is said."""
    from milk_tui import recall

    if recall.damaged(store.path) and not store.read_only:
        store.write_sync(lambda db: recall.repair(db, store.path))
        output.line("The text index was damaged and has been made anew.", err=True)
