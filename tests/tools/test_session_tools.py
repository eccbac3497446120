"""What an agent can read of its session: an overview, then bounded turns; never receipts, digests or nonces."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from milk_tui.core.records import LegStatus, ToolStatus
from milk_tui.store import Store, tool_calls
from milk_tui.tools.changes import Changes
from tests.store.makers import PRIMARY, end_leg, make_leg, make_session, make_turn
from tests.tools.conftest import Bench


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store.open(tmp_path / "milk.db")
    yield opened
    opened.close()


@pytest.fixture
def bench(tmp_path: Path, store: Store) -> Bench:
    folder = tmp_path / "shop"
    folder.mkdir()
    session = make_session(store, str(folder))
    for number in range(1, 31):
        turn = make_turn(store, session, f"question {number}")
        leg = make_leg(store, turn)
        for name, result in (("grep", f"found {PRIMARY.nonce}"), ("read_my_memory", "private things")):
            call = store.write_sync(
                lambda db, leg=leg, name=name: tool_calls.start(
                    db, leg.id, call_id=name, name=name, arguments='{"a": 1}'
                )
            )
            store.write_sync(lambda db, call=call, result=result: tool_calls.finish(db, call.id, ToolStatus.OK, result))
        end_leg(store, leg, f"answer {number} <milk:need:{PRIMARY.nonce}>", LegStatus.DONE)
    return Bench(folder, store=store, session_id=session.id, changes=Changes(store, session.id))


async def test_the_overview_names_the_turns(bench: Bench) -> None:
    shown = (await bench("get_session_context")).content
    assert "agents: qwen (primary), claude (escalation)" in shown
    assert "30 turns" in shown
    assert "1: question 1" in shown
    assert "30: question 30" in shown
    assert "answer" not in shown
    assert bench.asked == []


async def test_turns_are_read_in_bounded_ranges(bench: Bench) -> None:
    shown = (await bench("get_session_context", turns="2-3")).content
    assert "question 2" in shown
    assert "answer 3" in shown
    assert "question 4" not in shown
    assert '- grep {"a": 1} → found' in shown
    assert len((await bench("get_session_context", turns="1-30")).content) <= 16_000


async def test_nonces_and_private_memory_are_not_part_of_it(bench: Bench) -> None:
    shown = (await bench("get_session_context", turns="1-5")).content
    assert PRIMARY.nonce not in shown
    assert "private things" not in shown
    assert "read_my_memory (its own)" in shown


@pytest.mark.parametrize("turns", ["x", "3-1", "900", "1-99999999", "1,2"])
async def test_a_range_that_is_none_is_said(bench: Bench, turns: str) -> None:
    await bench.refuses("get_session_context", turns=turns)


async def test_an_export_is_a_new_file_that_the_person_allows(bench: Bench) -> None:
    outcome = await bench("export_session", path="talk.md", turns="1-2")
    assert outcome.ok
    assert "question 2" in bench.read("talk.md")
    assert PRIMARY.nonce not in bench.read("talk.md")
    assert bench.asked[0].title.startswith("create talk.md")
    await bench.refuses("export_session", "is there already", path="talk.md")
    assert "question 1" in (await bench("export_session", turns="1")).content
