"""What the doctor looks at. Every check is a look: nothing is created or sent off this machine, and nothing
is changed unless ``repair`` is said."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

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


MOST_PROBLEMS = 20


class Check(Struct, frozen=True, kw_only=True):
    """One look. ``state``: ok · info · missing (not needed, but would help) · warning · error."""

    section: str
    name: str
    state: str
    detail: str
    hint: str = ""


def run_all(options: Options, *, repair: bool = False) -> tuple[list[Check], Discovery | None]:
    from milk_tui.config import Config

    found = list(versions())
    loaded: Config | None = None
    try:
        loaded = options.loaded.config
    except MilkError as problem:
        found.append(_check("files", "config", "error", problem.what, problem.hint))
    else:
        told = "" if options.loaded.found else " (not there: defaults)"
        found.append(_check("files", "config", "ok", f"{options.loaded.file}{told}"))
    found += keys(loaded or Config())
    found += folders()
    found += database(options.database_file, repair=repair)
    discovery, checks = agents(loaded or Config(), options)
    found += checks
    found += embedded(loaded or Config())
    found += recall(loaded or Config(), options.database_file)
    found += terminal()
    return found, discovery


def _check(section: str, name: str, state: str, detail: str, hint: str = "") -> Check:
    return Check(section=section, name=name, state=state, detail=detail, hint=hint)


def versions() -> Iterator[Check]:
    import platform
    import sqlite3
    from importlib.metadata import PackageNotFoundError, version

    from milk_tui import __version__

    system = f"Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    yield _check("versions", "milk-tui", "ok", f"{__version__} on {system}")
    yield _check("versions", "SQLite", "ok", sqlite3.sqlite_version)
    for name in PACKAGES:
        try:
            release = version(name)
        except PackageNotFoundError:
            yield _check("versions", name, "error", "not installed", "Run: pip install --upgrade milk-tui")
            continue
        if name == "litellm" and release in BAD_LITELLM:
            yield _check(
                "versions",
                name,
                "error",
                f"{release} steals credentials",
                "Run: pip install --upgrade litellm",
            )
            continue
        yield _check("versions", name, "ok", release)
    for folder in map(Path, sys.path):
        if (planted := folder / "litellm_init.pth").is_file():
            yield _check("versions", "litellm", "error", f"{planted} is malicious", "Remove it and change your keys.")


def keys(config: Config) -> Iterator[Check]:
    """The keys that the config sets, against the registry of actions."""
    from milk_tui.ui.actions import keymap

    for problem in keymap(config.keys).problems:
        yield _check("files", "config", "warning", problem)


def folders() -> Iterator[Check]:
    from milk_tui import paths

    for name, folder in (
        ("data", paths.data_dir()),
        ("cache", paths.cache_dir()),
        ("logs", paths.log_dir()),
        ("runtime", paths.runtime_dir()),
    ):
        if not folder.exists():
            yield _check("files", name, "info", f"{folder} (made when it is needed)")
        elif not os.access(folder, os.W_OK):
            yield _check("files", name, "error", f"{folder} can't be written", f"Run: chmod u+rwx {folder}")
        elif name in ("data", "runtime") and folder.stat().st_mode & 0o077:
            mode = f"{folder.stat().st_mode & 0o777:04o}"
            yield _check("files", name, "warning", f"{folder} is open to others ({mode})", f"Run: chmod 700 {folder}")
        else:
            yield _check("files", name, "ok", str(folder))


def database(file: Path, *, repair: bool = False) -> Iterator[Check]:
    import sqlite3
    from urllib.parse import quote

    from milk_tui.store import integrity, migrations, schema

    if not file.exists():
        yield _check("files", "database", "info", f"{file} (made when it is needed)")
        return
    mode = file.stat().st_mode
    if mode & 0o077:
        yield _check("files", "database", "warning", f"{file} is open to others", f"Run: chmod 600 {file}")
    restore = "Restore a copy; backups stand beside it."
    try:
        conn = sqlite3.connect(f"file:{quote(str(file))}?mode=ro", uri=True, timeout=5)
        try:
            tables = conn.execute("select count(*) from sqlite_schema").fetchone()[0]
            ours = conn.execute("pragma application_id").fetchone()[0] == schema.APPLICATION_ID
            version = conn.execute("pragma user_version").fetchone()[0]
            problems = integrity.problems(conn) if ours and version == migrations.VERSION else []
        finally:
            conn.close()
    except sqlite3.Error as problem:
        yield _check("files", "database", "error", f"{file}: {problem}", restore)
        return
    size = f"{file.stat().st_size / 1e6:.1f} MB"
    if tables and not ours:
        yield _check("files", "database", "error", f"{file} belongs to another program", "Name another: --database")
    elif version > migrations.VERSION:
        yield _check("files", "database", "error", f"{file}: format {version} is newer", "Update milk-tui.")
    elif version < migrations.VERSION:
        yield _check("files", "database", "info", f"{file}: format {version}, brought up to date at the next start")
    elif problems:
        for told in problems[:MOST_PROBLEMS]:
            yield _check("files", "database", "error", f"{file}: {told}", restore)
    else:
        yield _check("files", "database", "ok", f"{file}: {size}, format {version}, whole")
        yield from indexes(file, repair=repair)


def indexes(file: Path, *, repair: bool) -> Iterator[Check]:
    """The text indexes can be made anew from the tables, which is the only thing that the doctor ever
    changes."""
    from milk_tui.store import Store, integrity

    store = Store.open(file)
    try:
        if store.read_only:
            return
        problems = store.write_sync(integrity.index_problems)
        if problems and repair:
            store.write_sync(integrity.rebuild_indexes)
    except MilkError as problem:
        yield _check("files", "indexes", "error", problem.what, problem.hint)
        return
    finally:
        store.close()
    for told in problems:
        if repair:
            yield _check("files", "indexes", "ok", f"{told}; made anew")
        else:
            yield _check("files", "indexes", "error", told, "Run: milk-tui doctor --repair")


def agents(config: Config, options: Options) -> tuple[Discovery | None, list[Check]]:
    """Who would be used, and every look that led there (``ux.md``, "First run")."""
    import asyncio

    from milk_tui.engine.discovery import discover

    try:
        discovery = asyncio.run(
            discover(config, primary=options.primary, escalation=options.escalation, everything=True)
        )
    except MilkError as problem:
        return None, [_check("agents", "agents", "error", problem.what, problem.hint)]
    checks = []
    for role in Role:
        agent = discovery.agent(role)
        if agent is None:
            state = "error" if role is Role.PRIMARY else "missing"
            checks.append(_check("agents", role.value, state, discovery.advice(role)))
        else:
            checks.append(_check("agents", role.value, "ok", f"{agent.name} = {agent.model} ({agent.source})"))
    titles = {"named": "", "server": "server ", "key": "key ", "embedded": "", "program": "program "}
    for finding in discovery.findings:
        if finding.kind == "named" and finding.found and not finding.hint:
            continue
        state = "warning" if finding.kind == "named" else "ok" if finding.found else "missing"
        checks.append(_check("agents", titles[finding.kind] + finding.what, state, finding.detail, finding.hint))
    return discovery, checks


def embedded(config: Config) -> Iterator[Check]:
    """Whether the embedded model's runtime loads, and which weights are here."""
    import subprocess
    from importlib.util import find_spec

    from milk_tui.embedded.catalogue import MODELS
    from milk_tui.embedded.weights import find_weights
    from milk_tui.engine.embedding import embedded_settings

    if find_spec("xllamacpp") is None:
        yield _check("embedded model", "runtime", "missing", "not installed", 'Run: pip install "milk-tui[embedded]"')
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
            yield _check("embedded model", "runtime", "error", f"does not load: {problem}", hint)
        else:
            yield _check("embedded model", "runtime", "ok", "loads")
    settings = embedded_settings(config)
    for model in MODELS.values():
        weights = find_weights(model, settings)
        size = f"{model.bytes / 1e6:,.0f} MB"
        if weights:
            yield _check("embedded model", model.size, "ok", f"{model.title}: {weights}")
        else:
            state = "missing" if model.size == config.embedded.size else "info"
            hint = f"Run: milk-tui models fetch {model.size}" if state == "missing" else ""
            yield _check("embedded model", model.size, state, f"{model.title}: not here ({size})", hint)


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
    yield _check("terminal", "kind", state, f"{name or 'TERM is not set'}{inside}, {colours}", hint)
    small = size.columns < 40 or size.lines < 12
    yield _check(
        "terminal",
        "size",
        "warning" if small else "ok",
        f"{size.columns} × {size.lines}",
        "At least 40 × 12 is needed." if small else "",
    )
    encoding = (getattr(sys.stdout, "encoding", "") or "unknown").lower()
    good = encoding.replace("-", "") == "utf8"
    yield _check(
        "terminal",
        "encoding",
        "ok" if good else "warning",
        encoding,
        "" if good else "Run: export LC_ALL=C.UTF-8",
    )
