"""``perception.md``: the perception as a file that people and programs edit (``semantics.md`` §5).

A document is its lines in chunks: headings, entries, and everything else (comments, prose, sections of other names).
Nothing is lost: a document is written as it was read, and a change rewrites the lines of the changed entry alone. The
form is the source document's: ``## Invariants`` as a list of ``- key: value``, ``## Frame`` and ``## Working set`` as
``key: value`` lines, whose lists follow indented. The working set may stand on one line in the dense notation.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from milk_tui.core import perception, perception_dense
from milk_tui.core import text as texts
from milk_tui.core.perception import key_line
from milk_tui.core.records import Layer, PerceptionEntry

NAME = "perception.md"
TITLES = {Layer.INVARIANT: "Invariants", Layer.FRAME: "Frame", Layer.WORKING: "Working set"}
_HEADING = re.compile(r"^##\s+(?P<title>[^#].*?)\s*#*$")
_SECTIONS = {
    "invariants": Layer.INVARIANT,
    "invariant": Layer.INVARIANT,
    "frame": Layer.FRAME,
    "working set": Layer.WORKING,
    "working": Layer.WORKING,
}
_ORDER = {
    Layer.FRAME: ("slice", "story", "acceptance", "decided", "open", "constraints"),
    Layer.WORKING: ("file", "hypothesis", "next", "touched", "recent-tool-results"),
    Layer.INVARIANT: (),
}
"""In which order keys stand in a file that is written anew; others follow as they came."""

Key = tuple[Layer, str]


class Chunk(Struct, frozen=True, kw_only=True):
    """Some lines of a document. ``key`` is empty for what is no entry; a heading has a layer and ``heading``."""

    lines: tuple[str, ...]
    layer: Layer | None = None
    key: str = ""
    heading: bool = False


class Document(Struct, frozen=True):
    chunks: tuple[Chunk, ...] = ()


def parse(text: str) -> Document:
    """The document of a file; every text is one."""
    chunks: list[Chunk] = []
    layer: Layer | None = None
    open_entry = False
    for raw, comment in _marked(texts.clean(text).split("\n")):
        if comment:
            chunks.append(Chunk(lines=(raw,), layer=layer))
            continue
        if raw.startswith("#"):
            heading = _HEADING.match(raw)
            if heading or raw.startswith("# "):
                layer = _SECTIONS.get(heading["title"].lower()) if heading else None
                chunks.append(Chunk(lines=(raw,), layer=layer, heading=True))
            else:
                chunks.append(Chunk(lines=(raw,), layer=layer))
            open_entry = False
            continue
        if layer is None or not raw.strip():
            chunks.append(Chunk(lines=(raw,), layer=layer))
            continue
        if layer is Layer.WORKING and perception_dense.parse(raw) is not None:
            chunks.append(Chunk(lines=(raw,), layer=layer, key=perception_dense.WORD))
            open_entry = False
        elif match := key_line(layer, raw.rstrip(), inside=open_entry):
            chunks.append(Chunk(lines=(raw,), layer=layer, key=match[0]))
            open_entry = True
        elif open_entry or raw.lstrip().startswith(("- ", "* ")):
            _continue(chunks, raw, layer)
            open_entry = True
        else:
            chunks.append(Chunk(lines=(raw,), layer=layer))
    return Document(tuple(chunks))


def _continue(chunks: list[Chunk], raw: str, layer: Layer) -> None:
    """A line of the entry that is open, also behind a comment or an empty line; a list without a key is a note."""
    for index in range(len(chunks) - 1, -1, -1):
        if chunks[index].heading:
            break
        if chunks[index].key:
            chunks[index] = replace(chunks[index], lines=(*chunks[index].lines, *_between(chunks, index), raw))
            del chunks[index + 1 :]
            return
    chunks.append(Chunk(lines=(raw,), layer=layer, key=perception.NOTE))


def _between(chunks: Sequence[Chunk], index: int) -> list[str]:
    return [line for chunk in chunks[index + 1 :] for line in chunk.lines]


def render(document: Document) -> str:
    """The file's text: of an unchanged document, the text that was read."""
    return "\n".join(line for chunk in document.chunks for line in chunk.lines)


def entries(document: Document) -> tuple[PerceptionEntry, ...]:
    """What the document says, in its order; an entry without a value is none."""
    found: dict[Key, list[str]] = {}
    for chunk in document.chunks:
        if chunk.layer is None or not chunk.key:
            continue
        for entry in _read(chunk):
            gathers = entry.key in perception.LISTS
            found.setdefault((chunk.layer, entry.key), [])
            if not gathers:
                found[(chunk.layer, entry.key)].clear()
            found[(chunk.layer, entry.key)].append(perception.rendered(entry) if entry.value else "")
    made = []
    for (layer, key), parts in found.items():
        said = [part for part in parts if part]
        if not said:
            continue
        [first, *more] = [perception.parse(layer, part)[0] for part in said]
        lines = [_as_item(each) for each in (first, *more)] if more else []
        made.append(perception.made(layer, key, [line for item in lines for line in item]) if more else first)
    return tuple(entry for entry in made if entry.value)


