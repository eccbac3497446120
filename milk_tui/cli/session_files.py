"""``milk-tui sessions export|import``: a session to a file, sessions of other programs from theirs."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click

from milk_tui.cli import output
from milk_tui.cli.options import Options, json_option, pass_options
from milk_tui.core.errors import MilkError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from milk_tui.interop.foreign import ForeignSession, Source, Unreadable
    from milk_tui.interop.session_import import Plan
    from milk_tui.store import Store

SHOWN = 20
"""Sessions that are listed one by one; the others are counted."""


@click.command("export")
@click.argument("name", required=False)
@click.option(
    "--to", "file", metavar="FILE", help="Where to; - is standard output. By default a file here by its title."
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["md", "json", "html"]),
    help="By default what the file's name says, else md.",
)
@click.option("--force", is_flag=True, help="Replace a file that is there.")
@click.option("--with-secrets", is_flag=True, help="Leave in what looks like a key or a password; else it is masked.")
@pass_options
def export_session(
    options: Options, name: str | None, file: str | None, form: str | None, force: bool, with_secrets: bool
) -> None:
    """Write a session to a file: Markdown and HTML for people, JSON for programs.

    NAME is its title or the beginning of its id; without one it is the most recent of this directory.
    """
    from milk_tui.cli.stored import opened, session_called
    from milk_tui.engine import session_export, session_writer
    from milk_tui.engine.session_writer import Form

    wanted = Form(form) if form else session_writer.form_of(file or "") or Form.MARKDOWN
    with opened(options) as store:
        session = session_called(store, name)
        file = file or session_export.default_name(session, wanted)
        with _target(file, force=force) as out:
            session_writer.write(out, store, session, wanted, secrets=with_secrets)
    if file != "-":
        output.line(f"Written: {file}", err=True)


@contextlib.contextmanager
def _target(file: str, *, force: bool) -> Iterator[TextIO]:
    from milk_tui.cli.memory_files import target

    with target(file, force=force) as raw:
        out = TextIOWrapper(raw, encoding="utf-8", newline="\n")
        try:
            yield out
        finally:
            out.flush()
            out.detach()


@click.command("import")
@click.argument("path", required=False)
@click.option("--from", "source", metavar="PROGRAM", help="milk, claude-code, elia, oterm or chatgpt.")
@click.option("--dry-run", is_flag=True, help="Say what would happen; change nothing.")
@click.option("--yes", is_flag=True, help="Don't ask.")
@json_option
@pass_options
def import_sessions(
    options: Options, path: str | None, source: str | None, dry_run: bool, yes: bool, as_json: bool
) -> None:
    """Take over the sessions of another program.

    PATH is a file or folder of its; without one --from says whose, and its usual place is looked at. What would happen
    is shown first. The same sessions again bring only what was said in them since. Facts of milk (the Go program) come
    along and count as untrusted until you approve them.
    """
    from milk_tui.cli.stored import opened
    from milk_tui.interop import session_import

    whose, where = _meant(path, source)
    sessions, problems = _read(whose, where)
    with opened(options) as store:
        plans = store.read_sync(lambda conn: [session_import.plan(conn, session) for session in sessions])
        wanted = [plan for plan in plans if plan.new_turns]
        if as_json:
            _report(plans, problems, dry_run=dry_run)
        else:
            _show(plans, problems, whose)
        if dry_run or not wanted:
            return
        if not yes:
            if as_json or not sys.stdin.isatty():
                raise MilkError("Nothing was imported: nobody can be asked.", "Add --yes.")
            click.confirm(f"Import {_sessions(len(wanted))}?", abort=True, err=True)
        facts = _take(store, wanted, whose, where)
    output.line(f"{_sessions(len(wanted))} imported.", err=True)
    if facts:
        told = f"{facts:,} fact{'s' if facts != 1 else ''} with them: untrusted until you approve them"
        output.line(f"{told} (milk-tui memory approve --imported).", err=True)


def _meant(path: str | None, source: str | None) -> tuple[Source, Path]:
    from milk_tui.interop import session_import
    from milk_tui.interop.foreign import Source

    try:
        whose = Source(source) if source else None
    except ValueError:
        known = ", ".join(each.value for each in Source)
        raise click.UsageError(f"No program '{output.short(source or '', 40)}'. Known: {known}.") from None
    if path is not None:
        where = Path(path).expanduser()
        return whose or session_import.source_of(where), where
    if whose is None:
        raise click.UsageError("Name a file or folder, or say with --from which program's sessions are meant.")
    place = session_import.place(whose)
    if place is None:
        raise click.UsageError(f"{whose.value} keeps its sessions elsewhere: name the exported file.")
    if not place.exists():
        raise MilkError(f"{place}: nothing of {whose.value} is there.", "Name the file or folder.")
    return whose, place


def _read(whose: Source, where: Path) -> tuple[list[ForeignSession], list[Unreadable]]:
    """All sessions that are there, and what couldn't be read."""
    from milk_tui.interop import session_import
    from milk_tui.interop.foreign import Unreadable

    sessions: list[ForeignSession] = []
    problems: list[Unreadable] = []
    for each in session_import.found(whose, where):
        if isinstance(each, Unreadable):
            problems.append(each)
        else:
            sessions.append(each)
    return sessions, problems


