"""The dialog in which the person answers what an agent asks: over the prompt, beside the conversation.

It never answers from keys that were meant for something else. For ``GUARD_S`` after it has taken the keyboard, or
another request has taken the place of the one before, keys and clicks are ignored. It takes the keyboard by itself only
from an empty prompt in which nobody has typed for ``QUIET_S``, and then a key counts when no other one follows at once;
what turns out to be typing goes to the prompt (``quality.md`` "permissions").
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.geometry import Size
from textual.message import Message
from textual.timer import Timer
from textual.widgets import Input

from milk_tui.core.permissions import PermissionRequest, Scope, Verdict
from milk_tui.ui import permission_view as view
from milk_tui.ui.actions import BY_ID, Keymap, Where, bindings
from milk_tui.ui.line_input import LineInput
from milk_tui.ui.paint import Line, to_content
from milk_tui.ui.permission_parts import Choices, RequestText

GUARD_S = 0.3
QUIET_S = 1.0
TYPING_S = 0.25
"""Seconds in which a second key shows that somebody types."""
ROOM_PERCENT = 60
"""Of the screen's rows, which the dialog takes at most."""
LOW_ROWS = 16
"""Below so many rows what a lasting answer covers is said only when it is more than this request."""
BESIDE_ROWS = 6
"""Rows of the screen that header, conversation, prompt and footer keep."""
WRITE_ANSWER = "write-answer"
_HARMLESS = frozenset({"escape", "up", "down", "pageup", "pagedown"})
"""Keys that answer nothing, so that they need not wait."""
HINTS = {
    "": "esc: back to the prompt, it waits",
    "deny": "enter: deny with this reason · esc: back",
    "answer": "enter: answer with this · esc: back",
}
_ANSWERS = {"allow-once": Scope.ONCE, "allow-session": Scope.SESSION, "allow-always": Scope.ALWAYS}
_SCOPE_WORDS = {"allow-once": "once", "allow-session": "this session", "allow-always": "always"}


