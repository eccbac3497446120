"""The typed values that a sentence names, in a form in which equal ones are equal: ``30 s`` is ``30000 ms``
(``recall.md``, "Writing a fact", 4).

Two values of one group can take each other's place; values of different groups say different things.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from enum import StrEnum

from msgspec import Struct

from milk_tui.core.units import MONTHS, NUMBER_WORDS, UNITS


class ValueKind(StrEnum):
    QUANTITY = "quantity"
    """A number with a unit; the group is what it measures."""
    NUMBER = "number"
    PORT = "port"
    VERSION = "version"
    DATE = "date"
    TIME = "time"
    PATH = "path"
    URL = "url"
    IDENTIFIER = "identifier"
    """A name from code or of a product: with underscores, dots, colons, digits inside, or in backticks."""
    COLOUR = "colour"
    STATUS = "status"
    """Of HTTP, where a sentence says that it is given."""
    REFERENCE = "reference"
    """What numbers one thing among its like: ``#231``, ``ABC-12``. It names a subject and is never a setting."""


class Value(Struct, frozen=True):
    """``key`` is the normal form, equal for equal values; ``start`` and ``end`` are positions in the text."""

    kind: ValueKind
    key: str
    group: str
    text: str
    start: int
    end: int


def _any(names: list[str]) -> str:
    return "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))


_WORD_UNITS = _any([unit for unit in UNITS if unit.isalpha() and len(unit) > 1])
_MONTH = _any([month for month in MONTHS if month not in ("may", "march", "mai", "mars", "mar")])
_MONTH = f"(?:(?i:{_MONTH})|May|March|Mai|Mars)"
_AMOUNT = r"[-+]?\d[\d,_'’]{0,18}(?:\.\d{1,9})?"
_SPELLED = _any(
    [word for word in NUMBER_WORDS if word not in ("one", "null", "une", "uno", "una", "un", "eine", "once")]
)
_NAMED_TIMES = {"noon": "12:00", "midnight": "00:00"}
_NAMING_NOUNS = (
    *("branch", "bucket", "channel", "cluster", "container", "database", "device", "group", "host", "image", "index"),
    *("job", "machine", "module", "namespace", "node", "package", "pool", "profile", "project", "queue", "region"),
    *("repo", "role", "server", "service", "store", "stream", "table", "tag", "tenant", "topic", "user", "volume"),
    *("zone", "called", "named"),
)
"""A word with a hyphen after one of these is a name."""
_FILE_ENDS = (
    "py|pyi|ts|tsx|js|jsx|mjs|go|rs|rb|java|kt|c|h|cpp|hpp|cs|swift|php|sh|sql|md|rst|txt|toml|yaml|yml|json|jsonl|ini"
    "|cfg|conf|env|lock|html|css|scss|xml|csv|log|db|sqlite|ipynb|tf|proto|gradle|service|tcss"
)
_NO_REFERENCE = "(?!(?:UTF|SHA|AES|GPT|ISO|HTTP|TLS|CP|ARM|MD|ES|RSA|BASE|GPL|LGPL|AGPL|BSD|MPL|PEP|CC)-)"

