"""The keys that the program itself uses, taken out of whatever is kept, logged or shown with an error (``quality.md``,
secrets).

A key is known by its value: that of every environment variable whose name says key, token, secret or password, and of
those that the config names. What merely looks like a key is ``core.secret_scan``'s.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping

SHORTEST = 8
"""Shorter values are left: they would take words out."""

_says_secret = re.compile(r"(?i)(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL)S?(?:_|$)").search
_named: set[str] = set()


def also(names: Iterable[str]) -> None:
    """Environment variables that hold a key whatever they are called."""
    _named.update(name for name in names if name)


def values(environ: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """The keys, the longest first, so that one that holds another goes whole."""
    known = os.environ if environ is None else environ
    found = {value for name, value in known.items() if name in _named or _says_secret(name)}
    return tuple(sorted((value for value in found if len(value) >= SHORTEST), key=len, reverse=True))


def out(text: str, environ: Mapping[str, str] | None = None) -> str:
    """The text with each of the keys as so many bullets: places in it stay what they were."""
    for key in values(environ) if text else ():
        if key in text:
            text = text.replace(key, "•" * len(key))
    return text
