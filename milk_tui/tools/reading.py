"""``read_file`` and ``list_dir``: looking, which needs no permission inside the directory."""

from __future__ import annotations

import asyncio
import os
import stat
from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from milk_tui.core.tool_calls import ToolOutcome
from milk_tui.tools.base import OUTPUT_CHARS, Access, Arguments, Ask, Call, Prepared, Refused, plural, tool
from milk_tui.tools.places import Place, kind_of, open_file, refusal, status, way_to
from milk_tui.tools.site import Site
from milk_tui.tools.texts import binary, decode

FAMILY = "files"
LARGEST_WHOLE = 16_000_000
"""Bytes of a file that is taken in whole; of a larger one the beginning is read, as far as it is asked for."""
LARGEST_SCAN = 64_000_000
LONGEST_LINE = 2_000
LINES = 2_000
ENTRIES = 500
DEEPEST = 3


class ReadFile(Arguments, frozen=True, kw_only=True):
    path: Annotated[str, Meta(description="The file, relative to the working directory.")]
    offset: Annotated[int, Meta(ge=1, description="The first line to read, from 1.")] = 1
    limit: Annotated[int, Meta(ge=1, le=LINES, description="How many lines at most.")] = LINES


class ListDir(Arguments, frozen=True, kw_only=True):
    path: Annotated[str, Meta(description="The folder, relative to the working directory.")] = "."
    depth: Annotated[int, Meta(ge=1, le=DEEPEST, description="How many levels of folders.")] = 1


def outside(place: Place, doing: str, *, below: bool = False) -> Ask | None:
    """What is asked before something outside the directory is looked at; nothing inside. ``below``: everything in the
    folder is looked at, not one file."""
    if place.inside:
        return None
    pattern = f"{place.path}/**" if below else place.pattern
    return Ask(f"{doing} {place.shown}, outside the working directory", pattern=pattern)


async def _prepare_read(site: Site, said: ReadFile) -> Prepared:
    place = site.place(said.path)
    found = status(place) if place.inside else None
    if found is not None and stat.S_ISDIR(found.st_mode):
        raise Refused(f"{place.shown} is a folder; list_dir shows what is in it.")

    async def run(call: Call) -> ToolOutcome:
        return await asyncio.to_thread(_read, site, place, said)

    return Prepared(run, outside(place, "read"))


def _read(site: Site, place: Place, said: ReadFile) -> ToolOutcome:
    handle = open_file(place)
    with os.fdopen(handle, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        data = file.read(LARGEST_WHOLE + 1)
        if kind := binary(data):
            raise Refused(f"{place.shown} holds {kind}, {plural(max(size, len(data)), 'byte')}: no text to read.")
        if len(data) > LARGEST_WHOLE:
            data += file.read(LARGEST_SCAN - len(data))
            whole = False
        else:
            site.saw(place.path, data)
            whole = True
    text = decode(data)
    lines = text.text.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    return ToolOutcome(_page(place, lines, text.encoding, said, whole=whole))


def _page(place: Place, lines: list[str], encoding: str, said: ReadFile, *, whole: bool) -> str:
    """Some lines of a file under a line that says which; the text itself is as it is, to be quoted in an edit."""
    total = len(lines)
    if said.offset > max(total, 1):
        raise Refused(f"{place.shown} has {plural(total, 'line')}; there is no line {said.offset:,}.")
    if not total:
        return f"{place.shown} is empty."
    taken: list[str] = []
    room = OUTPUT_CHARS
    for line in lines[said.offset - 1 : said.offset - 1 + said.limit]:
        shown = line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]}[… {len(line) - LONGEST_LINE:,} more]"
        room -= len(shown) + 1
        if room < 0 and taken:
            break
        taken.append(shown)
    last = said.offset - 1 + len(taken)
    head = f"{place.shown}, {plural(total, 'line')}" if whole else f"{place.shown}, its first {total:,} lines"
    if len(taken) < total:
        head += f", here {said.offset:,}–{last:,}"
    if last < total:
        head += f"; go on with offset {last + 1}"
    if encoding not in ("utf-8", "utf-8-sig"):
        head += f"; read as {encoding}"
    return f"[{head}]\n" + "\n".join(taken)


async def _prepare_list(site: Site, said: ListDir) -> Prepared:
    place = site.place(said.path)

    async def run(call: Call) -> ToolOutcome:
        return await asyncio.to_thread(_list, place, said.depth)

    return Prepared(run, outside(place, "list", below=True))


@dataclass(slots=True)
class _Listing:
    lines: list[str]
    left_out: int = 0

    def add(self, line: str) -> None:
        if len(self.lines) < ENTRIES:
            self.lines.append(line)
        else:
            self.left_out += 1


def _list(place: Place, depth: int) -> ToolOutcome:
    listing = _Listing([])
    try:
        with way_to(place, place.path.parent) as folder:
            flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
            handle = os.open(place.path.name or ".", flags, dir_fd=folder)
    except NotADirectoryError as error:
        raise Refused(f"{place.shown} is no folder; read_file reads a file.") from error
    except OSError as error:
        raise refusal(place, error) from error
    try:
        _list_folder(handle, listing, depth, "")
    finally:
        os.close(handle)
    if not listing.lines:
        return ToolOutcome(f"{place.shown} is empty.")
    if listing.left_out:
        listing.lines.append(f"[{listing.left_out:,} more entries left out]")
    return ToolOutcome("\n".join(listing.lines))


def _list_folder(handle: int, listing: _Listing, depth: int, indent: str) -> None:
    with os.scandir(handle) as found:
        entries = sorted(found, key=lambda entry: (not entry.is_dir(follow_symlinks=False), entry.name.lower()))
    for entry in entries:
        name = entry.name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        try:
            mode = os.stat(entry.name, dir_fd=handle, follow_symlinks=False)
        except OSError:
            listing.add(f"{indent}{name}  (can't be looked at)")
            continue
        if stat.S_ISDIR(mode.st_mode):
            listing.add(f"{indent}{name}/")
            if depth > 1 and name != ".git":
                _list_deeper(handle, entry.name, listing, depth - 1, indent + "  ")
        elif stat.S_ISLNK(mode.st_mode):
            listing.add(f"{indent}{name} → {os.readlink(entry.name, dir_fd=handle)}")
        elif stat.S_ISREG(mode.st_mode):
            listing.add(f"{indent}{name}  {mode.st_size:,}")
        else:
            listing.add(f"{indent}{name}  ({kind_of(mode.st_mode)})")


def _list_deeper(handle: int, name: str, listing: _Listing, depth: int, indent: str) -> None:
    try:
        inner = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=handle)
    except OSError:
        listing.add(f"{indent}(can't be opened)")
        return
    try:
        _list_folder(inner, listing, depth, indent)
    finally:
        os.close(inner)


TOOLS = (
    tool(
        "read_file",
        "Read a text file, or some lines of it. Read a file before you edit it.",
        ReadFile,
        _prepare_read,
        family=FAMILY,
        access=Access.READ,
    ),
    tool(
        "list_dir",
        "List a folder: names, sizes in bytes, links with where they lead.",
        ListDir,
        _prepare_list,
        family=FAMILY,
        access=Access.READ,
    ),
)
