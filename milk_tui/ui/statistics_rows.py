"""The lists of the statistics screen as rows: agents in sum, routes, facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from milk_tui.core.records import Role, Usage
from milk_tui.core.statistics import Statistics, cached_share, totals
from milk_tui.ui import format as f
from milk_tui.ui.bar_cells import UNKNOWN, glyph, level
from milk_tui.ui.paint import Line, Piece
from milk_tui.ui.row_list import Heading, Row
from milk_tui.ui.words import ItemRow, TextRow, blank

LABEL = 15
"""Cells of a bar's name at most."""
_RULES = {
    "explicit": "sent by you",
    "pin": "pinned by you",
    "waiting": "had asked you",
    "sticky": "stayed there",
    "hard": "named in it",
    "repeat": "asked again",
    "signals": "its words",
    "classifier": "a model's word",
    "primary": "no other rule",
    "fall-back": "for the other",
    "self-escalation": "handed over",
    "command": "your shell commands",
    "": "not known",
}
_BROUGHT = {
    "user": "by you",
    "primary": "by primary",
    "escalation": "by escalation",
    "helper": "by the helper",
    "system": "by the program",
}
_BECAME = {
    "live": "hold",
    "staged": "hold",
    "suspect": "in question",
    "quarantined": "held back",
    "superseded": "replaced",
    "forgotten": "forgotten",
}


@dataclass(frozen=True, slots=True)
class BarRow:
    """A name, a bar as long as its share of the largest, and the number."""

    key: str
    mark: Piece
    name: str
    number: int
    largest: int
    whole: int
    selectable: bool = True

    def height(self, width: int) -> int:
        return 1

    def lines(self, width: int) -> Sequence[Line]:
        name = f.pad(self.name, min(LABEL, max(8, width - 16)))
        tail = f" {self.number:>6,}"
        if width >= 44:
            tail += f"{f.percent(self.number / self.whole) if self.whole else '':>7}"
        room = max(1, width - len(self.mark[0]) - len(name) - len(tail) - 3)
        filled = max(1, round(self.number / self.largest * room)) if self.number and self.largest else 0
        bar = f.FULL * filled + f.EMPTY * (room - filled)
        return [(self.mark, (name, ""), (f" {bar}", self.mark[1] or "heading"), (tail, "dim"))]


