"""The person's hand on what the agents changed in files: which, how, and putting a file back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from milk_tui.core.errors import MilkError
from milk_tui.core.records import Session
from milk_tui.store import Store, file_changes
from milk_tui.store.file_changes import ChangedFile
from milk_tui.tools import changes
from milk_tui.tools.base import Refused
from milk_tui.tools.changes import Changes, Diff
from milk_tui.tools.places import Place, open_file, status
from milk_tui.tools.site import Site
from milk_tui.tools.texts import binary, decode
from milk_tui.tools.writing import put


@dataclass(frozen=True, slots=True)
class Changed:
    """A changed file as the person sees it. ``now`` is what is on disk; ``None`` is no file."""

    name: str
    file: ChangedFile
    now: bytes | None
    diff: Diff
    """From before the session's first change to now."""

    @property
    def since(self) -> bool:
        """Whether somebody else changed it after the agents did."""
        return self.now != self.file.after

    @property
    def texts(self) -> tuple[str | None, str | None]:
        """Before and now, as text; what is no text as a word about it."""
        return _text(self.file.before), _text(self.now)


class ChangesDesk:
    """What the tools changed in a session's files."""

    def __init__(self, store: Store, session: Callable[[], Session], site: Site) -> None:
        self._store = store
        self._session = session
        self._site = site

    async def files(self) -> list[Changed]:
        """The changed files, in the order in which they were first changed."""
        found = await self._store.read(partial(file_changes.files, session_id=self._session().id))
        return [await asyncio.to_thread(self._look, file) for file in found]

    async def named(self, name: str) -> Changed:
        """The changed file with that path, or the only one whose path ends so. Raises MilkError."""
        found = await self.files()
        exact = [file for file in found if name in (file.name, file.file.path)]
        fits = exact or [file for file in found if file.name.endswith(name)]
        if len(fits) != 1:
            what = "No changed file is called" if not fits else "Several changed files end in"
            raise MilkError(f"{what} {name}.", "/changes lists them.")
        return fits[0]

    async def revert(self, name: str, *, insist: bool = False) -> Changed:
        """Put a file back as it was before the session. Raises MilkError when it can't be, or when somebody else
        changed it since and the person does not ``insist``."""
        changed = await self.named(name)
        if changed.since and not insist:
            raise MilkError(f"{changed.name} was changed by something else since.", "Once more puts it back anyway.")
        place = self._place(changed.file.path)
        kept = Changes(self._store, self._session().id)
        number = await kept.keep(place.path, "revert", changed.now, changed.file.before, changed.file.mode)
        try:
            await asyncio.to_thread(self._put, place, changed)
        except (OSError, Refused) as error:
            await kept.take_back(number)
            raise MilkError(f"{changed.name} could not be put back: {error}.") from error
        self._site.forget(place.path)
        self._site.changed()
        return changed

    def _put(self, place: Place, changed: Changed) -> None:
        if changed.file.before is None and status(place) is None:
            return
        put(place, changed.file.before, changed.file.mode)

    def _place(self, path: str) -> Place:
        try:
            return self._site.place(path, follow=False)
        except Refused as error:
            raise MilkError(str(error)) from error

    def _look(self, file: ChangedFile) -> Changed:
        now: bytes | None = None
        name = file.path
        try:
            place = self._site.place(file.path, follow=False)
            name = place.name
            if status(place) is not None:
                with open(open_file(place), "rb") as handle:  # noqa: PTH123 (a descriptor, not a path)
                    now = handle.read(changes.LARGEST + 1)
        except (Refused, OSError):
            name = str(Path(file.path))
        return Changed(name, file, now, changes.diff(name, file.before, now))


def _text(data: bytes | None) -> str | None:
    if data is None:
        return None
    kind = binary(data)
    return f"({kind}, {len(data):,} bytes)" if kind else decode(data).text
