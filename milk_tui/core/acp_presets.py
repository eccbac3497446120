"""Agents that speak the Agent Client Protocol, as data: how each is started, and what it does by itself.

An agent that is not listed here is one table of the config: ``provider = "acp"`` and its ``command``.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Preset:
    """``name`` is the word for it; ``install`` is how to get it. ``appends``: it takes text for its system prompt when
    a session begins, so that static text need not go into the first prompt. ``reads``: project files that it reads."""

    name: str
    title: str
    command: tuple[str, ...]
    install: str
    appends: bool = False
    reads: tuple[str, ...] = ("AGENTS.md",)

    @property
    def program(self) -> str:
        return self.command[0]


PRESETS: tuple[Preset, ...] = (
    Preset("opencode", "OpenCode", ("opencode", "acp"), "npm install -g opencode-ai"),
    Preset("codex", "Codex", ("codex-acp",), "npm install -g @agentclientprotocol/codex-acp"),
    Preset("gemini", "Gemini CLI", ("gemini", "--acp"), "npm install -g @google/gemini-cli", reads=("GEMINI.md",)),
    Preset("goose", "Goose", ("goose", "acp"), "install Goose from its own site"),
    Preset(
        "claude-acp",
        "Claude Code over ACP",
        ("claude-agent-acp",),
        "npm install -g @agentclientprotocol/claude-agent-acp",
        appends=True,
        reads=("CLAUDE.md",),
    ),
    Preset("copilot", "Copilot CLI", ("copilot", "--acp"), "npm install -g @github/copilot"),
    Preset("qwen", "Qwen Code", ("qwen", "--acp"), "npm install -g @qwen-code/qwen-code", reads=("QWEN.md",)),
    Preset("kimi", "Kimi CLI", ("kimi", "acp"), "install Kimi CLI from its own site"),
    Preset("cursor", "Cursor CLI", ("cursor-agent", "acp"), "install the Cursor CLI from its own site"),
)
"""In the order in which one that is installed is taken when nobody named an agent."""

_BY_NAME = {preset.name: preset for preset in PRESETS}


def preset(word: str) -> Preset | None:
    """The agent of that name, case ignored."""
    return _BY_NAME.get(word.lower())


def preset_of(command: tuple[str, ...]) -> Preset | None:
    """The agent that a command starts, by its program."""
    program = command[0].replace("\\", "/").rpartition("/")[2] if command else ""
    return next((preset for preset in PRESETS if preset.program == program), None)
