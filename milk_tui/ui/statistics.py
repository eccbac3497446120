"""The session's statistics (``/stats``): tokens, cost and cached share per turn and agent, routes, facts."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.dom import DOMNode

from milk_tui.core.errors import MilkError
from milk_tui.core.records import Role
from milk_tui.core.statistics import Statistics, cached_share, cost_per_turn, tokens_per_turn
from milk_tui.core.text import one_line
from milk_tui.ui import format as f
from milk_tui.ui import statistics_rows as rows
from milk_tui.ui.actions import Action, Keymap, Where, bindings
from milk_tui.ui.control import Control
from milk_tui.ui.panes import Pane, PanedScreen
from milk_tui.ui.plot import Kind
from milk_tui.ui.plot_view import PlotView
from milk_tui.ui.row_list import RowList
from milk_tui.ui.state import SessionState, Topic
from milk_tui.ui.themes import style_sheets

TOKENS = Kind("tokens per turn", "sent + written", tokens_per_turn, lambda number: f.count(round(number)))
COST = Kind("cost per turn", "US $", cost_per_turn, f.money)
CACHED = Kind("cached share", "of what was sent", cached_share, f.percent, top=1.0)


class StatisticsScreen(PanedScreen):
    """Six panes; what they show is read beside the event loop, and again when an answer ends."""

    CSS_PATH = style_sheets("dialogs", "inspector", "statistics")
    BINDINGS: ClassVar = bindings(Where.STATISTICS)
    HEADING: ClassVar = "statistics"
    WHERE = (Where.STATISTICS,)
    LAYOUT_ID = "statistics"
    FOLLOWS = frozenset({Topic.KEYS, Topic.PERCEPTS})
    SOON_S = 0.5

    def __init__(self, state: SessionState, keymap: Keymap, control: Control) -> None:
        super().__init__(state, keymap)
        self._control = control
        self.plots = tuple(
            PlotView(kind, id=name) for kind, name in ((TOKENS, "tokens"), (COST, "costs"), (CACHED, "cached"))
        )
        self.totals = RowList(id="totals", empty=" looking …")
        self.routes = RowList(id="routes", empty=" looking …")
        self.facts_seen = RowList(id="facts-seen", empty=" looking …")
        self.panes = (
            Pane("totals-pane", "in sum", "sum", self.totals),
            Pane("tokens-pane", TOKENS.title, "tokens", self.plots[0]),
            Pane("costs-pane", COST.title, "cost", self.plots[1]),
            Pane("routes-pane", "who was asked, and why", "routes", self.routes),
            Pane("cached-pane", CACHED.title, "cache", self.plots[2]),
            Pane("facts-seen-pane", "facts", "facts", self.facts_seen),
        )

    def on_mount(self) -> None:
        for pane in ("tokens-pane", "costs-pane", "cached-pane"):
            self.frame(pane).border_subtitle = "? not reported"
        self.look()

    async def _look(self) -> None:
        found = await self._read()
        if self.is_mounted:
            self._show(found)

    async def _read(self) -> Statistics:
        from milk_tui.store import statistics

        workspace, session_id = self._control.workspace, self._control.session_id
        if workspace is None or not session_id:
            raise MilkError("The session is not open yet.")
        return await workspace.store.read(lambda conn: statistics.of_session(conn, session_id))

    def _show(self, found: Statistics) -> None:
        names = {role: one_line(self.state.agent(role).name, 24) or str(role) for role in Role}
        for view in self.plots:
            view.show(found.legs, names)
        self.totals.empty = self.routes.empty = " nothing was asked yet: write a prompt, then look here again"
        self.facts_seen.empty = " no fact was learned in this session yet: /learn TEXT adds one"
        self.totals.set_rows(rows.total_rows(found) if found.turns else ())
        self.routes.set_rows(rows.route_rows(found, names))
        self.facts_seen.set_rows(rows.fact_rows(found))
        title = one_line(self.state.title, 60)
        self.title_line.say(
            (
                (" statistics", "strong"),
                (f" · {title}" if title else "", "dim"),
                (f" · {f.plural(found.turns, 'turn')}", "dim"),
            ),
            (("esc back ", "dim"),),
        )

    def offer_keys(self) -> None:
        """To the turn: from a plot."""
        off = {"escape", "escalate"}
        if not isinstance(self.current.widget, PlotView):
            off.add("plotted-turn")
        self.footer.show(where=self.WHERE, off=frozenset(off))

    def key_target(self, action: Action) -> DOMNode | None:
        return self if action.where is Where.STATISTICS else self.focused

    def action_plotted_turn(self) -> None:
        widget = self.current.widget
        if isinstance(widget, PlotView) and (turn := widget.turn) is not None:
            self._go_to(turn)
        else:
            self.say("this is no plot: F6 goes from pane to pane")

    @on(RowList.Chosen)
    def row_chosen(self, event: RowList.Chosen) -> None:
        event.stop()
        self.action_plotted_turn()

    @on(PlotView.Chosen)
    def chosen(self, event: PlotView.Chosen) -> None:
        self._go_to(event.turn_id)

    def _go_to(self, turn_id: int) -> None:
        from milk_tui.ui.fact_details import GoToTurn

        self.app.post_message(GoToTurn(self._control.session_id, turn_id))
