"""What comes with a prompt: files, folders and images that it mentions, and the output of commands run before it.

A mention is ``@path``, ``@path:10-20`` for some lines of it, or ``@"path with spaces"``; the ``@`` begins a word and
stands outside Markdown code. What is attached stands before the prompt, each in a labelled block: it is material, and
its text can neither end its block nor begin another.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from enum import StrEnum

from msgspec import Struct

from milk_tui.core.text import clean, one_line

MOST = 20
"""Attachments of one prompt."""
FILE_CHARS = 48_000
TOTAL_CHARS = 160_000
COMMAND_CHARS = 24_000
"""Of a command's output, for the agents; the person sees what was kept of it."""
END_CHARS = 100_000
"""Characters at each end of a prompt in which mentions are looked for."""
IMAGE_BYTES = 5_000_000
IMAGE_TYPES = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
}

_MENTION = re.compile(r'(?<![\w@/.\\])@(?:"(?P<quoted>[^"\n]{1,400})"|(?P<plain>[^\s"`<>|*?]{1,400}))')
_LINES = re.compile(r":(?P<first>\d{1,7})(?:-(?P<last>\d{1,7}))?\Z")
_TRAILING = ".,;:!?)]}'’”…"
_CODE = re.compile(r"^ {0,3}(```|~~~).*?(?:^ {0,3}\1|\Z)|`[^`\n]+`", re.MULTILINE | re.DOTALL)


class Kind(StrEnum):
    FILE = "file"
    FOLDER = "folder"
    IMAGE = "image"
    COMMAND = "command"


class Mention(Struct, frozen=True, kw_only=True):
    """A path that a prompt names. ``lines``: first and last, 1-based, when it names some."""

    path: str
    lines: tuple[int, int] | None = None

    @property
    def looks_like_a_path(self) -> bool:
        """True when it can hardly be anything else, so that a miss is worth a word."""
        if self.lines is not None:
            return True
        return bool(re.fullmatch(r"[^()=]*(?:/[^()=]*|\.[A-Za-z0-9]{1,5})", self.path)) and self.path.strip("./") != ""


class Attachment(Struct, frozen=True, kw_only=True):
    """One thing that came with a prompt; texts are clean. ``data`` and ``mime`` are an image's."""

    kind: Kind
    name: str
    text: str = ""
    note: str = ""
    """Which part it is, or what was left out."""
    mime: str = ""
    data: bytes | None = None
    ok: bool = True
    """False for a command that failed."""
    id: int = 0
    created_ms: int = 0


def mentions(prompt: str) -> list[Mention]:
    """The paths that a prompt names, each once, in order; at most ``MOST``. Of a huge one (a paste) both ends are read:
    there a person writes."""
    if len(prompt) > 2 * END_CHARS:
        prompt = f"{prompt[:END_CHARS]}\n{prompt[-END_CHARS:]}"
    if "@" not in prompt:
        return []
    text = _CODE.sub(lambda code: " " * len(code.group()), prompt)
    found: dict[tuple[str, tuple[int, int] | None], Mention] = {}
    for match in _MENTION.finditer(text):
        said = match.group("quoted") or match.group("plain").rstrip(_TRAILING)
        lines = None
        if match.group("quoted"):
            behind = _LINES_BEHIND.match(text[match.end() :])
            if behind and (found_lines := _LINES.search(behind.group())):
                lines = _span(found_lines)
        elif found_lines := _LINES.search(said):
            said, lines = said[: found_lines.start()], _span(found_lines)
        if said.strip():
            mention = Mention(path=said, lines=lines)
            found.setdefault((said, lines), mention)
        if len(found) >= MOST:
            break
    return list(found.values())


_LINES_BEHIND = re.compile(r":(?P<first>\d{1,7})(?:-(?P<last>\d{1,7}))?")


def _span(match: re.Match[str]) -> tuple[int, int]:
    first = max(1, int(match["first"]))
    last = int(match["last"]) if match["last"] else first
    return first, max(first, last)


def as_mention(path: str) -> str:
    """How a path is written in a prompt."""
    plain = re.fullmatch(r'[^\s"`<>|*?]+', path) and path[-1] not in _TRAILING and not _LINES.search(path)
    return f"@{path}" if plain else f'@"{path}"'


def mention_at(text: str, cursor: int) -> tuple[int, str] | None:
    """The mention that is being written at the cursor: where its ``@`` is, and what was written of the path."""
    at = text.rfind("@", 0, cursor)
    if at < 0 or (at > 0 and re.match(r"[\w@/.\\]", text[at - 1])):
        return None
    written = text[at + 1 : cursor]
    if written.startswith('"'):
        return None if '"' in written[1:] or "\n" in written else (at, written[1:])
    return None if re.search(r'[\s"`<>|*?]', written) else (at, written)


def cut_lines(text: str, lines: tuple[int, int] | None, limit: int = FILE_CHARS) -> tuple[str, str]:
    """Those lines of a text within ``limit`` characters, and a note on which part it is."""
    every = text.split("\n")
    total = len(every) - (every[-1] == "" and len(every) > 1)
    if lines is not None:
        first, last = lines[0], min(lines[1], total)
        text = "\n".join(every[first - 1 : last])
        note = f"lines {first}-{last} of {total}"
    else:
        note = f"{total:,} lines" if total != 1 else "1 line"
    if len(text) > limit:
        head = text[: limit * 3 // 4]
        tail = text[-limit // 4 :]
        left = len(text) - len(head) - len(tail)
        return f"{head}\n[… {left:,} characters left out …]\n{tail}", f"{note}, {left:,} characters left out"
    return text, note


def image_type(data: bytes) -> str:
    """An image's MIME type by its first bytes; empty when it is none that models take."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((mime for magic, mime in IMAGE_TYPES.items() if data.startswith(magic)), "")


def given(prompt: str, attached: Iterable[Attachment], limit: int = TOTAL_CHARS) -> str:
    """The prompt as an agent gets it: what came with it first, in at most ``limit`` characters, the person's words
    last."""
    every = tuple(attached)
    each_may = max(400, limit // max(1, len(every)))
    blocks = [block(each, each_may) for each in every]
    return "\n\n".join([*blocks, prompt]) if blocks else prompt


def block(attached: Attachment, limit: int = FILE_CHARS + 200) -> str:
    """One attachment as a labelled block, its text in at most ``limit`` characters."""
    name = one_line(clean(attached.name), 400).replace("]", ")")
    note = f" ({attached.note})" if attached.note else ""
    match attached.kind:
        case Kind.IMAGE:
            return f"[Image attached: {name}{note}]"
        case Kind.COMMAND:
            label = f"The person ran: {name}"
        case Kind.FOLDER:
            label = f"Folder attached: {name}{note}"
        case _:
            label = f"File attached: {name}{note}"
    text, _ = cut_lines(attached.text, None, min(limit, COMMAND_CHARS if attached.kind is Kind.COMMAND else limit))
    end = "End of what was run" if attached.kind is Kind.COMMAND else "End of attachment"
    return f"[{label}]\n{_contained(text)}\n[{end}]"


def images(attached: Sequence[Attachment]) -> tuple[str, ...]:
    """The images as data URLs, for models that take them."""
    import base64

    return tuple(
        f"data:{each.mime};base64,{base64.b64encode(each.data).decode()}"
        for each in attached
        if each.kind is Kind.IMAGE and each.data
    )


def _contained(text: str) -> str:
    """The text without a line that could be taken for a block's own."""
    return re.sub(
        r"^\[(?=(?:End of|File attached|Folder attached|Image attached|The person ran))", "⟦", text, flags=re.MULTILINE
    )
