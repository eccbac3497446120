"""The four summary bricks: two renderings of an agent's turns, the need and the brief (``semantics.md`` §3).

``full`` and ``delta`` read an agent's turns newest first and stop when the budget is full, so that a rebuild
costs what the newest turns and the budget cost, however long the session is. They are shown oldest first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import takewhile

from msgspec import Struct
from msgspec.structs import replace

from milk_tui.core.cuts import cut_end, cut_inside, plain
from milk_tui.core.digest import CallDigest, TurnDigest, is_empty
from milk_tui.core.records import Brick, BrickKind, NeedStatus, Role
from milk_tui.core.secret_scan import masked
from milk_tui.core.text import one_line

BUDGET_CHARS = 12_000
NEED_CHARS = 280
BRIEF_CHARS = 1_500
NEED_OLD_TURNS = 4
"""From this age on a need is injected under a label saying that it may be done already."""
ARGUMENTS_SHOWN = 8

_ARGUMENTS_CHARS = 200
_SHORT_ARGUMENTS_CHARS = 60
_MARK_CHARS = 40
"""Kept free for the line that says how many older turns were left out."""


class Rendering(Struct, frozen=True, kw_only=True):
    """A summary with what it took to fit: counts for the inspector's gauge."""

    text: str = ""
    turns: int = 0
    collapsed: int = 0
    cut: int = 0
    dropped: int = 0
    """Whole turns left out; exact when the caller gave ``total``, otherwise how many were seen to be left
    out.
    """


def full(
    newest_first: Iterable[TurnDigest], name: str, *, budget: int = BUDGET_CHARS, total: int | None = None
) -> Rendering:
    """An agent's whole session, its newest turns as far as ``budget`` characters reach.

    ``name`` is the agent's. ``total`` is the number of turns there are. Never longer than ``budget``, and
    not empty when there is a turn.
    """
    return _render(iter(newest_first), plain(name) or "agent", budget, total)


def delta(
    newest_first: Iterable[TurnDigest],
    name: str,
    *,
    since_leg: int | None,
    budget: int = BUDGET_CHARS,
    total: int | None = None,
) -> Rendering:
    """An agent's turns since ``since_leg``, the other agent's last answered leg (``None``: it has none).

    Empty when nothing is new. ``total`` is the number of turns since then.
    """
    new = takewhile(lambda d: since_leg is None or d.leg_id > since_leg, newest_first)
    return _render(new, plain(name) or "agent", budget, total)


def rebuilt(
    previous: Brick | None, last: TurnDigest, rendering: Rendering, *, now_ms: int, author: str = "milk"
) -> Brick | None:
    """The next version of the summary of ``last``'s agent, or ``None`` when it stays as it is.

    It stays when nothing changed, and when ``last`` is an empty escalation leg and there is a summary to
    keep.
    """
    is_escalation = last.role is Role.ESCALATION
    if previous and previous.text and (rendering.text == previous.text or (is_escalation and is_empty(last))):
        return None
    return Brick(
        kind=BrickKind.ESCALATION_SUMMARY if is_escalation else BrickKind.PRIMARY_SUMMARY,
        text=rendering.text,
        version=_next(previous),
        turn_id=last.turn_id,
        updated_ms=now_ms,
        author=author,
        collapsed=rendering.collapsed,
        cut=rendering.cut,
        dropped=rendering.dropped,
    )


def need_line(text: str) -> str:
    """A need as it is kept: one clean line of at most ``NEED_CHARS``; empty when there is nothing to keep."""
    return one_line(masked(plain(text)), NEED_CHARS)


def need(previous: Brick | None, text: str, *, turn_id: int, now_ms: int, author: str) -> Brick | None:
    """The need that ``text`` sets, or ``None`` when it is blank. The last value wins, whoever wrote it; the
    same words said again count as news, so that the need's age starts anew.
    """
    line = need_line(text)
    if not line:
        return None
    return Brick(
        kind=BrickKind.NEED,
        text=line,
        version=_next(previous),
        turn_id=turn_id,
        updated_ms=now_ms,
        author=author,
        status=NeedStatus.OPEN,
    )


