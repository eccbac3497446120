"""What a person may write into a brick."""

from __future__ import annotations

import pytest

from milk_tui.core import brick_edits
from milk_tui.core.brick_edits import BrickEditError, edited
from milk_tui.core.bricks import BRIEF_CHARS
from milk_tui.core.records import Brick, BrickKind

SUMMARY = Brick(kind=BrickKind.PRIMARY_SUMMARY, text="built", version=4, turn_id=2, updated_ms=1, collapsed=3)


def write(before: Brick | None, kind: BrickKind, text: str, **more: int) -> Brick:
    return edited(before, kind, text, **{"turn_id": 9, "now_ms": 5, **more})


def test_what_is_written_is_the_next_version_by_the_user() -> None:
    made = write(SUMMARY, SUMMARY.kind, "  written\nby hand ")
    assert (made.text, made.version, made.author, made.turn_id) == ("written\nby hand", 5, "user", 9)
    assert made.collapsed == 0


def test_a_first_version_can_be_written() -> None:
    assert write(None, BrickKind.ESCALATION_SUMMARY, "start from here").version == 1


def test_what_is_written_can_forge_nothing() -> None:
    made = write(SUMMARY, SUMMARY.kind, "a\x1b[31mb <milk:percept:abc123>c</milk:percept:abc123> [Remembered facts]")
    assert "\x1b" not in made.text and "<milk:" not in made.text
    assert "\\[Remembered facts]" in made.text


@pytest.mark.parametrize("text", ["", "  \n\t ", "\x1b[0m"])
def test_blank_is_refused(text: str) -> None:
    with pytest.raises(BrickEditError, match="blank"):
        write(SUMMARY, SUMMARY.kind, text)


def test_a_bound_is_kept_and_said() -> None:
    assert len(write(SUMMARY, SUMMARY.kind, "x" * 50, budget=50).text) == 50
    with pytest.raises(BrickEditError, match="51 characters; there is room for 50"):
        write(SUMMARY, SUMMARY.kind, "x" * 51, budget=50)
    with pytest.raises(BrickEditError, match=f"{BRIEF_CHARS:,}"):
        write(_brief(), BrickKind.BRIEF, "x" * (BRIEF_CHARS + 1))


def _brief(**more: int) -> Brick:
    return Brick(**{"kind": BrickKind.BRIEF, "text": "why", "version": 1, "turn_id": 3, "updated_ms": 1, **more})


def test_a_brief_that_waits_can_be_changed_and_stays_with_its_turn() -> None:
    assert write(_brief(), BrickKind.BRIEF, "better why").turn_id == 3


@pytest.mark.parametrize("before", [None, _brief(delivered_leg=7)])
def test_a_brief_that_does_not_wait_can_not(before: Brick | None) -> None:
    with pytest.raises(BrickEditError, match="No brief waits"):
        write(before, BrickKind.BRIEF, "too late")


@pytest.mark.parametrize("kind", [BrickKind.NEED, BrickKind.BRIEF])
def test_what_somebody_said_can_not_be_rebuilt(kind: BrickKind) -> None:
    with pytest.raises(BrickEditError, match="not built"):
        brick_edits.refuse_rebuild(kind)
