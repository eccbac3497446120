"""Decision records: one Markdown file with one decision and its date (``semantics.md`` §6).

    # Payment retries live in the queue worker

    Date: 2026-04-14
    Replaces: 2025-11-02-retry-in-handler.md

    Retries for card charges moved out of the request handler …

The header is the lines ``Key: value`` around the title; it may stand between two lines ``---`` as well. What can't be
read as a record is kept with the reason and never cited.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

from msgspec import Struct

from milk_tui.core.cuts import plain
from milk_tui.core.text import clean, one_line

LARGEST = 65_536
"""Bytes of a record; a larger file is no record."""
TITLE_CHARS = 200
BODY_CHARS = 20_000

_KEY = re.compile(r"^[ \t]*(?:[-*][ \t]+)?\**([A-Za-z][A-Za-z -]{1,20}?)\**[ \t]*:[ \t]*(?:\*\*[ \t]*)?(.*?)[ \t]*$")
_DATE = re.compile(r"(?<!\d)(\d{4})-(\d{2})-(\d{2})(?!\d)")
_KNOWN = {
    "date": "date",
    "decided": "date",
    "replaces": "replaces",
    "supersedes": "replaces",
    "superseded by": "superseded by",
    "superseded-by": "superseded by",
    "replaced by": "superseded by",
    "status": "status",
    "title": "title",
    "fact": "fact",
    "why": "why",
}
_ENDED = re.compile(r"(?i)^(?:superseded|replaced|deprecated|withdrawn|rejected)\b(?:\s+by\s+(.+))?")


class Record(Struct, frozen=True, kw_only=True):
    """What a file says. ``problem`` is set when it is no usable record; ``name`` is the file's."""

    name: str
    title: str = ""
    date: str = ""
    body: str = ""
    replaces: tuple[str, ...] = ()
    superseded_by: str = ""
    ended: bool = False
    """The file itself says that it no longer holds."""
    fact: str = ""
    """Id of the fact that it was made of, or that was made of it."""
    hash: str = ""
    problem: str = ""


def parse(name: str, raw: bytes) -> Record:
    """The record in a file; never raises. At most ``LARGEST`` bytes and one need be given."""
    digest = hashlib.sha256(raw[: LARGEST + 1]).hexdigest()
    if len(raw) > LARGEST:
        return Record(name=name, hash=digest, problem=f"it has more than {LARGEST // 1024} KB")
    text = clean(raw.decode("utf-8-sig", "replace"))
    header, title, body = _split(text.split("\n"))
    title = one_line(plain(title or header.get("title", "")), TITLE_CHARS)
    date, problem = _date(header.get("date", ""), name)
    status = _ENDED.match(header.get("status", ""))
    by = header.get("superseded by", "") or (status[1] or "" if status else "")
    if not title:
        problem = "it has no title (a line that begins with #)"
    return Record(
        name=name,
        title=title,
        date=date,
        body="\n".join(filter(None, (header.get("why", ""), plain(body))))[:BODY_CHARS],
        replaces=tuple(_file(part) for part in re.split(r"[,;]", header.get("replaces", "")) if part.strip()),
        superseded_by=_file(by) if by else "",
        ended=bool(status) or bool(by),
        fact=_fact(header.get("fact", "")),
        hash=digest,
        problem=problem,
    )


def superseded(records: Iterable[Record]) -> dict[str, str]:
    """By file name, what replaced it: the newest of those that say so, else what the file itself names."""
    known = {_stem(record.name): record for record in records}
    ended = {record.name: record.superseded_by for record in known.values() if record.ended}
    for record in sorted(known.values(), key=lambda r: (r.date, r.name)):
        for old in record.replaces:
            victim = known.get(_stem(old))
            if victim is not None and victim.name != record.name and not record.problem:
                ended[victim.name] = record.name
    return ended


def render(
    title: str, *, date: str, why: str = "", body: str = "", replaces: Iterable[str] = (), fact: str = ""
) -> str:
    """The file of a decision."""
    head = [f"Date: {date}", *(f"Replaces: {old}" for old in replaces), *([f"Fact: #{fact[:6]}"] if fact else [])]
    last = f"Why: {plain(why)}" if why else ""
    parts = [f"# {one_line(plain(title), TITLE_CHARS)}", "\n".join(head), plain(body), last]
    return "\n\n".join(part for part in parts if part) + "\n"


def file_name(title: str, date: str, taken: Iterable[str] = ()) -> str:
    """``2026-04-14-payment-retries.md``, or with a number when that is taken."""
    words = re.findall(r"[a-z0-9]+", _ascii(title).lower())
    slug = "-".join(words)[:60].strip("-") or "decision"
    used = {name.casefold() for name in taken}
    name, number = f"{date}-{slug}.md", 2
    while name.casefold() in used:
        name, number = f"{date}-{slug}-{number}.md", number + 1
    return name


def first_sentences(record: Record, limit: int) -> str:
    """The beginning of what the record says: whole sentences as far as they fit, at least the first, cut."""
    text = " ".join(record.body.split())
    ends = [found.end() for found in re.finditer(r"[.!?…。](?=\s|$)", text)]
    fitting = [end for end in ends if end <= limit]
    return text[: fitting[-1]] if fitting else one_line(text, limit)


def _split(lines: list[str]) -> tuple[dict[str, str], str, str]:
    """Header, title and body: the header is what is found before the first line of the body."""
    header: dict[str, str] = {}
    title = ""
    at = 0
    while at < len(lines):
        line = lines[at]
        found = _KEY.match(line)
        key = _KNOWN.get(found[1].strip().lower()) if found else None
        if line.startswith("# ") and not title:
            title = line[2:]
        elif found and key is not None and key != "why":
            header.setdefault(key, found[2])
        elif line.strip() and line.strip() != "---":
            break
        at += 1
    body = lines[at:]
    for number, line in enumerate(body):
        found = _KEY.match(line)
        key = _KNOWN.get(found[1].strip().lower()) if found else None
        if key in ("superseded by", "replaces", "status") and found:
            header.setdefault(key, found[2])
            body[number] = ""
    return header, title, "\n".join(body).strip()


def _date(said: str, name: str) -> tuple[str, str]:
    for source in (said, name):
        found = _DATE.search(source)
        if found and 1 <= int(found[2]) <= 12 and 1 <= int(found[3]) <= 31:
            return found[0], ""
    return "", f"its date can't be read: {one_line(said, 40)}" if said else "it has no date (a line Date: 2026-04-14)"


def _file(said: str) -> str:
    """The file that a header names, whether as a name, a path or a link."""
    link = re.search(r"\]\(([^)]+)\)", said)
    name = (link[1] if link else said).strip().strip("`*[]\"'").replace("\\", "/").rsplit("/", 1)[-1]
    return one_line(name, 120)


def _stem(name: str) -> str:
    return name.casefold().removesuffix(".md")


def _fact(said: str) -> str:
    found = re.search(r"#?([0-9a-f]{6})", said)
    return found[1] if found else ""


def _ascii(text: str) -> str:
    import unicodedata

    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
