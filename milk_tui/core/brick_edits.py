"""A brick as the person writes it (``ux.md``, "Brick inspector"). What is written is the next version, by ``user``.

A summary that was written by hand holds until its agent has worked again; then it is built anew (``semantics.md`` §3),
and the written version is still there.
"""

from __future__ import annotations

from milk_tui.core.bricks import BRIEF_CHARS, BUDGET_CHARS
from milk_tui.core.cuts import escape, plain
from milk_tui.core.errors import MilkError
from milk_tui.core.records import Brick, BrickKind

AUTHOR = "user"
BUILT = (BrickKind.PRIMARY_SUMMARY, BrickKind.ESCALATION_SUMMARY)
"""What is made from what was done, and so can be made again."""


class BrickEditError(MilkError):
    """A brick can't be changed like this."""


def name(kind: BrickKind) -> str:
    """The brick as people call it."""
    return kind.value.replace("_", " ")


def edited(
    before: Brick | None, kind: BrickKind, text: str, *, turn_id: int, now_ms: int, budget: int = BUDGET_CHARS
) -> Brick:
    """The version that the person wrote. ``budget``: characters of a summary.

    Raises BrickEditError for a blank text, one over its bound, and a brief that was delivered. A need is not edited:
    a new one is set (``bricks.need``).
    """
    written = escape(plain(text))
    if not written:
        raise BrickEditError(f"The {name(kind)} is blank.", _blank(kind))
    limit = BRIEF_CHARS if kind is BrickKind.BRIEF else budget
    if len(written) > limit:
        raise BrickEditError(
            f"The {name(kind)} has {len(written):,} characters; there is room for {limit:,}.",
            "Shorten it: what an agent is given has a bound.",
        )
    if kind is BrickKind.BRIEF and (before is None or before.delivered_leg is not None):
        raise BrickEditError("No brief waits to be delivered.", "/escalate REASON hands over with a brief of yours.")
    return Brick(
        kind=kind,
        text=written,
        version=before.version + 1 if before else 1,
        turn_id=before.turn_id if before and kind is BrickKind.BRIEF else turn_id,
        updated_ms=now_ms,
        author=AUTHOR,
    )


def _blank(kind: BrickKind) -> str:
    return "Rebuild makes it anew from what was done." if kind in BUILT else "What waits is given as it is."


def refuse_rebuild(kind: BrickKind) -> None:
    """Raises BrickEditError for a brick that nobody builds."""
    if kind not in BUILT:
        raise BrickEditError(
            f"The {name(kind)} is not built: somebody says it.", "Edit it, or take an older version back."
        )
