"""Where profiles come from: built in, the person's folder, the project's; and which version of each runs.

A later source takes the place of an earlier one with the same id. Every text is stored by its hash. A text that was
never seen is selected when it is loaded; a version that the person chose again stays selected until its file gets a
text that was never seen.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from milk_tui import paths
from milk_tui.core import helper_profile
from milk_tui.core.errors import MilkError
from milk_tui.core.helper_profile import LARGEST, Profile, ProfileError
from milk_tui.store import Store, helper_profiles
from milk_tui.store.clock import now_ms
from milk_tui.store.helper_profiles import Version

if TYPE_CHECKING:
    from sqlite_utils import Database

BUILT_IN = Path(__file__).with_name("profiles")
PROJECT = Path(".milk") / "helpers"
_MOST = 64


class Loaded(Struct, frozen=True, kw_only=True):
    """The profiles by id, and what was wrong with the others, one line each."""

    profiles: dict[str, Profile]
    sources: dict[str, str]
    problems: tuple[str, ...] = ()


def load(store: Store, directory: Path) -> Loaded:
    """Read all sources and take over new versions; blocks."""
    files = read(directory)
    found, sources = files.profiles, files.sources
    if not store.read_only:
        store.write_sync(lambda db: _take_over(db, found, sources))
    running = {}
    for profile_id, profile in found.items():
        version = store.read_sync(partial(helper_profiles.selected, profile_id=profile_id))
        chosen = profile
        if version is not None and version.hash != profile.hash:
            chosen = _parsed(version.text, profile_id)
        running[profile_id] = chosen
    return Loaded(profiles=running, sources=sources, problems=files.problems)


def read(directory: Path) -> Loaded:
    """What the files say; blocks, writes nothing. A file that is no valid profile is a problem and no more."""
    found: dict[str, Profile] = {}
    sources: dict[str, str] = {}
    problems: list[str] = []
    for source, path in _files(directory):
        try:
            profile = _parsed(_read(path), paths.shown(path))
        except (ProfileError, OSError) as error:
            problems.append(str(error))
            continue
        found[profile.id], sources[profile.id] = profile, source
    return Loaded(profiles=found, sources=sources, problems=tuple(problems))


@lru_cache(maxsize=_MOST)
def _parsed(text: str, where: str) -> Profile:
    """Reading YAML takes ten milliseconds, and profiles rarely change."""
    return helper_profile.parse(text, where)


def choose(store: Store, profile_id: str, named: str) -> Version:
    """Let an earlier version run again: ``named`` begins its hash or is its version. Raises MilkError."""

    def write(db: Database) -> Version:
        versions = helper_profiles.by_prefix(db.conn, profile_id, named) if named else []
        if len(versions) != 1:
            many = "several versions" if versions else "no version"
            raise MilkError(
                f"There is {many} of {profile_id} that {named[:40]!r} names.",
                f"`milk-tui helper versions {profile_id}` lists them.",
            )
        helper_profiles.select(db, profile_id, versions[0].hash, now=now_ms())
        return versions[0]

    return store.write_sync(write)


def _take_over(db: Database, found: dict[str, Profile], sources: dict[str, str]) -> None:
    now = now_ms()
    for profile in found.values():
        version = Version(
            hash=profile.hash,
            profile_id=profile.id,
            version=profile.version,
            source=sources[profile.id],
            added_ms=now,
            text=profile.text,
        )
        if helper_profiles.add(db, version) or helper_profiles.selected(db.conn, profile.id) is None:
            helper_profiles.select(db, profile.id, profile.hash, now=now)


def _files(directory: Path) -> Iterator[tuple[str, Path]]:
    folders = (
        ("built in", BUILT_IN),
        ("yours", paths.config_dir() / "helpers"),
        ("the project's", directory / PROJECT),
    )
    for source, folder in folders:
        try:
            names = sorted(entry.name for entry in os.scandir(folder) if entry.name.endswith(".md"))
        except OSError:
            continue
        for name in names[:_MOST]:
            yield (source if source == "built in" else paths.shown(folder / name)), folder / name


def _read(path: Path) -> str:
    with path.open("rb") as file:
        return file.read(LARGEST + 1).decode("utf-8", "replace")