def replaced(need: Brick) -> Brick:
    """The same version of a need, now that another one has taken its place; one that was fulfilled stays
    so.
    """
    return replace(need, status=NeedStatus.REPLACED) if need.status is NeedStatus.OPEN else need


def fulfilled(need: Brick, *, turn_id: int, now_ms: int, author: str) -> Brick:
    """The next version of a need: done (``/done``)."""
    return replace(
        need,
        version=need.version + 1,
        status=NeedStatus.FULFILLED,
        turn_id=turn_id,
        updated_ms=now_ms,
        author=author,
    )


def brief(previous: Brick | None, text: str, *, turn_id: int, now_ms: int, author: str) -> Brick | None:
    """The reason of one escalation event, not delivered yet; ``None`` when it is blank."""
    reason = cut_end(masked(plain(text)), BRIEF_CHARS)
    if not reason:
        return None
    return Brick(
        kind=BrickKind.BRIEF,
        text=reason,
        version=_next(previous),
        turn_id=turn_id,
        updated_ms=now_ms,
        author=author,
    )


def brief_for(brief: Brick | None, turn_id: int) -> Brick | None:
    """The brief to deliver in an escalation of ``turn_id``: its own, if it has not been delivered."""
    if brief is None or brief.delivered_leg is not None or brief.turn_id != turn_id:
        return None
    return brief


def delivered(brief: Brick, leg_id: int) -> Brick:
    """The brief once the leg that was given it has succeeded: it is not delivered again."""
    return replace(brief, delivered_leg=leg_id)


def _next(previous: Brick | None) -> int:
    return previous.version + 1 if previous else 1


@dataclass(slots=True)
class _Run:
    """Consecutive calls of one name: the first is shown, the others are counted.

    ``arguments`` are the shortened distinct ones of the others, newest first, one more than are shown (the
    first call's own are left out of the list); ``failed`` keeps the others that failed, oldest first, with
    how often.
    """

    first: CallDigest
    collapsed: int = 0
    arguments: tuple[str, ...] = ()
    failed: tuple[tuple[CallDigest, int], ...] = ()

    def then(self, newer: _Run) -> _Run:
        """This run and a newer one of the same name as one run."""
        arguments = newer.arguments
        if newer.first.ok:
            arguments = (*arguments, _short(newer.first.arguments))
        failed = dict(self.failed)
        for call, times in (() if newer.first.ok else ((newer.first, 1),)) + newer.failed:
            failed[call] = failed.get(call, 0) + times
        return _Run(
            self.first,
            self.collapsed + 1 + newer.collapsed,
            tuple(dict.fromkeys((*arguments, *self.arguments)))[: ARGUMENTS_SHOWN + 2],
            tuple(failed.items()),
        )

    def text(self) -> str:
        lines = [_call(self.first)]
        if self.collapsed:
            mark = f"[{self.collapsed} more {self.first.name} calls collapsed]"
            own = _short(self.first.arguments)
            others = [a for a in self.arguments if a and a != own]
            if others:
                more = "…; " if len(others) > ARGUMENTS_SHOWN else ""
                mark += " " + more + "; ".join(reversed(others[:ARGUMENTS_SHOWN]))
            lines.append(mark)
            lines += [_call(call, times) for call, times in self.failed]
        return "\n".join(lines)

    @property
    def cut(self) -> int:
        return self.first.cut + sum(call.cut for call, _ in self.failed)


def _short(arguments: str) -> str:
    return one_line(arguments, _SHORT_ARGUMENTS_CHARS)


def _call(call: CallDigest, times: int = 1) -> str:
    arguments = one_line(call.arguments, _ARGUMENTS_CHARS)
    outcome = "" if call.ok else " failed" + (f" ({times} times)" if times > 1 else "")
    result = f": {_indented(call.result)}" if call.result else ""
    return f"tool {call.name} {arguments}".rstrip() + outcome + result


def _indented(text: str) -> str:
    """Continuation lines moved in, so that text can't look like a line of the summary itself."""
    return text.replace("\n", "\n  ")


