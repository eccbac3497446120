"""Prompt, conversation, facts, bricks and permission requests without a mouse: every key of them, and many commands.

The walk goes through the installed program in a pseudo-terminal. Which keys there are is the registry's to say
(``ui/actions.py``): one of these panes that no step presses fails the test, and so does a step for one that is gone.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from milk_tui.ui.actions import ACTIONS, BY_ID, WAYS, Where
from tests.e2e.conftest import Place
from tests.e2e.looking import plain, prompt
from tests.support.terminal import KEYS, Terminal

pytestmark = pytest.mark.e2e

CHARACTERS = {
    "slash": "/",
    "question_mark": "?",
    "plus": "+",
    "minus": "-",
    "right_square_bracket": "]",
    "left_square_bracket": "[",
    "left_curly_bracket": "{",
    "right_curly_bracket": "}",
}
MORE_KEYS = {"ctrl+end": b"\x1b[1;5F", "ctrl+up": b"\x1b[1;5A", "ctrl+down": b"\x1b[1;5B", "f8": b"\x1b[19~"}
DEADLINE_S = 20
MAIN = "to ● fast"
WALKED = (Where.PROMPT, Where.CONVERSATION, Where.PERCEPTS, Where.INSPECTOR, Where.PERMISSION)
"""The panes whose every key is pressed."""
SIGNS = {
    Where.CONVERSATION: BY_ID["previous-prompt"].title,
    Where.PERCEPTS: f"/ {BY_ID['filter-facts'].title}",
    Where.PERMISSION: f"n {BY_ID['deny'].title}",
}
"""What the footer offers in each pane of the main screen."""


@dataclass
class Walk:
    """What was reached so far. A step that nothing on the screen answers to fails."""

    screen: Terminal
    keys: set[str] = field(default_factory=set)
    commands: set[str] = field(default_factory=set)

    def press(self, key: str) -> None:
        self.screen.send(KEYS.get(key) or MORE_KEYS.get(key) or CHARACTERS.get(key, key))

    def see(self, *wanted: str, what: str = "") -> None:
        def there(_: str) -> bool:
            text = plain(self.screen.text)
            return all(each in text for each in wanted)

        try:
            self.screen.wait_for(there, DEADLINE_S)
        except AssertionError as error:
            raise AssertionError(f"{what or wanted}: {wanted} not seen\n{error}") from None

    def key(self, id_: str, *wanted: str, before: Callable[[], None] | None = None) -> None:
        """Press the action's key; ``wanted`` is seen then, or else something on the screen changes."""
        action = BY_ID[id_]
        assert action.keys, f"{id_} has no key"
        was = self.screen.settle(0.1, 3)
        self.press(action.keys[0])
        if wanted:
            self.see(*wanted, what=f"key of {id_}")
        else:
            self.screen.wait_for(lambda text: text != was, DEADLINE_S)
        self.keys.add(id_)

    def command(self, id_: str, argument: str, *wanted: str) -> None:
        """Write the action's command into the prompt and send it."""
        action = BY_ID[id_]
        assert action.command, f"{id_} has no command"
        written = f"/{action.command} {argument}".strip()
        self.write(written)
        was = self.screen.settle(0.1, 3)
        self.screen.press("enter")
        self.screen.wait_for(lambda _: written not in prompt(self.screen), DEADLINE_S)
        if wanted:
            self.see(*wanted, what=written)
        else:
            self.screen.wait_for(lambda text: text != was, DEADLINE_S)
        self.commands.add(id_)

    def write(self, text: str) -> None:
        self.screen.send(text)
        self.screen.wait_for(lambda _: plain(text)[-30:] in plain(prompt(self.screen)), DEADLINE_S)

    def say(self, text: str, *wanted: str) -> None:
        self.write(text)
        self.screen.press("enter")
        self.see(*wanted, what=text)
        self.rest()

    def rest(self) -> None:
        """Nobody works."""
        self.see(MAIN, what="nobody works")

    def clear(self) -> None:
        """Take away what is written; it may be nothing."""
        self.screen.settle(0.3, 3)
        if "❯ Ask, or /" not in self.screen.text:
            self.press(BY_ID["copy"].keys[0])
            self.see("cleared")

    def leave(self) -> None:
        """Close what is open over the main screen, or the pane that has the focus."""
        was = self.screen.settle(0.2, 3)
        self.screen.press("escape")
        self.screen.wait_for(lambda text: text != was, DEADLINE_S)

    def back(self) -> None:
        """To the main screen and its prompt."""
        for _ in range(6):
            self.screen.settle(0.3, 3)
            if self.at_the_prompt:
                return
            self.screen.press("escape")
        raise AssertionError(f"escape does not lead back\n{self.screen.text}")

    @property
    def at_the_prompt(self) -> bool:
        """A letter would be written into the prompt: its frame is whole, its footer is there and no pane's own."""
        edge = self.screen.lines[-2] if len(self.screen.lines) > 1 else ""
        whole = edge.startswith("╰──") and "╮" not in edge and MAIN in self.screen.text
        footer = self.screen.lines[-1]
        return whole and footer.startswith(" ^g") and "esc stop" not in footer and not self.covered

    @property
    def covered(self) -> bool:
        """A dialog lies over the screen: its corner is inside of another frame."""
        return any(re.match(r"^│.*╭─.*─╮.*│$", line) for line in self.screen.lines[2:])

    def to_pane(self, where: Where) -> None:
        """To a pane of the main screen, with the key that the registry says leads there."""
        assert WAYS[where] == "next-pane"
        for _ in range(6):
            was = self.screen.settle(0.2, 3)
            if self.pane_is(where):
                return
            self.press(BY_ID["next-pane"].keys[0])
            self.screen.wait_for(lambda text, was=was: text != was, DEADLINE_S)
        raise AssertionError(f"F6 does not lead to the {where}\n{self.screen.text}")

    def pane_is(self, where: Where) -> bool:
        """The footer offers what can be done in the pane that has the focus."""
        footer = self.screen.lines[-1]
        return footer.startswith(" ^g") if where is Where.PROMPT else SIGNS[where] in footer


