"""Weighted signals of a prompt, and what they add up to (``semantics.md`` §8).

Above zero speaks for an escalation, below for the primary. Words are looked for in what the person wrote
themselves: pasted code, logs, tables and quoted words are material, and count by their shape alone. A short
prompt is not easy for being short, a long paste not hard for being long: only many words of the person's own speak
for an escalation, a little.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from msgspec import Struct

from milk_tui.core.errors import ConfigError
from milk_tui.core.records import ScorePart
from milk_tui.core.routing_lists import GROUPS, Group
from milk_tui.core.text import one_line

THRESHOLD = 2.5
"""The sum from which a prompt is escalated; at minus this one it is surely the primary's."""
SCANNED_CHARS = 20_000
PROSE_CHARS = 4_000
"""Of what the person wrote themselves the beginning and the end are looked at: a wish stands in one of the two."""
GAP_WORDS = 4
"""Words that ``…`` in a phrase may stand for, at most."""

_FURTHER = 2
_OPENING_CHARS = 20
"""A local verb counts in full only where the wish begins: later in the prompt it is one step of several."""


class Weighted(Struct, frozen=True):
    """A compiled group."""

    name: str
    weight: float
    pattern: re.Pattern[str]
    opening: bool = False
    """True when it counts only at the prompt's beginning, or of a sentence."""


class Signals(Struct, frozen=True, kw_only=True):
    """The compiled lists and the sum that decides."""

    groups: tuple[Weighted, ...] = ()
    threshold: float = THRESHOLD


class Score(Struct, frozen=True, kw_only=True):
    """What a prompt's signals add up to."""

    parts: tuple[ScorePart, ...] = ()

    @property
    def total(self) -> float:
        return round(sum(part.value for part in self.parts), 2)


def signals(own: Mapping[str, float] | None = None, *, extend: bool = True, threshold: float = THRESHOLD) -> Signals:
    """The lists compiled. ``own``: phrase → weight, added to the built-in ones (0 takes a built-in phrase out) or,
    with ``extend`` false, instead of them. ``/…/`` is a regular expression. Raises ConfigError for a wrong one."""
    return _signals(tuple(sorted((own or {}).items())), extend, threshold)


@lru_cache(maxsize=16)
def _signals(own: tuple[tuple[str, float], ...], extend: bool, threshold: float) -> Signals:
    named = {phrase.lower() for phrase, _ in own}
    built_in = [
        Group(group.name, group.weight, tuple(p for p in group.phrases if p not in named))
        for group in (GROUPS if extend else ())
    ]
    groups = [_compiled(group.name, group.weight, group.phrases) for group in built_in if group.phrases]
    groups += [_compiled(one_line(phrase, 40), weight, (phrase,), mine=True) for phrase, weight in own if weight]
    return Signals(groups=tuple(groups), threshold=threshold)


def _compiled(name: str, weight: float, phrases: Iterable[str], *, mine: bool = False) -> Weighted:
    kinds: tuple[list[str], list[str]] = ([], [])
    for phrase in sorted(phrases, key=len, reverse=True):
        kinds[_is_expression(phrase)].append(_pattern(phrase))
    words, expressions = kinds
    guarded = [rf"(?<![\w/.:=#@$-])(?:{'|'.join(words)})(?![\w-]|/\w|\.\w)"] if words else []
    whole = "|".join((*guarded, *expressions))
    return Weighted(name, weight, re.compile(whole, re.IGNORECASE), opening=weight < 0 and not mine)


def _is_expression(phrase: str) -> bool:
    return len(phrase) > 2 and phrase.startswith("/") and phrase.endswith("/")


def _pattern(phrase: str) -> str:
    if _is_expression(phrase):
        try:
            re.compile(phrase[1:-1])
        except re.error as error:
            raise ConfigError(
                f"The routing signal {phrase} is no regular expression: {error}.", "Correct it under [routing.signals]."
            ) from None
        return f"(?:{phrase[1:-1]})"
    words = []
    for word in phrase.split():
        if word == "…":
            words.append(rf"(?:[\w'’-]+\s+){{0,{GAP_WORDS}}}?")
            continue
        stem = re.escape(word.removesuffix("*")).replace("'", "['’]")
        words.append(stem + (r"[\w-]*" if word.endswith("*") else "") + r"\s+")
    return "".join(words).removesuffix(r"\s+")


