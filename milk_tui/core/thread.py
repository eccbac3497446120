"""An agent's own thread, bounded so that its beginning rarely changes (``semantics.md`` §4).

The thread is replayed as it happened: what was delivered with the prompt once and for all, prompt, tool
rounds with their results, answer. What was built for that turn alone is not replayed, so a turn's bytes
never change once it is over.

The bound is applied as if the session were lived through again, unit by unit (prompt, tool round, answer):
when a unit takes the thread over the bound, the running turn's older results shrink first; if that is not
enough the oldest turns leave, whole, until ``KEPT`` of the bound is used; if the running turn alone is too
large, all its results shrink and then its oldest rounds leave, each call with its result. What has happened
by then depends on nothing but the turns and the bound. ``ThreadMark`` is that state, so that old turns need
not be read again, and cuts never move.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence

from msgspec import Struct, json
from msgspec.structs import replace

from milk_tui.core.cuts import cut_inside
from milk_tui.core.records import (
    Leg,
    LegStatus,
    Message,
    MessageToolCall,
    ThreadMark,
    ToolCall,
    ToolStatus,
    Turn,
    TurnCut,
)
from milk_tui.core.tool_calls import arguments_of, as_object

THREAD_TOKENS = 24_000
KEPT = 0.6
"""Share of the bound that is left when old turns leave."""
SHRUNK_CHARS = 500
CHARS_PER_TOKEN = 4
MIN_LIMIT_CHARS = 2_000
IMAGE_CHARS = 4_000
"""What an image counts in the bound: about a thousand tokens."""

Round = tuple[Message, ...]
"""An assistant message with tool calls, and their results."""


class ThreadTurn(Struct, frozen=True, kw_only=True):
    """One leg of the agent as it is replayed. ``leg_id`` is the order; all text is clean already."""

    leg_id: int
    turn_id: int
    prompt: str
    rounds: tuple[Round, ...] = ()
    answer: str = ""
    delivered: str = ""
    """What was given once with this turn and stays in the thread (``context.delivered``)."""
    images: tuple[str, ...] = ()
    """Images that came with the prompt, as data URLs."""


class Fitted(Struct, frozen=True, kw_only=True):
    """A bounded thread and where it stands."""

    messages: tuple[Message, ...]
    mark: ThreadMark
    note: str = ""


def limit_chars(window_tokens: int | None, thread_tokens: int = THREAD_TOKENS) -> int:
    """The bound in characters: half the model's window, never more than ``thread_tokens``, at 4 characters
    each.
    """
    tokens = thread_tokens if window_tokens is None else min(window_tokens // 2, thread_tokens)
    return max(MIN_LIMIT_CHARS, tokens * CHARS_PER_TOKEN)


def thread_turn(turn: Turn, leg: Leg, calls: Iterable[ToolCall] = (), delivered: str = "") -> ThreadTurn:
    """A leg's place in its agent's thread, from its records.

    The leg's text is split where its calls were made. Calls made at one place while another ran are one
    round. A call that never got a result says so; arguments that are no JSON object are wrapped in one,
    since providers refuse them.
    """
    rounds: list[tuple[str, list[ToolCall]]] = []
    position, busy_until = 0, 0
    for call in sorted(calls, key=lambda c: c.id):
        place = min(max(call.position, position), len(leg.text))
        if not rounds or place > position or call.started_ms >= busy_until:
            rounds.append((leg.text[position:place], []))
            busy_until = 0
        rounds[-1][1].append(call)
        position = place
        busy_until = max(busy_until, call.started_ms + 1 if call.ended_ms is None else call.ended_ms)
    answer = leg.text[position:].strip()
    if leg.status in (LegStatus.CANCELLED, LegStatus.INTERRUPTED):
        answer = f"{answer}\n[this answer was interrupted]".strip()
    return ThreadTurn(
        leg_id=leg.id,
        turn_id=turn.id,
        prompt=turn.prompt,
        rounds=tuple(_round(text.strip(), made) for text, made in rounds),
        answer=answer,
        delivered=delivered,
    )


def _round(text: str, calls: Sequence[ToolCall]) -> Round:
    asked = tuple(MessageToolCall(id=_call_id(c), name=c.name, arguments=as_object(c.arguments)) for c in calls)
    results = (Message(role="tool", content=_result(c), tool_call_id=_call_id(c)) for c in calls)
    return (Message(role="assistant", content=text, tool_calls=asked), *results)


def _call_id(call: ToolCall) -> str:
    return call.call_id or f"call_{call.id}"


def _result(call: ToolCall) -> str:
    if call.result or call.status in (ToolStatus.OK, ToolStatus.FAILED):
        return call.result
    denied = call.status is ToolStatus.DENIED
    return "denied by the person" if denied else "no result: the call was interrupted"


def fit(turns: Sequence[ThreadTurn], limit: int, mark: ThreadMark | None = None, prompt: str = "") -> Fitted:
    """The thread of ``turns`` (oldest first) within ``limit`` characters, ready for a turn with ``prompt``.

    ``mark`` is the state that came with an earlier leg; turns up to ``mark.after`` may then be missing. The
    result's mark is the state with this one: the same whether it was reached in one go or from any earlier mark.
    """
    mark = mark or ThreadMark()
    cuts = {cut.leg_id: cut for cut in mark.cuts}
    fold = _Fold(limit)
    parts: dict[int, _Parts] = {}
    for turn in turns:
        part = _parts(turn, limit)
        if turn.leg_id <= mark.after or part is None:
            continue
        parts[turn.leg_id] = part
        if turn.leg_id <= mark.upto:
            fold.known(turn.leg_id, part, cuts.get(turn.leg_id))
        else:
            fold.live(turn.leg_id, part)
    if prompt:
        fold.begin(0, len(_bounded(prompt, limit)))
    kept = [leg_id for leg_id, _ in fold.kept]
    messages: list[Message] = []
    for leg_id in kept:
        messages += parts[leg_id].messages(fold.cuts.get(leg_id), limit)
    return Fitted(messages=tuple(messages), mark=fold.mark(mark), note=_note(fold, mark.gone, limit))


def restart(turns: Sequence[ThreadTurn], mark: ThreadMark | None = None) -> ThreadMark:
    """The mark of a thread that starts again after ``turns``: they have all left (§4, fresh start)."""
    mark = mark or ThreadMark()
    last = max((turn.leg_id for turn in turns), default=mark.upto)
    left = sum(turn.leg_id > mark.after for turn in turns)
    return ThreadMark(after=max(last, mark.after), upto=max(last, mark.upto), gone=mark.gone + left, fresh=True)


def fit_running(
    thread: Sequence[Message], prompt: str, running: Sequence[Message], limit: int
) -> tuple[tuple[Message, ...], tuple[Message, ...]]:
    """Thread and running turn within ``limit``: the messages before the newest prompt, and those after it.

    ``running`` is everything since the prompt, unshortened: assistant messages with tool calls and their
    results. Each request of a turn begins with the bytes of the one before, except when the bound was
    reached in between.
    """
    if limit <= 0:
        return tuple(thread), tuple(running)
    fold = _Fold(limit)
    groups = _split(thread, "user")
    for index, group in enumerate(groups):
        fold.kept.append((index, _size(group)))
        fold.total += _size(group)
    fold.begin(len(groups), len(_bounded(prompt, limit)))
    rounds = _split(running, "assistant")
    for made in rounds:
        fold.round(_size(made), _size(shrunk(made, limit)))
    before = [message for index, _ in fold.kept for message in groups[index]]
    after = _Parts((), tuple(rounds), ()).messages(fold.current(), limit)
    return tuple(before), tuple(after)


def shrunk(made: Round, limit: int) -> Round:
    """A tool round with its results, and string arguments, cut inside."""
    calls = max(1, len(made) - 1)
    room = max(40, min(SHRUNK_CHARS, limit // (4 * calls)))
    return tuple(
        replace(
            message,
            content=cut_inside(message.content, room if message.role == "tool" else limit // 8),
            tool_calls=tuple(replace(call, arguments=_short_json(call.arguments, room)) for call in message.tool_calls),
        )
        for message in made
    )


def _short_json(arguments: str, room: int) -> str:
    if len(arguments) <= room:
        return arguments
    fields = arguments_of(arguments)
    if fields is None:
        fields = {"text": arguments}
    each = max(16, room // (2 * max(1, len(fields))))
    short = {k[:40]: cut_inside(v, each) if isinstance(v, str) else v for k, v in fields.items()}
    text = json.encode(short).decode()
    return text if len(text) <= room else json.encode({"cut": cut_inside(arguments, room // 3)}).decode()


class _Parts(Struct, frozen=True):
    """A turn in the units in which the bound is applied."""

    before: tuple[Message, ...]
    rounds: tuple[Round, ...]
    after: tuple[Message, ...]

    def messages(self, cut: TurnCut | None, limit: int) -> list[Message]:
        cut = cut or TurnCut(leg_id=0)
        made = [
            message
            for index, made in enumerate(self.rounds)
            if index >= cut.left
            for message in (shrunk(made, limit) if index < cut.shrunk else made)
        ]
        rest = [*made, *self.after]
        if cut.left:
            said = f"[{cut.left} earlier tool rounds left out]"
            if rest:
                rest[0] = replace(rest[0], content=f"{said}\n{rest[0].content}".rstrip())
            else:
                rest = [Message(role="assistant", content=said)]
        return [*self.before, *rest]


def _parts(turn: ThreadTurn, limit: int) -> _Parts | None:
    """The units of a turn; ``None`` for one that said nothing, which providers would refuse."""
    if not turn.answer and not turn.rounds:
        return None
    texts = (_bounded(turn.delivered, limit), _bounded(turn.prompt, limit))
    asked = "\n\n".join(text for text in texts if text)
    answer = _bounded(turn.answer, limit)
    return _Parts(
        (Message(role="user", content=asked, images=turn.images),),
        turn.rounds,
        (Message(role="assistant", content=answer),) if answer else (),
    )


def _bounded(text: str, limit: int) -> str:
    """A text as it is replayed: one that takes more than a quarter of the bound is cut
    inside.
    """
    return cut_inside(text, limit // 4)


def _size(messages: Iterable[Message]) -> int:
    return sum(
        len(m.content) + IMAGE_CHARS * len(m.images) + sum(len(c.name) + len(c.arguments) for c in m.tool_calls)
        for m in messages
    )


def _split(messages: Sequence[Message], role: str) -> list[tuple[Message, ...]]:
    """The messages in groups that begin with one of ``role``."""
    groups: list[list[Message]] = []
    for message in messages:
        if message.role == role or not groups:
            groups.append([])
        groups[-1].append(message)
    return [tuple(group) for group in groups]


_SAID_CHARS = 50


class _Fold:
    """The session lived through again: which turns are still there, and what became of the newest one."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.kept: deque[tuple[int, int]] = deque()
        self.total = 0
        self.cuts: dict[int, TurnCut] = {}
        self.after = 0
        self.upto = 0
        self.gone = 0
        self._leg_id = 0
        self._texts = 0
        self._rounds: list[tuple[int, int]] = []
        self._shrunk = 0
        self._left = 0

    def known(self, leg_id: int, parts: _Parts, cut: TurnCut | None) -> None:
        """A turn that the bound was applied to before."""
        self._keep(leg_id, _size(parts.messages(cut, self.limit)), cut)

    def live(self, leg_id: int, parts: _Parts) -> None:
        """A turn lived through unit by unit."""
        self.begin(leg_id, _size(parts.before))
        for made in parts.rounds:
            self.round(_size(made), _size(shrunk(made, self.limit)))
        self._texts += _size(parts.after)
        self._relieve(running=False)
        cut = self.current()
        cut_if_any = cut if cut.shrunk or cut.left else None
        self._keep(leg_id, _size(parts.messages(cut_if_any, self.limit)), cut_if_any)

    def begin(self, leg_id: int, size: int) -> None:
        self._leg_id, self._texts, self._rounds, self._shrunk, self._left = leg_id, size, [], 0, 0
        self._relieve(running=False)

    def round(self, size: int, shrunk_size: int) -> None:
        self._rounds.append((size, shrunk_size))
        self._relieve(running=True)

    def current(self) -> TurnCut:
        return TurnCut(leg_id=self._leg_id, shrunk=self._shrunk, left=self._left)

    def mark(self, before: ThreadMark) -> ThreadMark:
        return ThreadMark(
            after=max(before.after, self.after),
            upto=max(before.upto, self.upto),
            gone=before.gone + self.gone,
            fresh=before.fresh,
            cuts=tuple(self.cuts.values()),
        )

    def _keep(self, leg_id: int, size: int, cut: TurnCut | None) -> None:
        self.kept.append((leg_id, size))
        self.total += size
        self.upto = leg_id
        if cut:
            self.cuts[leg_id] = cut

    def _size(self) -> int:
        rounds = (
            small if index < self._shrunk else size
            for index, (size, small) in enumerate(self._rounds)
            if index >= self._left
        )
        return self._texts + sum(rounds) + (_SAID_CHARS if self._left else 0)

    def _relieve(self, *, running: bool) -> None:
        if self.total + self._size() <= self.limit:
            return
        target = int(self.limit * KEPT)
        if running:
            self._shrunk = max(self._shrunk, len(self._rounds) - 1)
        if self.total + self._size() > self.limit:
            while self.kept and self.total + self._size() > target:
                leg_id, size = self.kept.popleft()
                self.total -= size
                self.after = leg_id
                self.gone += 1
                self.cuts.pop(leg_id, None)
        if self._size() > self.limit:
            self._shrunk = len(self._rounds)
        if self._size() > self.limit:
            last = len(self._rounds) - 1 if running else len(self._rounds)
            while self._left < last and self._size() > target:
                self._left += 1


def _note(fold: _Fold, gone_before: int, limit: int) -> str:
    """What the bound did, for the receipt; empty when it did nothing."""
    parts = []
    gone = gone_before + fold.gone
    if gone:
        parts.append(f"{gone:,} older turns left (bound {limit:,} characters)")
    if fold.cuts:
        parts.append(f"old tool results shortened in {len(fold.cuts):,} turns")
    return "; ".join(parts)