_PATTERNS: tuple[tuple[str, str], ...] = (
    ("code", r"`[^`\n]{1,120}`"),
    ("url", r"\b[a-z][a-z0-9+.-]{1,20}://[^\s<>\"'`)\]]{0,300}[^\s<>\"'`)\].,;:!?]"),
    ("identifier", r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}"),
    ("colour", r"(?<![\w/])#(?=[0-9a-fA-F]{0,7}[a-fA-F])(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8})\b"),
    (
        "status",
        r"(?i:(?<=returns )|(?<=return )|(?<=gives )|(?<=give )|(?<=answers )|(?<=status )|(?<=http )|(?<=with a ))"
        r"[1-5]\d\d\b(?![\w%€$])",
    ),
    ("reference", rf"(?<![\w/])#\d{{1,7}}\b|\b{_NO_REFERENCE}[A-Z]{{2,10}}-\d{{1,6}}\b(?![-\w])"),
    ("date", r"\b\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?Z?)?\b|\b(?:19|20)\d{2}-(?:0[1-9]|1[0-2])\b(?!-)"),
    ("date", r"\b\d{1,2}\.\d{1,2}\.(?:19|20)\d{2}\b|\bQ[1-4](?:[\s/-]?(?:19|20)\d{2})?\b"),
    (
        "date",
        rf"\b(?:\d{{1,2}}(?:st|nd|rd|th|\.)?\s(?:of\s|de\s)?)?{_MONTH}\b\.?(?:\s\d{{1,2}}(?:st|nd|rd|th)?\b(?!:))?"
        r"(?:,?\s(?:de\s)?(?:19|20)\d{2}\b)?",
    ),
    ("date", r"(?:(?<=\b[Ii]n\s)|(?<=\b[Ss]ince\s)|(?<=\buntil\s))(?:19|20)\d{2}\b(?!\s[a-z]+s\b)"),
    ("path", r"(?<![\w.~])(?:~|\.{1,2})?/(?:[\w.@+*{}-]{1,80}/){0,12}[\w.@+*{}-]{1,80}/?|(?<![\w/])~?/(?![\w/])"),
    ("path", r"\b[A-Za-z]:\\[\w\\.-]{1,200}|(?<![\w.@/])[\w.@+-]{1,60}(?:/[\w.@+*-]{1,60}){1,12}/?"),
    (
        "path",
        rf"(?<![\w./])\.?[\w-]{{1,60}}(?:\.[\w-]{{1,40}}){{0,3}}\.(?:{_FILE_ENDS})\b"
        r"|(?<![\w./])\.(?:env|\w{2,20}rc|gitignore)\b",
    ),
    ("path", r"(?<![\w./@])[\w.-]{2,60}/(?![\w/])"),
    ("time", r"\b(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d)?(?:\s?[aApP]\.?[mM]\b\.?)?|\b(?:1[0-2]|[1-9])\s?[aApP][mM]\b"),
    ("time", r"\b(?i:noon|midnight)\b"),
    ("port", r"(?<=\bport\s)\d{2,5}\b|(?<=\bPort\s)\d{2,5}\b|(?<=[a-z]):\d{2,5}\b"),
    ("version", r"\bv\d{1,5}(?:\.\d{1,6}){0,3}(?:[-.]?(?:alpha|beta|rc|dev|post)\.?\d{0,4})?\b"),
    ("version", r"\b\d{1,5}(?:\.\d{1,6}){2,3}(?:[-.]?(?:alpha|beta|rc|dev|post)\.?\d{0,4})?\b|\b\d{1,4}\.x\b"),
    ("quantity", rf"[$€]\s?{_AMOUNT}[kKmM]?\b"),
    (
        "quantity",
        rf"(?<![\w.]){_AMOUNT}(?:[\s-]?(?i:{_WORD_UNITS})\b|[kKmM]?\s?(?:%|€|\$)|\s?(?:s|h|B)\b|[smhdb]\b|\s?(?:req|[kKmMgG]bit)/s)",
    ),
    ("quantity", rf"\b(?i:{_any(list(NUMBER_WORDS))})[\s-](?i:{_WORD_UNITS})\b"),
    ("number", r"(?<![\w.])\d{1,9}(?:\.\d{1,9})?[eE][-+]?\d{1,2}\b"),
    ("number", rf"(?<![A-Za-z0-9_.]){_AMOUNT}[kKM]?(?![A-Za-z0-9_])(?!\.\d)"),
    ("number", rf"\b(?i:{_SPELLED})\b(?!-)"),
    ("number", r"(?i:(?<=\bis )|(?<=\bare )|(?<=\bto ))one\b(?=\s?[.,;]|\s?$)"),
    ("number", r"\bonce\b(?=\s?[.,;]|\s?$|\s(?:a|per|every)\b)"),
    ("number", r"[一二两三四五六七八九十](?=[次个天周月年名台条])"),
    (
        "number",
        r"(?<!the )(?<!this )(?<!that )(?<!no )(?<!any )(?<!each )(?<!every )(?<!which )\b(?i:one)\b(?=\s[a-z]{3,})"
        r"(?!\s(?:of|another|more|can|should|must|may|who|that|has|day|and)\b)",
    ),
    ("identifier", r"(?<![\w.@])@?[A-Za-z_$][\w$]{0,60}(?:(?:\.|::|->)[A-Za-z_$][\w$]{0,60}){1,8}(?:\(\))?"),
    ("identifier", r"\b[A-Za-z][A-Za-z0-9]{0,40}(?:_[A-Za-z0-9]{1,40}){1,10}\b(?:\(\))?|\b\w{1,60}\(\)"),
    ("identifier", r"\b[a-z][\w-]{1,40}:[a-z][\w.-]{1,40}\b"),
    ("identifier", r"(?<![\w-])--?[a-z][a-z0-9-]{1,40}\b"),
    ("identifier", r"\b(?=[\w.-]{0,40}\d)[A-Za-z][A-Za-z0-9]{0,20}(?:[.-]?[A-Za-z0-9]{1,20}){0,5}\b"),
    ("identifier", r"\b(?=[0-9a-f]{0,39}[a-f])\d[0-9a-f]{6,39}\b"),
)

_PATTERNS = (
    *_PATTERNS[:2],
    *(("identifier", rf"(?<=\b{noun}\s)[a-z0-9]{{1,30}}(?:[-_/.][a-z0-9]{{1,30}}){{1,6}}\b") for noun in _NAMING_NOUNS),
    *_PATTERNS[2:],
)

_pattern = re.compile("|".join(f"(?P<{kind}_{number}>{pattern})" for number, (kind, pattern) in enumerate(_PATTERNS)))
_number = re.compile(r"[-+]?\d+(?:\.\d+)?")
_power = re.compile(r"\d+(?:\.\d+)?e[-+]?\d{1,2}")
_digits = re.compile(r"\d+")


