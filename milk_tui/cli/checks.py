"""What the doctor looks at. Every check is a look: nothing is created or sent off this machine, and nothing
is changed unless ``repair`` is said."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from milk_tui.cli import program_checks
from milk_tui.cli.check import Check, check
from milk_tui.cli.database_checks import database
from milk_tui.cli.file_checks import private
from milk_tui.cli.helper_checks import helper
from milk_tui.cli.mcp_checks import mcp
from milk_tui.cli.options import Options
from milk_tui.cli.recall_checks import recall
from milk_tui.core.errors import MilkError
from milk_tui.core.records import Role

if TYPE_CHECKING:
    from milk_tui.config import Config
    from milk_tui.engine.discovery import Discovery

PACKAGES = ("litellm", "textual", "rich", "sqlite-utils", "msgspec", "click", "tomlkit", "platformdirs")

BAD_LITELLM = ("1.82.7", "1.82.8")
"""Releases that were malicious (``dependencies.md``)."""


def run_all(options: Options, *, repair: bool = False) -> tuple[list[Check], Discovery | None]:
    from milk_tui import paths
    from milk_tui.config import Config

    found = list(versions())
    loaded: Config | None = None
    try:
        loaded = options.loaded.config
    except MilkError as problem:
        found.append(check("files", "config", "error", problem.what, problem.hint))
    else:
        told = "" if options.loaded.found else " (not there: defaults)"
        found.append(check("files", "config", "ok", f"{options.loaded.file}{told}"))
    found += keys(loaded or Config())
    found += private(options.database_file, options.config or paths.config_file(), repair=repair)
    found += folders()
    found += database(options.database_file, repair=repair)
    discovery, checks = agents(loaded or Config(), options)
    found += checks
    found += embedded(loaded or Config())
    found += mcp(loaded or Config())
    found += recall(loaded or Config(), options.database_file)
    found += helper(loaded or Config(), Path.cwd(), options.database_file)
    found += terminal()
    return found, discovery


def versions() -> Iterator[Check]:
    import platform
    import sqlite3
    from importlib.metadata import PackageNotFoundError, version

    from milk_tui import __version__

    system = f"Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    yield check("versions", "milk-tui", "ok", f"{__version__} on {system}")
    yield check("versions", "SQLite", "ok", sqlite3.sqlite_version)
    for name in PACKAGES:
        try:
            release = version(name)
        except PackageNotFoundError:
            yield check("versions", name, "error", "not installed", "Run: pip install --upgrade milk-tui")
            continue
        if name == "litellm" and release in BAD_LITELLM:
            yield check(
                "versions",
                name,
                "error",
                f"{release} steals credentials",
                "Run: pip install --upgrade litellm",
            )
            continue
        yield check("versions", name, "ok", release)
    for folder in map(Path, sys.path):
        if (planted := folder / "litellm_init.pth").is_file():
            yield check("versions", "litellm", "error", f"{planted} is malicious", "Remove it and change your keys.")


def keys(config: Config) -> Iterator[Check]:
    """The keys that the config sets, against the registry of actions."""
    from milk_tui.ui.actions import keymap

    for problem in keymap(config.keys).problems:
        yield check("files", "config", "warning", problem)


def folders() -> Iterator[Check]:
    from milk_tui import paths

    for name, folder in (
        ("data", paths.data_dir()),
        ("cache", paths.cache_dir()),
        ("logs", paths.log_dir()),
        ("runtime", paths.runtime_dir()),
    ):
        if not folder.exists():
            yield check("files", name, "info", f"{folder} (made when it is needed)")
        elif not os.access(folder, os.W_OK):
            yield check("files", name, "error", f"{folder} can't be written", f"Run: chmod u+rwx {folder}")
        else:
            yield check("files", name, "ok", str(folder))


def agents(config: Config, options: Options) -> tuple[Discovery | None, list[Check]]:
    """Who would be used, and every look that led there (``ux.md``, "First run")."""
    import asyncio

    from milk_tui.engine.discovery import discover

    try:
        discovery = asyncio.run(
            discover(config, primary=options.primary, escalation=options.escalation, everything=True)
        )
    except MilkError as problem:
        return None, [check("agents", "agents", "error", problem.what, problem.hint)]
    checks = []
    for role in Role:
        agent = discovery.agent(role)
        if agent is None:
            state = "error" if role is Role.PRIMARY else "missing"
            checks.append(check("agents", role.value, state, discovery.advice(role)))
        else:
            checks.append(check("agents", role.value, "ok", f"{agent.name} = {agent.shown} ({agent.source})"))
    said = program_checks.versions(finding.path for finding in discovery.findings if finding.path)
    titles = {"named": "", "server": "server ", "key": "key ", "embedded": "", "program": "program "}
    for finding in discovery.findings:
        if finding.kind == "named" and finding.found and not finding.hint:
            continue
        state = "warning" if finding.kind == "named" else "ok" if finding.found else "missing"
        detail = finding.detail
        if finding.path:
            detail = detail.replace(finding.path, f"{said.get(finding.path, 'version unknown')}, {finding.path}", 1)
        checks.append(check("agents", titles[finding.kind] + finding.what, state, detail, finding.hint))
    return discovery, checks


def embedded(config: Config) -> Iterator[Check]:
    """Whether the embedded model's runtime loads, and which weights are here."""
    import subprocess
    from importlib.util import find_spec

    from milk_tui.embedded.catalogue import MODELS
    from milk_tui.embedded.weights import find_weights
    from milk_tui.engine.embedding import embedded_settings

    if find_spec("xllamacpp") is None:
        yield check("embedded model", "runtime", "missing", "not installed", 'Run: pip install "milk-tui[embedded]"')
    else:
        try:
            tried = subprocess.run(
                [sys.executable, "-c", "import xllamacpp"],
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
            )
            problem = (tried.stderr.strip().splitlines() or [""])[-1] if tried.returncode else ""
        except (OSError, subprocess.TimeoutExpired) as error:
            problem = str(error)
        hint = "Run: apt-get install libgomp1" if "libgomp" in problem else "Run: pip install --force-reinstall"
        hint += "" if "libgomp" in problem else ' "milk-tui[embedded]"'
        if problem:
            yield check("embedded model", "runtime", "error", f"does not load: {problem}", hint)
        else:
            yield check("embedded model", "runtime", "ok", "loads")
    settings = embedded_settings(config)
    for model in MODELS.values():
        weights = find_weights(model, settings)
        size = f"{model.bytes / 1e6:,.0f} MB"
        if weights:
            yield check("embedded model", model.size, "ok", f"{model.title}: {weights}")
        else:
            state = "missing" if model.size == config.embedded.size else "info"
            hint = f"Run: milk-tui models fetch {model.size}" if state == "missing" else ""
            yield check("embedded model", model.size, state, f"{model.title}: not here ({size})", hint)