@dataclass(slots=True)
class _Piece:
    """One turn of the window: what comes before its calls, its runs of calls, what comes after."""

    head: str
    runs: list[_Run]
    tail: str

    def text(self) -> str:
        return "\n".join(part for part in (self.head, *(r.text() for r in self.runs), self.tail) if part)


def _piece(turn: TurnDigest, name: str) -> _Piece:
    runs: list[_Run] = []
    for call in turn.calls:
        run = _Run(call)
        if runs and runs[-1].first.name == call.name:
            runs[-1] = runs[-1].then(run)
        else:
            runs.append(run)
    answer = f"{name}: {_indented(turn.answer)}" if turn.answer else ""
    note = f"({name}: {turn.note})" if turn.note else ""
    head = f"## Turn {turn.turn_id}\nuser: {_indented(turn.prompt)}"
    return _Piece(head, runs, "\n".join(part for part in (answer, note) if part))


class _Window:
    """The newest turns that fit, grown towards older ones; ``chars`` is the length of its text at any
    time.
    """

    def __init__(self) -> None:
        self.pieces: list[_Piece] = []
        self.chars = 0
        self._leader: _Piece | None = None

    def add(self, piece: _Piece, room: int) -> bool:
        """Take an older turn in, if the text then still has at most ``room`` characters.

        The newer turns' first run joins the older turn's last one when both are calls of one name.
        """
        merged: _Run | None = None
        chars = self.chars + len(piece.text()) + (2 if self.pieces else 0)
        if self._leader and piece.runs and piece.runs[-1].first.name == self._leader.runs[0].first.name:
            old, lead = piece.runs[-1], self._leader.runs[0]
            merged = old.then(lead)
            chars += len(merged.text()) - len(old.text()) - len(lead.text()) - 1
        if chars > room:
            return False
        if merged and self._leader:
            piece.runs[-1] = merged
            del self._leader.runs[0]
        if piece.runs:
            self._leader = piece
        self.pieces.append(piece)
        self.chars = chars
        return True

    def rendering(self, mark: str, dropped: int) -> Rendering:
        runs = [run for piece in self.pieces for run in piece.runs]
        return Rendering(
            text=mark + "\n\n".join(piece.text() for piece in reversed(self.pieces)),
            turns=len(self.pieces),
            collapsed=sum(run.collapsed for run in runs),
            cut=sum(run.cut for run in runs),
            dropped=dropped,
        )


def _render(turns: Iterator[TurnDigest], name: str, budget: int, total: int | None) -> Rendering:
    """Rendering of the newest turns within ``budget``; what doesn't fit any more is not even read."""
    window = _Window()
    room = max(0, budget - _MARK_CHARS)
    for turn in turns:
        piece = _piece(turn, name)
        if window.add(piece, room):
            continue
        older = next(turns, None) is not None
        if not older and window.add(piece, budget):
            break
        if not window.pieces:
            return _one_cut(piece, budget, older, total)
        seen = 2 if older else 1
        dropped = seen if total is None else max(seen, total - len(window.pieces))
        return window.rendering(_mark(dropped, known=total is not None), dropped)
    return window.rendering("", 0)


def _one_cut(piece: _Piece, budget: int, older: bool, total: int | None) -> Rendering:
    """The newest turn alone, larger than the budget: cut inside, head and tail kept."""
    dropped = max(int(older), total - 1) if total is not None else int(older)
    mark = _mark(dropped, known=total is not None) if dropped and budget > 4 * _MARK_CHARS else ""
    whole = piece.text()
    text = mark + cut_inside(whole, budget - len(mark))
    cut = sum(run.cut for run in piece.runs) + (len(whole) > budget - len(mark))
    return Rendering(text=text, turns=1, collapsed=sum(r.collapsed for r in piece.runs), cut=cut, dropped=dropped)


def _mark(dropped: int, *, known: bool) -> str:
    if not known:
        return "[earlier turns left out]\n\n"
    return f"[{dropped:,} earlier turns left out]\n\n"
