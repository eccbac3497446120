"""``milk-tui permissions``: what the agents may do without being asked again."""

from __future__ import annotations

from pathlib import Path

import click

from milk_tui.cli import output, stored
from milk_tui.cli.options import Options, json_option, pass_options
from milk_tui.core.errors import MilkError
from milk_tui.core.grants import Grant
from milk_tui.core.visible import visible


@click.group()
def permissions() -> None:
    """What you allowed the agents beyond one request; nothing else is allowed."""


@permissions.command("list")
@click.option("--all", "everywhere", is_flag=True, help="Of every directory, not of this one alone.")
@json_option
@pass_options
def list_(options: Options, everywhere: bool, as_json: bool) -> None:
    """Who may do what, where, and until when."""
    from milk_tui.store import grants

    directory = None if everywhere else str(Path.cwd())
    with stored.opened(options) as store:
        found = store.read_sync(lambda conn: grants.all_of(conn, directory=directory))
    if as_json:
        output.as_json([{**_fields(grant), "until": _until(grant)} for grant in found])
        return
    if not found:
        where = "anywhere" if everywhere else "in this directory (--all shows those of others)"
        output.line(f"Nothing was allowed beyond one request {where}.")
        return
    now = stored.now_ms()
    head = ("ID", "AGENT", "TOOL", "UNTIL", "USED", *(("WHERE",) if everywhere else ()), "WHAT")
    output.table([_row(grant, now, everywhere) for grant in found], head=head)


def _row(grant: Grant, now: int, everywhere: bool) -> tuple[str, ...]:
    used = f"{grant.uses} ×, {output.when(grant.used_ms, now)}" if grant.used_ms else "never"
    what = f"{visible(grant.pattern)} (pattern)" if grant.pattern else visible(grant.arguments)
    where = (grant.directory,) if everywhere else ()
    return (str(grant.id), grant.agent_name, grant.tool, _until(grant), used, *where, what)


def _until(grant: Grant) -> str:
    return "revoked" if grant.session_id is None else f"the end of session {grant.session_id[:8]}"


def _fields(grant: Grant) -> dict[str, object]:
    import msgspec

    fields: dict[str, object] = msgspec.structs.asdict(grant)
    return {**fields, "scope": grant.scope.value}


@permissions.command()
@click.argument("ids", nargs=-1, type=int, metavar="[ID]…")
@click.option("--all", "everything", is_flag=True, help="Every grant of this directory.")
@click.option("--everywhere", is_flag=True, help="Every grant of every directory.")
@json_option
@pass_options
def revoke(options: Options, ids: tuple[int, ...], everything: bool, everywhere: bool, as_json: bool) -> None:
    """Take grants back by their ids: the agents ask again."""
    from milk_tui.store import grants

    if sum((bool(ids), everything, everywhere)) != 1:
        raise click.UsageError("Name the ids, or --all for this directory, or --everywhere.")
    with stored.opened(options) as store:
        if not ids:
            directory = None if everywhere else str(Path.cwd())
            number = store.write_sync(lambda db: grants.revoke_all(db, directory=directory))
            missing: list[int] = []
        else:
            gone = store.write_sync(lambda db: {each: grants.revoke(db, each) for each in ids})
            number = sum(gone.values())
            missing = [each for each, done in gone.items() if not done]
    if as_json:
        output.as_json({"revoked": number, "missing": missing})
    else:
        output.line(f"{number} revoked.")
    if missing:
        raise MilkError(
            f"There is no permission {', '.join(map(str, missing))}.", "See `milk-tui permissions list --all`."
        )
