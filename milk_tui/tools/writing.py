"""``write_file``, ``edit_file``, ``move_file``, ``delete_file``: shown as they would be, asked, and undone if need be.

What is asked about is what is done: the new content is worked out before the person is asked, and it is written only
when the file is still the one that was shown.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import stat
from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from milk_tui.core.permissions import Scope
from milk_tui.core.tool_calls import ToolOutcome
from milk_tui.tools import changes
from milk_tui.tools.base import EVERY_SCOPE, Access, Arguments, Ask, Call, Prepared, Refused, cut, plural, tool
from milk_tui.tools.changes import LARGEST, Diff
from milk_tui.tools.places import Place, folder_of, kind_of, open_file, refusal, status
from milk_tui.tools.site import Site, digest
from milk_tui.tools.texts import Text, binary, decode

FAMILY = "files"
DIFF_CHARS = 6_000
"""Of a diff in the answer to a model."""
_NEW_MODE = 0o666


class WriteFile(Arguments, frozen=True, kw_only=True):
    path: Annotated[str, Meta(description="The file; folders that are missing are made.")]
    content: Annotated[str, Meta(description="The whole new content.")]


class EditFile(Arguments, frozen=True, kw_only=True):
    path: Annotated[str, Meta(description="The file.")]
    old_text: Annotated[str, Meta(description="The exact text to replace, with its white space and enough around it.")]
    new_text: Annotated[str, Meta(description="What stands there instead.")]
    all: Annotated[bool, Meta(description="Replace every occurrence; else there must be exactly one.")] = False


class MoveFile(Arguments, frozen=True, kw_only=True):
    path: Annotated[str, Meta(description="The file.")]
    to: Annotated[str, Meta(description="Its new path; nothing may be there.")]


class DeleteFile(Arguments, frozen=True, kw_only=True):
    path: Annotated[str, Meta(description="The file. The person can bring it back.")]


@dataclass(frozen=True, slots=True)
class _Found:
    """A file before it is changed; ``data`` is ``None`` when there is none."""

    place: Place
    data: bytes | None
    mode: int | None

    @property
    def stamp(self) -> str | None:
        return None if self.data is None else digest(self.data)


def _look(place: Place, *, needed: bool = False) -> _Found:
    """The file as it is. Raises ``Refused`` for what is no ordinary file, or too large to be put back."""
    there = status(place)
    if there is None:
        if needed:
            raise Refused(f"There is no {place.shown}. find_files and list_dir show what there is.")
        return _Found(place, None, None)
    if not stat.S_ISREG(there.st_mode):
        raise Refused(f"{place.shown} is {kind_of(there.st_mode)}; only ordinary files are changed.")
    if there.st_size > LARGEST:
        raise Refused(f"{place.shown} has {there.st_size:,} bytes; above {LARGEST:,} it could not be put back.")
    handle = open_file(place)
    with os.fdopen(handle, "rb") as file:
        data = file.read(LARGEST + 1)
    return _Found(place, data, stat.S_IMODE(there.st_mode))


def _known(site: Site, found: _Found, *, must_read: bool) -> None:
    """Refuse what changed on disk since an agent read it, and what was never read where that matters."""
    seen = site.seen(found.place.path)
    if seen is None:
        if must_read and found.data is not None:
            raise Refused(f"{found.place.shown} exists and was not read yet. Read it first, then write it or edit it.")
        return
    if seen != found.stamp:
        what = "is gone" if found.data is None else "changed on disk"
        raise Refused(f"{found.place.shown} {what} since it was read; nothing was written. Read it again.")


def _asked(place: Place, doing: str, change: Diff, *, pattern: str = "") -> Ask:
    where = "" if place.inside else ", outside the working directory"
    counts = f" ({change.counts})" if change.added or change.removed else ""
    return Ask(
        f"{doing} {place.shown}{counts}{where}",
        body=change.text,
        language="diff" if change.text else "",
        pattern=pattern if place.inside else "",
        scopes=EVERY_SCOPE if place.inside else (Scope.ONCE,),
    )


def _answer(doing: str, place: Place, change: Diff) -> ToolOutcome:
    counts = f": {change.counts}" if change.added or change.removed else ""
    body = f"\n{cut(change.text, DIFF_CHARS)}" if change.text else ""
    return ToolOutcome(f"{doing} {place.shown}{counts}{body}")


async def _prepare_write(site: Site, said: WriteFile) -> Prepared:
    place = site.place(said.path)
    found = await asyncio.to_thread(_look, place)
    _known(site, found, must_read=True)
    try:
        like = decode(found.data) if found.data is not None and not binary(found.data) else Text("")
        data = like.encode(said.content) if "\r" not in said.content else said.content.encode(like.encoding)
    except UnicodeEncodeError:
        data = said.content.encode("utf-8", "replace")
    if len(data) > LARGEST:
        raise Refused(f"The content has {len(data):,} bytes; at most {LARGEST:,} are written.")
    if data == found.data:
        raise Refused(f"{place.shown} has that content already; nothing was written.")
    return await _replacing(site, found, data, "write" if found.data is not None else "create", "wrote", "write")


async def create(site: Site, path: str, content: str) -> Prepared:
    """A new file with this content. Raises ``Refused`` when something is there."""
    place = site.place(path)
    found = await asyncio.to_thread(_look, place)
    if found.data is not None:
        raise Refused(f"{place.shown} is there already; name a new file.")
    return await _replacing(site, found, content.encode("utf-8", "replace"), "create", "wrote", "write")


async def _prepare_edit(site: Site, said: EditFile) -> Prepared:
    place = site.place(said.path)
    found = await asyncio.to_thread(_look, place, needed=True)
    assert found.data is not None
    if kind := binary(found.data):
        raise Refused(f"{place.shown} holds {kind}; it can't be edited as text.")
    _known(site, found, must_read=False)
    text = decode(found.data)
    new = _edited(place, text, said)
    try:
        data = text.encode(new)
    except UnicodeEncodeError as error:
        raise Refused(f"{place.shown} is in {text.encoding}, which has no {error.object[error.start]!r}.") from error
    if len(data) > LARGEST:
        raise Refused(f"{place.shown} would have {len(data):,} bytes; at most {LARGEST:,} are written.")
    return await _replacing(site, found, data, "edit", "edited", "edit")


def _edited(place: Place, text: Text, said: EditFile) -> str:
    """The text with the replacement. Raises ``Refused`` when the old text isn't there, or not once."""
    old, new = (part.replace("\r\n", "\n") if text.crlf else part for part in (said.old_text, said.new_text))
    if not old:
        raise Refused("old_text is empty; write_file writes a whole file.")
    if old == new:
        raise Refused("old_text and new_text are the same; nothing was written.")
    times = text.text.count(old)
    if not times:
        raise Refused(f"old_text is not in {place.shown}. {_nearest(text.text, old)}")
    if times > 1 and not said.all:
        raise Refused(
            f"old_text is in {place.shown} {times:,} times. Give more of what stands around it, or set all to true."
        )
    return text.text.replace(old, new)