@pytest.fixture
def place(place: Place) -> Place:
    prepare(place)
    return place


def prepare(place: Place) -> None:
    (place.project / "app.py").write_text("x = 1\n")
    editor = place.root / "editor"
    editor.write_text("#!/bin/sh\nprintf 'written elsewhere' > \"$1\"\n")
    editor.chmod(0o755)


def opened(place: Place) -> Terminal:
    """The program, with an editor that writes by itself, and no clipboard beside the terminal's."""
    editor = str(place.root / "editor")
    return place.open(EDITOR=editor, VISUAL=editor, DISPLAY="", WAYLAND_DISPLAY="")


@pytest.mark.slow
def test_every_key_of_the_main_panes_is_reached_without_a_mouse(place: Place) -> None:
    with opened(place) as screen:
        walk = Walk(screen)
        screen.wait_for(MAIN)
        in_the_prompt(walk)
        in_the_conversation(walk)
        with_facts(walk)
        in_the_inspector(walk)
        when_an_agent_asks(walk, place)
    wanted = {action.id for action in ACTIONS if action.keys and action.where in WALKED}
    assert wanted - walk.keys == set(), "no step of the walk presses the keys of these"


def in_the_prompt(walk: Walk) -> None:
    walk.write("SCN:say hello **world**\\n\\n```py\\nx = 1\\n```\\n\\nsee <https://example.org>")
    walk.key("send", "x = 1", "example.org")
    walk.rest()
    walk.write("one")
    walk.key("newline")
    walk.write("two")
    walk.see("one", "two")
    walk.key("copy", "cleared")
    walk.screen.paste("\n".join(f"pasted {number}" for number in range(1_500)))
    walk.see("⟦")
    walk.key("open-paste", "pasted 0")
    walk.clear()
    walk.write("SCN:say deep answer")
    walk.key("escalate", "escalated to deep", "deep answer")
    walk.rest()
    walk.command("escalate", "too deep", "too deep")
    walk.rest()
    walk.key("hand-back", "has the conversation already")
    walk.command("hand-back", "", "has the conversation already")
    walk.say("SCN:count 60 \\n\\nrow", "row60")
    walk.key("page-up", "follows")
    walk.key("page-down")
    walk.key("page-up")
    walk.key("follow", "row60")
    walk.key("sidebar")
    walk.command("sidebar", "", "percepts")
    walk.key("history-search", "type what it said")
    walk.back()
    walk.command("history-search", "", "type what it said")
    walk.back()
    walk.key("search")
    walk.back()
    walk.command("search", "deep")
    walk.back()
    walk.write("from here")
    walk.key("editor", "❯ written elsewhere")
    walk.clear()
    walk.command("editor", "", "❯ written elsewhere")
    walk.clear()
    walk.command("explain-route", "design the locking", "escalation")
    walk.command("run-command", "echo fourty-two", "F6 answers")
    walk.screen.settle(1, 3)
    walk.key("allow-once")
    walk.rest()
    walk.see("fourty-two")
    walk.rest()
    walk.command("attach", "app.py", "@app.py")
    walk.clear()
    walk.command("attach-image", "")
    walk.command("mcp-servers", "", "no MCP server is configured")
    walk.clear()
    walk.command("retry", "")
    walk.rest()
    walk.command("copy-answer", "")
    walk.command("ask-other", "")
    walk.rest()
    walk.command("agent", "escalation fast")
    walk.command("agent", "escalation deep")
    walk.command("model", "fast")
    walk.clear()
    walk.write("SCN:delay 0.2 SCN:repeat 400 word")
    walk.screen.press("enter")
    walk.see("answers")
    walk.write("a waiting prompt")
    walk.screen.press("enter")
    walk.see("1 prompt waits")
    walk.key("queue", "waiting prompts")
    walk.screen.press("escape")
    walk.screen.wait_gone("waiting prompts", DEADLINE_S)
    walk.command("queue", "", "waiting prompts")
    walk.screen.press("escape")
    walk.screen.wait_gone("waiting prompts", DEADLINE_S)
    walk.command("take-back", "")
    walk.see("a waiting prompt")
    walk.clear()
    walk.key("escape")
    walk.rest()
    walk.command("escape", "", "nothing runs")
    walk.key("next-pane")
    walk.key("previous-pane")
    walk.command("next-pane", "")
    walk.back()