class PermissionDialog(Vertical, can_focus=True):
    """Shows the first request that waits. It answers upwards (``Answered``) and gives up the keyboard (``Left``)."""

    @dataclass
    class Answered(Message):
        """The person's answer to one request."""

        request_id: str
        verdict: Verdict

    @dataclass
    class Left(Message):
        """The keyboard goes back to the prompt; ``typed`` is what was meant for it."""

        typed: str = ""

    BINDINGS: ClassVar = [
        *bindings(Where.PERMISSION),
        Binding("escape", "leave", "Back to the prompt", show=False),
        Binding("up", "scroll(-1)", "Up", show=False),
        Binding("down", "scroll(1)", "Down", show=False),
        Binding("pageup", "scroll(-8)", "Page up", show=False),
        Binding("pagedown", "scroll(8)", "Page down", show=False),
    ]

    def __init__(self, keymap: Keymap) -> None:
        super().__init__(id="permission", classes="pane")
        self._keymap = keymap
        self._asked: Sequence[PermissionRequest] = ()
        self._since = 0.0
        self._there = False
        self._took_over = False
        self._held: tuple[str, Timer] | None = None
        """A key that counts unless another follows at once."""
        self._shown = ("", 0)
        self._drawn_for = Size()
        self.wide = False
        """Whether an answer that lasts is to cover the request's pattern."""
        self._question = 0
        self._answers: dict[str, str] = {}
        self._marked: list[str] = []
        self._writing = ""
        self.text = RequestText()
        self.choices = Choices()
        self.line = LineInput(id="request-line")
        self.line.display = False

    @property
    def request(self) -> PermissionRequest | None:
        """The one that is answered now."""
        return self._asked[0] if self._asked else None

    @property
    def settled(self) -> bool:
        """False while a key may have been meant for something else."""
        return time.monotonic() - self._since >= GUARD_S

    def compose(self) -> ComposeResult:
        yield self.text
        yield self.choices
        yield self.line

    def show(self, asked: Sequence[PermissionRequest]) -> None:
        """Show what waits; another first request begins anew, whatever had been begun for the one before."""
        before = self.request.id if self.request else ""
        self._asked = asked
        if self.request is None:
            return
        if self.request.id != before:
            self._since = time.monotonic()
            self.wide, self._question, self._answers, self._marked = False, 0, {}, []
            self._stop_writing()
        self._draw()

    def on_mount(self) -> None:
        self._there = True
        self._draw()

    def on_focus(self) -> None:
        self._since = max(self._since, time.monotonic())

    def take_over(self) -> None:
        """Take the keyboard from a prompt at rest: what is typed at once was meant for that, and goes there."""
        self._took_over = True
        self.focus()

    def _draw(self) -> None:
        request = self.request
        if request is None or not self._there:
            return
        self.border_title = to_content(view.heading(request, 1, len(self._asked)))
        self.border_subtitle = HINTS[self._writing]
        self._drawn_for = self.app.size
        shown = (request.id, self._question)
        if shown != self._shown:
            self._shown = shown
            self.text.show(lambda width: view.content(request, width, shown[1]))
        self.choices.show(
            *(self._question_choices(request) if request.questions else self._permission_choices(request))
        )
        self._fit()

    def on_resize(self) -> None:
        if self.app.size != self._drawn_for:
            self._draw()
        else:
            self._fit()

    def _fit(self) -> None:
        """The text takes what the answers leave of the dialog's room; it scrolls when that is too little."""
        width = max(8, self.scrollable_content_region.width or self.app.size.width - 4)
        around = self.gutter.height + len(self.choices.rows(width)) + self.line.display
        height = self.app.size.height
        room = max(1, min(height * ROOM_PERCENT // 100, height - BESIDE_ROWS) - around)
        self.text.styles.height = min(room, max(1, self.text.rows(width)))
        self.text.call_after_refresh(self.text.lay_out)

    def _key(self, id_: str) -> str:
        return self._keymap.shown(BY_ID[id_], 1)

    def _permission_choices(self, request: PermissionRequest) -> tuple[Line, list[tuple[str, str, str]]]:
        items = [(id_, self._key(id_), _SCOPE_WORDS[id_]) for id_, scope in _ANSWERS.items() if scope in request.scopes]
        if request.pattern and len(request.scopes) > 1:
            wider = "exactly this" if self.wide else f"cover every {request.pattern}"
            items.append(("allow-wider", self._key("allow-wider"), wider))
        items.append(("deny", self._key("deny"), "deny …"))
        low = self.app.size.height < LOW_ROWS
        return () if low and not self.wide else view.coverage(request, wide=self.wide), items

    def _question_choices(self, request: PermissionRequest) -> tuple[Line, list[tuple[str, str, str]]]:
        asked = request.questions[self._question]
        items = [
            (f"choice-{number}", str(number) if number <= 9 else "·", self._mark(choice) + choice)
            for number, choice in enumerate(asked.choices, 1)
        ]
        if asked.multiple and asked.choices:
            items.append(("choices-done", "enter", "these"))
        items.append((WRITE_ANSWER, "t", "in other words …" if asked.choices else "write the answer …"))
        items.append(("deny", self._key("deny"), "no answer …"))
        return (), items

    def _mark(self, choice: str) -> str:
        multiple = self.request is not None and self.request.questions[self._question].multiple
        return ("[x] " if choice in self._marked else "[ ] ") if multiple else ""

    async def on_key(self, event: events.Key) -> None:
        """Keys that were meant for the prompt go there; digits and ``t`` answer questions."""
        if self.line.has_focus:
            if event.key == "escape":
                event.stop()
                event.prevent_default()
                self._stop_writing()
                self.focus()
            return
        if event.key in _HARMLESS:
            return
        if not self.settled:
            event.stop()
            event.prevent_default()
            if self._took_over and event.is_printable and event.character:
                self._give_to_prompt(event.character)
            return
        if self._took_over and event.is_printable and event.character:
            event.stop()
            event.prevent_default()
            self._hold(event.key, event.character)
            return
        self._took_over = False
        request = self.request
        if request is not None and request.questions and self._question_key(event.key):
            event.stop()
            event.prevent_default()
        elif event.is_printable and event.character and not self._answers_with(event.key):
            event.stop()
            event.prevent_default()
            self._give_to_prompt(event.character)

    def _answers_with(self, key: str) -> bool:
        """Whether the key is one of the dialog's own; any other begins something for the prompt."""
        return any(key in self._keymap.of(BY_ID[id_]) for id_ in (*_ANSWERS, "allow-wider", "deny"))

    def _give_to_prompt(self, typed: str) -> None:
        """What was typed was meant for the prompt, and so is what follows before the keyboard is there."""
        self._since, self._took_over = time.monotonic(), True
        self.post_message(self.Left(typed))

    def on_blur(self) -> None:
        if self._held is None:
            self._took_over = False

    def _hold(self, key: str, character: str) -> None:
        """The first key after the dialog took the prompt's keyboard counts when none follows at once: else somebody
        types, and that goes to the prompt."""
        if self._held is not None:
            before, timer = self._held
            timer.stop()
            self._held = None
            self._give_to_prompt(before + character)
            return
        asked = self.request.id if self.request else ""
        self._held = (character, self.set_timer(TYPING_S, lambda: self._count(key, asked)))

    def _count(self, key: str, asked: str) -> None:
        """The key that was held answers the request that it was pressed for."""
        self._held, self._took_over = None, False
        if not self.has_focus or self.request is None or self.request.id != asked:
            return
        if self.request.questions and self._question_key(key):
            return
        for id_ in (*_ANSWERS, "allow-wider", "deny"):
            if key in self._keymap.of(BY_ID[id_]):
                self._choose(id_)

    def _question_key(self, key: str) -> bool:
        if key.isdigit():
            self._choose(f"choice-{key}")
        elif key == "t":
            self._choose(WRITE_ANSWER)
        elif key == "enter" and self._marked:
            self._choose("choices-done")
        else:
            return False
        return True

    @on(Choices.Clicked)
    def clicked(self, event: Choices.Clicked) -> None:
        event.stop()
        if self.settled:
            self._choose(event.id)

    def _choose(self, id_: str) -> None:
        request = self.request
        if request is None:
            return
        if id_ in _ANSWERS:
            self._allow(_ANSWERS[id_])
        elif id_ == "allow-wider":
            self.action_allow_wider()
        elif id_ == "deny":
            self._write("deny", "why not? (may be left out)")
        elif id_ == WRITE_ANSWER:
            self._write("answer", "your answer")
        elif request.questions:
            self._answer_choice(request, id_)

    def _answer_choice(self, request: PermissionRequest, id_: str) -> None:
        asked = request.questions[self._question]
        if id_ == "choices-done":
            self._answered(", ".join(choice for choice in asked.choices if choice in self._marked))
            return
        number = int(id_.removeprefix("choice-"))
        if not 1 <= number <= len(asked.choices):
            return
        choice = asked.choices[number - 1]
        if not asked.multiple:
            self._answered(choice)
            return
        self._marked = [x for x in self._marked if x != choice] if choice in self._marked else [*self._marked, choice]
        self._draw()

    def _answered(self, text: str) -> None:
        """The answer to the question that is shown; the next one, or all of them upwards."""
        request = self.request
        if request is None or not text.strip():
            return
        self._answers[request.questions[self._question].text] = text.strip()
        self._marked = []
        self._stop_writing()
        if self._question + 1 < len(request.questions):
            self._question += 1
            self._since = time.monotonic()
            self._draw()
            self.focus()
        else:
            self._say(Verdict(allowed=True, answers=dict(self._answers)))

    def _allow(self, scope: Scope) -> None:
        request = self.request
        if request is not None and not request.questions and scope in request.scopes:
            self._say(Verdict(allowed=True, scope=scope, wide=self.wide and scope is not Scope.ONCE))

    def _say(self, verdict: Verdict) -> None:
        if self.request is not None:
            self.post_message(self.Answered(self.request.id, verdict))

    def _write(self, what: str, hint: str) -> None:
        self._writing = what
        self.line.value = ""
        self.line.placeholder = hint
        self.line.display = True
        self.border_subtitle = HINTS[what]
        self.line.focus()

    def _stop_writing(self) -> None:
        self._writing = ""
        self.line.display = False
        self.border_subtitle = HINTS[""]

    @on(Input.Submitted)
    def submitted(self, event: Input.Submitted) -> None:
        event.stop()
        text = event.value.strip()
        if self._writing == "deny":
            self._stop_writing()
            self._say(Verdict(allowed=False, reason=text))
        elif text:
            self._answered(text)

    def on_paste(self, event: events.Paste) -> None:
        """A paste is meant for the prompt, never an answer."""
        if not self.line.has_focus:
            event.stop()
            self.post_message(self.Left(event.text))

    @property
    def idle_keys(self) -> set[str]:
        """Actions that this request does not offer."""
        request = self.request
        if request is None or request.questions:
            return {"allow-once", "allow-session", "allow-always", "allow-wider"}
        idle = {id_ for id_, scope in _ANSWERS.items() if scope not in request.scopes}
        return idle if request.pattern and len(request.scopes) > 1 else {*idle, "allow-wider"}

    def action_allow_once(self) -> None:
        self._allow(Scope.ONCE)

    def action_allow_session(self) -> None:
        self._allow(Scope.SESSION)

    def action_allow_always(self) -> None:
        self._allow(Scope.ALWAYS)

    def action_allow_wider(self) -> None:
        request = self.request
        if request is not None and request.pattern and len(request.scopes) > 1:
            self.wide = not self.wide
            self._draw()

    def action_deny(self) -> None:
        self._choose("deny")

    def action_leave(self) -> None:
        self._took_over = False
        self.post_message(self.Left())

    def action_scroll(self, rows: int) -> None:
        self.text.scroll_relative(y=rows, animate=False, force=True)
