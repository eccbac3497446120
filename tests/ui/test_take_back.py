"""What is remembered under an answer can be taken back there, by key and by a click on the word that says so."""

from __future__ import annotations

from milk_tui.ui.transcript.parts import UNDO
from tests.support.polling import until

FACT = "SCN:tag percept parcels wait in the depot SCN:say ok"


def where(desk, words: str) -> tuple[int, int]:
    rows = desk.text.splitlines()
    y = next(number for number, row in enumerate(rows) if words in row and "remembered" in row)
    return rows[y].index(words), y


async def remembered(desk) -> None:
    await desk.say(FACT)
    await desk.sees("remembered: #", UNDO)
    await desk.idle()


async def test_a_click_on_undo_forgets_the_fact_and_it_can_be_brought_back(open_desk) -> None:
    async with open_desk() as desk:
        await remembered(desk)
        x, y = where(desk, UNDO)
        await desk.pilot.click(offset=(x + 1, y))
        await desk.sees("forgotten")
        facts = desk.app.state.percepts
        await until(lambda: not any(fact.holds for fact in facts.values()), what="nothing remembered")
        await desk.app.control.conductor.memory.undo()
        await until(lambda: any(fact.holds for fact in facts.values()), what="it is back")


async def test_a_click_on_the_words_of_the_fact_takes_nothing_back(open_desk) -> None:
    async with open_desk() as desk:
        await remembered(desk)
        x, y = where(desk, "parcels")
        await desk.pilot.click(offset=(x + 1, y))
        await desk.pilot.pause(0.3)
        assert len(desk.app.state.percepts) == 1
