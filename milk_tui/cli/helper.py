"""``milk-tui helper``: the recall helper's profiles, signals, runs and notes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from milk_tui.cli import output
from milk_tui.cli.options import Options, json_option, pass_options

if TYPE_CHECKING:
    from milk_tui.core.helper_profile import Profile
    from milk_tui.core.helper_signals import Signal
    from milk_tui.embedded.manager import EmbeddedManager
    from milk_tui.engine.helper.profiles import Loaded
    from milk_tui.engine.helper.runner import Ended
    from milk_tui.store import Store
    from milk_tui.store.notes import Note


@click.group()
def helper() -> None:
    """The memory helper, which reminds agents of recorded decisions."""


@helper.command("list")
@json_option
@pass_options
def list_profiles(options: Options, as_json: bool) -> None:
    """List the profiles: built in, yours, and the project's.

    Yours are Markdown files in the folder helpers beside the config file, the project's in .milk/helpers. One with the
    id of another takes its place.
    """
    from milk_tui.cli.stored import opened

    with opened(options) as store:
        loaded = _loaded(store)
    running = options.loaded.config.helper
    if as_json:
        rows = [
            {"id": p.id, "version": p.version, "event": p.event, "source": loaded.sources[p.id], "hash": p.hash}
            for p in loaded.profiles.values()
        ]
        output.as_json({"profiles": rows, "problems": loaded.problems, "running": running.profiles})
        return
    output.table(
        [
            (
                "on" if p.id in running.profiles and running.enabled is not False else "",
                p.id,
                p.version,
                p.event,
                loaded.sources[p.id],
                p.name,
            )
            for p in loaded.profiles.values()
        ],
        head=("", "id", "version", "runs at", "from", "name"),
    )
    for problem in loaded.problems:
        output.error(problem)
    model = f" · {running.model}" if running.model else ""
    output.line(f"Driven by {running.runtime}{model}; enabled: {running.enabled}.")


@helper.command()
@json_option
def signals(as_json: bool) -> None:
    """List what a profile can be started by, who sends it, and whether this version does."""
    from milk_tui.core.helper_signals import CATALOGUE

    if as_json:
        output.as_json(CATALOGUE)
        return
    output.table(
        [(kind.name, "yes" if kind.served else "not yet", kind.source) for kind in CATALOGUE],
        head=("signal", "served", "sent when"),
    )


@helper.command()
@click.argument("profile")
@pass_options
def show(options: Options, profile: str) -> None:
    """Print the text of the profile that runs."""
    from milk_tui.cli.stored import opened

    with opened(options) as store:
        loaded = _loaded(store)
    output.line(_named(loaded, profile).text)


@helper.command()
@click.argument("profile")
@json_option
@pass_options
def versions(options: Options, profile: str, as_json: bool) -> None:
    """List the last 50 selections of a profile, newest first."""
    from milk_tui.cli.stored import now_ms, opened
    from milk_tui.store import helper_profiles

    with opened(options) as store:
        _named(_loaded(store), profile)
        found = store.read_sync(lambda conn: helper_profiles.selections(conn, profile))
    if as_json:
        output.as_json(found)
        return
    now = now_ms()
    output.table(
        [(s.hash[:12], s.version, output.when(s.at_ms, now), s.source) for s in found],
        head=("hash", "version", "selected", "from"),
    )


@helper.command()
@click.argument("profile")
@click.argument("version")
@pass_options
def select(options: Options, profile: str, version: str) -> None:
    """Let an earlier version of a profile run again.

    VERSION begins its hash, or is its version; it holds until the profile's file says something new.
    """
    from milk_tui.cli.stored import opened
    from milk_tui.engine.helper import profiles

    with opened(options) as store:
        _named(_loaded(store), profile)
        chosen = profiles.choose(store, profile, version)
    output.line(f"{profile} {chosen.version} ({chosen.hash[:12]}) runs from now on.")


@helper.command()
@click.option("--session", metavar="NAME", help="Only one session's.")
@click.option("--limit", type=click.IntRange(1, 1_000), default=20, show_default=True)
@json_option
@pass_options
def log(options: Options, session: str | None, limit: int, as_json: bool) -> None:
    """List the helper's runs, newest first: input, tokens, time, outcome, and why one failed."""
    from milk_tui.cli.stored import now_ms, opened, session_called
    from milk_tui.store import helper_runs

    with opened(options) as store:
        which = session_called(store, session).id if session else None
        runs = store.read_sync(lambda conn: helper_runs.log(conn, session_id=which, limit=limit))
    if as_json:
        output.as_json(runs)
        return
    if not runs:
        output.line("The helper has not run yet.", err=True)
        return
    now = now_ms()
    output.table(
        [
            (
                str(run.id),
                output.when(run.started_ms, now),
                run.profile_id,
                f"{run.runtime} {run.model}".strip(),
                f"{run.input_bytes:,} B",
                "?" if run.output_tokens is None else f"{run.output_tokens:,}",
                "…" if run.ended_ms is None else f"{(run.ended_ms - run.started_ms) / 1000:.1f} s",
                run.status,
                output.short(run.reason, 80),
            )
            for run in runs
        ],
        head=("run", "began", "profile", "driven by", "input", "tokens", "took", "outcome", "reason"),
    )


