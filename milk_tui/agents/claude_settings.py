"""How Claude Code is started (``agents.md`` §1.1): one command line that both measured generations take."""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from milk_tui.agents.child import environment
from milk_tui.agents.mcp_tools import SERVER
from milk_tui.paths import make_private

ENVIRONMENT = {
    "DISABLE_TELEMETRY": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "DISABLE_BUG_COMMAND": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "CLAUDE_CODE_ATTRIBUTION_HEADER": "0",
    "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS": "1",
}
"""The last one: newer versions answer a prompt before their sub-agents are done, and go on with a turn of their own."""

MAX_RETRIES = "CLAUDE_CODE_MAX_RETRIES"
RETRIES = 5
"""Without a bound a refused key is tried for minutes."""


KEPT_S = 7 * 86_400
"""How long a static text stays that no program took away."""


@dataclass(frozen=True, slots=True)
class ClaudeSettings:
    """``command``: the program and what the person adds to it. ``folder``: where the static text is put."""

    folder: Path
    command: tuple[str, ...] = ("claude",)
    model: str = ""
    """Empty: the person's own default, kept for the session once it is known."""
    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))

    def env(self) -> dict[str, str]:
        """The child's environment."""
        extra = dict(ENVIRONMENT)
        extra.setdefault(MAX_RETRIES, self.environ.get(MAX_RETRIES) or str(RETRIES))
        return environment(self.environ, extra)

    def arguments(self, *, session: str, resume: bool, model: str, static: Path | None, tools: bool) -> list[str]:
        """The whole command for one process of the remote session ``session``."""
        command = [*self.command, "-p", "--output-format", "stream-json", "--input-format", "stream-json", "--verbose"]
        command += ["--include-partial-messages", "--permission-prompt-tool", "stdio"]
        command += ["--resume" if resume else "--session-id", session]
        if model:
            command += ["--model", model]
        if static is not None:
            command += ["--append-system-prompt-file", str(static)]
        if tools:
            server = {"type": "sdk", "name": SERVER, "alwaysLoad": True}
            command += ["--mcp-config", msgspec.json.encode({"mcpServers": {SERVER: server}}).decode()]
            command += ["--allowedTools", f"mcp__{SERVER}"]
        return command


def _prune(folder: Path) -> None:
    """Texts that a program which was killed left behind."""
    for file in folder.glob("static-*"):
        with contextlib.suppress(OSError):
            if file.stat().st_mtime < time.time() - KEPT_S:
                file.unlink()


def write_static(folder: Path, text: str) -> Path:
    """The static text as a file that only the person can read: it holds the session's nonce. Same text, same file.

    Raises ``OSError``.
    """
    make_private(folder)
    _prune(folder)
    file = folder / f"static-{hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()[:16]}.txt"
    partial = file.with_suffix(f".{os.getpid()}.partial")
    fd = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(fd, "w", encoding="utf-8", errors="replace") as open_file:
        open_file.write(text)
    return partial.replace(file)
