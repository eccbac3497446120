"""A person at the installed program with nothing but a keyboard: presses, looks, and goes from pane to pane."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from milk_tui.ui import themes
from milk_tui.ui.actions import BY_ID, WAYS, Where
from tests.e2e.looking import plain, prompt
from tests.support.terminal import Terminal, TerminalTimeoutError

DEADLINE_S = 15
STALE_S = 3
"""How long what was seen before may stay."""
MAIN = "to ● fast"
"""Where the next prompt goes: nobody works."""
TOO_SOON = "what is asked has just changed"
SIGNS = {
    Where.CONVERSATION: BY_ID["previous-prompt"].title,
    Where.PERCEPTS: f"/ {BY_ID['filter-facts'].title}",
    Where.PERMISSION: f"n {BY_ID['deny'].title}",
}
"""What the footer offers in each pane of the main screen."""


CURSOR = themes.DARK.variables["block-cursor-background"].lstrip("#")
BLOCK_CURSOR = str(themes.DARK.accent).lstrip("#")


@dataclass(frozen=True)
class Sign:
    """What is to be seen. It must not be there already before the key that brings it."""

    seen: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    at: str = ""
    """Stands in what has the cursor: a row of a list, or a block of the conversation."""
    copied: str = ""
    """Is in what the terminal's clipboard got last."""

    def on(self, screen: Terminal) -> bool:
        text = plain(screen.text)
        return (
            all(each in text for each in self.seen)
            and not any(each in text for each in self.gone)
            and (not self.at or self.at in under_cursor(screen))
            and (not self.copied or self.copied in "".join(screen.clipboard[-1:]))
        )

    def named(self, names: Mapping[str, str]) -> Sign:
        """With the names for ``{name}``."""
        seen, gone = (tuple(each.format_map(names) for each in part) for part in (self.seen, self.gone))
        return replace(self, seen=seen, gone=gone, at=self.at.format_map(names))


def under_cursor(screen: Terminal) -> str:
    """The text that is drawn as having the cursor; of a block the line below it too, which is what it heads."""
    found = []
    shown = screen.screen.display
    for y in range(screen.screen.lines - 1):
        row = screen.screen.buffer[y]
        text = "".join(row[x].data for x in range(screen.screen.columns) if row[x].bg == CURSOR)
        if row[1].data == "▌" and row[1].fg == BLOCK_CURSOR:
            text += " ".join(line.partition("││")[0] for line in shown[y : y + 2])
        found.append(text)
    return plain(" ".join(found))


@dataclass
class Walk:
    screen: Terminal
    names: dict[str, str] = field(default_factory=dict)
    """What steps call things by that are only known when the program runs: ``{port}``."""

    def send(self, key: str) -> None:
        self.screen.press(key)

    def wait(self, sign: Sign) -> None:
        self.screen.wait_for(lambda _: sign.on(self.screen), DEADLINE_S)

    def do(self, doing: Callable[[], None], sign: Sign) -> None:
        """Do it and see what comes of it, which must be something new."""
        self.screen.settle(0.05, 0.3)
        try:
            self.screen.wait_for(lambda _: not sign.on(self.screen), STALE_S)
        except TerminalTimeoutError as error:
            raise AssertionError(f"{sign} is there before\n{error}") from None
        doing()
        try:
            self.wait(sign)
        except TerminalTimeoutError as error:
            raise AssertionError(f"{sign} not seen\ncursor: {under_cursor(self.screen)}\n{error}") from None

    def write(self, text: str) -> None:
        self.screen.send(text)
        self.screen.wait_for(lambda _: plain(text)[-30:] in plain(prompt(self.screen)), DEADLINE_S)

    @property
    def asked(self) -> bool:
        """An agent asks something: the prompt's frame may say so before the request itself is drawn."""
        return re.search(r" asks(:| ─)", self.screen.text) is not None

    def read(self) -> None:
        """Take the time to read that a request waits for before it listens to keys."""
        self.screen.wait_for(" asks ─", DEADLINE_S)
        self.screen.settle(1.0, 1.0)

    def say_until_heard(self, command: str) -> None:
        """Read what is asked, then enter at the command that answers it. On a busy machine the request may listen later
        than it looks; who is told so says it again."""
        for _ in range(5):
            self.read()
            self.screen.press("enter")
            self.screen.wait_for(lambda _: command not in plain(prompt(self.screen)), DEADLINE_S)
            self.screen.settle(0.5, 1.0)
            if TOO_SOON not in self.screen.text:
                return
            self.write(command)
        raise AssertionError(f"{command} is never taken as an answer\n{self.screen.text}")

    def leave_by(self, way: str) -> None:
        """End the program by a key or a command."""
        if way.startswith("/"):
            self.write(way)
            self.screen.press("enter")
        else:
            self.send(way)
        assert self.screen.wait_exit(DEADLINE_S) == 0

    def leaves_by(self, way: str) -> None:
        """End the program; the shell's screen is back then."""
        self.leave_by(way)
        assert "conversation" not in self.screen.text

    def rest(self) -> None:
        """Nobody works."""
        self.screen.wait_for(MAIN, DEADLINE_S)

    def clear(self) -> None:
        """Take away what is written; it may be nothing."""
        self.screen.settle(0.1, 0.6)
        if "❯ Ask, or /" not in self.screen.text:
            self.send(BY_ID["copy"].keys[0])
            self.screen.wait_for("❯ Ask, or /", DEADLINE_S)

    def back(self) -> None:
        """To the main screen and its prompt."""
        for _ in range(8):
            self.screen.settle(0.1, 0.6)
            if self.at_the_prompt:
                return
            self.screen.press("escape")
        raise AssertionError(f"escape does not lead back\n{self.screen.text}")

    @property
    def at_the_prompt(self) -> bool:
        """A letter would be written into the prompt: its frame is whole, its footer is there and no pane's own."""
        edge = self.screen.lines[-2] if len(self.screen.lines) > 1 else ""
        whole = edge.startswith("╰──") and "╮" not in edge and "╭─ to " in self.screen.text
        footer = self.screen.lines[-1]
        return whole and footer.startswith(" ^g") and "esc stop" not in footer and not self.covered

    @property
    def covered(self) -> bool:
        """A dialog lies over the screen: it has a corner where no pane of the main screen has one."""
        beside = self.screen.lines[1].find("╮╭") + 1
        return any(line[x] in "╭╰" for line in self.screen.lines[2:] for x in range(1, len(line)) if x != beside)

    def to_pane(self, where: Where) -> None:
        """To a pane of the main screen, with the key that the registry says leads there."""
        assert WAYS[where] == "next-pane"
        for _ in range(6):
            was = self.screen.settle(0.1, 0.6)
            if self.pane_is(where):
                return
            self.send(BY_ID["next-pane"].keys[0])
            self.screen.wait_for(partial(operator.ne, was), DEADLINE_S)
        raise AssertionError(f"F6 does not lead to the {where}\n{self.screen.text}")

    def pane_is(self, where: Where) -> bool:
        """The footer offers what can be done in the pane that has the focus."""
        footer = self.screen.lines[-1]
        return footer.startswith(" ^g") if where is Where.PROMPT else SIGNS[where] in footer