def _nearest(text: str, old: str) -> str:
    """Where the text differs in white space alone, or where its first line is: what helps to quote it right."""
    first = next((line.strip() for line in old.split("\n") if line.strip()), "")
    lines = [number for number, line in enumerate(text.split("\n"), 1) if first and first == line.strip()]
    if lines:
        where = ", ".join(f"{number:,}" for number in lines[:5])
        return f"Its first line is on line {where}, with other white space or another following text; read it again."
    return "Read the file again and quote it exactly."


async def _replacing(site: Site, found: _Found, data: bytes, verb: str, done: str, kind: str) -> Prepared:
    place = found.place
    change = await asyncio.to_thread(changes.diff, place.name, found.data, data)

    async def run(call: Call) -> ToolOutcome:
        await _apply(site, found, data, kind)
        site.saw(place.path, data)
        return _answer("created" if found.data is None else done, place, change)

    return Prepared(run, _asked(place, verb, change, pattern=place.pattern))


async def _apply(site: Site, found: _Found, data: bytes | None, verb: str) -> None:
    """Keep what was there, then write, or delete with ``None``. Raises ``Refused`` when it is not as it was shown."""
    place = found.place
    now = await asyncio.to_thread(_look, place)
    if now.stamp != found.stamp:
        raise Refused(f"{place.shown} changed on disk while the answer was waited for; nothing was written.")
    kept = await site.changes.keep(place.path, verb, found.data, data, found.mode)
    try:
        await asyncio.to_thread(put, place, data, found.mode)
    except OSError as error:
        await site.changes.take_back(kept)
        raise refusal(place, error) from error
    except Refused:
        await site.changes.take_back(kept)
        raise
    site.changed()


