"""The typed configuration and its TOML file.

Every setting is a field below and its docstring is the manual (``milk-tui config show --explain`` prints
it). A file holds only what differs from the defaults. It is read at the edge of the program and handed in as
values; ``load`` raises ``ConfigError`` with one line that names file, key and allowed values.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta, Struct, field
from msgspec.structs import replace

from milk_tui.core.errors import ConfigError
from milk_tui.core.records import Role

Characters = Annotated[int, Meta(ge=0, le=10_000_000)]
Count = Annotated[int, Meta(ge=0, le=1_000_000)]
Tokens = Annotated[int, Meta(ge=1, le=100_000_000)]
Seconds = Annotated[float, Meta(gt=0, le=86_400)]
EmbeddedSize = Literal["small", "tiny", "medium"]
EMBEDDED_SIZES: tuple[EmbeddedSize, ...] = ("small", "tiny", "medium")


class Provider(StrEnum):
    """How an agent is driven."""

    LITELLM = "litellm"
    EMBEDDED = "embedded"
    CLAUDE_CLI = "claude-cli"
    ACP = "acp"


class Section(Struct, frozen=True, kw_only=True):
    """A table of the file."""


class AgentConfig(Section, frozen=True, kw_only=True):
    """One agent, ``[agents.NAME]``. NAME is what people and agents call it: letters, digits, ``.``, ``_`` and
    ``-`` (one with a dot stands in quotes)."""

    model: str = ""
    """The model, in litellm's words: ``ollama_chat/qwen2.5-coder``, ``openai/NAME`` with ``api_base``,
    ``anthropic/claude-sonnet-4-5``; for the embedded provider ``small``, ``tiny`` or ``medium``."""
    role: Role | None = None
    """``primary`` or ``escalation``; ``[session]`` says the same by name and wins. Agents without one take
    the places that are left, in the file's order."""
    provider: Provider = Provider.LITELLM
    """``litellm``, ``embedded``; ``claude-cli``: the person's own Claude Code; ``acp``: any agent that speaks the
    Agent Client Protocol."""
    api_base: str = ""
    """The address of the server, for a local or own one: ``http://127.0.0.1:8000/v1``."""
    api_key_env: str = ""
    """The name of the environment variable that holds the key. A key itself never stands in this file."""
    api_key_command: tuple[str, ...] = ()
    """A program that prints the key, such as ``["secret-tool", "lookup", "service", "anthropic"]``; it is run when the
    agent is first asked, without a shell, and what it prints is kept in memory alone."""
    tools: bool | Literal["auto", "text"] = "auto"
    """Whether the model is given tools: ``true``, ``false``, ``"text"`` (written into its answer, for models that have
    no tool calls of their own), or ``"auto"`` (its own calls, as text when it has none)."""
    grammar: bool | Literal["auto"] = "auto"
    """Whether tools as text are kept to their form by a grammar: only llama.cpp's server can; ``"auto"``: where one was
    found."""
    window_tokens: Tokens | None = None
    """The model's context window in tokens, when it is not known by itself."""
    max_tokens: Tokens | None = None
    """The longest answer, in tokens; unset: the provider's own bound."""
    temperature: Annotated[float, Meta(ge=0, le=2)] | None = None
    """0 to 2; unset: the provider's own."""
    command: tuple[str, ...] = ()
    """The program and its arguments, for ``acp`` and ``claude-cli``. Unset: ``claude``, or what is known for an agent
    called opencode, codex, gemini, goose, claude-acp, copilot, qwen, kimi or cursor."""


class SessionConfig(Section, frozen=True, kw_only=True):
    """Which agents a session uses, ``[session]``. Unset: found at start (``milk-tui doctor`` says how)."""

    primary: str = ""
    """The fast agent: a name from ``[agents]``, a litellm model, or ``embedded:small``."""
    escalation: str = ""
    """The deep agent: likewise."""


class ContextConfig(Section, frozen=True, kw_only=True):
    """How much an agent is given, ``[context]`` (``semantics.md`` §3, §4)."""

    context_budget_chars: Characters = 12_000
    """Characters of each summary brick."""
    thread_tokens: Count = 24_000
    """Tokens of an agent's own thread that are sent again; never more than half of its window."""
    cap: Characters = 24_000
    """Characters of everything that is neither thread nor prompt."""
    fresh_after_turns: Count = 8
    """Primary turns after which an escalation starts afresh instead of with what changed."""
    reinjection_turns: Count = 20
    """Turns after which static text is given again where it lives in the agent's history (ACP); 0: never."""
    reinjection_bytes: Count = 40_000
    """Bytes of answers after which it is given again there."""
    cache_ttl: Literal["5m", "1h"] = "5m"
    """How long a provider that charges for it keeps the prompt cache."""