@helper.command()
@click.option("--session", metavar="NAME", help="Another session than the most recent of this directory.")
@click.option("--limit", type=click.IntRange(1, 1_000), default=20, show_default=True)
@json_option
@pass_options
def notes(options: Options, session: str | None, limit: int, as_json: bool) -> None:
    """List a session's notes, newest first: what waits, what was delivered to whom, what expired."""
    import dataclasses

    from milk_tui.cli.stored import now_ms, opened, session_called
    from milk_tui.store import notes as stored

    with opened(options) as store:
        which = session_called(store, session).id
        found = store.read_sync(lambda conn: stored.of_session(conn, which, limit=limit))
    if as_json:
        output.as_json([dataclasses.asdict(note) for note in found])
        return
    if not found:
        output.line("No notes.", err=True)
        return
    now = now_ms()
    for note in found:
        output.line(f"{note.id}  {output.when(note.created_ms, now)}  {_how(note)}\n    {note.text}")


@helper.command()
@click.argument("prompt", nargs=-1)
@click.option("--session", metavar="NAME", help="For this session; default: the most recent of this directory.")
@click.option("--for", "key", metavar="ID", help="For a session outside of the screen, by its runtime's id.")
@click.option("--directory", type=click.Path(path_type=Path, file_okay=False), help="With --for: where it works.")
@click.option("--profile", metavar="ID", help="This profile; default: the first of the configuration.")
@click.option("--signal", "name", metavar="NAME", default="session.turn-started", show_default=True)
@click.option("--again", is_flag=True, help="Also run what came meanwhile, until nothing waits.")
@json_option
@pass_options
def run(
    options: Options,
    prompt: tuple[str, ...],
    session: str | None,
    key: str | None,
    directory: Path | None,
    profile: str | None,
    name: str,
    again: bool,
    as_json: bool,
) -> None:
    """Run the helper once for a PROMPT (- reads it from standard input), and print what it says.

    What it has to say waits as a note of the session, to be handed over at its next boundary.
    """
    import asyncio

    from milk_tui.cli.stored import now_ms, opened, session_called
    from milk_tui.core.helper_signals import SIGNALS, Signal
    from milk_tui.store import notes as stored

    if name not in SIGNALS:
        raise click.UsageError(f"There is no signal {name}; `milk-tui helper signals` lists them.")
    text = sys.stdin.read(65_536) if prompt == ("-",) else " ".join(prompt)
    with opened(options) as store:
        here = Path.cwd()
        if key is None:
            found = session_called(store, session)
            key, here = found.id, Path(found.directory)
        signal = Signal(
            name=name, session_id=key, directory=str(directory or here), at_ms=now_ms(), prompt=text.strip()
        )
        ended = asyncio.run(_run(options, store, signal, profile, again))
        note_id = ended.note_id
        note = store.read_sync(lambda conn: stored.get(conn, note_id)) if note_id is not None else None
    if as_json:
        output.as_json({"status": ended.status, "reason": ended.reason, "note": note.text if note else None})
    elif note is not None:
        output.line(note.text)
    else:
        output.line(f"{ended.status}{f': {ended.reason}' if ended.reason else ''}", err=True)
    if ended.status in ("failed", "refused"):
        raise click.exceptions.Exit(1)


async def _run(options: Options, store: Store, signal: Signal, profile: str | None, again: bool) -> Ended:
    """One run, or as many as there are signals."""
    from milk_tui import paths
    from milk_tui.engine.decisions import folder_of, index_folder
    from milk_tui.engine.helper import making
    from milk_tui.engine.helper.runner import Runner
    from milk_tui.engine.workspace import host_command
    from milk_tui.modelhost.client import ModelHost
    from milk_tui.store import helper_runs

    config = options.loaded.config
    folder = folder_of(signal.directory, config.helper.records)
    index_folder(store, folder)
    loaded = _loaded(store, Path(signal.directory))
    chosen = _named(loaded, profile or next(iter(config.helper.profiles), "recall"))
    host: ModelHost | None = None
    if config.helper.runtime in ("litellm", "embedded"):
        host = ModelHost(paths.private_folder(paths.log_dir()) / "modelhost.log", command=host_command())
        await host.start()
    manager = _Manager(options)
    try:
        runtime = await making.make(config, lambda: host, manager.get)
        runner = Runner(store, runtime, lambda _: str(folder), carriers=config.helper.carrier_kinds)
        ended = await runner.run(signal, chosen)
        while again and ended.status not in ("waiting", "refused"):
            waiting = await store.write(lambda db: helper_runs.take_waiting(db, signal.session_id))
            if waiting is None:
                break
            ended = await runner.run(waiting, chosen)
        return ended
    finally:
        await manager.aclose()
        if host is not None:
            await host.aclose()


class _Manager:
    """The embedded model's manager, made when it is first needed."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._made: EmbeddedManager | None = None

    def get(self) -> EmbeddedManager:
        from milk_tui.embedded.manager import EmbeddedManager
        from milk_tui.engine.embedding import embedded_settings

        if self._made is None:
            self._made = EmbeddedManager(embedded_settings(self._options.loaded.config))
        return self._made

    async def aclose(self) -> None:
        if self._made is not None:
            await self._made.aclose()


def _loaded(store: Store, directory: Path | None = None) -> Loaded:
    from milk_tui.engine.helper import profiles

    return profiles.load(store, directory or Path.cwd())


def _named(loaded: Loaded, profile: str) -> Profile:
    from milk_tui.core.errors import MilkError

    found = loaded.profiles.get(profile)
    if found is None:
        raise MilkError(f"There is no profile {profile!r}.", f"Known: {', '.join(loaded.profiles)}.")
    return found


def _how(note: Note) -> str:
    match note.status:
        case "delivered":
            return f"delivered to {note.receiver} ({note.carrier})"
        case "pending":
            return "waits"
        case status:
            return f"{status}: {note.reason}" if note.reason else status
