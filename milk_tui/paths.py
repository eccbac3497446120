"""Where the program keeps its files.

Each folder is the platform's own (``platformdirs``); ``MILK_TUI_HOME`` puts all of them under one instead.
Nothing here creates a folder: whoever writes does, through :func:`private_folder`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

APP = "milk-tui"

HOME_VARIABLE = "MILK_TUI_HOME"
CONFIG_VARIABLE = "MILK_TUI_CONFIG"
DATABASE_VARIABLE = "MILK_TUI_DATABASE"
MODELS_VARIABLE = "MILK_TUI_MODELS"

INSIDE_VARIABLE = "MILK_TUI_INSIDE"
"""Set for agents that the program runs itself: they get their facts from it, so that our hook stays silent there."""


def config_dir(environ: Mapping[str, str] | None = None) -> Path:
    return _folder("config", environ)


def data_dir(environ: Mapping[str, str] | None = None) -> Path:
    return _folder("data", environ)


def cache_dir(environ: Mapping[str, str] | None = None) -> Path:
    return _folder("cache", environ)


def log_dir(environ: Mapping[str, str] | None = None) -> Path:
    return _folder("log", environ)


def runtime_dir(environ: Mapping[str, str] | None = None) -> Path:
    """For what need not outlive a restart of the machine: locks, the shared embedded server's address.

    ``XDG_RUNTIME_DIR`` where there is one, else a folder in the cache: never a path in a shared ``/tmp``.
    """
    environ = _environ(environ)
    xdg = environ.get("XDG_RUNTIME_DIR", "")
    if environ.get(HOME_VARIABLE) or not xdg or not Path(xdg).is_dir():
        return cache_dir(environ) / "run"
    return Path(xdg) / APP


def config_file(environ: Mapping[str, str] | None = None) -> Path:
    """``MILK_TUI_CONFIG``, else ``config.toml`` in the config folder. It need not exist."""
    named = _environ(environ).get(CONFIG_VARIABLE, "")
    return Path(named).expanduser() if named else config_dir(environ) / "config.toml"


def database_file(environ: Mapping[str, str] | None = None) -> Path:
    """``MILK_TUI_DATABASE``, else ``milk.db`` in the data folder. It need not exist."""
    named = _environ(environ).get(DATABASE_VARIABLE, "")
    return Path(named).expanduser() if named else data_dir(environ) / "milk.db"


def private_folder(folder: Path) -> Path:
    """``make_private``, with a message for the person. Raises ``StoreError``."""
    from milk_tui.core.errors import StoreError

    try:
        make_private(folder)
    except OSError as error:
        raise StoreError(
            f"The folder {folder} can't be made: {error.strerror}.",
            f"Make its parent writable, or set {HOME_VARIABLE} to a folder of your own.",
        ) from error
    return folder


def make_private(folder: Path) -> None:
    """Create ``folder`` and what is missing above it, each for its owner alone, whatever the umask; those that are
    there keep their mode. Raises ``OSError``."""
    missing = [folder, *(parent for parent in folder.parents if not parent.exists())]
    for part in reversed(missing):
        part.mkdir(mode=0o700, exist_ok=True)


def for_owner(name: str, flags: int) -> int:
    """An ``opener`` for ``open``: a file that it makes can be read by its owner alone, whatever the umask."""
    return os.open(name, flags | os.O_CLOEXEC, 0o600)


def shown(path: Path) -> str:
    """The path as people write it: the home folder as ``~``."""
    try:
        return str(Path("~") / path.relative_to(Path.home()))
    except (ValueError, RuntimeError):
        return str(path)


def _environ(environ: Mapping[str, str] | None) -> Mapping[str, str]:
    return os.environ if environ is None else environ


def _folder(kind: str, environ: Mapping[str, str] | None) -> Path:
    home = _environ(environ).get(HOME_VARIABLE, "")
    if home:
        return Path(home).expanduser() / kind
    import platformdirs

    find = {
        "config": platformdirs.user_config_path,
        "data": platformdirs.user_data_path,
        "cache": platformdirs.user_cache_path,
        "log": platformdirs.user_log_path,
    }[kind]
    return find(APP, appauthor=False)
