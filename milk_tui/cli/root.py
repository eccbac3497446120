"""``milk-tui`` itself: the screen, one prompt with ``-p``, and the way to every command."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from pathlib import Path
from typing import NoReturn

import click

from milk_tui import __version__, safe_log
from milk_tui.cli import quick
from milk_tui.cli.options import Options

COMMANDS = {
    "bricks": "milk_tui.cli.bricks:bricks",
    "config": "milk_tui.cli.config:config",
    "decide": "milk_tui.cli.decide:decide",
    "doctor": "milk_tui.cli.doctor:doctor",
    "helper": "milk_tui.cli.helper:helper",
    "hook": "milk_tui.cli.hook:hook",
    "mcp": "milk_tui.cli.mcp:mcp",
    "memory": "milk_tui.cli.memory:memory",
    "models": "milk_tui.cli.models:models",
    "perception": "milk_tui.cli.perception:perception",
    "permissions": "milk_tui.cli.permissions:permissions",
    "route": "milk_tui.cli.route:route",
    "serve": "milk_tui.cli.serve:serve",
    "sessions": "milk_tui.cli.sessions:sessions",
    "setup": "milk_tui.cli.setup:setup",
}


class Commands(click.Group):
    """Commands that are imported when they are asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        where = COMMANDS.get(cmd_name)
        if where is None:
            return None
        module, _, name = where.partition(":")
        command: click.Command = getattr(import_module(module), name)
        return command


@click.group(
    cls=Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Without a command: the full screen, with the most recent session of this directory.",
)
@click.option("--new", is_flag=True, help="Start a new session.")
@click.option("--session", metavar="NAME", help="Open this session: its title, or the beginning of its id.")
@click.option("--continue", "resume", is_flag=True, help="Go on with the most recent session of this directory.")
@click.option("--primary", metavar="MODEL", help="The fast agent: a name from the config, a model, embedded:SIZE.")
@click.option("--escalation", metavar="MODEL", help="The deep agent: likewise.")
@click.option("--config", type=click.Path(path_type=Path), metavar="FILE", help="Another config file.")
@click.option("--database", type=click.Path(path_type=Path), metavar="FILE", help="Another database.")
@click.option("-p", "--prompt", metavar="TEXT", help="One turn without the screen; - reads standard input.")
@click.option("--escalate", is_flag=True, help="With -p: send this turn to the escalation agent.")
@click.option(
    "--output-format",
    type=click.Choice(["text", "json", "stream-json"]),
    default=None,
    help="With -p: the answer's text (default), one JSON object at the end, or one event a line.",
)
@click.option("--plain", is_flag=True, help="A screen for screen readers: lines and words, no frames, no motion.")
@click.option("--debug", is_flag=True, help="Show tracebacks.")
@click.version_option(__version__, prog_name="milk-tui")
@click.pass_context
def cli(
    ctx: click.Context,
    *,
    new: bool,
    session: str | None,
    resume: bool,
    primary: str | None,
    escalation: str | None,
    config: Path | None,
    database: Path | None,
    prompt: str | None,
    escalate: bool,
    output_format: str | None,
    plain: bool,
    debug: bool,
) -> None:
    """One person, one terminal, two agents, one memory.

    A prompt goes to a fast primary agent; a deeper one takes over when you or it decide so, and gets exactly
    what it needs. With -p a new session is used unless --continue or --session says otherwise."""
    ctx.obj = Options(primary=primary, escalation=escalation, config=config, database=database, debug=debug)
    if sum((new, resume, session is not None)) > 1:
        raise click.UsageError("--new, --session and --continue exclude each other.")
    if ctx.invoked_subcommand is not None:
        if new or resume or session is not None or prompt is not None or escalate or output_format:
            raise click.UsageError(f"{ctx.invoked_subcommand} takes none of the options for a session or a prompt.")
        return
    if prompt is not None:
        from milk_tui.cli.prompt import run_prompt

        ctx.exit(run_prompt(ctx.obj, prompt, session, resume, escalate, output_format or "text"))
    if escalate or output_format:
        raise click.UsageError("--escalate and --output-format need a prompt: -p TEXT.")
    from milk_tui.cli.screen import open_screen

    ctx.exit(open_screen(ctx.obj.launch(session=session, new=new), plain=plain))


def run(arguments: list[str] | None = None) -> NoReturn:
    """Run the command and leave: 0 done, 1 failure, 2 wrong usage, 130 interrupted."""
    arguments = sys.argv[1:] if arguments is None else arguments
    quick.prepare()
    try:
        code = cli.main(args=arguments, prog_name="milk-tui", standalone_mode=False)
    except (Exception, KeyboardInterrupt) as problem:
        leave_after(problem, debug="--debug" in arguments)
    _leave(code if isinstance(code, int) else 0)


def leave_after(problem: BaseException, *, debug: bool = False) -> NoReturn:
    """Say what went wrong and leave."""
    match problem:
        case click.UsageError():
            code = _usage(problem)
        case click.Abort():
            code = _say("Stopped.", 130)
        case KeyboardInterrupt():
            code = 130
        case BrokenPipeError():
            code = _quiet()
        case _:
            if debug:
                _trace(problem)
            code = _failure(problem)
    _leave(code)


def _trace(problem: BaseException) -> None:
    """The traceback on standard error: no values of variables, no keys, nothing that a terminal obeys."""
    import traceback

    click.echo(safe_log.safe("".join(traceback.format_exception(problem))).rstrip(), err=True)


def _usage(problem: click.UsageError) -> int:
    where = problem.ctx.command_path if problem.ctx else "milk-tui"
    return _say(f"{problem.format_message()} Run: {where} --help", problem.exit_code)


def _failure(problem: BaseException) -> int:
    from milk_tui.core.errors import MilkError

    if isinstance(problem, click.ClickException):
        return _say(problem.format_message(), problem.exit_code)
    if isinstance(problem, MilkError):
        return _say(str(problem), 1)
    if isinstance(problem, OSError) and problem.strerror:
        return _say(f"{problem.filename or 'The system'}: {problem.strerror}.", 1)
    return _say(f"Unexpected {type(problem).__name__}: {problem}. Run again with --debug for the details.", 1)


def _say(message: str, code: int) -> int:
    from milk_tui.cli import output

    try:
        output.error(message)
    except BrokenPipeError:
        return _quiet()
    return code


def _quiet() -> int:
    """Nobody reads any more: say nothing, also not when the interpreter flushes at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 1


def _leave(code: int) -> NoReturn:
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        code = _quiet()
    sys.exit(code)