def _take(store: Store, wanted: Sequence[Plan], whose: Source, where: Path) -> int:
    """Import session by session; how many facts came along."""
    from milk_tui.cli.stored import now_ms
    from milk_tui.core.records import Role
    from milk_tui.engine.casting import new_nonce
    from milk_tui.interop import foreign_milk, session_import
    from milk_tui.interop.foreign import Source
    from milk_tui.interop.memory_lines import FileRefusedError

    here, facts = str(Path.cwd()), 0
    memories: list[tuple[Path, str | None]] = []
    for plan in wanted:
        nonces = {role: new_nonce() for role in Role}
        taken = store.write_sync(
            lambda db, plan=plan, nonces=nonces: session_import.take(  # type: ignore[misc]
                db, plan, directory=here, nonces=nonces, now=now_ms()
            )
        )
        if plan.session.memory is not None:
            memories.append((plan.session.memory, taken))
    of_all = foreign_milk.global_memory(where) if whose is Source.MILK and where.is_dir() else None
    if of_all is not None:
        memories.append((of_all, None))
    for file, session_id in memories:
        try:
            report = store.write_sync(
                lambda db, file=file, session_id=session_id: session_import.take_memory(  # type: ignore[misc]
                    db, file, session_id=session_id, now=now_ms()
                )
            )
        except FileRefusedError as error:
            output.line(f"left out: {error}", err=True)
            continue
        facts += report.new
    return facts


def _show(plans: Sequence[Plan], problems: Sequence[Unreadable], whose: Source) -> None:
    wanted = [plan for plan in plans if plan.new_turns]
    rows = [
        (
            output.clock(plan.session.updated_ms)[:10] if plan.session.updated_ms else "",
            f"{plan.new_turns:,} turn{'s' if plan.new_turns != 1 else ''}" + (" more" if plan.session_id else ""),
            output.short(plan.session.directory or "this directory", 50),
            output.short(plan.session.title, 60),
        )
        for plan in wanted
    ]
    if rows:
        output.table(rows[:SHOWN], head=("used", "brings", "directory", "title"))
    if len(rows) > SHOWN:
        output.line(f"… and {len(rows) - SHOWN:,} more")
    if not plans and not problems:
        output.line(f"No session of {whose.value} is there.", err=True)
    reasons: dict[str, int] = {}
    for plan in plans:
        if not plan.new_turns:
            reasons[plan.why] = reasons.get(plan.why, 0) + 1
    for why, number in reasons.items():
        output.line(f"{_sessions(number)} left as {'they are' if number != 1 else 'it is'}: {why}", err=True)
    for problem in problems[:SHOWN]:
        output.line(f"can't be read: {problem.where}: {problem.why}", err=True)
    if len(problems) > SHOWN:
        output.line(f"… and {len(problems) - SHOWN:,} more that can't be read", err=True)


def _report(plans: Sequence[Plan], problems: Sequence[Unreadable], *, dry_run: bool) -> None:
    output.as_json(
        {
            "dry_run": dry_run,
            "sessions": [
                {
                    "source": plan.session.source,
                    "key": plan.session.key,
                    "title": plan.session.title,
                    "directory": plan.session.directory,
                    "updated_ms": plan.session.updated_ms,
                    "turns": len(plan.session.turns),
                    "new_turns": plan.new_turns,
                    "session_id": plan.session_id,
                    "why": plan.why,
                }
                for plan in plans
            ],
            "unreadable": problems,
        }
    )


def _sessions(number: int) -> str:
    return f"{number:,} session{'s' if number != 1 else ''}"
