"""Which two agents a session uses, found without a question (``ux.md``, "First run").

Primary: named on the command line or in the config; a local server that answers; a key in the environment;
the embedded model. Escalation: named; Claude Code or another program of its own that is installed; a key in
the environment; else nobody, with the way to get one. An agent that was named but can't be used is not
replaced in silence. Every look is kept as a :class:`Finding`, so that ``milk-tui doctor`` can say what to do
about each miss."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from milk_tui.agents.base import Agent
from milk_tui.config import Config, Provider
from milk_tui.core.acp_presets import PRESETS, preset_of
from milk_tui.core.errors import ConfigError
from milk_tui.core.records import Role
from milk_tui.engine import agent_spec
from milk_tui.engine.agent_spec import AgentSpec
from milk_tui.engine.hosted import HOSTED
from milk_tui.engine.local_servers import Probe, Server, probe_all, servers_to_probe

PROGRAMS_VARIABLE = "MILK_TUI_PROGRAMS"
"""``none``: an installed agent is used only when it is named, never by itself."""
CLAUDE = ("claude", "Claude Code", agent_spec.CLAUDE)
INSTALL_CLAUDE = "npm install -g @anthropic-ai/claude-code"

INSTALL_EMBEDDED = 'pip install "milk-tui[embedded]"'


class Finding(Struct, frozen=True, kw_only=True):
    """One look: what for, what was there, what to do. ``kind``: named · server · key · embedded · program."""

    kind: str
    what: str
    found: bool
    detail: str
    hint: str = ""
    path: str = ""
    """Where a program is."""


class Discovery(Struct, frozen=True, kw_only=True):
    """The two agents, or why there is none, and everything that was looked at."""

    primary: AgentSpec | None
    escalation: AgentSpec | None
    findings: tuple[Finding, ...] = ()

    def agent(self, role: Role) -> AgentSpec | None:
        return self.primary if role is Role.PRIMARY else self.escalation

    def advice(self, role: Role) -> str:
        """What to do when that role has no agent, in one line; empty when it has one."""
        if self.agent(role) is not None:
            return ""
        named = next((f for f in self.findings if f.kind == "named" and f.what == role and not f.found), None)
        if named is not None:
            return f"No {role} agent: {named.detail}. {named.hint}".strip()
        if role is Role.ESCALATION:
            return (
                "No escalation agent: install Claude Code or another agent, set a key such as ANTHROPIC_API_KEY, or "
                "start with --escalation MODEL "
                "(embedded:medium needs no key)."
            )
        return (
            "No model found: start Ollama, set a key such as ANTHROPIC_API_KEY, or install the embedded one: "
            f"{INSTALL_EMBEDDED}"
        )

    def line(self) -> str:
        """Who was found, in one line."""
        agents = {role: self.agent(role) for role in Role}
        return " · ".join(
            f"{role}: {agent.name} ({agent.source})" if agent else self.advice(role) for role, agent in agents.items()
        )


async def discover(
    config: Config,
    *,
    primary: str | None = None,
    escalation: str | None = None,
    environ: Mapping[str, str] | None = None,
    everything: bool = False,
    servers: Sequence[Server] | None = None,
) -> Discovery:
    """Find the two agents. ``primary`` and ``escalation`` are the command line's words: the name of an agent
    in the config, a litellm model, or ``embedded:SIZE``.

    The loopback is probed only when nobody named the primary, or for the doctor (``everything``). Raises
    ``ConfigError`` for a word that is neither an agent nor a model.
    """
    environ = os.environ if environ is None else environ
    look = _Look(config, environ)
    words = {Role.PRIMARY: primary, Role.ESCALATION: escalation}
    named = {role: look.named(role, words[role]) for role in Role}
    probes: list[Probe] = []
    if everything or not named[Role.PRIMARY].said:
        chosen = servers_to_probe(environ) if servers is None else servers
        probes = await probe_all(chosen, config.timeouts.probe)
    server = look.servers(probes)
    hosted = look.keys()
    embedded = look.embedded()
    program = look.programs()
    first, second = named[Role.PRIMARY].spec, named[Role.ESCALATION].spec
    if not named[Role.PRIMARY].said:
        first = server or hosted.get(Role.PRIMARY) or embedded
    if not named[Role.ESCALATION].said:
        second = program or hosted.get(Role.ESCALATION)
    return Discovery(primary=first, escalation=_distinct(first, second), findings=tuple(look.findings))


def _distinct(first: AgentSpec | None, second: AgentSpec | None) -> AgentSpec | None:
    """The second agent, with a name of its own (``semantics.md``, "Words")."""
    if first is None or second is None or first.name.lower() != second.name.lower():
        return second
    return replace(second, name=f"{second.name[:27]}-deep")


def named(
    config: Config,
    role: Role,
    word: str,
    *,
    seated: Iterable[AgentSpec] = (),
    other: Agent | None = None,
    environ: Mapping[str, str] | None = None,
) -> AgentSpec:
    """The agent that a person names while a session is open, with a name that is not ``other``'s: as on the command
    line, or by the name that one of the ``seated`` has on the screen. Raises ConfigError when there is none, or it
    can't be used.
    """
    known = {spec.name.lower(): spec for spec in seated if spec.name not in config.agents}
    if (spec := known.get(word.lower())) is not None:
        spec = replace(spec, role=role, source=agent_spec.THE_PERSON)
    else:
        spec = agent_spec.from_word(config, role, word, agent_spec.THE_PERSON)
    return usable(config, spec, other=other, environ=environ)


def usable(
    config: Config, spec: AgentSpec, *, other: Agent | None = None, environ: Mapping[str, str] | None = None
) -> AgentSpec:
    """The agent, with a name that is not ``other``'s. Raises ConfigError when it can't be used here."""
    role = spec.role
    problem, hint = _Look(config, os.environ if environ is None else environ).problem(spec)
    if problem:
        raise ConfigError(f"{problem}.", hint)
    if other is not None and other.name.lower() == spec.name.lower():
        spec = replace(spec, name=f"{spec.name[:27]}-{'deep' if role is Role.ESCALATION else 'fast'}")
    return spec


def installed_programs(config: Config, role: Role, environ: Mapping[str, str]) -> list[AgentSpec]:
    """The agents that are programs of their own and installed; none when nothing may leave this machine."""
    if config.privacy.local_only:
        return []
    look = _Look(config, environ)
    words = (CLAUDE[0], *(preset.name for preset in PRESETS))
    specs = (agent_spec.program(role, word, "installed here") for word in words)
    return [spec for spec in specs if spec is not None and look.installed(spec.command[0])]


class _Named(Struct, frozen=True):
    """What somebody said about a role: nothing, an agent, or one that can't be used."""

    said: bool
    spec: AgentSpec | None = None


