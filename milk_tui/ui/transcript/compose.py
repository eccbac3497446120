"""From the parts of an entry to its blocks: what is said, in which order, folded or not.

What the program itself writes is made of ``Runs``; texts of models and people are cleaned here, once.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Sequence, Set

from milk_tui.core import text as safe
from milk_tui.core.records import Role, ToolStatus
from milk_tui.ui.transcript.blocks import (
    Block,
    Fence,
    Held,
    Plain,
    Run,
    Runs,
    code_blocks,
    diff_blocks,
    gap,
    plain_blocks,
    space,
)
from milk_tui.ui.transcript.growing import MarkdownText
from milk_tui.ui.transcript.parts import (
    UNDO,
    Banner,
    Fact,
    Header,
    Markdown,
    Notice,
    Outcome,
    Part,
    Progress,
    Prompt,
    ReceiptLine,
    Severity,
    TakeBack,
    Thinking,
    Tool,
    Usage,
)
from milk_tui.ui.transcript.tool_words import edit_diff, main_argument, outcome, split_diff

GLYPH = {Role.PRIMARY: "●", Role.ESCALATION: "◆"}
_MARKS = {Severity.INFORMATION: "·", Severity.WARNING: "▲", Severity.ERROR: "✗"}
_GROUP = 3
"""So many finished calls of one tool in a row become one line."""
_SHORT = 400
_TAIL_LINES = 6
_ROUTE = ("route",)
"""The fold of a leg's header."""

TextOf = Callable[[], MarkdownText]
"""The growing text of the next Markdown part."""


def compose(parts: Sequence[Part], opened: Set[Hashable], text_of: TextOf) -> list[Block]:
    """The blocks of an entry, in order, with their gaps. ``opened`` holds the folds that are open."""
    blocks: list[Block] = []
    index = 0
    while index < len(parts):
        part = parts[index]
        if isinstance(part, Markdown):
            made = text_of().blocks(index)
        else:
            made = _group(parts, index, opened) if isinstance(part, Tool) else _part(parts, index, opened)
            for block in made:
                block.part = index
            space(made)
        if blocks and made:
            blocks[-1].gap = gap(blocks[-1], made[0])
        blocks += made
        index += _run_length(parts, index) if isinstance(part, Tool) else 1
    if not blocks:
        blocks.append(line([(" ", ())], "text"))
    blocks[-1].gap = 1
    return blocks


def line(
    runs: Sequence[Run], role: str, *, hang: int = 0, elastic: int | None = None, rule: str = "", ground: str = "text"
) -> Block:
    """A block of the program's own words; see ``Runs``."""
    kept = tuple(run for run in runs if run[0])
    source = "".join(run[0] for run in kept)
    shape = Runs(kept, hang, elastic, rule, ground)
    return Block(source, shape, role, Held(source), 0, (0, len(source)))


def _part(parts: Sequence[Part], index: int, opened: Set[Hashable]) -> list[Block]:
    part = parts[index]
    match part:
        case Prompt():
            return _prompt(part)
        case Header():
            return _header(part, opened)
        case Banner():
            return [_banner(part)]
        case ReceiptLine():
            hint = f"  [{short(part.hint)}]" if part.hint else ""
            block = line([("   ", ()), (short(part.text), ("receipt",)), (hint, ("fold",))], "receipt", hang=3)
            block.fold = "receipt"
            return [block]
        case Thinking():
            number = sum(isinstance(before, Thinking) for before in parts[:index])
            return _thinking(part, number, opened)
        case Tool():
            return _tool(part, opened)
        case Fact():
            name = "fact" if part.severity is Severity.INFORMATION else part.severity.value
            mark = "+" if part.severity is Severity.INFORMATION else _MARKS[part.severity]
            runs = [(f"{mark} {short(part.verb)}: ", (name,)), (safe.one_line(part.text, 4_000), ("muted",))]
            block = line([*runs, (f" {UNDO}", ("fold",))] if part.id else runs, "note", hang=2)
            block.fold = TakeBack(part.id) if part.id else None
            return [block]
        case Outcome():
            return _outcome(part)
        case Usage():
            return [line([(short(part.text), ("usage",))], "usage")]
        case Progress():
            return [_progress(part)]
        case Notice():
            name = part.severity.value
            when = f"{short(part.when)} · " if part.when else ""
            mark = _MARKS[part.severity]
            runs = [(f"{mark} ", (name,)), (when, ("muted",)), (clean_text(part.text), (name,))]
            return [line(runs, "note", hang=2)]
        case _:
            raise TypeError(f"not a part of an entry: {part!r}")