def in_the_conversation(walk: Walk) -> None:
    walk.to_pane(Where.CONVERSATION)
    for id_ in (
        "previous-prompt",
        "previous-prompt",
        "next-prompt",
        "previous-escalation",
        "next-escalation",
        "block-above",
        "block-below",
    ):
        walk.key(id_)
    walk.key("next-match")
    walk.key("previous-match")
    walk.key("copy-block", "characters")
    walk.key("copy-answer", "characters")
    walk.key("copy-code")
    walk.key("links")
    walk.back()
    walk.to_pane(Where.CONVERSATION)
    walk.key("open-block")
    walk.see("╰", MAIN)
    walk.back()
    walk.to_pane(Where.CONVERSATION)
    walk.key("previous-escalation")
    walk.key("block-below")
    walk.key("toggle-fold")
    walk.back()
    walk.to_pane(Where.CONVERSATION)
    walk.key("quote-block", ">")
    walk.clear()
    walk.to_pane(Where.CONVERSATION)
    walk.key("ask-other")
    walk.rest()
    walk.to_pane(Where.CONVERSATION)
    walk.key("fork-here", "a copy to go another way with")
    walk.back()


def learn(walk: Walk, text: str) -> str:
    """The short id of a new fact."""
    walk.command("learn", text, "remembered #")
    found = re.search(r"remembered (#[0-9a-f]{6})", plain(walk.screen.text))
    assert found
    return found[1]