class MemoryConfig(Section, frozen=True, kw_only=True):
    """What of the memory reaches an agent, ``[memory]`` (``semantics.md`` §2)."""

    max_items: Count = 25
    """Recalled facts for one leg."""
    max_bytes: Count = 2_048
    """Bytes of them."""
    pinned_bytes: Count = 1_024
    """Bytes of pinned facts, which have their own budget."""
    facts_per_turn: Count = 8
    """Facts that the agents may record in one turn."""
    digest: Literal["cue", "inline"] = "cue"
    """How an agent with tools hears what happened in its other sessions: ``cue``, one line that says that there is
    something to read, or ``inline``, as agents without tools do."""
    semantic: bool = True
    """Find facts by meaning too, where the extra ``semantic`` is installed; ``false``: by words alone."""
    model_path: str = ""
    """The embedding model's file, when it is not the installed one; it must be the same file (checked by its hash)."""
    judge: bool = False
    """Ask the primary agent's model, between turns, about pairs of facts that may contradict each other and that the
    rules leave open. What it decides is shown and can be undone; pinned facts and the person's are left to the person.
    """


class PerceptionConfig(Section, frozen=True, kw_only=True):
    """What the agents believe about the task, ``[perception]`` (``semantics.md`` §5)."""

    file: bool = False
    """Keep ``perception.md`` beside the code, both ways: what changes here is written, what is changed there is taken
    over within a second."""
    dense: bool = False
    """Give the working set to models that keep the protocol on one line without inner vowels: under six tenths of the
    characters, but about as many tokens, and harder to read for people."""


class RoutingConfig(Section, frozen=True, kw_only=True):
    """Which agent a prompt goes to, ``[routing]`` (``semantics.md`` §8); phrases are whole words, case ignored."""

    escalate: tuple[str, ...] = ()
    """A prompt with one of these goes to the escalation agent."""
    primary: tuple[str, ...] = ()
    """A prompt with one of these goes to the primary."""
    replace: bool = False
    """``true``: only these lists count; ``false``: they are added to the built-in ones."""
    weigh: bool = True
    """Weigh words, paths, lists and code in a prompt where no other rule has spoken; ``false``: don't."""
    signals: dict[str, Annotated[float, Meta(ge=-100, le=100)]] = field(default_factory=dict)
    """Phrase → weight, above 0 for an escalation, below for the primary, 0 takes a built-in phrase out; ``*`` ends any
    word, ``…`` stands for up to four words, ``/…/`` is a regular expression."""
    replace_signals: bool = False
    """``true``: only these signals count."""
    threshold: Annotated[float, Meta(gt=0, le=1_000)] = 2.5
    """The sum of weights from which a prompt is escalated."""
    repeated: bool = True
    """Escalate a prompt that says again what the primary has just answered."""
    classifier: bool = False
    """Ask the primary's model itself, in one word, where nothing else decides."""
    classifier_seconds: Annotated[float, Meta(gt=0, le=60)] = 3.0
    """How long that may take; then the next rule decides."""
    max_usd_per_session: Annotated[float, Meta(ge=0, le=1_000_000)] | None = None
    """Dollars of a session from which an escalation that you didn't ask for is asked about; unset: no limit."""
    max_escalations_per_hour: Count | None = None
    """Likewise escalations in an hour, in all sessions."""
    hand_back_after: Count = 0
    """Answers of the escalation agent in a row, none of them a question, after which the session goes back to the
    primary by itself; 0: only when you hand back."""
    loops: Literal["stop", "warn", "off"] = "stop"
    """An agent that goes in circles is warned of and stopped, only warned of, or not watched."""
    silent_seconds: Annotated[float, Meta(ge=0, le=86_400)] = 300.0
    """Seconds in which an agent works and nothing of it can be seen, until that is said; 0: never."""