def put(place: Place, data: bytes | None, mode: int | None = None) -> None:
    """Let a file have this content, all at once; ``None`` removes it. Raises ``OSError`` and ``Refused``."""
    if data is None:
        with folder_of(place) as folder:
            os.unlink(place.path.name, dir_fd=folder)
        return
    with folder_of(place, make=True) as folder:
        name = f".{place.path.name[:100]}.{secrets.token_hex(4)}.tmp"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        handle = os.open(name, flags, _NEW_MODE if mode is None else 0o600, dir_fd=folder)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                if mode is not None:
                    os.fchmod(file.fileno(), mode)
                file.flush()
                os.fsync(file.fileno())
            os.replace(name, place.path.name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(name, dir_fd=folder)
            raise


async def _prepare_move(site: Site, said: MoveFile) -> Prepared:
    source, target = site.place(said.path), site.place(said.to)
    found = await asyncio.to_thread(_look, source, needed=True)
    _known(site, found, must_read=False)
    if status(target) is not None:
        raise Refused(f"{target.shown} is there already; nothing was moved.")
    out = target if not target.inside else source
    where = "" if out.inside else ", outside the working directory"
    ask = Ask(f"move {source.shown} to {target.shown}{where}", scopes=EVERY_SCOPE if out.inside else (Scope.ONCE,))

    async def run(call: Call) -> ToolOutcome:
        if await asyncio.to_thread(status, target) is not None:
            raise Refused(f"{target.shown} is there now; nothing was moved.")
        moved = _Found(target, None, found.mode)
        await _apply(site, moved, found.data, "move")
        try:
            await _apply(site, found, None, "move")
        except Refused:
            await _apply(site, _Found(target, found.data, found.mode), None, "move")
            raise
        site.forget(source.path)
        site.saw(target.path, found.data or b"")
        return ToolOutcome(f"moved {source.shown} to {target.shown}")

    return Prepared(run, ask)


async def _prepare_delete(site: Site, said: DeleteFile) -> Prepared:
    place = site.place(said.path, follow=False)
    there = status(place)
    if there is not None and stat.S_ISDIR(there.st_mode):
        raise Refused(f"{place.shown} is a folder; only files are deleted.")
    found = await asyncio.to_thread(_look, place, needed=True)
    _known(site, found, must_read=False)
    change = await asyncio.to_thread(changes.diff, place.name, found.data, None)

    async def run(call: Call) -> ToolOutcome:
        await _apply(site, found, None, "delete")
        site.forget(place.path)
        size = plural(len(found.data or b""), "byte")
        return ToolOutcome(f"deleted {place.shown} ({size}); the person can bring it back")

    return Prepared(run, _asked(place, "delete", change, pattern=""))


TOOLS = (
    tool(
        "write_file",
        "Write a new file, or the whole of one that you have read. For a part of a file use edit_file.",
        WriteFile,
        _prepare_write,
        family=FAMILY,
        access=Access.WRITE,
    ),
    tool(
        "edit_file",
        "Replace one exact piece of text in a file. Refused when the file changed since you read it.",
        EditFile,
        _prepare_edit,
        family=FAMILY,
        access=Access.WRITE,
    ),
    tool("move_file", "Move or rename a file.", MoveFile, _prepare_move, family=FAMILY, access=Access.WRITE),
    tool("delete_file", "Delete a file.", DeleteFile, _prepare_delete, family=FAMILY, access=Access.WRITE),
)
