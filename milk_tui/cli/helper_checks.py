"""What the doctor says of the memory helper: whether it runs here, what it thinks with, how its last run went."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from milk_tui.cli.check import Check, check
from milk_tui.config import Config
from milk_tui.core.errors import MilkError
from milk_tui.core.records import Role
from milk_tui.core.text import one_line

_SECTION = "memory helper"


def helper(config: Config, directory: Path, file: Path) -> Iterator[Check]:
    """``file`` is the database; nothing is started, and nothing written."""
    settings = config.helper
    records = _records(directory / settings.records)
    where = (
        f"{records} decision records in {settings.records}/"
        if records
        else f"no decision record in {settings.records}/"
    )
    if settings.enabled is False:
        yield _check("state", "info", "switched off (helper.enabled = false)")
        return
    if settings.directories and not _inside(directory, settings.directories):
        yield _check("state", "info", f"not for this folder (helper.directories); {where}")
    elif settings.enabled == "auto" and not records:
        hint = "/decide TEXT or `milk-tui decide` writes the first; helper.enabled = true runs it without."
        yield _check("state", "info", f"it waits: {where}", hint)
    else:
        yield _check("state", "ok", f"runs here: {where}")
    yield _runtime(config)
    yield from _profiles(config, directory)
    yield from _last_run(file)


def _records(folder: Path) -> int:
    try:
        with os.scandir(folder) as entries:
            return sum(1 for entry in entries if entry.name.lower().endswith(".md") and not entry.name.startswith("."))
    except OSError:
        return 0


def _inside(directory: Path, folders: tuple[str, ...]) -> bool:
    here = directory.resolve()
    return any(here.is_relative_to(Path(folder).expanduser().resolve()) for folder in folders)


def _runtime(config: Config) -> Check:
    """What it thinks with, and whether that is there."""
    from milk_tui.engine import agent_spec, discovery

    settings = config.helper
    match settings.runtime:
        case "lexical":
            return _check("runtime", "ok", "lexical: by words, without a model")
        case "claude-cli":
            program = (settings.command or ("claude",))[0]
            found = shutil.which(program)
            if config.privacy.local_only:
                return _check(
                    "runtime", "error", "claude-cli: privacy.local_only is true", "Set helper.runtime = lexical."
                )
            if found is None:
                hint = f"To get it: {discovery.INSTALL_CLAUDE}, or set helper.runtime."
                return _check("runtime", "error", f"claude-cli: there is no program {one_line(program, 60)}", hint)
            return _check("runtime", "ok", f"claude-cli: {found}, {settings.model or 'haiku'}")
        case "embedded":
            word = f"embedded:{settings.model.removeprefix('embedded:') or config.embedded.size}"
        case _:
            word = settings.model
    if not word:
        return _check("runtime", "error", "litellm: helper.model is missing", "Say which model, or set helper.runtime.")
    try:
        spec = discovery.usable(config, agent_spec.from_word(config, Role.PRIMARY, word, "helper.model"))
    except MilkError as error:
        return _check("runtime", "error", error.what, error.hint)
    return _check("runtime", "ok", f"{settings.runtime}: {spec.shown}")


def _profiles(config: Config, directory: Path) -> Iterator[Check]:
    from milk_tui.engine.helper import profiles

    found = profiles.read(directory)
    for problem in found.problems:
        yield _check("profile", "warning", problem, "Correct it: milk-tui helper list says the same.")
    missing = [name for name in config.helper.profiles if name not in found.profiles]
    if missing:
        there = ", ".join(found.profiles)
        yield _check("profiles", "error", f"there is no {', '.join(missing)}", f"helper.profiles can be: {there}.")
    elif config.helper.profiles:
        yield _check("profiles", "ok", ", ".join(config.helper.profiles))
    else:
        yield _check("profiles", "info", "none: nothing runs", 'Set helper.profiles = ["recall"].')


def _last_run(file: Path) -> Iterator[Check]:
    from milk_tui.cli.output import when
    from milk_tui.store.clock import now_ms

    if not file.is_file():
        return
    try:
        conn = sqlite3.connect(f"file:{quote(str(file))}?mode=ro", uri=True, timeout=1.0)
        try:
            row = conn.execute("select status, reason, started_ms from helper_runs order by id desc limit 1").fetchone()
        finally:
            conn.close()
    except sqlite3.Error:
        return
    if row is not None:
        status, reason, started = row
        said = f"{status}, {when(int(started), now_ms())}" + (f": {one_line(str(reason), 160)}" if reason else "")
        failed = str(status) == "failed"
        yield _check(
            "last run", "warning" if failed else "ok", said, "milk-tui helper log has all runs." if failed else ""
        )


def _check(name: str, state: str, detail: str, hint: str = "") -> Check:
    return check(_SECTION, name, state, detail, hint)