class HelperConfig(Section, frozen=True, kw_only=True):
    """The recall helper, ``[helper]`` (``semantics.md`` §6): in the background it looks for recorded decisions that a
    prompt runs into, and hands the agent a note."""

    enabled: bool | Literal["auto"] = "auto"
    """``"auto"``: where the project has decision records; ``true`` or ``false``: always, never."""
    runtime: Literal["lexical", "litellm", "embedded", "claude-cli"] = "lexical"
    """What it thinks with: ``lexical`` needs no model and stays silent when unsure; ``litellm`` a model of your choice;
    ``embedded`` the small local one; ``claude-cli`` Claude Code with read-only tools."""
    model: str = ""
    """For ``litellm``: a name from ``[agents]`` or a litellm model; for ``embedded``: ``small``, ``tiny`` or
    ``medium``; for ``claude-cli``: the model, unset: ``haiku``."""
    command: tuple[str, ...] = ()
    """For ``claude-cli``: the program; unset: ``claude``."""
    profiles: tuple[str, ...] = ("recall",)
    """Which profiles run, the first one that a signal starts; ``milk-tui helper list`` shows them."""
    directories: tuple[str, ...] = ()
    """Only for sessions in these folders or below; unset: everywhere."""
    records: str = "memory"
    """The folder of a project that holds its decision records, one Markdown file each."""
    carrier_kinds: tuple[Literal["turn.started", "tool.started"], ...] = ("turn.started", "tool.started")
    """When a note may be handed over: when an agent begins to work, when it calls a tool."""
    settle: Annotated[float, Meta(ge=0, le=60)] = 0.5
    """Seconds that a signal waits before it is acted on, so that it never competes with the turn's own start."""


class McpConfig(Section, frozen=True, kw_only=True):
    """One MCP server whose tools the agents may use, ``[mcp.NAME]`` (needs the extra ``mcp``). NAME: small letters,
    digits and ``-``. It is started when an agent first works; each of its tools is asked about."""

    command: tuple[str, ...] = ()
    """The program and its arguments, for one that is started here (stdio)."""
    url: str = ""
    """The address of one that runs already (streamable HTTP)."""
    env: tuple[str, ...] = ()
    """Names of environment variables that the program is given, beside the few that every program needs."""
    headers: dict[str, str] = field(default_factory=dict)
    """Header of each request → the name of the environment variable that holds its value."""
    enabled: bool = True
    """``false``: it is left alone."""
    start_timeout: Seconds = 20.0
    """Seconds until it has told its tools."""
    timeout: Seconds = 60.0
    """Seconds that a call may take."""


class EmbeddedConfig(Section, frozen=True, kw_only=True):
    """The small local model, ``[embedded]`` (needs the extra ``embedded``)."""

    size: EmbeddedSize = "small"
    """Which one: tiny 98 MB, small 491 MB, medium 1.1 GB."""
    path: str = ""
    """A GGUF file to use instead; it must be the one that the size names (checked by its hash)."""
    models_dir: str = ""
    """Where weights are kept; unset: the cache folder."""
    grace: Annotated[float, Meta(ge=0, le=86_400)] = 15.0
    """Seconds that the shared server stays after its last user has gone."""
    threads: Annotated[int, Meta(ge=0, le=256)] = 0
    """Threads of the server; 0: as many as cores, at most 4."""


class UiConfig(Section, frozen=True, kw_only=True):
    """The screen, ``[ui]``."""

    theme: str = ""
    """A theme's name as ``/theme`` lists them (it writes it here); unset: the program's own for the terminal's
    background and the colours that it has. ``NO_COLOR`` holds over any."""
    sidebar: bool = True
    """Whether the sidebar is there at start, where the terminal is wide enough."""
    reduced_motion: bool = False
    """No spinner, no flash, no smooth scrolling. ``MILK_TUI_REDUCED_MOTION=1`` says the same."""
    plain: bool = False
    """For screen readers: no frames, no spinners, one pane under another, words instead of symbols, the terminal's own
    cursor, and what changes said in lines of text. ``--plain`` and ``MILK_TUI_PLAIN=1`` say the same."""
    clipboard: Literal["auto", "programs", "terminal", "inside"] = "auto"
    """What copies: the desktop's ``programs`` (wl-copy, xclip, xsel, pbcopy, clip.exe, tmux), the ``terminal``
    (OSC 52), nothing but this program (``inside``), or what reaches the person (``auto``)."""
    title: bool = True
    """Whether the terminal's title says the session, what it is at and that an agent asks."""
    alert: Literal["both", "bell", "message", "off"] = "both"
    """How a terminal that is not looked at says that a long answer is there or that an agent asks: its ``bell``, a
    desktop ``message`` (OSC 9), ``both`` or ``off``."""
    alert_after: Seconds = 20.0
    """Seconds from which on an answer is a long one."""


class TimeoutConfig(Section, frozen=True, kw_only=True):
    """Seconds, ``[timeouts]``."""

    first_byte: Seconds = 120.0
    """Until a model sends the first piece of an answer."""
    idle: Seconds = 60.0
    """Between two pieces."""
    probe: Seconds = 0.25
    """For a local server to answer when the program looks for one."""


