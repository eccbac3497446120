"""When the code speaks against a belief, the code wins: which entries a result puts in doubt (``semantics.md`` §5).

- A failing test or a failing tool puts every hypothesis in doubt that was there before, and every entry that says that
  tests pass.
- A result that says that a file is not there puts every entry in doubt that names the file.
- A result that gives a setting (``port = 9090``) or a version (``PostgreSQL 15.4``) another value than an entry of
  that name does puts the entry in doubt.

A doubt changes no belief: the entry is marked, and the agent is told. Writing the entry again ends the doubt.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import Struct

from milk_tui.core.cuts import plain
from milk_tui.core.perception_harness import RESULTS, TOUCHED, call_words, is_memory, outcome
from milk_tui.core.perception_view import SLICE
from milk_tui.core.records import Layer, PerceptionEntry, ToolCall, ToolStatus
from milk_tui.core.text import one_line

WHY_CHARS = 120
_READ_CHARS = 50_000
"""Of a result: what is after them is not looked at."""

_HYPOTHESES = ("hypothesis", "hyp", "theory", "assumption", "guess", "suspect", "belief")
_RUNS = re.compile(r"(?i)bash|shell|run|exec|test|command|terminal|make|check|lint|build")
_FAILS = re.compile(
    r"(?im)\b[1-9]\d* (?:failed|failures?|errors?|failing)\b|^FAILED\b|^FAIL\b|^Traceback \(most recent call last\)"
    r"|\bAssertionError\b|\bexit(?:ed with)? (?:code|status)[: ]+[1-9]|^error(?:\[\w+\])?:|^make: \*\*\*"
)
_PASSES = re.compile(r"(?i)\b(?:tests?|suite|build|ci)\b[^.\n]{0,30}\b(?:pass(?:es|ing|ed)?|green|succeeds?)\b")
_NO_FILE = re.compile(
    r"(?im)no such file|does not exist|doesn't exist|cannot find|can't find|not found|ENOENT|cannot open|can't open"
)
_PATH = re.compile(r"(?<![\w/.-])(?:[\w.-]+/)*[\w-]+\.[A-Za-z]\w{0,5}(?![\w/])|(?<![\w/.-])(?:[\w.-]+/){1,}[\w.-]+")
_VERSION = re.compile(r"(?i)\b([a-z][a-z+#]{1,20})[ :=@^~v-]{1,3}(\d+(?:\.\d+){0,3})\b")
_SETTING = re.compile(
    r"(?m)^(?:[\"'-]|[^\S\n])*+([A-Za-z][\w. -]{2,38}?)[\"']?[^\S\n]*(?:=|:)[^\S\n]*"
    r"[\"']?([^\s\"',;#]{1,60})[\"']?,?[^\S\n]*(?:#.*)?$"
)
"""A name and its value on one line."""
_GENERIC_WORDS = """
file files next hypothesis story slice note open decided acceptance constraints error warning name type path line result
results status message time date info debug test tests touched usage total count id key value
"""
_COUNTED_WORDS = """
line lines turn turns step steps item items page row col column section issue ticket pr case cases test tests port
migration migrations at in on to of for from by than least most until before after the and or is are was be part version
chapter commit exit code status took ran passed failed warning warnings error errors size total count max min limit id
no number retry retries attempt attempts about only exactly under over expected got
"""
_GENERIC = frozenset(_GENERIC_WORDS.split())
"""Keys that name no setting."""
_NOT_PRODUCTS = frozenset(_COUNTED_WORDS.split())
"""Words before a number that name nothing with versions."""
_ALIASES = {"postgresql": "postgres", "pg": "postgres", "nodejs": "node", "python3": "python", "golang": "go"}


class Doubt(Struct, frozen=True):
    """What speaks against an entry."""

    layer: Layer
    key: str
    why: str


def doubts(entries: Iterable[PerceptionEntry], call: ToolCall) -> tuple[Doubt, ...]:
    """What a finished call says against entries that were there before it."""
    if is_memory(call.name) or call.status not in (ToolStatus.OK, ToolStatus.FAILED):
        return ()
    text = plain(call.result[:_READ_CHARS])
    failed = fails(call, text)
    found = []
    for entry in entries:
        if entry.stale or not entry.value or entry.key in (RESULTS, SLICE):
            continue
        if why := _against(entry, call, text, failed):
            found.append(Doubt(entry.layer, entry.key, one_line(why.replace("[", "(").replace("]", ")"), WHY_CHARS)))
    return tuple(found)


def fails(call: ToolCall, text: str) -> bool:
    """Whether the call is a tool's error or a failing test; what a file says is no failure."""
    if call.status is ToolStatus.FAILED:
        return True
    return bool(_RUNS.search(call.name) and _FAILS.search(text))


def told(found: Iterable[Doubt]) -> str:
    """The line that follows a result, so that the agent reads it at once; empty when nothing is in doubt."""
    lines = [f"{doubt.layer} entry “{doubt.key}” is now in doubt" for doubt in found]
    if not lines:
        return ""
    return f"(milk: {'; '.join(lines)}. What the code says wins: check, then write the entry again or remove it.)"


def _against(entry: PerceptionEntry, call: ToolCall, text: str, failed: bool) -> str:
    after = f"{call_words(call)} → {outcome(call)}"
    if failed and entry.layer is Layer.WORKING and entry.key.startswith(_HYPOTHESES):
        return after
    if failed and _PASSES.search(entry.value) and _FAILS.search(text):
        return after
    if missing := _missing_file(entry, call, text):
        return f"{missing} is not there: {after}"
    if entry.key == TOUCHED:
        return ""
    return _other_value(entry, text)


def _missing_file(entry: PerceptionEntry, call: ToolCall, text: str) -> str:
    if not _NO_FILE.search(text):
        return ""
    lines = [line for line in text.splitlines() if _NO_FILE.search(line)]
    for path in dict.fromkeys(map(str, _PATH.findall(entry.value))):
        whole = re.compile(rf"(?<![\w.-]){re.escape(path)}(?!\.?[\w/-])")
        if any(whole.search(line) for line in lines):
            return path
        if call.status is ToolStatus.FAILED and len(lines) == 1 and whole.search(call.arguments):
            return path
    return ""


def _other_value(entry: PerceptionEntry, text: str) -> str:
    name = _plain_name(entry.key)
    if name not in _GENERIC and "\n" not in entry.value:
        given = {value.lower() for key, value in _SETTING.findall(text) if _plain_name(key) == name}
        mine = entry.value.lower()
        if given and _scalar(mine) and not any(value in mine or mine in value for value in given):
            return f"it says {entry.key} = {sorted(given)[0]}"
    believed = _versions(entry.value)
    there = _versions(text) if believed else {}
    for product, versions in believed.items():
        seen = there.get(product)
        if seen and not any(_agree(a, b) for a in versions for b in seen):
            return f"it says {product} {sorted(seen)[0]}"
    return ""


def _scalar(value: str) -> bool:
    return len(value.split()) == 1


def _plain_name(key: str) -> str:
    return re.sub(r"[\s_.-]+", "-", key.strip().lower())


def _versions(text: str) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for word, number in _VERSION.findall(text):
        product = _ALIASES.get(word.lower(), word.lower())
        if product not in _NOT_PRODUCTS:
            found.setdefault(product, set()).add(number)
    return found


def _agree(one: str, other: str) -> bool:
    """16 and 16.2 do, 3.11 and 3.12 don't."""
    a, b = one.split("."), other.split(".")
    shared = min(len(a), len(b))
    return a[:shared] == b[:shared]