@dataclass(frozen=True, slots=True)
class SparkRow:
    """One row of bars over the turns: the sums of neighbours where there are more turns than cells."""

    key: str
    counts: Sequence[int]
    look: str = "helper"
    selectable: bool = False

    def height(self, width: int) -> int:
        return 1

    def lines(self, width: int) -> Sequence[Line]:
        room = min(len(self.counts), max(1, width - 4))
        parts = [self.counts[at * len(self.counts) // room : (at + 1) * len(self.counts) // room] for at in range(room)]
        means = [sum(part) / len(part) for part in parts]
        top = max(means, default=0.0)
        drawn = "".join(glyph(level(mean / top, 1, 0) if mean and top else 0, plain=False) for mean in means)
        return [((f"  {drawn}", self.look),)]


def total_rows(found: Statistics) -> list[Row]:
    """The session in sum, then agent by agent."""
    rows: list[Row] = []
    all_of_them = totals(found.legs)
    usage = Usage()
    for each in all_of_them:
        usage = usage.plus(each.usage)
    unknown = sum(each.cost_unknown for each in all_of_them)
    said = [
        f.plural(found.turns, "turn"),
        f.plural(sum(each.answered for each in all_of_them), "answer"),
        f.elapsed(sum(each.seconds for each in all_of_them)),
    ]
    rows.append(Heading("total", ((" ALL", "heading"), (f" · {' · '.join(said)}", "dim"))))
    rows += _used("total", usage, cached_share(found.legs), sum(each.tokens_unknown for each in all_of_them), unknown)
    for number, each in enumerate(all_of_them):
        rows.append(blank(f"gap:{number}"))
        mark = f.ROLE_MARKS[each.role]
        failed = each.legs - each.answered
        about = [
            str(each.role),
            f.plural(each.answered, "answer"),
            f"{failed} not finished" if failed else "",
            f.elapsed(each.seconds),
        ]
        first: Line = (
            (f" {mark} {f.fit(each.agent, 30)}", str(each.role)),
            (f" · {' · '.join(word for word in about if word)}", "dim"),
        )
        rows.append(ItemRow(f"agent:{number}", first))
        rows += _used(f"agent:{number}", each.usage, each.cached_share, each.tokens_unknown, each.cost_unknown)
        models = ", ".join(each.models[:4]) + (" …" if len(each.models) > 4 else "")
        rows.append(TextRow(f"models:{number}", models, "dim", ("   ", "")))
    return rows


def _used(key: str, usage: Usage, share: float | None, tokens_unknown: int, cost_unknown: int) -> list[Row]:
    """What was used; a number is a lower bound (≥) where some answers did not report theirs."""
    least = "≥ " if tokens_unknown else ""
    words = [
        f"{least}{f.count(usage.input_tokens)} sent" if usage.input_tokens is not None else f"{UNKNOWN} sent",
        f"{least}{f.count(usage.output_tokens)} written" if usage.output_tokens is not None else f"{UNKNOWN} written",
        f"{UNKNOWN if share is None else f.percent(share)} of it cached",
        f"{'≥ ' if cost_unknown else ''}{f.money(usage.cost_usd)}" if usage.cost_usd is not None else f"{UNKNOWN} cost",
    ]
    return [TextRow(f"used:{key}", " · ".join(words), "", ("   ", ""))]


def route_rows(found: Statistics, names: Mapping[Role, str]) -> list[Row]:
    """Who was sent how many turns, and by which rule."""
    routed = [count for count in found.routes if count.rule != "command"]
    escalated = sum(leg.escalated for leg in found.legs)
    whole, largest = sum(count.turns for count in routed), max((count.turns for count in routed), default=0)
    rows: list[Row] = []
    for role in Role:
        own = [count for count in routed if count.role == role]
        if not own:
            continue
        number = sum(count.turns for count in own)
        mark = f"{f.ROLE_MARKS[role]} "
        rows.append(
            Heading(f"role:{role}", ((f" {mark}{names.get(role, role)}", str(role)), (f" · {number:,}", "dim")))
        )
        rows += [
            BarRow(
                f"{role}:{count.rule}",
                (f"   {mark}", str(role)),
                _RULES.get(count.rule, count.rule),
                count.turns,
                largest,
                whole,
            )
            for count in own
        ]
    if escalated:
        rows.append(TextRow("escalated", f"{escalated:,} of them handed over within the turn", "dim", (" ", "")))
    commands = sum(count.turns for count in found.routes if count.rule == "command")
    if commands:
        rows.append(
            TextRow("commands", f"{f.plural(commands, 'shell command')} of yours beside them", "dim", (" ", ""))
        )
    return rows


def fact_rows(found: Statistics) -> list[Row]:
    """Facts learned over the turns, who brought them, and what became of them."""
    if not found.facts:
        return []
    whole = sum(count.facts for count in found.facts)
    rows: list[Row] = [Heading("learned", ((f" {f.plural(whole, 'fact')} of this session", "heading"),))]
    if found.learned:
        learned = dict(found.learned)
        turns = sorted({leg.turn_id for leg in found.legs} | set(learned))
        rows.append(SparkRow("spark", [learned.get(turn, 0) for turn in turns]))
        rows.append(TextRow("spark:axis", f"learned per turn, from turn {turns[0]} to {turns[-1]}", "dim", ("  ", "")))
    for title, words, of in (("BROUGHT", _BROUGHT, "producer"), ("BECAME", _BECAME, "status")):
        sums: dict[str, int] = {}
        for count in found.facts:
            name = words.get(getattr(count, of), getattr(count, of))
            sums[name] = sums.get(name, 0) + count.facts
        largest = max(sums.values())
        rows.append(Heading(f"facts:{of}", ((f" {title}", "heading"),)))
        rows += [
            BarRow(f"{of}:{name}", ("   ", ""), name, number, largest, whole)
            for name, number in sorted(sums.items(), key=lambda item: -item[1])
        ]
    return rows