class ToolsConfig(Section, frozen=True, kw_only=True):
    """What the agents may work with, ``[tools]``; whatever changes something is asked first (``quality.md``)."""

    families: tuple[Literal["files", "search", "shell", "web", "session", "agents"], ...] = (
        "files",
        "search",
        "shell",
        "web",
        "session",
        "agents",
    )
    """Which tools an agent is given: ``files`` (read, write, edit, move, delete), ``search``, ``shell``
    (run_command), ``web`` (http_get), ``session`` (what was said), ``agents`` (ask_NAME). Empty: none."""
    max_rounds: Annotated[int, Meta(ge=1, le=1_000)] = 25
    """Rounds of tool calls in one answer; then you are asked whether it may go on."""
    timeout: Seconds = 60.0
    """Seconds that a tool may take; commands have their own."""
    command_timeout: Annotated[float, Meta(gt=0, le=600)] = 120.0
    """Seconds that a command may take when the agent names none; at most 600."""
    environment: tuple[str, ...] = ()
    """Names of environment variables that commands are given beside the usual ones (PATH, HOME, LANG …)."""


class PrivacyConfig(Section, frozen=True, kw_only=True):
    """What may leave this machine, ``[privacy]``."""

    local_only: bool = False
    """``true``: only agents on this machine; hosted models are refused, keys in the environment unused."""
    fetch_weights: bool = True
    """``false``: never fetch the embedded model's weights by itself; ``milk-tui models fetch`` still does."""


class Config(Struct, frozen=True, kw_only=True):
    """Everything that can be set; ``Config()`` is the defaults."""

    session: SessionConfig = field(default_factory=SessionConfig)
    agents: dict[str, AgentConfig] = field(default_factory=dict)
    context: ContextConfig = field(default_factory=ContextConfig)
    memory: MemoryConfig = field(default_factory=MemoryConfig)
    perception: PerceptionConfig = field(default_factory=PerceptionConfig)
    routing: RoutingConfig = field(default_factory=RoutingConfig)
    mcp: dict[str, McpConfig] = field(default_factory=dict)
    embedded: EmbeddedConfig = field(default_factory=EmbeddedConfig)
    helper: HelperConfig = field(default_factory=HelperConfig)
    ui: UiConfig = field(default_factory=UiConfig)
    keys: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Action id → its keys instead of the built-in ones; one key or a list. F1 shows the ids."""
    timeouts: TimeoutConfig = field(default_factory=TimeoutConfig)
    privacy: PrivacyConfig = field(default_factory=PrivacyConfig)
    tools: ToolsConfig = field(default_factory=ToolsConfig)

    def named(self, role: Role) -> str:
        """The word for that role: ``[session]`` says it, else an agent's ``role``, else agents without a
        role take the free places in the file's order. Empty when there is none."""
        named = {r: next((n for n, a in self.agents.items() if a.role is r), "") for r in Role}
        named |= {
            r: said
            for r, said in ((Role.PRIMARY, self.session.primary), (Role.ESCALATION, self.session.escalation))
            if said
        }
        free = [n for n, a in self.agents.items() if a.role is None and n not in named.values()]
        for each in Role:
            if not named[each] and free:
                named[each] = free.pop(0)
        return named[role]


class Loaded(Struct, frozen=True, kw_only=True):
    """A configuration and where each value came from."""

    config: Config
    file: Path
    found: bool
    """False when there is no such file, which is fine unless the person named it."""
    sources: dict[str, str]
    """Dotted key → where its value came from, for values that are not the default."""


def load(
    path: Path | None = None,
    *,
    primary: str | None = None,
    escalation: str | None = None,
    environ: Mapping[str, str] | None = None,
) -> Loaded:
    """Read the file and lay the command line over it. Raises ``ConfigError``.

    ``path``: the file that the person named (``--config``); else ``MILK_TUI_CONFIG``, else ``config.toml`` in
    the config folder.
    """
    from milk_tui import config_file, own_keys, paths

    environ = os.environ if environ is None else environ
    file = path.expanduser() if path is not None else paths.config_file(environ)
    text = config_file.read_text(file)
    if text is None and (path is not None or environ.get(paths.CONFIG_VARIABLE)):
        raise ConfigError(
            f"{paths.shown(file)}: no such config file.", "Name an existing one, or run `milk-tui setup`."
        )
    config, sources = config_file.parse(text or "", paths.shown(file))
    if models := environ.get(paths.MODELS_VARIABLE):
        config = replace(config, embedded=replace(config.embedded, models_dir=models))
        sources["embedded.models_dir"] = paths.MODELS_VARIABLE
    for key, value in (("primary", primary), ("escalation", escalation)):
        if value:
            config = config_file.replaced(config, key, value)
            sources[f"session.{key}"] = f"--{key}"
    config_file.check(config, paths.shown(file))
    own_keys.also(agent.api_key_env for agent in config.agents.values())
    return Loaded(config=config, file=file, found=text is not None, sources=sources)
