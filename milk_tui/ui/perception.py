"""The perception (F4): what the agents believe, layer by layer; corrected in its place, looked at as of any turn."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.content import Content
from textual.dom import DOMNode

from milk_tui.core import perception as rules
from milk_tui.core.errors import MilkError
from milk_tui.core.records import Layer
from milk_tui.core.text import one_line
from milk_tui.ui import perception_reads as reads
from milk_tui.ui import perception_rows as rows
from milk_tui.ui.actions import Action, Keymap, Where, bindings
from milk_tui.ui.control import Control
from milk_tui.ui.diff_screen import DiffScreen
from milk_tui.ui.paint import Line
from milk_tui.ui.panes import Pane, PanedScreen
from milk_tui.ui.perception_history import EntryHistory
from milk_tui.ui.perception_list import EntryEdit, LayerList
from milk_tui.ui.perception_slider import Slider, turn_name
from milk_tui.ui.row_list import RowList
from milk_tui.ui.state import SessionState, Topic
from milk_tui.ui.themes import style_sheets
from milk_tui.ui.write_dialog import Words, WriteDialog

if TYPE_CHECKING:
    from milk_tui.core.perception_view import EntryView
    from milk_tui.engine.perception_desk import PerceptionDesk

PAST = "this is the past: ] or esc goes back to now, where it can be changed"
NO_ENTRY = "no entry is under the cursor"
HOW_TO_ADD = "key: value, one a line. [reason: …] and [blocked on …] may stand at the end of a line."
_WRITING = {"edit-entry", "add-entry", "remove-entry", "accept-entry", "reject-entry", "swap-entry", "open-slice"}
_NEED_AN_ENTRY = {"edit-entry", "remove-entry", "entry-history"}


class PerceptionScreen(PanedScreen):
    """The three layers side by side, the slider over them."""

    CSS_PATH = style_sheets("dialogs", "inspector", "perception")
    BINDINGS: ClassVar = bindings(Where.PERCEPTION)
    HEADING: ClassVar = "perception"
    WHERE = (Where.PERCEPTION,)
    LAYOUT_ID = "layers"
    FOLLOWS = frozenset({Topic.PERCEPTION})

    def __init__(self, state: SessionState, keymap: Keymap, control: Control) -> None:
        super().__init__(state, keymap)
        self._control = control
        self._seen: reads.Seen | None = None
        self._at: int | None = None
        """The stop in time that is shown; ``None``: now."""
        self._edit: EntryEdit | None = None
        self.slider = Slider(id="slider")
        self.lists = {layer: LayerList(layer) for layer in (Layer.FRAME, Layer.WORKING, Layer.INVARIANT)}
        self.panes = tuple(
            Pane(f"pane-{layer.value}", rows.TITLES[layer], rows.TITLES[layer].split()[0], widget)
            for layer, widget in self.lists.items()
        )

    def body(self) -> ComposeResult:
        yield self.slider
        yield from super().body()

    def on_mount(self) -> None:
        self.look()

    @property
    def _desk(self) -> PerceptionDesk | None:
        return self._control.conductor.perception if self._control.conductor is not None else None

    @property
    def _turn(self) -> int | None:
        """The turn as of which the screen shows the perception; ``None``: now."""
        return self._seen.versions[self._at].turn_id if self._seen is not None and self._at is not None else None

    @property
    def listed(self) -> LayerList:
        """The list of the current pane."""
        widget = self.current.widget
        assert isinstance(widget, LayerList)
        return widget

    async def _look(self) -> None:
        """The layers as of the stop that is shown, then what they cost."""
        if (desk := self._desk) is None:
            return
        self._seen = seen = await reads.look(desk, self._turn)
        self.slider.show(seen.versions, self._at)
        for layer, widget in self.lists.items():
            slices = seen.view.slices if layer is Layer.FRAME else ()
            widget.set_rows(
                rows.layer_rows(
                    seen.view.layer(layer),
                    changed=seen.changed.get(layer, ()),
                    slices=slices,
                    now=self._at is None,
                )
            )
        self._say_title()
        self._say_costs({})
        self.offer_keys()
        self._say_costs(await reads.tokens(self._control, seen.view))

    def _say_costs(self, tokens: object) -> None:
        assert self._seen is not None
        known = tokens if isinstance(tokens, dict) else {}
        for layer, pane in zip(self.lists, self.panes, strict=True):
            view = self._seen.view.layer(layer)
            words, over = rows.cost_words(view, known.get(layer))
            frame = self.frame(pane.id)
            frame.border_subtitle = Content(words)
            frame.set_class(over, "-over")

    def _say_title(self) -> None:
        assert self._seen is not None
        view = self._seen.view
        left: list[tuple[str, str]] = [(" perception", "strong")]
        if self._turn is not None:
            when = f"after {turn_name(self._turn)}" if self._turn > 0 else turn_name(self._turn)
            left.append((f" · as it was {when}", "warning"))
        if view.slice:
            left.append((f" · slice {one_line(view.slice, 40)}", "heading"))
        proposals = len(view.layer(Layer.INVARIANT).proposals)
        undecided = proposals + len(view.disputes)
        if undecided and self._at is None:
            left.append((f" · {undecided} to decide", "warning"))
        right: Line = (("esc now ", "dim"),) if self._at is not None else (("esc back ", "dim"),)
        self.title_line.say(tuple(left), right)

    @on(RowList.Moved)
    def moved(self) -> None:
        self.offer_keys()

    def offer_keys(self) -> None:
        """Those that do something with what is under the cursor."""
        off = {"escape", "escalate"}
        if self._edit is not None:
            self.footer.show(where=(), off=frozenset(off))
            return
        view = self.listed.entry
        if view is None:
            off |= _NEED_AN_ENTRY
        if view is None or not (view.entry.proposed or view.dispute):
            off |= {"accept-entry"}
        if view is None or not view.entry.proposed:
            off |= {"reject-entry"}
        if view is None or view.dispute is None:
            off |= {"swap-entry"}
        if not self.listed.slice:
            off |= {"open-slice"}
        if self._at is not None:
            off |= _WRITING | {"undo-entry"}
        if self._desk is None or not self._desk.last_deed:
            off |= {"undo-entry"}
        if self._seen is None or not self._seen.versions:
            off |= {"earlier", "later", "compare-turns"}
        self.footer.show(where=self.WHERE, off=frozenset(off))

    def key_target(self, action: Action) -> DOMNode | None:
        return self if action.where is Where.PERCEPTION else self.focused

    @on(Slider.Chosen)
    def stop_chosen(self, event: Slider.Chosen) -> None:
        self.go_to(event.index)

    @on(LayerList.TimeMoved)
    def time_moved(self, event: LayerList.TimeMoved) -> None:
        self._step(event.step)

    def action_earlier(self) -> None:
        self._step(-1)

    def action_later(self) -> None:
        self._step(1)

    def _step(self, step: int) -> None:
        """To the stop before or after; after the newest one is now."""
        stops = len(self._seen.versions) if self._seen is not None else 0
        if not stops:
            self.say("nothing was written yet: there is no other time to go to")
            return
        at = (stops if self._at is None else self._at) + step
        if at >= stops and self._seen is not None and self._at == stops - 1:
            self.go_to(None)
        else:
            self.go_to(None if at > stops - 1 else max(0, at))

    def go_to(self, stop: int | None) -> None:
        """Show the perception as of a stop in time; ``None``: now."""
        if self._edit is None:
            self._at = stop
            self.say("")
            self.look()

    def _here(self) -> EntryView | None:
        """The entry under the cursor when it can be changed; what can't be done is said."""
        if self._at is not None:
            self.say(PAST)
            return None
        if self.listed.entry is None:
            self.say(NO_ENTRY)
        return self.listed.entry

    async def action_edit_entry(self) -> None:
        """Write the entry anew, in its place."""
        if self._edit is not None or (view := self._here()) is None:
            return
        listed = self.listed
        listed.hand_over()
        self._edit = EntryEdit(view)
        frame = self.frame(self.current.id)
        await frame.mount(self._edit)
        self._place_edit()
        self._edit.focus()
        self.say("enter keeps it · ^j new line · esc leaves it as it was")
        self.offer_keys()
        self.call_after_refresh(listed.taken_over)

    def _place_edit(self) -> None:
        if self._edit is not None:
            self._edit.place(self.listed, self.frame(self.current.id))

    def on_resize(self) -> None:
        self.call_after_refresh(self._place_edit)

    @on(Words.Kept)
    def edit_kept(self, event: Words.Kept) -> None:
        event.stop()
        if self._edit is not None:
            self._keep_edit(self._edit)

    @work(group="write", exit_on_error=False)
    async def _keep_edit(self, edit: EntryEdit) -> None:
        entry, text = edit.view.entry, edit.text
        if text.strip() == rows.editable(entry):
            await self._close_edit()
        elif await self._do(lambda desk: desk.edit(entry.layer, entry.key, text), f"{entry.key} is kept · u undoes"):
            await self._close_edit(quiet=True)

    @on(Words.Left)
    async def edit_left(self, event: Words.Left) -> None:
        event.stop()
        await self._close_edit()

    async def _close_edit(self, *, quiet: bool = False) -> bool:
        """True when something was being written."""
        if self._edit is None:
            return False
        edit, self._edit = self._edit, None
        self.set_focus(self.listed)
        edit.display = False
        self.call_after_refresh(edit.remove)
        if not quiet:
            self.say("")
        self.offer_keys()
        return True

    def action_add_entry(self) -> None:
        """Write a new entry into the layer."""
        if self._at is not None:
            self.say(PAST)
            return
        self.listed.hand_over()
        self._add(self.listed)

    @work(group="dialog", exit_on_error=False)
    async def _add(self, listed: LayerList) -> None:
        title = f"new in the {rows.TITLES[listed.of_layer]}"
        dialog = WriteDialog(title, "", lambda text: self._keep_new(listed.of_layer, text), about=HOW_TO_ADD)

        def closed(kept: bool | None) -> None:
            if kept:
                self._did("kept · u undoes")
            else:
                self.say("")

        await self.app.push_screen(dialog, closed)
        listed.taken_over()

    async def _keep_new(self, layer: Layer, text: str) -> None:
        entries = [entry for entry in rules.parse(layer, text) if entry.value]
        if not entries or self._desk is None:
            raise MilkError("There is no entry in it.", "Write key: value.")
        for entry in entries:
            await self._desk.edit(layer, entry.key, rows.editable(entry))

    def action_remove_entry(self) -> None:
        if (view := self._here()) is not None:
            entry = view.entry
            if entry.proposed:
                self._perform(lambda desk: desk.reject(entry.key), f"{entry.key} was not taken · u undoes")
            else:
                self._perform(lambda desk: desk.remove(entry.layer, entry.key), f"{entry.key} is gone · u undoes")

    def action_accept_entry(self) -> None:
        """A proposal holds from now on; a conflict is settled as it stands."""
        if (view := self._here()) is None:
            return
        entry = view.entry
        if entry.proposed:
            self._perform(lambda desk: desk.accept(entry.key), f"{entry.key} holds from now on · u undoes")
        elif view.dispute is not None:
            self._perform(lambda desk: desk.keep(entry.layer, entry.key), f"{entry.key} stays as it is")
        else:
            self.say(f"nothing is to be decided about {entry.key}")

    def action_reject_entry(self) -> None:
        if (view := self._here()) is None:
            return
        key = view.entry.key
        if view.entry.proposed:
            self._perform(lambda desk: desk.reject(key), f"{key} was not taken · u undoes")
        else:
            self.say(f"{key} is no proposal")

    def action_swap_entry(self) -> None:
        """What the file overruled holds again."""
        if (view := self._here()) is None:
            return
        entry = view.entry
        if view.dispute is not None:
            self._perform(lambda desk: desk.swap(entry.layer, entry.key), f"{entry.key} is swapped · u undoes")
        else:
            self.say(f"the file overruled nothing about {entry.key}")

    def action_undo_entry(self) -> None:
        if self._at is not None:
            self.say(PAST)
        else:
            self._undo()

    @work(group="write", exit_on_error=False)
    async def _undo(self) -> None:
        if self._desk is not None:
            undone = await self._desk.undo()
            if undone:
                self._did(f"undone: {undone}")
            else:
                self.say("there is nothing to take back")

    def action_open_slice(self) -> None:
        name = self.listed.slice
        if self._at is not None:
            self.say(PAST)
        elif name:
            self._perform(lambda desk: desk.open_slice(name), f"slice {one_line(name, 40)} is open · u undoes")
        else:
            self.say("no slice is under the cursor: they stand at the end of the frame; /slice NAME begins one")

    @on(RowList.Chosen)
    def chosen(self, event: RowList.Chosen) -> None:
        event.stop()
        if self.listed.slice:
            self.action_open_slice()
        else:
            self.action_entry_history()

    def action_entry_history(self) -> None:
        if (view := self.listed.entry) is not None:
            self._history(view)
        else:
            self.say(NO_ENTRY)

    @work(group="dialog", exit_on_error=False)
    async def _history(self, view: EntryView) -> None:
        if self._desk is not None:
            versions = await self._desk.history(view.entry.layer, view.entry.key)
            await self.app.push_screen(EntryHistory(versions))

    @work(group="dialog", exit_on_error=False)
    async def action_compare_turns(self) -> None:
        """What changed against the stop before."""
        found = await reads.difference(self._desk, self._turn) if self._desk is not None else None
        if found is None:
            self.say("nothing was written yet: there is nothing to compare")
        else:
            await self.app.push_screen(DiffScreen(found))

    def _perform(self, deed: Callable[[PerceptionDesk], Awaitable[object]], said: str) -> None:
        self.run_worker(self._do(deed, said), group="write", exit_on_error=False)

    async def _do(self, deed: Callable[[PerceptionDesk], Awaitable[object]], said: str) -> bool:
        """Do it and say so; what can't be done is said instead."""
        if self._desk is None:
            return False
        try:
            await deed(self._desk)
        except MilkError as error:
            self.say(str(error), "warning")
            return False
        self._did(said)
        return True

    def _did(self, said: str) -> None:
        """Say what was done, and show it at once, not only when the news of it comes."""
        self.say(said)
        self.look()

    async def action_back(self) -> None:
        """The first that applies: leave the writing, return to now, leave."""
        if await self._close_edit():
            return
        if self._at is not None:
            self.go_to(None)
        else:
            self.dismiss()
