"""Where a path of a model leads, and opening it without being led elsewhere.

A path is resolved first: what counts, and what the person is shown, is where it really leads. It is then opened from
the root of the file system, or from the directory, step by step without following links: a link that takes a step's
place after the person has looked stops the call instead of leading it away.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from milk_tui.core.text import one_line
from milk_tui.core.visible import visible
from milk_tui.tools.base import Refused

LONGEST_PATH = 4_000
_NO_FILES = ("/proc", "/sys", "/dev")
_SEARCH = getattr(os, "O_PATH", os.O_RDONLY)
"""Where the system has it, a step needs no permission to list the folder."""
_STEP = _SEARCH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_LOST = (errno.ELOOP, errno.ENOTDIR)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a path really leads. ``name`` is how it is shown: relative inside the directory, else whole."""

    path: Path
    directory: Path
    inside: bool

    @property
    def name(self) -> str:
        if not self.inside:
            return str(self.path)
        return str(self.path.relative_to(self.directory))

    @property
    def shown(self) -> str:
        return one_line(visible(self.name), 300)

    @property
    def pattern(self) -> str:
        """The files beside it, as a permission names them."""
        parent = self.path.parent
        if not self.inside:
            return f"{parent}/*"
        return "./*" if parent == self.directory else f"{parent.relative_to(self.directory)}/*"


def find(said: str, directory: Path, private: tuple[Path, ...] = (), *, follow: bool = True) -> Place:
    """Where a path leads; a relative one from the directory. Raises ``Refused``.

    ``private``: folders of this program, never opened for a model. ``follow`` False: of a link the link itself.
    """
    if "\0" in said or not said.strip() or len(said) > LONGEST_PATH:
        raise Refused("That is no path.")
    if not directory.is_dir():
        raise Refused(f"The working directory {directory} is gone. Tell the person.")
    root = Path(os.path.realpath(directory))
    try:
        asked = root / Path(said.strip()).expanduser()
        real = Path(os.path.realpath(asked if follow else asked.parent))
    except (OSError, RuntimeError, ValueError) as error:
        raise Refused(f"{one_line(said, 200)} leads nowhere: {error}.") from error
    if not follow:
        if asked.name in ("", ".", ".."):
            raise Refused(f"{one_line(said, 200)} names no file.")
        real /= asked.name
    written = Path(os.path.normpath(asked))
    if any(_within(path, Path(folder)) for path in (real, written) for folder in _NO_FILES):
        raise Refused(f"{one_line(said, 200)} is no ordinary file: devices and the kernel's own files are not opened.")
    if any(_within(real, folder) for folder in private) or _is_private(real, private):
        raise Refused(f"{one_line(said, 200)} belongs to milk itself and is not opened.")
    return Place(real, root, inside=_within(real, root))


def _within(path: Path, folder: Path) -> bool:
    return path == folder or folder in path.parents


def _is_private(path: Path, private: tuple[Path, ...]) -> bool:
    """Whether a step of the way is one of these folders under another spelling, or mounted elsewhere."""
    known = {identity for folder in private if (identity := _identity(folder))}
    return bool(known) and any(_identity(part) in known for part in (path, *path.parents))


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


@contextlib.contextmanager
def folder_of(place: Place, *, make: bool = False) -> Iterator[int]:
    """A descriptor of the folder that a place is in, opened step by step. ``make``: make the folders that are missing.

    Raises ``Refused`` when a step is a link or no folder, ``OSError`` otherwise.
    """
    if place.path == place.directory:
        raise Refused("That is the working directory itself.")
    with way_to(place, place.path.parent, make=make) as folder:
        yield folder


@contextlib.contextmanager
def way_to(place: Place, target: Path, *, make: bool = False) -> Iterator[int]:
    """A descriptor of a folder, opened step by step from the root without following links; see ``folder_of``."""
    base = place.directory if place.inside and _SEARCH == os.O_RDONLY else Path(target.anchor)
    steps = target.relative_to(base).parts
    current = os.open(base, _SEARCH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for step in steps:
            try:
                following = _step(step, current, make=make)
            except OSError as error:
                if error.errno in _LOST:
                    raise Refused(f"{place.shown}: the way there has changed; nothing was done.") from error
                raise
            os.close(current)
            current = following
        yield current
    finally:
        os.close(current)


def _step(name: str, folder: int, *, make: bool) -> int:
    try:
        return os.open(name, _STEP, dir_fd=folder)
    except FileNotFoundError:
        if not make:
            raise
    with contextlib.suppress(FileExistsError):
        os.mkdir(name, dir_fd=folder)
    return os.open(name, _STEP, dir_fd=folder)


def open_file(place: Place) -> int:
    """A descriptor to read an ordinary file. Raises ``Refused`` for anything else, without waiting for it."""
    try:
        with folder_of(place) as folder:
            handle = os.open(place.path.name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    except OSError as error:
        raise refusal(place, error) from error
    mode = os.fstat(handle).st_mode
    if not stat.S_ISREG(mode):
        os.close(handle)
        raise Refused(f"{place.shown} is {kind_of(mode)}, no file that can be read.")
    return handle


def status(place: Place) -> os.stat_result | None:
    """What is there, links not followed; ``None`` when nothing is. Raises ``Refused``."""
    if place.path == place.directory:
        return place.path.lstat()
    try:
        with folder_of(place) as folder:
            return os.stat(place.path.name or ".", dir_fd=folder, follow_symlinks=False)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise refusal(place, error) from error


def kind_of(mode: int) -> str:
    """What a file's mode says it is."""
    for test, word in (
        (stat.S_ISDIR, "a folder"),
        (stat.S_ISLNK, "a link"),
        (stat.S_ISFIFO, "a pipe"),
        (stat.S_ISSOCK, "a socket"),
        (stat.S_ISCHR, "a device"),
        (stat.S_ISBLK, "a device"),
    ):
        if test(mode):
            return word
    return "a file"


def refusal(place: Place, error: OSError) -> Refused:
    """The system's word about a place, as an answer."""
    match error.errno:
        case errno.ENOENT:
            return Refused(f"There is no {place.shown}. find_files and list_dir show what there is.")
        case errno.EISDIR:
            return Refused(f"{place.shown} is a folder; list_dir shows what is in it.")
        case errno.ELOOP:
            return Refused(f"{place.shown} is a link now; nothing was done.")
        case errno.ENXIO:
            return Refused(f"{place.shown} is a pipe or a socket, no file that can be read.")
        case _:
            return Refused(f"{place.shown}: {error.strerror or error}.")