class _Look:
    """One search: what it may use, and the findings it gathers."""

    def __init__(self, config: Config, environ: Mapping[str, str]) -> None:
        self.config = config
        self.environ = environ
        self.findings: list[Finding] = []

    def note(self, kind: str, what: str, found: bool, detail: str, hint: str = "", path: str = "") -> None:
        self.findings.append(Finding(kind=kind, what=what, found=found, detail=detail, hint=hint, path=path))

    def named(self, role: Role, flag: str | None) -> _Named:
        word = flag or self.config.named(role)
        if not word:
            return _Named(False)
        spec = agent_spec.from_word(self.config, role, word, f"--{role}" if flag else "config")
        problem, hint = self.problem(spec)
        if problem:
            self.note("named", role, False, problem, hint)
            return _Named(True)
        missing = spec.api_key_env and not self.environ.get(spec.api_key_env)
        self.note(
            "named",
            role,
            True,
            f"{spec.name} = {spec.shown} ({spec.source})",
            f"{spec.api_key_env} is not set: its requests will be refused." if missing else "",
        )
        return _Named(True, spec)

    def problem(self, spec: AgentSpec) -> tuple[str, str]:
        """Why a named agent can't be used, and what to do; two empty texts when it can."""
        if spec.own_program and not self.installed(spec.command[0]):
            known = preset_of(spec.command)
            how = known.install if known else ""
            how = INSTALL_CLAUDE if spec.provider is Provider.CLAUDE_CLI else how
            hint = f"To get it: {how}" if how else "Install it, or correct its command."
            return f"{spec.name}: there is no program {spec.command[0]} on the PATH", hint
        if self.config.privacy.local_only and not spec.local:
            return (
                f"{spec.name} ({spec.model}) is not on this machine and privacy.local_only is true",
                "Name a local model, or set local_only = false.",
            )
        if spec.embedded_size and not _importable("xllamacpp"):
            return f"{spec.model} needs the extra that runs it", f"Run: {INSTALL_EMBEDDED}"
        return "", ""

    def servers(self, probes: Sequence[Probe]) -> AgentSpec | None:
        """The first model of the first server that has one."""
        best = None
        for probe in probes:
            server = probe.server
            match probe.state:
                case "models":
                    names = [model.id for model in probe.models]
                    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
                    self.note("server", server.name, True, f"{server.address}: {', '.join(names[:3])}{more}")
                    best = best or agent_spec.served(Role.PRIMARY, probe.models[0])
                case "no-models":
                    self.note("server", server.name, False, f"{server.address}: no model", f"Run: {server.fill}")
                case "other":
                    self.note(
                        "server",
                        server.name,
                        False,
                        f"{server.address}: something else answers",
                        "Nothing to do.",
                    )
                case _:
                    self.note("server", server.name, False, f"{server.address}: not running", f"Run: {server.start}")
        return best

    def keys(self) -> dict[Role, AgentSpec]:
        """The models that the first key in the environment opens."""
        chosen: dict[Role, AgentSpec] = {}
        for hosted in HOSTED:
            if not self.environ.get(hosted.key):
                self.note("key", hosted.name, False, f"{hosted.key} is not set", f"Run: export {hosted.key}=…")
                continue
            if self.config.privacy.local_only:
                self.note("key", hosted.name, False, f"{hosted.key} is set, not used: privacy.local_only is true")
                continue
            self.note("key", hosted.name, True, f"{hosted.key} is set")
            for role in Role:
                chosen.setdefault(role, agent_spec.opened(role, hosted))
        return chosen

    def embedded(self) -> AgentSpec | None:
        """The embedded model, when its extra is installed; its weights are fetched when it is first
        needed."""
        from milk_tui.embedded.catalogue import find_model
        from milk_tui.embedded.weights import find_weights
        from milk_tui.engine.embedding import embedded_settings

        size = self.config.embedded.size
        what = f"{agent_spec.EMBEDDED}{size}"
        settings = embedded_settings(self.config, self.environ)
        model = find_model(size)
        here = find_weights(model, settings) is not None
        if not _importable("xllamacpp"):
            self.note("embedded", what, False, "the extra that runs it is missing", f"Run: {INSTALL_EMBEDDED}")
            return None
        if not here and not settings.carriers:
            hint = f"Run: milk-tui models fetch {size}"
            self.note("embedded", what, False, "its weights are not here, fetching is switched off", hint)
            return None
        told = "its weights are here" if here else f"{model.bytes / 1e6:,.0f} MB are fetched at its first use"
        self.note("embedded", what, True, f"{model.title}: {told}")
        return agent_spec.embedded(Role.PRIMARY, size, "embedded model")

    def programs(self) -> AgentSpec | None:
        """The first agent that is a program of its own and installed; all that are known are looked at."""
        found: AgentSpec | None = None
        missing: list[str] = []
        for word, title, command in (CLAUDE, *((p.name, p.title, p.command) for p in PRESETS)):
            path = self.installed(command[0])
            if path:
                unused = self._unused()
                self.note("program", word, True, f"{title}: {path}{unused}", path=path)
                found = found or (None if unused else agent_spec.program(Role.ESCALATION, word, path))
            elif word == CLAUDE[0]:
                self.note("program", word, False, f"{title} is not on the PATH", f"To get it: {INSTALL_CLAUDE}")
            else:
                missing.append(word)
        if missing:
            hint = f"To get one: {PRESETS[0].install}"
            self.note("program", "other agents", False, f"not installed: {', '.join(missing)}", hint)
        return found

    def _unused(self) -> str:
        """Why no program is taken by itself; empty when one may be."""
        if self.config.privacy.local_only:
            return "; not used: privacy.local_only is true"
        return "; not taken by itself" if self.environ.get(PROGRAMS_VARIABLE) == "none" else ""

    def installed(self, program: str) -> str:
        """Where a program is; empty when it is nowhere on the PATH."""
        import shutil

        return shutil.which(program, path=self.environ.get("PATH", "")) or ""


def _importable(module: str) -> bool:
    from importlib.util import find_spec

    try:
        return find_spec(module) is not None
    except (ImportError, ValueError):
        return False
