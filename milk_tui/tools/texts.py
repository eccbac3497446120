"""Bytes of a file as text and back: encodings, line ends, and what is no text."""

from __future__ import annotations

import codecs
from dataclasses import dataclass

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_MAGIC = (
    (b"\x89PNG", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF8", "a GIF picture"),
    (b"%PDF", "a PDF"),
    (b"PK\x03\x04", "a ZIP archive"),
    (b"\x1f\x8b", "gzip data"),
    (b"\x7fELF", "a program"),
    (b"SQLite format 3", "an SQLite database"),
)
_LOOKED_AT = 8_192


@dataclass(frozen=True, slots=True)
class Text:
    """A file's text; ``encoding`` writes it back as it was. ``crlf``: its lines end in CR LF on disk, here in LF."""

    text: str
    encoding: str = "utf-8"
    crlf: bool = False

    def encode(self, text: str) -> bytes:
        """Another text with this one's encoding and line ends. Raises UnicodeEncodeError for what it can't hold."""
        return (text.replace("\n", "\r\n") if self.crlf else text).encode(self.encoding)


def binary(data: bytes) -> str:
    """What kind of data it is when it is no text; empty for text."""
    head = data[:_LOOKED_AT]
    kind = next((words for magic, words in _MAGIC if head.startswith(magic)), "")
    if kind:
        return kind
    if any(head.startswith(bom) for bom, _ in _BOMS[1:]):
        return ""
    return "binary data" if b"\0" in head else ""


def decode(data: bytes) -> Text:
    """The text of a file: by its mark, else UTF-8, else Windows-1252 or Latin-1, which every file can be read as."""
    encoding = next((name for bom, name in _BOMS if data.startswith(bom)), "utf-8")
    for attempt in (encoding, "cp1252"):
        try:
            text = data.decode(attempt)
            break
        except UnicodeDecodeError:
            continue
    else:
        attempt = "latin-1"
        text = data.decode(attempt)
    ends = text.count("\r\n")
    crlf = ends > 0 and ends == text.count("\n") and text.count("\r") == ends
    return Text(text.replace("\r\n", "\n") if crlf else text, attempt, crlf)