def _as_item(entry: PerceptionEntry) -> list[str]:
    lines = entry.value.splitlines()
    return lines if len(lines) > 1 else [f"{entry.value}{perception.marks_of(entry)}"]


def _read(chunk: Chunk) -> tuple[PerceptionEntry, ...]:
    assert chunk.layer is not None
    return perception.parse(chunk.layer, "\n".join(line for line, comment in _marked(chunk.lines) if not comment))


def _marked(lines: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """The lines, and whether each is part of a comment; one that never ends is a comment of one line."""
    end = -1
    for index, line in enumerate(lines):
        if index > end and line.lstrip().startswith("<!--"):
            end = next((i for i in range(index, len(lines)) if "-->" in lines[i]), index)
        yield line, index <= end


def updated(document: Document, wanted: Iterable[PerceptionEntry], *, dense: bool = False) -> Document:
    """The document that says exactly these entries: unchanged ones keep their lines, others are written anew where
    they stood, those that are gone leave, new ones come last in their section.

    ``dense``: the working set is written on one line. A comment that was never closed is closed, so that no entry can
    end it.
    """
    document = parse("\n".join(_closed(render(document).split("\n"))))
    want = {(entry.layer, entry.key): entry for entry in map(perception.normal, wanted) if entry.value}
    have = {(entry.layer, entry.key): entry for entry in entries(document)}
    kept: list[Chunk] = []
    written: set[Key] = set()
    for chunk in _with_sections(document).chunks:
        if chunk.layer is None or not chunk.key:
            kept.append(chunk)
            continue
        keys = [(chunk.layer, entry.key) for entry in _read(chunk)]
        if all(perception.same(want.get(key), have.get(key)) for key in keys) and not _turns_dense(chunk, dense):
            kept.append(chunk)
            written.update(keys)
            continue
        comments = tuple(line for line, comment in _marked(chunk.lines) if comment)
        lines: list[str] = []
        for key in keys:
            if key in want and key not in written and not (dense and key[0] is Layer.WORKING):
                written.add(key)
                lines += entry_lines(want[key])
        if lines or comments:
            kept.append(replace(chunk, lines=(*lines, *comments), key=chunk.key if lines else ""))
    for layer in Layer:
        missing = [entry for key, entry in want.items() if key[0] is layer and key not in written]
        _insert(kept, layer, _lines_of(layer, missing, dense))
    return Document(tuple(kept))


def _closed(lines: Sequence[str]) -> Iterator[str]:
    for index, line in enumerate(lines):
        opens = line.lstrip().startswith("<!--") and not any("-->" in later for later in lines[index:])
        yield f"{line} -->" if opens else line


def _turns_dense(chunk: Chunk, dense: bool) -> bool:
    return dense and chunk.layer is Layer.WORKING


def _lines_of(layer: Layer, missing: Sequence[PerceptionEntry], dense: bool) -> list[Chunk]:
    if dense and layer is Layer.WORKING and missing:
        return [Chunk(lines=(perception.dense(missing),), layer=layer, key=perception_dense.WORD)]
    order = {key: index for index, key in enumerate(_ORDER[layer])}
    ranked = sorted(missing, key=lambda entry: order.get(entry.key, len(order)))
    return [Chunk(lines=tuple(entry_lines(entry)), layer=layer, key=entry.key) for entry in ranked]


def entry_lines(entry: PerceptionEntry) -> list[str]:
    """An entry as it stands in the file."""
    lines = perception.rendered(entry).split("\n")
    return [f"- {lines[0]}", *lines[1:]] if entry.layer is Layer.INVARIANT else lines


def _with_sections(document: Document) -> Document:
    chunks = list(document.chunks)
    if not any(line.strip() for chunk in chunks for line in chunk.lines):
        chunks = [Chunk(lines=(f"# {NAME}",), heading=True)]
    while chunks and chunks[-1].lines == ("",):
        chunks.pop()
    for layer, title in TITLES.items():
        if not any(chunk.heading and chunk.layer is layer for chunk in chunks):
            chunks += [Chunk(lines=("",)), Chunk(lines=(f"## {title}",), layer=layer, heading=True)]
    return Document((*chunks, Chunk(lines=("",), layer=chunks[-1].layer)))


def _insert(chunks: list[Chunk], layer: Layer, new: Sequence[Chunk]) -> None:
    """Behind the last entry of the layer's first section, before the empty lines that end it."""
    start = next(i for i, chunk in enumerate(chunks) if chunk.heading and chunk.layer is layer)
    end = start + 1
    while end < len(chunks) and not chunks[end].heading:
        end += 1
    while end > start + 1 and not any(line.strip() for line in chunks[end - 1].lines):
        end -= 1
    chunks[end:end] = new