@lru_cache(maxsize=16)
def score(prompt: str, lists: Signals) -> Score:
    """The parts, in the order in which they are shown: words first, then shape."""
    text = prompt[:SCANNED_CHARS]
    shape = _Shape(text)
    parts = [part for group in lists.groups if (part := _words(group, shape.prose)) is not None]
    return Score(parts=(*parts, *shape.parts()))


def _words(group: Weighted, prose: str) -> ScorePart | None:
    seen: dict[str, str] = {}
    for match in group.pattern.finditer(prose):
        if group.opening and not _opens(prose, match.start()):
            continue
        said = one_line(match.group(), 40)
        seen.setdefault(said.lower(), said)
        if len(seen) > _FURTHER:
            break
    if not seen:
        return None
    value = group.weight * (1 if group.opening else 1 + (len(seen) - 1) / 2)
    return ScorePart(group.name, value, ", ".join(seen.values()))


def _opens(prose: str, at: int) -> bool:
    """True when what stands there begins the wish: near the prompt's beginning, or its sentence's."""
    before = prose[max(0, at - _OPENING_CHARS) : at]
    if at <= _OPENING_CHARS and not _SENTENCE_END.search(before):
        return True
    return bool(_SENTENCE_BEGIN.search(before)) or at == 0


_SENTENCE_END = re.compile(r"[.!?:;]\s|\n")
_SENTENCE_BEGIN = re.compile(r"(?:[.!?:;,]\s+|\n\s*)(?:please\s+|and\s+|then\s+|just\s+)*$", re.IGNORECASE)

_FENCE = re.compile(r"^ {0,3}(```|~~~)[^\n]*\n(?P<code>.*?)(?:^ {0,3}\1[^\n]*$|\Z)", re.MULTILINE | re.DOTALL)
_QUOTED = re.compile(r"“[^”\n]{1,200}”|\"[^\"\n]{1,200}\"|`[^`\n]{1,200}`|(?<!\w)'[^'\n]{1,200}'(?!\w)|«[^»\n]{1,200}»")
_PATH = re.compile(
    r"(?<![\w/.@+-])(?:~?/|\.{1,2}/)?(?:[\w@+-][\w.@+-]*/)+[\w.@+-]*\w|(?<![\w/.@-])[\w-]+\.[a-z]\w{0,4}(?![\w/(])"
)
_WORD = re.compile(r"[^\W\d_]{2,}")
_ITEM = re.compile(r"^\s{0,6}(?:[-*+•]|\d{1,2}[.)])\s+(\S.*)$", re.MULTILINE)
_TRACE = re.compile(
    r"Traceback \(most recent call last\)|^[^\S\n]+at [\w$.<>]+\(|^panicked at|^goroutine \d+", re.MULTILINE
)
_ERROR = re.compile(r"(?<!\w)[A-Z]\w*(?:Error|Exception)(?!\w)")
_MACHINE = re.compile(
    r"^[\w./-]+:\d+:|^\d{1,3}(?:\.\d{1,3}){3}\s|^\[?\d{4}-\d\d-\d\d|^[\w.-]+(?:,[\w .-]*)+$|^\s*[{}\[\]<>()]"
)


