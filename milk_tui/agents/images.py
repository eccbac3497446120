"""Images for models that take them, and what stands in their place for those that don't."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec.structs import replace

from milk_tui.core.records import ErrorKind, Message
from milk_tui.modelhost.protocol import Failed

NOT_SEEN = "[You can't see images: the images named above were not given to you. Say so when it matters.]"

_DATA_URL = re.compile(r"data:([\w.+-]+/[\w.+-]+);base64,([A-Za-z0-9+/=]+)\Z")
_IMAGES = re.compile(r"(?i)\bimage|\bvision\b|multi-?modal|image_url|content type|\bcontent\b.*\bstring\b")


def without_images(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The same messages for a model that sees none; each that had some says so."""
    return tuple(
        replace(message, images=(), content=f"{message.content}\n\n{NOT_SEEN}" if message.images else message.content)
        for message in messages
    )


def parted(images: Sequence[str]) -> list[tuple[str, str]]:
    """Media type and base64 data of each data URL; others are left out."""
    found = (_DATA_URL.match(image) for image in images)
    return [(match[1], match[2]) for match in found if match]


def refuses_images(failed: Failed) -> bool:
    """True when a request failed because it held images."""
    return failed.kind is ErrorKind.BAD_REQUEST and bool(_IMAGES.search(failed.message))