def terminal() -> Iterator[Check]:
    import shutil

    size = shutil.get_terminal_size()
    name = os.environ.get("TERM", "")
    state = "error" if name in ("", "dumb") else "ok"
    hint = "Use a terminal that can move its cursor; -p works anywhere." if state == "error" else ""
    colours = "24-bit colour" if os.environ.get("COLORTERM") in ("truecolor", "24bit") else "256 colours or fewer"
    if os.environ.get("NO_COLOR"):
        colours = "no colour (NO_COLOR)"
    inside = " in tmux" if os.environ.get("TMUX") else " in screen" if os.environ.get("STY") else ""
    inside += " over ssh" if os.environ.get("SSH_CONNECTION") else ""
    if state == "error" and not sys.stdout.isatty():
        state, hint = "info", ""
    yield check("terminal", "kind", state, f"{name or 'TERM is not set'}{inside}, {colours}", hint)
    small = size.columns < 40 or size.lines < 12
    yield check(
        "terminal",
        "size",
        "warning" if small else "ok",
        f"{size.columns} × {size.lines}",
        "At least 40 × 12 is needed." if small else "",
    )
    encoding = (getattr(sys.stdout, "encoding", "") or "unknown").lower()
    good = encoding.replace("-", "") == "utf8"
    yield check(
        "terminal",
        "encoding",
        "ok" if good else "warning",
        encoding,
        "" if good else "Run: export LC_ALL=C.UTF-8",
    )
