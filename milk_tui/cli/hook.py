"""``milk-tui hook``: facts for Claude Code sessions outside the screen, and the settings that call it."""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path

import click

from milk_tui.cli import output
from milk_tui.cli.options import Options, json_option, pass_options

as_option = click.option(
    "--as",
    "named",
    metavar="NAME",
    default="",
    help="The agent that this Claude Code is; default: the one with the provider claude-cli.",
)
local_option = click.option(
    "--local", is_flag=True, help="In settings.local.json, which is not shared, instead of settings.json."
)


@click.group(invoke_without_command=True)
@as_option
@click.pass_context
def hook(ctx: click.Context, named: str) -> None:
    """Answer a hook of Claude Code on standard input.

    At a prompt or a tool call it adds pinned and recalled facts of this directory's memory as context. It never blocks:
    when there is nothing to say, or the database can't be read, the answer is {}.
    """
    if ctx.invoked_subcommand is not None:
        return
    from milk_tui.cli.quick import say
    from milk_tui.interop import hook as answers

    if sys.stdin.isatty():
        raise click.UsageError("It reads a hook's JSON on standard input. To set it up: milk-tui hook install.")
    options = ctx.ensure_object(Options)
    say(answers.answer(sys.stdin.buffer, answers.Asked(named, options.config, options.database)))


@hook.command()
@as_option
@local_option
@pass_options
def install(options: Options, named: str, local: bool) -> None:
    """Let Claude Code call the hook in this directory.

    Edits .claude/settings.json; nothing else in it changes, and a copy from before is kept beside it.
    """
    from milk_tui.interop import hook_settings

    settings = hook_settings.read(_file(local))
    command = _command(options, named)
    text = hook_settings.installed(settings, command)
    shown = _shown(settings.file)
    if text == settings.text:
        output.line(f"{shown} calls it already: {command}")
        return
    backup = hook_settings.write(settings, text)
    output.line(f"{shown} calls it now: {command}" + (f"\nThe file from before is {_shown(backup)}." if backup else ""))
    output.line("Sessions of Claude Code that run already take it up when they are started again.")


@hook.command()
@local_option
def uninstall(local: bool) -> None:
    """Take the hook out of this directory's settings again."""
    from milk_tui.interop import hook_settings

    settings = hook_settings.read(_file(local))
    text = hook_settings.uninstalled(settings)
    if text == settings.text:
        output.line(f"{_shown(settings.file)} does not call it.")
        return
    hook_settings.write(settings, text)
    output.line(f"{_shown(settings.file)} calls it no longer.")


@hook.command()
@json_option
@pass_options
def status(options: Options, as_json: bool) -> None:
    """Say whether Claude Code calls the hook in this directory, and who it is then."""
    from milk_tui.interop import hook_settings
    from milk_tui.interop.hook_payload import EVENTS

    found = [hook_settings.status(hook_settings.read(_file(local))) for local in (False, True)]
    if as_json:
        output.as_json(
            [{"file": str(s.file), "found": s.found, "complete": s.complete, "commands": s.commands} for s in found]
        )
        return
    for each in found:
        name = _shown(each.file)
        if not each.commands:
            output.line(f"{name}: not installed" + ("" if each.found else " (no such file)"))
            continue
        missing = [event for event in EVENTS if event not in each.commands]
        output.line(f"{name}: " + (f"not called at {', '.join(missing)}" if missing else "installed"))
        for command in dict.fromkeys(each.commands.values()):
            output.line(f"    {command}")
            output.line(f"    as {_who(options, command)}")
            if not _found(command):
                output.line("    its program is not found here: run `milk-tui hook install` again")


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:
        return command.split()


def _found(command: str) -> bool:
    return shutil.which(_words(command)[0]) is not None


def _who(options: Options, command: str) -> str:
    from milk_tui.config import Provider
    from milk_tui.engine import outside_client

    words = _words(command)
    named = words[words.index("--as") + 1] if "--as" in words[:-1] else ""
    config = options.loaded.config
    client = outside_client.named(config, named) if named else outside_client.of_provider(config, Provider.CLAUDE_CLI)
    if not client.known:
        return f"{client.name}, which is none of the configured agents: it is given only facts for all"
    return f"{client.name}, the {client.role} agent" if client.role else f"{client.name}, which has no role now"


def _file(local: bool) -> Path:
    from milk_tui.interop import hook_settings

    return Path.cwd() / (hook_settings.LOCAL if local else hook_settings.SHARED)


def _command(options: Options, named: str) -> str:
    """What Claude Code runs: the installed program, with the files and the name that were given here."""
    words = ["milk-tui"] if shutil.which("milk-tui") else [sys.executable, "-m", "milk_tui"]
    for option, file in (("--config", options.config), ("--database", options.database)):
        words += [option, str(file.expanduser().absolute())] if file else []
    return shlex.join([*words, "hook", *(["--as", named] if named else [])])


def _shown(file: Path) -> str:
    try:
        return str(file.relative_to(Path.cwd()))
    except ValueError:
        return str(file)