def with_facts(walk: Walk) -> None:
    first = learn(walk, "the port of the shop is 8413")
    second = learn(walk, "the till prints receipts on paper")
    third = learn(walk, "Ada owns the ledger")
    walk.command("pin-fact", first, "PINNED")
    walk.command("heavier-fact", first)
    walk.command("lighter-fact", first)
    walk.command("readers-of-fact", first)
    walk.command("promote-fact", first, "is global")
    walk.command("edit-fact", f"{second} the till prints nothing", "prints nothing")
    walk.command("accept-fact", second)
    walk.clear()
    walk.command("reject-fact", second)
    walk.clear()
    walk.command("explain-fact", "which port", "8413")
    walk.back()
    walk.command("merge-facts", f"{second} {third}")
    walk.command("restore-fact", "")
    walk.command("supersede-fact", f"{second} {third}")
    walk.command("restore-fact", "")
    walk.command("forget-fact", third)
    walk.command("restore-fact", "", "Ada")
    walk.to_pane(Where.PERCEPTS)
    for id_ in (
        "pin-fact",
        "heavier-fact",
        "lighter-fact",
        "readers-of-fact",
        "mark-fact",
        "mark-fact",
        "promote-fact",
        "restore-fact",
        "accept-fact",
        "heavier-fact",
        "reject-fact",
        "forget-fact",
        "restore-fact",
    ):
        walk.key(id_)
    for id_ in ("merge-facts", "supersede-fact"):
        walk.press("home")
        walk.key("mark-fact")
        walk.key("mark-fact")
        walk.key(id_)
        walk.key("restore-fact")
    walk.key("fact-details")
    walk.leave()
    walk.key("explain-fact")
    walk.leave()
    walk.key("edit-fact")
    walk.leave()
    walk.key("filter-facts")
    walk.back()


def in_the_inspector(walk: Walk) -> None:
    walk.command("need", "find the port", "find the port")
    walk.command("edit-brick", "primary the port was looked for", "the primary is kept")
    walk.command("rebuild-brick", "primary", "rebuilt")
    walk.command("finish-need", "", "the need is done")
    walk.command("need", "find another port", "find another port")
    walk.command("compare-receipts", "")
    walk.back()
    walk.command("bricks", "", "brick inspector")
    walk.back()
    walk.key("bricks", "brick inspector")
    walk.key("edit-brick")
    walk.leave()
    walk.key("brick-versions")
    walk.leave()
    walk.key("finish-need", "the need is done")
    for _ in range(2):
        walk.screen.press("down")
    walk.key("rebuild-brick")
    for _ in range(3):
        walk.key("next-pane")
        walk.screen.settle(0.2, 3)
    walk.key("mark-receipt", "1 marked")
    walk.key("mark-receipt", "2 marked")
    walk.key("compare-receipts", "difference of two receipts")
    walk.back()


def when_an_agent_asks(walk: Walk, place: Place) -> None:
    """Each answer to a request of its own, by key and by command."""
    ways = (
        ("allow-once", "key"),
        ("allow-once", "command"),
        ("deny", "key"),
        ("deny", "command"),
        ("allow-wider", "key"),
        ("allow-session", "key"),
        ("allow-always", "key"),
    )
    for number, (id_, way) in enumerate(ways):
        name = f"made{number}.txt"
        walk.write(f'SCN:tool write_file {{"path": "{name}", "content": "x"}} SCN:then SCN:say answer {number}')
        walk.screen.press("enter")
        walk.see(name, "allow once", what="the request")
        walk.screen.settle(1.2, 4)
        if way == "command":
            walk.to_pane(Where.PROMPT)
            walk.command(id_, "", f"answer {number}")
        else:
            walk.to_pane(Where.PERMISSION)
            walk.key(id_)
            if id_ == "allow-wider":
                walk.key("allow-once")
            elif id_ == "deny":
                walk.see("why not?")
                walk.screen.press("enter")
            walk.see(f"answer {number}")
        walk.rest()
    walk.command("changes", "", "made0.txt")
    walk.key("revert-file")
    walk.back()
    walk.command("revert-file", "made1.txt", "as it was before this session")
    walk.command("permissions", "")
    walk.back()