_run = re.compile(r"\S+")
_promising = re.compile(r"[\d`/_#@$€~一二两三四五六七八九十]|[.:](?=\w)|-[\w-]|\(\)")
"""What a run of characters without blanks holds that may be a value."""
_promising_word = re.compile(rf"\b(?:(?i:{_any([*MONTHS, *NUMBER_WORDS, *_NAMED_TIMES])}))\b")
_SPAN_WORDS = re.compile(r"(?:\s+\S+){0,3}")
"""How far a value goes on after its first word: "3 May 2026", "`cargo test --all`" apart."""


def find(text: str) -> list[Value]:
    """The values of a text in their order; none overlaps another."""
    found: list[Value] = []
    done = 0
    for start, end in _stretches(text):
        for match in _pattern.finditer(text, max(start, done), end):
            found.append(_value(match))
            done = match.end()
    return found


def _stretches(text: str) -> list[tuple[int, int]]:
    """Where values can be: most of a sentence is plain words, which need not be tried one by one."""
    stretches: list[tuple[int, int]] = []
    for start, stop in _promises(text):
        follows = _SPAN_WORDS.match(text, stop)
        end = follows.end() if follows else stop
        if text.find("`", start, stop) >= 0:
            closing = text.find("`", stop, stop + 120)
            end = max(end, closing + 1)
        if stretches and start <= stretches[-1][1]:
            stretches[-1] = (stretches[-1][0], max(end, stretches[-1][1]))
        else:
            stretches.append((start, end))
    return stretches


def _promises(text: str) -> Iterator[tuple[int, int]]:
    """The runs without blanks in which a value may begin, and words that are values, in their order."""
    for run in _run.finditer(text):
        if _promising.search(text, run.start(), run.end()):
            yield run.span()
        else:
            yield from (word.span() for word in _promising_word.finditer(text, run.start(), run.end()))


def _value(match: re.Match[str]) -> Value:
    kind = (match.lastgroup or "").partition("_")[0]
    text = match.group()
    group, key = kind, text.strip("`").casefold()
    match kind:
        case "code":
            inner = text.strip("`")
            within = _pattern.fullmatch(inner)
            if within is not None and not inner.startswith("`"):
                found = _value(within)
                return Value(found.kind, found.key, found.group, text, match.start(), match.end())
            kind = group = "identifier"
        case "quantity":
            group, key = _quantity(text.casefold())
        case "number":
            key = _plain(_amount(text))
        case "port":
            key = text.strip(" :")
        case "version":
            key = text.casefold().lstrip("v")
        case "date":
            key = _date(text.casefold())
        case "time":
            key = _time(text.casefold())
        case "path":
            key = text.rstrip("./").removeprefix("./") or "/"
        case "url":
            key = text.rstrip("/")
        case "identifier":
            key = text.removesuffix("()").casefold()
    return Value(ValueKind(kind), key, group, text, match.start(), match.end())


def _amount(text: str) -> Decimal:
    text = text.casefold()
    if text in NUMBER_WORDS:
        return Decimal(NUMBER_WORDS[text])
    plain = re.sub(r"[,_'’]", "", text)
    if _power.fullmatch(plain):
        return Decimal(plain)
    found = _number.search(plain)
    factor = {"k": 1000, "m": 1_000_000}.get(plain[-1:], 1)
    return Decimal(found.group()) * factor if found else Decimal(0)


def _plain(number: Decimal) -> str:
    return f"{number.normalize():f}"


def _quantity(text: str) -> tuple[str, str]:
    for symbol in "$€%":
        if symbol in text:
            group, factor = UNITS[symbol]
            return group, _plain(_amount(text.replace(symbol, "").strip()) * factor)
    found = re.match(rf"({_AMOUNT}|[^\W\d]+?)[\s-]?([^\W\d]+(?:/s)?)\Z", text)
    if found is None:
        return "", text
    group, factor = UNITS[found[2]]
    return group, _plain(_amount(found[1]) * factor)


def _date(text: str) -> str:
    """``YYYY-MM-DD`` with ``?`` for what is not said; a quarter as ``YYYY-Qn``."""
    digits = [int(number) for number in _digits.findall(text)]
    if re.match(r"\d{4}-", text):
        return text[:10]
    year = next((number for number in digits if number > 1000), None)
    shown_year = str(year) if year else "?"
    if text.startswith("q"):
        return f"{shown_year}-{text[:2]}"
    day = next((number for number in digits if number <= 31), None)
    month = next((number for word in re.findall(r"[^\W\d]+", text) if (number := MONTHS.get(word))), None)
    if month is None and len(digits) == 3:
        day, month = digits[0], digits[1]
    return f"{shown_year}-{month or 0:02}-" + (f"{day:02}" if day else "?")


def _time(text: str) -> str:
    if text in _NAMED_TIMES:
        return _NAMED_TIMES[text]
    digits = [int(number) for number in _digits.findall(text)]
    hour, minute = digits[0], digits[1] if len(digits) > 1 else 0
    if "p" in text and hour < 12:
        hour += 12
    elif "a" in text and hour == 12:
        hour = 0
    return f"{hour:02}:{minute:02}"
