"""The memory browser over the facts of a session, as a person has it."""

from __future__ import annotations

from milk_tui.core.records import Percept, Producer
from milk_tui.engine.conductor import Conductor
from milk_tui.store import percept_lists, percepts
from milk_tui.ui.fact_list import FactList
from milk_tui.ui.fact_pane import FactPane
from milk_tui.ui.memory import MemoryScreen
from tests.ui.conftest import Desk

DAY_MS = 86_400_000


class Browser:
    """The browser over the facts of a session."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk

    @property
    def conductor(self) -> Conductor:
        conductor = self.desk.app.control.conductor
        assert conductor is not None
        return conductor

    @property
    def screen(self) -> MemoryScreen:
        return next(screen for screen in self.desk.app.screen_stack if isinstance(screen, MemoryScreen))

    @property
    def pane(self) -> FactPane:
        return self.screen.pane

    @property
    def facts(self) -> FactList:
        return self.pane.facts

    @property
    def here(self) -> str:
        return self.facts.percept.content if self.facts.percept is not None else ""

    async def add(self, content: str, producer: Producer = Producer.PRIMARY, **more: object) -> Percept:
        """Store a fact and tell the screen, as a leg does."""
        from milk_tui.engine.events import PerceptChanged

        session_id = self.conductor.session.id
        change = await self.conductor.store.write(
            lambda db: percepts.add(db, content=content, session_id=session_id, producer=producer, **more)  # type: ignore[arg-type]
        )
        self.conductor.publish(PerceptChanged(session_id=session_id, percept=change.percept, what=change.what))
        return change.percept

    async def write(self, do) -> None:
        await self.conductor.store.write(do)

    async def get(self, percept: Percept) -> Percept:
        found = await self.conductor.store.read(lambda conn: percept_lists.get(conn, percept.id))
        assert found is not None
        return found

    async def open(self) -> None:
        await self.desk.until(lambda: self.desk.app.state.percepts, "facts")
        await self.desk.press("f2")
        await self.desk.until(lambda: isinstance(self.desk.app.screen, MemoryScreen) and self.facts.rows, "the browser")
        await self.desk.until(lambda: self.facts.has_focus, "focus")

    async def go_to(self, percept: Percept) -> None:
        await self.desk.until(lambda: self.facts.go_to(percept.id), f"{percept.content} in the list")

    async def is_now(self, percept: Percept, **values: object) -> None:
        """Wait until the browser shows the fact with these values, which are those of the store."""

        def shows() -> bool:
            shown = self.facts.book.percepts.get(percept.id)
            return shown is not None and all(getattr(shown, name) == value for name, value in values.items())

        await self.desk.until(shows, f"{percept.content}: {values}")
        stored = await self.get(percept)
        assert {name: getattr(stored, name) for name in values} == values