def short(text: str) -> str:
    return safe.one_line(text, _SHORT)


def clean_text(text: str) -> str:
    """One line of at most 2,000 characters: for messages of the program that quote others."""
    return safe.one_line(text, 2_000)


def _prompt(part: Prompt) -> list[Block]:
    head: list[Run] = [("you", ("prompt-name",))]
    for text in (part.when, part.note):
        if text:
            head += [(" · ", ("muted",)), (short(text), ("muted",))]
    top = line(head, "prompt", ground="prompt")
    text = safe.clean(part.text).rstrip()
    blocks = [top, *plain_blocks(Held(text), 0, len(text), Plain(("prompt",)), "prompt")]
    thing = object()
    for block in blocks:
        block.thing = thing
    return blocks


def _header(part: Header, opened: Set[Hashable]) -> list[Block]:
    name = part.role.value
    is_open = _ROUTE in opened
    runs: list[Run] = [(f"{GLYPH[part.role]} {short(part.agent)}", (name,))]
    if part.when:
        runs.append((f" · {short(part.when)}", ("muted",)))
    if part.route:
        runs.append((f" · {short(part.route)}", ("muted",)))
    elastic = len(runs) - 1
    if part.why:
        runs.append((" ▾" if is_open else " ▸", ("fold",)))
    head = line(runs, "head", elastic=elastic)
    if not part.why:
        return [head]
    head.fold = _ROUTE
    if not is_open:
        return [head]
    why = safe.clean(part.why).rstrip()
    return [head, *plain_blocks(Held(why), 0, len(why), Plain(("muted",), "│ "), "text")]


def _banner(part: Banner) -> Block:
    reason = safe.one_line(part.reason, 2_000)
    runs: list[Run] = [
        ("━━ ", ("escalation",)),
        (f"{GLYPH[Role.ESCALATION]} {short(part.what)} {short(part.agent)}", ("escalation",)),
        (f": “{reason}”" if reason else "", ("escalation",)),
        (" ", ("escalation",)),
    ]
    return line(runs, "head", hang=3, rule="━")


def _thinking(part: Thinking, number: int, opened: Set[Hashable]) -> list[Block]:
    text = safe.clean(part.text).strip("\n")
    fold = ("thinking", number)
    is_open = fold in opened
    label = f"thinking {count_of(len(text))} characters"
    block = line([("▾ " if is_open else "▸ ", ("fold",)), (label, ("thinking",))], "head")
    block.fold = fold
    if not is_open:
        return [block]
    detail = plain_blocks(Held(text), 0, len(text), Plain(("text", "thinking"), "│ "), "text")
    return [block, *detail]


def _run_length(parts: Sequence[Part], index: int) -> int:
    """How many parts from here on are finished calls of one tool, when they are enough for a group; else 1."""
    first = parts[index]
    assert isinstance(first, Tool)
    end = index
    while end < len(parts):
        part = parts[end]
        if not isinstance(part, Tool) or part.name != first.name or part.status is not ToolStatus.OK:
            break
        end += 1
    return end - index if end - index >= _GROUP else 1


def folds_around(parts: Sequence[Part], tool_id: Hashable) -> tuple[Hashable, ...]:
    """What has to be open so that a call is seen with its arguments and its result."""
    index = 0
    while index < len(parts):
        part = parts[index]
        length = _run_length(parts, index) if isinstance(part, Tool) else 1
        run = [each for each in parts[index : index + length] if isinstance(each, Tool)]
        if any(each.id == tool_id for each in run):
            own = ("tool", tool_id)
            return (("group", run[0].id), own) if length > 1 else (own,)
        index += length
    return ()


