"""The model picker (``/model``, ``/agent``): every model that could have a role here, found by words."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content

from milk_tui.core.errors import MilkError
from milk_tui.core.records import Role
from milk_tui.core.text import one_line
from milk_tui.engine import model_catalogue
from milk_tui.engine.model_catalogue import Offer
from milk_tui.ui import format as f
from milk_tui.ui.dialogs import Picker
from milk_tui.ui.paint import Line
from milk_tui.ui.row_list import Heading, Row
from milk_tui.ui.words import ItemRow, blank

if TYPE_CHECKING:
    from textual.app import App

    from milk_tui.engine.agent_spec import AgentSpec
    from milk_tui.engine.workspace import Workspace
    from milk_tui.ui.control import Control

CONFIG = "config:"
TYPED = "typed:"
SESSION, DEFAULT = "session", "default"
_GROUPS = {
    "config": "IN YOUR CONFIG",
    "local": "ON SERVERS OF THIS MACHINE",
    "program": "PROGRAMS OF THEIR OWN",
    "embedded": "EMBEDDED",
}
RECENT_SHOWN = 5


async def choose(app: App[int], control: Control, role: Role) -> None:
    """Let the person give a role to a model, for this session or from now on. Raises MilkError."""
    workspace = control.workspace
    if workspace is None or not control.session_id:
        raise MilkError("The session is not open yet.")
    picker = ModelPicker(workspace, role)
    key = await app.push_screen_wait(picker)
    if key is None:
        return
    tell = getattr(app, "tell", None)
    role, session_id = picker.role, control.session_id
    if key == CONFIG:
        await workspace.players.go_with_config(session_id, role)
        if tell:
            tell(f"the {role} agent is the one of the config again")
        return
    spec = picker.spec_of(key)
    if spec is None:
        return
    how = await app.push_screen_wait(how_long(role, spec))
    if how is not None:
        said = await give(workspace, session_id, spec, always=how == DEFAULT)
        if tell:
            tell(said)


async def give(workspace: Workspace, session_id: str, spec: AgentSpec, *, always: bool) -> str:
    """Give the role of ``spec`` to it; what was done, for the person. Raises MilkError."""
    if always:
        from milk_tui.engine import discovery

        discovery.usable(workspace.config, spec)
        word = await workspace.settings.make_default(spec)
        await workspace.players.go_with_config(session_id, spec.role)
        seated = workspace.roster.get(spec.role)
        if seated is not None and seated.model != spec.model:
            return f"{word} is the default {spec.role} agent; in this run the command line says {seated.name}"
        return f"{word} is the {spec.role} agent from the next turn on, and in every session that says nothing else"
    chosen = await workspace.players.choose(session_id, spec)
    return f"{chosen.name} is the {spec.role} agent from the next turn on, in this session"


def how_long(role: Role, spec: AgentSpec) -> Picker:
    """The plain question for how long."""
    found: list[Row] = [
        ItemRow(SESSION, (("for this session", "strong"),), (("  others go on with what they have", "dim"),)),
        ItemRow(
            DEFAULT,
            (("as the default", "strong"),),
            (("  written into the config: every session that says nothing else", "dim"),),
        ),
    ]
    name = one_line(spec.shown, 40)
    return Picker(
        f"{f.ROLE_MARKS[role.value]} {role}: {name}",
        lambda words: [row for row in found if words.casefold() in row.key],
        placeholder="for how long?",
        start=SESSION,
    )


@dataclass(frozen=True, slots=True)
class OfferRow:
    """One model: name, where it is from, and at the right its window and price."""

    offer: Offer
    current: bool = False
    now_ms: int = 0
    prefix: str = ""
    selectable: bool = True

    @property
    def key(self) -> str:
        return self.prefix + self.offer.key

    def height(self, width: int) -> int:
        return 1

    def lines(self, width: int) -> Sequence[Line]:
        offer = self.offer
        about = figures(offer) if width >= 46 else ""
        right = f"{about} " if about else ""
        room = max(8, width - cell_len(right))
        name = offer.spec.model or offer.spec.name
        if offer.group == "config":
            name = f"{offer.spec.name}  {name}" if offer.spec.name != name else name
        elif offer.spec.own_program:
            name = offer.spec.name
        mark = ("› ", "key") if self.current else ("  ", "")
        left = one_line(name, 200)
        used = f"  {f.when(offer.used_ms, self.now_ms)}" if offer.used_ms and self.prefix else ""
        note = "" if offer.note in (name, offer.spec.model) else f"  {one_line(offer.note, 100)}{used}"
        shown = f.fit(left, room - 3)
        rest = f.pad(note, max(0, room - 3 - cell_len(shown))) + " "
        return ((mark, (shown, "strong" if self.current else ""), (rest, "dim"), (right, "dim")),)


def figures(offer: Offer) -> str:
    """``200k · $3 / $15``: the window in tokens, and dollars for a million of them read and written."""
    window = f"{offer.window_tokens // 1000}k" if offer.window_tokens else ""
    if offer.input_usd == 0.0 == offer.output_usd:
        price = "free"
    elif offer.input_usd is None or offer.output_usd is None:
        price = ""
    else:
        price = f"{per_million(offer.input_usd)} / {per_million(offer.output_usd)}"
    return " · ".join(filter(None, (window, price)))


def per_million(usd: float) -> str:
    dollars = usd * 1_000_000
    return f"${dollars:.2f}".removesuffix(".00") if dollars >= 0.01 else f"${dollars:.2g}"


def offer_rows(
    offers: Sequence[Offer], words: str, current: str, *, typed: Offer | None = None, now_ms: int = 0, own: bool = False
) -> list[Row]:
    """The offers that hold all the words, by group; what was used last stands above them all. ``current``: the model
    that has the role; ``own``: the session has a choice of its own, which can be given up."""
    wanted = words.casefold().split()
    found = [offer for offer in offers if _fits(offer, wanted)]
    listed: list[Row] = []
    if own and not wanted:
        listed.append(ItemRow(CONFIG, (("‹ ", "key"), ("as the config says", "strong"), ("  again", "dim"))))
        listed.append(blank("gap:config"))
    recent = [offer for offer in found if offer.used_ms][:RECENT_SHOWN]
    _group(listed, "recent", "USED LAST", recent, current, now_ms, prefix="recent:")
    groups: dict[str, list[Offer]] = {}
    for offer in sorted(found, key=lambda offer: _order(offer.group)):
        groups.setdefault(offer.group, []).append(offer)
    for group, members in groups.items():
        title = _GROUPS.get(group, f"{group.upper()}, BY YOUR KEY")
        _group(listed, group, title, members, current, now_ms)
    if typed is not None and not any(offer.spec.model == typed.spec.model for offer in found):
        if listed:
            listed.append(blank("gap:typed"))
        listed.append(OfferRow(typed, prefix=TYPED))
    return listed


def _group(
    listed: list[Row], key: str, title: str, members: Sequence[Offer], current: str, now_ms: int, prefix: str = ""
) -> None:
    if not members:
        return
    if listed:
        listed.append(blank(f"gap:{key}"))
    listed.append(Heading(f"heading:{key}", ((title, "heading"), (f" {len(members)}", "dim"))))
    listed += [OfferRow(offer, offer.key == current, now_ms, prefix) for offer in members]


def _order(group: str) -> int:
    names = list(_GROUPS)
    return names.index(group) if group in names else len(names)


def _fits(offer: Offer, wanted: Sequence[str]) -> bool:
    text = f"{offer.spec.name} {offer.spec.model} {offer.group} {offer.note}".casefold()
    return all(word in text for word in wanted)


class ModelPicker(Picker):
    """The list grows while servers and the model host answer. Tab changes which role it is about."""

    BINDINGS: ClassVar = [Binding("tab", "other_role", "Role", show=False, priority=True)]

    def __init__(self, workspace: Workspace, role: Role) -> None:
        super().__init__(
            "", self._found, empty="looking …", placeholder="type to find, or write a model's name", wide=True
        )
        self._workspace = workspace
        self.role = role
        self._offers: Sequence[Offer] = ()
        self._typed: Offer | None = None
        self._own: frozenset[Role] = frozenset()
        self._at_first = True

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog-box pane -wide-box") as self._box:
            yield self.filter
            yield self.list
        self._entitle()

    def on_mount(self) -> None:
        self._look()

    def _entitle(self) -> None:
        agent = self._workspace.roster.get(self.role)
        nobody = "now nobody" if self._workspace.roster.known else "looking …"
        now = f"now {one_line(agent.name, 30)}" if agent is not None else nobody
        self._box.border_title = Content(f"model for the {f.ROLE_MARKS[self.role.value]} {self.role} · {now}")
        other = self.role.other
        self._box.border_subtitle = Content(f"enter chooses · tab the {other}'s · esc closes")

    def spec_of(self, key: str) -> AgentSpec | None:
        """The agent of a row."""
        if key.startswith(TYPED) and self._typed is not None:
            return self._typed.spec
        key = key.removeprefix("recent:")
        return next((offer.spec for offer in self._offers if offer.key == key), None)

    def action_other_role(self) -> None:
        self.role = self.role.other
        self._entitle()
        self._look()

    @work(group="look", exclusive=True, exit_on_error=False)
    async def _look(self) -> None:
        """Gather the offers; the list is shown anew with each step."""
        workspace, role = self._workspace, self.role
        session_id = getattr(getattr(self.app, "control", None), "session_id", "")
        recent = await workspace.players.recent()
        self._own = frozenset(await workspace.players.chosen(session_id)) if session_id else frozenset()
        self.list.empty = "looking …"
        found = model_catalogue.offers(workspace.config, role, workspace.host, recent)
        async with aclosing(found) as steps:
            async for offers in steps:
                self._offers = offers
                self.narrow()
                if self._at_first and self._current_key():
                    self.list.go_to(self._current_key())
        self._at_first = False
        self._entitle()
        self.list.empty = "no model is called so; write its whole name, such as openai/gpt-5.6 or ollama_chat/llama3"
        self.list.refresh()

    def _current_key(self) -> str:
        spec = self._workspace.roster.specs.get(self.role)
        if spec is None:
            return ""
        return next(
            (
                offer.key
                for offer in self._offers
                if (offer.spec.model, offer.spec.api_base, offer.spec.command)
                == (spec.model, spec.api_base, spec.command)
            ),
            "",
        )

    def _found(self, words: str) -> Sequence[Row]:
        named = words.strip()
        self._typed = model_catalogue.typed(self._workspace.config, self.role, named) if named else None
        return offer_rows(
            self._offers,
            words,
            self._current_key(),
            typed=self._typed,
            now_ms=int(time.time() * 1000),
            own=self.role in self._own,
        )
