"""The dense notation: the working set on one line, for models rather than for people (``semantics.md`` §5).

``work{f:src/points.ts;hyp:keyBlngsInTheSrvc;n:[flngTst|mnmlImpl]}``: entries are separated by ``;``, the lines of a
list by ``|``. A common word loses its inner vowels, to a code of its own (``core/dense_words.py``), and a capital
stands for the space before it. The folder of a path is written once (``%`` repeats the last one), and so is a longer
name (``~2`` is the second one). A backslash makes what follows mean itself. Nothing is lost: ``parse`` gives back what
``render`` was given.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache

from milk_tui.core.dense_words import WORDS
from milk_tui.core.records import PerceptionEntry

WORD = "work"
"""How the line begins."""
HINT = "dense: common words without inner vowels, a capital begins the next word, % is the last folder, ~2 the 2nd name"

_KEYS = {
    "file": "f",
    "hypothesis": "hyp",
    "next": "n",
    "note": "nt",
    "assumption": "asm",
    "touched": "tch",
    "recent-tool-results": "last",
}
_LONG_KEYS = {short: key for key, short in _KEYS.items()}
_PIECES = re.compile(r"(?P<run>[A-Za-z]+)|(?P<mean>[\\;|{}\[\]~%])|(?P<rest>[^A-Za-z\\;|{}\[\]~%]+)")
_CODED = re.compile(
    r"\\(?P<word>[A-Za-z]+)|\\(?P<one>[^A-Za-z])|~(?P<name>\d+)|(?P<folder>%)|(?P<run>[A-Za-z]+)|(?P<rest>.)", re.DOTALL
)
_PARTS = re.compile(r"[A-Z]?[a-z]*")
_RUN = re.compile(r"\w[\w./-]*\w")
_NAME_CHARS = 6


def render(entries: Iterable[PerceptionEntry], marks: Iterable[str]) -> str:
    """The entries on one line, each with its marks (``perception.marks_of``). Values are in normal form."""
    names = _Names()
    rows = []
    for entry, said in zip(entries, marks, strict=True):
        lines = entry.value.splitlines()
        if len(lines) > 1:
            before = _written(said.strip(), names)
            rows.append(f"{_short_key(entry.key)}:{before}[{'|'.join(_written(line, names) for line in lines)}]")
        else:
            rows.append(f"{_short_key(entry.key)}:{_written(entry.value + said, names)}")
    return f"{WORD}{{{';'.join(rows)}}}"


def parse(body: str) -> tuple[tuple[str, list[str]], ...] | None:
    """Keys and the lines of their values; ``None`` when the text is not in this notation."""
    text = body.strip()
    if not (text.startswith(f"{WORD}{{") and text.endswith("}")) or "\n" in text:
        return None
    names = _Names()
    found = []
    for row in filter(None, _split(text[len(WORD) + 1 : -1], ";")):
        key, colon, value = row.partition(":")
        if not colon:
            return None
        head, *more = _split(value, "[")
        if more and value.endswith("]"):
            lines = [_read(head, names)] if head else []
            lines += [_read(part, names) for part in _split(value[len(head) + 1 : -1], "|")]
        else:
            lines = [_read(value, names)]
        found.append((_long_key(key), lines))
    return tuple(found)


class _Names:
    """Long names and the last folder, as both sides meet them."""

    def __init__(self) -> None:
        self.folder = ""
        self.all: list[str] = []

    def met(self, name: str) -> None:
        folder, slash, _ = name.rpartition("/")
        if slash:
            self.folder = folder + slash
        if name not in self.all:
            self.all.append(name)


def _names(text: str) -> Iterator[tuple[str, bool]]:
    """The text in order, cut at its names: paths, identifiers, numbers of some length; no plain words."""
    at = 0
    for match in _RUN.finditer(text):
        name = match.group()
        if len(name) >= _NAME_CHARS and not (name.isascii() and name.isalpha() and name.islower()):
            yield text[at : match.start()], False
            yield name, True
            at = match.end()
    yield text[at:], False


def _written(text: str, names: _Names) -> str:
    writer = _Writer()
    for part, is_name in _names(text):
        if not is_name:
            writer.text(part)
            continue
        short = f"~{names.all.index(part) + 1}" if part in names.all else ""
        folder, slash, last = part.rpartition("/")
        if short:
            writer.sign(short)
        elif slash and folder + slash == names.folder:
            writer.sign("%")
            writer.text(last)
        else:
            writer.text(part)
        names.met(part)
    return "".join(writer.out)


class _Writer:
    """Puts words together; ``joins`` says whether a coded word may follow without its space."""

    def __init__(self) -> None:
        self.out: list[str] = []
        self.joins = False

    def sign(self, text: str) -> None:
        self.out.append(text)
        self.joins = True

    def text(self, text: str) -> None:
        codes = _codes()
        for match in _PIECES.finditer(text):
            piece = match.group()
            if match.lastgroup == "mean":
                self.sign(f"\\{piece}")
            elif match.lastgroup == "rest":
                self._rest(piece)
            elif (code := codes.get(piece)) is not None:
                self._coded(code)
            else:
                self.out.append(f"\\{piece}" if _decoded(piece) is not None else piece)
                self.joins = False

    def _rest(self, piece: str) -> None:
        """Everything but letters; a last space waits in its own place for a word that joins without it."""
        if piece.endswith(" "):
            if piece[:-1]:
                self.sign(piece[:-1])
            self.out.append(" ")
        else:
            self.sign(piece)

    def _coded(self, code: str) -> None:
        if self.joins and len(self.out) > 1 and self.out[-1] == " ":
            self.out[-1] = code[0].upper() + code[1:]
        else:
            self.out.append(code)
        self.joins = True


def _read(text: str, names: _Names) -> str:
    out: list[str] = []
    seen = 0

    def meet() -> None:
        nonlocal seen
        said = "".join(out)
        for part, is_name in _names(said[seen:]):
            if is_name:
                names.met(part)
        seen = len(said)

    for match in _CODED.finditer(text):
        piece = match[match.lastgroup or 0]
        match match.lastgroup:
            case "run":
                decoded = _decoded(piece)
                out.append(piece if decoded is None else decoded)
            case "name":
                meet()
                number = int(piece)
                out.append(names.all[number - 1] if 0 < number <= len(names.all) else f"~{piece}")
            case "folder":
                meet()
                out.append(names.folder)
            case _:
                out.append(piece)
    meet()
    return "".join(out)


def _decoded(run: str) -> str | None:
    """The words of a run of letters; ``None`` when one of its parts is no code."""
    words = _words()
    said: list[str] = []
    for part in _PARTS.findall(run):
        if not part:
            continue
        word = words.get(part.lower())
        if word is None:
            return None
        said.append(f" {word}" if part[0].isupper() else word)
    return "".join(said)


def _split(text: str, at: str) -> list[str]:
    """The parts between the signs that no backslash precedes."""
    parts = [""]
    escaped = False
    for character in text:
        if character == at and not escaped:
            parts.append("")
        else:
            parts[-1] += character
        escaped = character == "\\" and not escaped
    return parts


def _short_key(key: str) -> str:
    if key in _KEYS:
        return _KEYS[key]
    coded = _written(key, _Names())
    return f"\\{key}" if coded in _LONG_KEYS else coded


def _long_key(key: str) -> str:
    return _LONG_KEYS.get(key) or _read(key, _Names())


@cache
def _codes() -> dict[str, str]:
    """By word, its code: the shortest free one of its consonants, longer for rarer words."""
    taken: set[str] = set()
    codes: dict[str, str] = {}
    words = WORDS.split()
    known = set(words)
    for rank, word in enumerate(words):
        least = 2 if rank < 120 else 3
        bare = word[0] + re.sub(r"(.)\1", r"\1", re.sub("[aeiou]", "", word[1:]))
        candidates = [bare[:n] for n in range(least, len(bare) + 1)]
        candidates += [word[:n] for n in range(least, len(word))]
        free = (c for c in candidates if len(c) < len(word) and c not in taken and c not in known)
        codes[word] = next(free, word)
        taken.add(codes[word])
    codes.setdefault("a", "a")
    return codes


@cache
def _words() -> dict[str, str]:
    return {code: word for word, code in _codes().items()}
