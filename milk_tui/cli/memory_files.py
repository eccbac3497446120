"""``milk-tui memory export|import|approve``: memory to a file and back."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click

from milk_tui.cli import output
from milk_tui.cli.options import Options, json_option, pass_options
from milk_tui.core.errors import MilkError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from sqlite_utils import Database

    from milk_tui.interop.memory_files import Parsed
    from milk_tui.interop.memory_import import Report
    from milk_tui.store import Store

SHOWN_CHARS = 100

session_option = click.option(
    "--session", metavar="NAME", help="Another session than the most recent of this directory."
)


@click.command("export")
@click.argument("FILE")
@click.option(
    "--format",
    "form",
    type=click.Choice(["jsonl", "markdown"]),
    help="jsonl has the whole history, markdown is for people. By default what the file's name says.",
)
@click.option("--all", "everything", is_flag=True, help="Of every session, with what was replaced and forgotten.")
@session_option
@click.option("--force", is_flag=True, help="Replace a file that is there.")
@pass_options
def export_facts(
    options: Options, file: str, form: str | None, everything: bool, session: str | None, force: bool
) -> None:
    """Write facts to a file; - is standard output.

    Those that hold, of this directory's most recent session and of all sessions. With --all it is a backup, for
    `import --restore`.
    """
    if everything and session:
        raise click.UsageError("--all goes without --session.")
    from milk_tui.cli.stored import newest_here, now_ms, opened, session_called
    from milk_tui.interop import memory_export

    if form is None:
        form = "markdown" if file.casefold().endswith((".md", ".markdown")) else "jsonl"
    with opened(options) as store, target(file, force=force) as out:
        meant = None if everything else session_called(store, session) if session else newest_here(store)
        where = None if everything else meant.id if meant else ""
        if form == "jsonl":
            write = lambda conn: memory_export.jsonl(conn, out, session_id=where, everything=everything)  # noqa: E731
        else:
            write = lambda conn: memory_export.markdown(  # noqa: E731
                conn, out, session_id=where, everything=everything, now=now_ms()
            )
        written = store.read_sync(write)
    output.line(f"{_facts(written.facts)} written{'' if file == '-' else f' to {file}'}.", err=True)
    for number, words in (
        (written.held, "held back and not shown"),
        (written.left_out, "without the words of their moment, which look like they hold a secret"),
        (written.secrets, "in it that may hold a secret: keep it to yourself"),
    ):
        if number:
            output.line(f"{_facts(number)} {words}.", err=True)


@click.command("import")
@click.argument("FILE")
@click.option(
    "--format",
    "form",
    type=click.Choice(["jsonl", "markdown", "claude", "agents"]),
    help="An export; lists; CLAUDE.md and Claude Code's memory; AGENTS.md. By default what the file seems to be.",
)
@click.option("--global", "everywhere", is_flag=True, help="For all sessions, not only this one.")
@click.option("--restore", "backup", is_flag=True, help="It is your own backup: put everything back as it was.")
@click.option("--dry-run", is_flag=True, help="Say what would happen; change nothing.")
@session_option
@json_option
@pass_options
def import_facts(
    options: Options,
    file: str,
    form: str | None,
    everywhere: bool,
    backup: bool,
    dry_run: bool,
    session: str | None,
    as_json: bool,
) -> None:
    """Read facts from a file; - is standard input.

    They belong to this directory's most recent session, weigh little and are marked as untrusted until you approve
    them. What is known already is confirmed. What looks like a secret is refused; what tells agents what to do is given
    to nobody before you approve it. The same file again changes nothing.
    """
    if backup and (everywhere or session or form not in (None, "jsonl")):
        raise click.UsageError(
            "--restore takes an export and puts everything where it was: no other choice goes with it."
        )
    if everywhere and session:
        raise click.UsageError("--global goes without --session.")
    from milk_tui.cli.stored import opened
    from milk_tui.interop import memory_compare

    with opened(options) as store:
        parsed = _parsed(store, file, "jsonl" if backup else form)
        if backup:
            take = _restoring(parsed)
        else:
            take = _taking(store, parsed, everywhere=everywhere, session=session)
        report = _done(store, take, dry_run=dry_run)
        compared = memory_compare.Compared()
        if not (backup or dry_run):
            compared = memory_compare.with_known(store, report.ids)
    if as_json:
        counts = {"doubted": compared.doubted, "same": compared.same, "not_compared": compared.left}
        output.as_json({"dry_run": dry_run, "format": parsed.format, **_plain(report), **counts})
        return
    _say(report, parsed, dry_run=dry_run, backup=backup)
    for number, words in (
        (compared.same, "of them say in other words what is known: they count as its confirmation"),
        (compared.doubted, "of them may contradict what is known: both stay, and the browser (F2) asks you"),
        (compared.left, "not compared with what is known yet: each is when you approve it"),
    ):
        if number:
            output.line(f"{number:,} {words}")


@click.command("approve")
@click.argument("IDS", nargs=-1, metavar="[ID]...")
@click.option("--imported", is_flag=True, help="Every imported fact that needs no look of its own.")
@pass_options
def approve(options: Options, ids: tuple[str, ...], imported: bool) -> None:
    """Vouch for facts that were imported, doubted or held back.

    From then on they are given and weigh like any other.
    """
    if bool(ids) is imported:
        raise click.UsageError("Name the facts by their ids, or say --imported.")
    from milk_tui.cli.stored import opened
    from milk_tui.interop import memory_compare
    from milk_tui.store import percept_imports

    with opened(options) as store:
        meant = [fact.id for fact in store.read_sync(percept_imports.pending)] if imported else ids
        done = memory_compare.approve(store, meant)
        held = len(store.read_sync(percept_imports.held))
    words = {
        "accepted": "approved",
        "forgotten": "known already",
        "merged": "says what is known",
        "suspected": "may contradict what is known",
    }
    for what, fact in done:
        output.line(f"{fact.short_id} {words.get(what, what)}: {output.short(fact.content, SHOWN_CHARS)}")
    if not done:
        output.line("No imported fact waits for approval.", err=True)
    if imported and held:
        output.line(f"{_facts(held)} held back: look at each, then approve it by its id or forget it.", err=True)


@contextlib.contextmanager
def target(file: str, *, force: bool) -> Iterator[BinaryIO]:
    """Where an export goes: a file of its owner's alone, which is there when it is whole."""
    if file == "-":
        sys.stdout.flush()
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    path = Path(file)
    if path.exists() and not (force and path.is_file()):
        hint = "Add --force to replace it." if path.is_file() else "Name a file."
        raise MilkError(f"{path} is there already.", hint)
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    descriptor = os.open(partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as out:
            yield out
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def _parsed(store: Store, file: str, form: str | None) -> Parsed:
    from milk_tui.interop import memory_files
    from milk_tui.store import percept_archive

    wanted = memory_files.Format(form) if form else None
    columns = store.read_sync(percept_archive.undo_columns)
    if file == "-":
        return memory_files.parse(sys.stdin.buffer, "standard input", wanted, columns=columns)  # type: ignore[arg-type]
    path = Path(file)
    with memory_files.opened(path) as opened:
        return memory_files.parse(opened, path.name, wanted, columns=columns)


def _restoring(parsed: Parsed) -> Callable[[Database], Report]:
    from milk_tui.cli.stored import now_ms
    from milk_tui.interop import memory_restore

    exported = parsed.exported
    assert exported is not None
    return lambda db: memory_restore.restore(db, exported, parsed.name, now=now_ms())


def _taking(store: Store, parsed: Parsed, *, everywhere: bool, session: str | None) -> Callable[[Database], Report]:
    from milk_tui.cli.stored import newest_here, now_ms, session_called
    from milk_tui.core.records import PerceptScope
    from milk_tui.interop import memory_import

    meant = session_called(store, session) if session else newest_here(store)
    if meant is None and not everywhere:
        raise MilkError("There is no session in this directory.", "Add --global to import for all sessions.")
    scope = PerceptScope.GLOBAL if everywhere else PerceptScope.SESSION
    where = meant.id if meant and not everywhere else None
    prepared = memory_import.prepare(parsed)
    return lambda db: memory_import.take(db, prepared, session_id=where, scope=scope, now=now_ms())


class _NotKept(Exception):
    """Undoes the transaction of a dry run."""

    def __init__(self, report: Report) -> None:
        super().__init__()
        self.report = report


def _done(store: Store, take: Callable[[Database], Report], *, dry_run: bool) -> Report:
    def work(db: Database) -> Report:
        report = take(db)
        if dry_run:
            raise _NotKept(report)
        return report

    try:
        return store.write_sync(work)
    except _NotKept as done:
        return done.report


def _say(report: Report, parsed: Parsed, *, dry_run: bool, backup: bool) -> None:
    would = "would be " if dry_run else ""
    kind = f" ({parsed.format})" if dry_run else ""
    output.line(f"{_facts(report.new)} {would}{'restored' if backup else 'imported'} from {parsed.name}{kind}.")
    for number, words in (
        (report.orders, "of them tell agents what to do: given to nobody before you approve them"),
        (report.sessions, f"session{'s' if report.sessions != 1 else ''} {would}restored with them"),
        (report.known, f"known already, {would}confirmed"),
        (report.unchanged, "here already, unchanged"),
        (report.kept, "changed here since, kept as they are"),
        (report.refused, "refused:"),
    ):
        if number:
            output.line(f"{number:,} {words}")
    for refusal in report.refusals:
        output.line(f"    line {refusal.line:,}: {refusal.why}")
    if report.refused > len(report.refusals):
        output.line(f"    and {report.refused - len(report.refusals):,} more")
    if report.left_out:
        output.line(f"left out: {', '.join(_counted(report.left_out))}")
    for fact in report.held:
        shown = output.short(fact.content, SHOWN_CHARS)
        output.line(f"{'' if dry_run else f'{fact.short_id} '}{fact.note}: {shown}")
    if report.new and not backup and not dry_run:
        output.line("They count as untrusted until you approve them: milk-tui memory approve --imported", err=True)


def _counted(kinds: Mapping[str, int]) -> list[str]:
    plural = {
        "link to another file": "links to other files",
        "paragraph outside of a list": "paragraphs outside of lists",
    }
    return [f"{number:,} {kind if number == 1 else plural.get(kind, f'{kind}s')}" for kind, number in kinds.items()]


def _plain(report: Report) -> dict[str, object]:
    return {name: getattr(report, name) for name in report.__struct_fields__ if name != "ids"}


def _facts(number: int) -> str:
    return f"{number:,} fact{'s' if number != 1 else ''}"
