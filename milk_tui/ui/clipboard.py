"""The image in the clipboard, through the desktop's own programs; a terminal passes on text alone."""

from __future__ import annotations

import asyncio
import os
import secrets
import shutil
from pathlib import Path

from milk_tui.core.attachments import IMAGE_BYTES, image_type
from milk_tui.core.errors import MilkError

WAIT_S = 5.0
PROGRAMS: tuple[tuple[str, ...], ...] = (
    ("wl-paste", "--no-newline", "--type", "image/png"),
    ("xclip", "-selection", "clipboard", "-target", "image/png", "-out"),
    ("pngpaste", "-"),
)
_ENDINGS = {"image/png": "png", "image/jpeg": "jpg", "image/gif": "gif", "image/webp": "webp"}


async def image_from_clipboard(folder: Path) -> Path:
    """Keep the clipboard's image in ``folder``, for its owner alone; the file. Raises MilkError when there is none."""
    found = [program for program in PROGRAMS if shutil.which(program[0])]
    if not found:
        names = ", ".join(program[0] for program in PROGRAMS)
        raise MilkError(f"no program to read the clipboard was found ({names})", "save the image and name it with @")
    for program in found:
        data = await _output(program)
        if mime := image_type(data):
            if len(data) > IMAGE_BYTES:
                raise MilkError(f"the image has {len(data) / 1e6:.1f} MB; {IMAGE_BYTES / 1e6:.0f} MB is the most")
            path = folder / f"clipboard-{secrets.token_hex(4)}.{_ENDINGS[mime]}"
            number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(number, "wb") as file:
                file.write(data)
            return path
    raise MilkError("there is no image in the clipboard")


async def _output(program: tuple[str, ...]) -> bytes:
    """What the program prints; nothing when it fails or takes too long."""
    try:
        process = await asyncio.create_subprocess_exec(
            *program,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            limit=IMAGE_BYTES,
        )
    except OSError:
        return b""
    try:
        async with asyncio.timeout(WAIT_S):
            out, _ = await process.communicate()
    except TimeoutError:
        process.kill()
        await process.wait()
        return b""
    return out if process.returncode == 0 else b""
