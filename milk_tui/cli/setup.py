"""``milk-tui setup``: finds what could work here, proposes, tries it out, and writes the config file.

Every question has an answer that is taken with enter; a flag answers it beforehand, ``--yes`` all of them.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from milk_tui.cli import output
from milk_tui.cli.options import Options, pass_options
from milk_tui.core.errors import ConfigError
from milk_tui.core.records import Role

if TYPE_CHECKING:
    from milk_tui.cli.setup_choices import Choice, Choices
    from milk_tui.config import Config
    from milk_tui.engine.agent_spec import AgentSpec

NOBODY = "nobody"
TOLD = {
    Role.PRIMARY: "fast, answers first",
    Role.ESCALATION: "deep, takes over when you or the first one ask it to",
}


@click.command()
@click.option("--primary", "primary", metavar="MODEL", help="The fast agent, without a question.")
@click.option("--escalation", "escalation", metavar="MODEL", help="The deep agent, without a question; or: nobody.")
@click.option("--api-base", metavar="URL", help="The server of the model that --primary names.")
@click.option("--key-env", metavar="NAME", help="The variable that holds the key of the model that --primary names.")
@click.option("-y", "--yes", is_flag=True, help="Take what is proposed; ask nothing.")
@click.option("--no-test", is_flag=True, help="Don't ask the agents to say hello.")
@click.option("--dry-run", is_flag=True, help="Show what would be written, and write nothing.")
@pass_options
def setup(
    options: Options,
    *,
    primary: str | None,
    escalation: str | None,
    api_base: str | None,
    key_env: str | None,
    yes: bool,
    no_test: bool,
    dry_run: bool,
) -> None:
    """Choose the two agents: found, proposed, tried out, written.

    It can be run again at any time: what the config says already is proposed first, and everything else in the file
    stays as it is. Without a terminal: --yes, or --primary and --escalation."""
    from milk_tui import config_edit, config_file, paths

    file = options.config.expanduser() if options.config else paths.config_file()
    before = config_file.read_text(file)
    config = _config(options, file)
    words = {Role.PRIMARY: primary or options.primary, Role.ESCALATION: escalation or options.escalation}
    wizard = _Wizard(config, yes=yes, test=not no_test)
    changes: dict[tuple[str, ...], Any] = {}
    try:
        for role in Role:
            spec = wizard.choose(role, words[role], api_base=api_base or "", key_env=key_env or "")
            changes |= wizard.changes(role, spec)
        text = config_edit.changed(before or "", changes, paths.shown(file))
        config_edit.check(text, paths.shown(file))
        if text == (before or ""):
            output.line(f"\n{paths.shown(file)} says so already; nothing to write.")
            return
        _show(before or "", text, paths.shown(file))
        if dry_run:
            output.line("Nothing was written (--dry-run).")
            return
        if not yes and not all(words.values()) and not click.confirm("Write it?", default=True):
            output.line("Nothing was written.")
            return
    except click.Abort:
        if sys.stdin.isatty():
            raise
        raise ConfigError(
            "There is no terminal to ask, and no answer came; nothing was written.",
            "Run: milk-tui setup --yes, or with --primary MODEL --escalation MODEL.",
        ) from None
    config_edit.write(file, changes, seen=before)
    output.line(f"Written: {paths.shown(file)}. Start with `milk-tui`; `milk-tui doctor` checks everything.")


def _config(options: Options, file: Path) -> Config:
    """What the file says; a broken one is not written over. Raises ConfigError."""
    from milk_tui.config import Config, load

    return load(options.config).config if file.exists() else Config()


class _Wizard:
    """Asks for the agent of each role. ``yes``: takes what is proposed; ``test``: has it say hello."""

    def __init__(self, config: Config, *, yes: bool, test: bool) -> None:
        from milk_tui.cli.setup_choices import Choices

        self._config = config
        self._yes = yes
        self._test = test
        self._taken: AgentSpec | None = None
        self._said_found = False
        self._choices: Choices = Choices(config)

    def choose(self, role: Role, word: str | None, *, api_base: str, key_env: str) -> AgentSpec | None:
        """The agent for the role; ``None``: nobody. Raises ConfigError for a word that means none."""
        output.line(f"\nThe {role.value} agent ({TOLD[role]})")
        if word is not None:
            return self._told(role, word, *((api_base, key_env) if role is Role.PRIMARY else ("", "")))
        if not self._said_found:
            self._said_found = True
            output.line("Looking for local servers, programs and keys …")
            for line in self._choices.found():
                output.line(f"  {line}")
        offered = self._choices.of(role, self._taken)
        if self._yes:
            return self._first_that_works(role, offered)
        for number, choice in enumerate(offered, 1):
            output.line(f"  {number:>2}  {choice.shown}")
        output.line("      or write a model, such as ollama_chat/llama3, openai/NAME, claude, embedded:small")
        while True:
            spec, known = self._answer(role, offered)
            if (
                not known
                or spec is None
                or self._works(spec)
                or click.confirm("  Take it all the same?", default=False)
            ):
                return self._take(spec)

    def changes(self, role: Role, spec: AgentSpec | None) -> dict[tuple[str, ...], Any]:
        """The changes of the file that give the role to the agent."""
        from milk_tui.engine import agent_tables

        if spec is None:
            gone: dict[tuple[str, ...], Any] = {("session", role.value): None}
            named = self._config.named(role)
            if named in self._config.agents and self._config.agents[named].role is role:
                gone["agents", named, "role"] = None
            return gone
        named = self._config.named(role)
        if spec.source == "config" and named.lower() in (spec.name.lower(), agent_tables.word_of(self._config, spec)):
            return {}
        if spec.name in self._config.agents and spec.source == "config":
            return {("session", role.value): spec.name}
        changes, word = agent_tables.default_changes(self._config, spec)
        other = self._config.session.escalation if role is Role.PRIMARY else ""
        if other.lower() == word.lower():
            changes["session", role.other.value] = None
        return changes

    def _told(self, role: Role, word: str, api_base: str, key_env: str) -> AgentSpec | None:
        if word.lower() in (NOBODY, "none", ""):
            if role is Role.PRIMARY:
                raise ConfigError("--primary: somebody has to answer.", "Name a model, or embedded:small.")
            output.line("  nobody")
            return None
        spec = self._choices.named(role, word, f"--{role}", api_base=api_base, key_env=key_env)
        output.line(f"  {spec.name} = {spec.shown}")
        if not self._works(spec):
            output.line("  It is written all the same: you named it.")
        return self._take(spec)

    def _first_that_works(self, role: Role, offered: list[Choice]) -> AgentSpec | None:
        """The first of the proposals that says hello; the first of all when none does, or nobody for the second."""
        specs = [choice.spec for choice in offered if choice.spec is not None]
        for spec in specs[:3]:
            output.line(f"  {spec.name} = {spec.shown}")
            if self._works(spec):
                return self._take(spec)
        if role is Role.ESCALATION:
            output.line("  nobody: none of them works here")
            return None
        if not specs:
            raise ConfigError("Nothing was found that could answer.", "Name one: milk-tui setup --primary MODEL.")
        return self._take(specs[0])

    def _answer(self, role: Role, offered: list[Choice]) -> tuple[AgentSpec | None, bool]:
        """The person's answer, asked for until it can be understood; True where it can be tried out."""
        while True:
            said = str(click.prompt("Number or model", default="1")).strip()
            if said.isdigit():
                if 1 <= int(said) <= len(offered):
                    choice = offered[int(said) - 1]
                    return choice.spec, choice.spec is not None
                output.error(f"“{said}” is no number from 1 to {len(offered)}.")
                continue
            if role is Role.ESCALATION and said.lower() in (NOBODY, "none"):
                return None, False
            try:
                spec = self._choices.named(role, said, "setup")
            except ConfigError as problem:
                output.error(f"{problem.what} {problem.hint} Or a number from 1 to {len(offered)}.")
                continue
            return self._with_server(spec), True

    def _with_server(self, spec: AgentSpec) -> AgentSpec:
        """A model that was written: where it is, and where its key is."""
        from msgspec.structs import replace

        from milk_tui.engine.agent_tables import address_problem, variable_problem

        if spec.own_program or spec.embedded_size or spec.source == "config":
            return spec
        base = _checked("Address of its server (empty: the provider's own)", address_problem)
        usual = "" if base else spec.api_key_env
        hint = f"empty: {usual}" if usual else "empty: none"
        key = _checked(f"Variable that holds its key ({hint})", variable_problem)
        return replace(spec, api_base=base, api_key_env=key or usual)

    def _take(self, spec: AgentSpec | None) -> AgentSpec | None:
        if spec is not None and self._taken is None:
            self._taken = spec
        return spec

    def _works(self, spec: AgentSpec) -> bool:
        """Whether the agent says hello; True where that is not tried."""
        import asyncio

        from milk_tui.engine.trial import must_fetch, try_out

        if not self._test:
            return True
        if must_fetch(self._config, spec):
            output.line("  its weights are fetched when it is first used (milk-tui models fetch does it now)")
            return True
        output.line(f"  asking {spec.name} to say hello … (ctrl+c stops)")
        said = asyncio.run(try_out(self._config, spec, Path.cwd()))
        output.line(f"  ✓ {said.line}" if said.ok else f"  ✗ {said.line}")
        return said.ok


def _checked(question: str, problem: Any) -> str:
    """An answer that may be empty, asked for until nothing is wrong with it."""
    while True:
        said = str(click.prompt(question, default="", show_default=False)).strip()
        if not said or not (why := problem(said)):
            return said
        output.error(why)


def _show(before: str, after: str, file: str) -> None:
    """The lines that come and go."""
    import difflib

    output.line(f"\n{file}:")
    for line in difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=1):
        if not line.startswith(("---", "+++", "@@")):
            output.line(f"  {line}")
