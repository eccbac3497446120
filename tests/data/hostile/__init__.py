"""Text that somebody wrote to do harm, one JSON object a line, in ASCII so that reading the files is safe.

``id``; ``kind``; ``text``, or a list of ``[piece, times]`` where it is long, or ``hex`` for bytes that are no UTF-8;
``never``: what must not happen (``quality.md``, "hostile text"). Nothing here is a real attack on anybody: hosts are
``example`` names, commands touch a file called ``PWNED``.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent
LONG = 50_000
"""Characters from which a text is tried alone."""


@dataclass(frozen=True, slots=True)
class Item:
    id: str
    kind: str
    never: str
    text: str
    data: bytes
    """The same as it would stand in a file."""

    @property
    def long(self) -> bool:
        return len(self.text) >= LONG


@cache
def items() -> tuple[Item, ...]:
    """All of them, in the order of the files."""
    found = []
    for file in sorted(FOLDER.glob("*.jsonl")):
        for line in file.read_text("ascii").splitlines():
            found.append(_item(json.loads(line)))
    return tuple(found)


def short_items() -> tuple[Item, ...]:
    return tuple(item for item in items() if not item.long)


def _item(fields: dict[str, object]) -> Item:
    if "hex" in fields:
        data = bytes.fromhex(str(fields["hex"]))
        text = data.decode("utf-8", "surrogateescape")
    else:
        said = fields["text"]
        text = said if isinstance(said, str) else "".join(piece * times for piece, times in said)  # type: ignore[attr-defined]
        data = text.encode("utf-8", "surrogatepass")
    return Item(str(fields["id"]), str(fields["kind"]), str(fields["never"]), text, data)