def _group(parts: Sequence[Part], index: int, opened: Set[Hashable]) -> list[Block]:
    run = [part for part in parts[index : index + _run_length(parts, index)] if isinstance(part, Tool)]
    if len(run) == 1:
        return _tool(run[0], opened)
    fold = ("group", run[0].id)
    if fold not in opened:
        block = _tool_line(run[0], f"[{len(run) - 1} more {short(run[0].name)} calls]", is_open=False)
        block.fold = fold
        return [block]
    head = line(
        [("  ▾ ", ("fold",)), (f"{len(run)} {short(run[0].name)} calls", ("muted",))],
        "tool",
    )
    head.fold = fold
    return [head, *(block for tool in run for block in _tool(tool, opened))]


def _tool(part: Tool, opened: Set[Hashable]) -> list[Block]:
    fold = ("tool", part.id)
    head = _tool_line(part, "", is_open=fold in opened)
    head.fold = fold
    if fold not in opened:
        return [head, *_tail(part)]
    blocks = [head]
    if part.allowed_by:
        blocks.append(line([("    allowed by ", ("muted",)), (short(part.allowed_by), ("muted",))], "detail", hang=4))
    if part.arguments.strip():
        text, language = _pretty(part.arguments)
        blocks += code_blocks(safe.clean(text), Fence(language, "arguments"), "detail", 4)
    said, diff = split_diff(safe.clean(part.result).rstrip("\n"))
    if said:
        blocks += code_blocks(said, Fence(label="result"), "detail", 4)
    diff = diff or safe.clean(edit_diff(part.arguments))
    if diff:
        blocks += diff_blocks(diff, "detail", 4)
    return blocks


def _tail(part: Tool) -> list[Block]:
    """The newest lines that a running call has printed."""
    if part.status is not ToolStatus.RUNNING or not part.result.strip():
        return []
    newest = safe.clean(part.result).rstrip("\n").split("\n")[-_TAIL_LINES:]
    return code_blocks("\n".join(text[-_SHORT:] for text in newest), Fence(), "detail", 4)


def _tool_line(part: Tool, more: str, *, is_open: bool) -> Block:
    failed = part.status in (ToolStatus.FAILED, ToolStatus.DENIED, ToolStatus.CANCELLED)
    summary = safe.one_line(part.summary or main_argument(part.arguments), _SHORT)
    note = short(part.note or outcome(part.name, part.result, part.status))
    note = f"{note} · {part.took}" if part.took else note
    runs: list[Run] = [
        ("  ▾ " if is_open else "  ▸ ", ("fold",)),
        (short(part.name), ("tool",)),
        (f" {summary}" if summary else " ", ("text",)),
        (f"  {'✗ ' if failed else ''}{note}", ("tool-failed",) if failed else ("muted",)),
        (f"  {more}" if more else "", ("muted",)),
    ]
    return line(runs, "tool", elastic=2)


def _pretty(arguments: str) -> tuple[str, str]:
    """Arguments as readable JSON when they are JSON of a readable size, and their language."""
    if len(arguments) <= 20_000:
        try:
            value = json.loads(arguments)
        except (ValueError, RecursionError):
            return arguments, ""
        text = json.dumps(value, ensure_ascii=False)
        return (text if len(text) <= 72 else json.dumps(value, indent=2, ensure_ascii=False)), "json"
    return arguments, ""


def _outcome(part: Outcome) -> list[Block]:
    name = part.severity.value
    blocks = [line([(f"{_MARKS[part.severity]} ", (name,)), (clean_text(part.text), (name,))], "note", hang=2)]
    if part.hint:
        blocks.append(line([("  → ", ("muted",)), (clean_text(part.hint), ("text",))], "note", hang=4))
    return blocks


def _progress(part: Progress) -> Block:
    name = "muted" if part.severity is Severity.INFORMATION else part.severity.value
    runs: list[Run] = [("⋯ ", (name,)), (clean_text(part.text), (name,))]
    if part.fraction is not None:
        done = round(min(max(part.fraction, 0.0), 1.0) * 10)
        percent = round(min(max(part.fraction, 0.0), 1.0) * 100)
        runs.append((f"  {'▰' * done}{'▱' * (10 - done)} {percent} %", (name,)))
    return line(runs, "note", hang=2)


def count_of(number: int) -> str:
    """A count in few characters: 940, 1.2k, 34k, 1.1M."""
    if number < 1_000:
        return str(number)
    if number < 1_000_000:
        return f"{number / 1_000:.1f}k" if number < 9_950 else f"{number / 1_000:.0f}k"
    return f"{number / 1_000_000:.1f}M"