class _Shape:
    """A prompt taken apart: the person's own sentences, and what else is in it."""

    def __init__(self, text: str) -> None:
        self.code_lines = 0
        self.traces = len(_TRACE.findall(text[:SCANNED_CHARS]))
        without = _FENCE.sub(self._fence, text)
        self.items = sum(len(item.split()) >= 2 for item in _ITEM.findall(without))
        self.errors = len(set(_ERROR.findall(without)))
        lines = [line for line in without.split("\n") if not _MACHINE.search(line.strip())]
        said = "\n".join(_unrepeated(lines))
        self.paths = len({path.lower() for path in _PATH.findall(said)})
        if len(said) > PROSE_CHARS:
            said = f"{said[: PROSE_CHARS // 2]}\n{said[-PROSE_CHARS // 2 :]}"
        self.prose = _PATH.sub(" ⋯ ", _QUOTED.sub(" ⋯ ", said))

    def _fence(self, match: re.Match[str]) -> str:
        self.code_lines += match.group("code").count("\n")
        return "\n"

    def parts(self) -> list[ScorePart]:
        found: list[ScorePart] = []
        if 1 <= self.paths <= 2:
            found.append(ScorePart("path", -1.0, "1 file" if self.paths == 1 else "2 files"))
        elif self.paths >= 4:
            found.append(ScorePart("paths", 3.0 if self.paths < 8 else 4.0, f"{self.paths} files"))
        if self.items >= 4:
            found.append(ScorePart("list of wishes", 3.0 if self.items < 8 else 4.0, f"{self.items} points"))
        form = form_of(self.prose)
        if form is not None:
            found.append(form)
        words = len(_WORD.findall(self.prose))
        if words >= 10 and (form is None or form.value > 0):
            found.append(
                ScorePart("much to say", 1.0 if words < 16 else 1.5 if words < 40 else 2.0, f"{words} own words")
            )
        if self.code_lines >= 80:
            found.append(ScorePart("code", 1.0, f"{self.code_lines} lines"))
        if self.traces >= 2:
            found.append(ScorePart("traces", 2.0, f"{self.traces} stack traces"))
        elif self.errors == 1 and not self.traces:
            found.append(ScorePart("error", -1.0, "one plain error"))
        return found


_REPORT = re.compile(
    r"(?:the|our|my|a|an|this|these|some|after|since|when|whenever|although|sometimes|\w+s) (?=.*\s"
    r"(?:fails?|dies|breaks?|returns?|ignores?|changes?|crash\w*|arrives?|differs?|disappears?|gets?|takes?|is|are|stops?"
    r"|loses?|doesn['’]t|don['’]t|isn['’]t|aren['’]t|never|always|no longer)(?!\w))",
    re.IGNORECASE,
)
_CURE = re.compile(
    r"(?:,\s*(?:so\s+|please\s+|just\s+|and\s+)*|\.\s+)(?:add|update|use|make|remove|return|subtract|disable|enable|move|guard|convert|round"
    r"|pad|set|show|hide|import|check|replace|rename|change|delete|skip|handle|catch|cast|put|sort)\b"
    r"|\bit should (?:be|say)\b|\bshould be\b|\bis missing\b|\bmisses\b|\binstead\b",
    re.IGNORECASE,
)
_BEHAVIOUR = re.compile(
    r"(?:is|are|does|do|can|could|will|would|may|might)\s+(?:this|that|the|our|a|an|it|my|we|two|these|someone|anyone|users?)\b",
    re.IGNORECASE,
)
_WISH = re.compile(r"(?:we|i)(?:\s+(?:need|want|have|must|would like)\b|['’]re\b|['’]d like\b|['’]ve\b)", re.IGNORECASE)


def form_of(prose: str) -> ScorePart | None:
    """How the wish is put: a symptom told without its cure, or a question about how something behaves, asks for
    more thought than an order that names the change."""
    text = prose.strip()
    if cure := _CURE.search(text):
        return ScorePart("names the cure", -1.5, one_line(cure.group().strip(" ,."), 40))
    for name, value, pattern in _FORMS:
        if found := pattern.match(text):
            return ScorePart(name, value, one_line(found.group(), 40))
    return None


_FORMS = (
    ("asks how it behaves", 1.5, _BEHAVIOUR),
    ("a wish", 1.0, _WISH),
    ("a symptom", 1.5, _REPORT),
)


def _unrepeated(lines: Sequence[str]) -> list[str]:
    """Without the lines of a pasted list of one-word rows: more than six short lines in a row are data."""
    kept: list[str] = []
    run: list[str] = []
    for line in [*lines, "."]:
        if 0 < len(line.split()) <= 2 and line != ".":
            run.append(line)
            continue
        kept += run if len(run) <= 6 else []
        run = []
        kept.append(line)
    return kept[:-1]
