"""What a slash command is, and what is a prompt."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from milk_tui.ui.actions import BY_COMMAND
from milk_tui.ui.commands import Command, CommandError, parse
from milk_tui.ui.prompt_text import FOLD_CHARS, Folds, History
from milk_tui.ui.replaced import REPLACED


@pytest.mark.parametrize(
    ("text", "id_", "argument"),
    [
        ("/help", "help", ""),
        ("/HELP", "help", ""),
        ("/exit", "quit", ""),
        ("/escalate", "escalate", ""),
        ("/escalate too deep for it ", "escalate", "too deep for it"),
        ("/learn  two\nlines", "learn", "two\nlines"),
        ("/need", "need", ""),
        ("/forget #a1b2c3", "forget-fact", "#a1b2c3"),
    ],
)
def test_a_command_and_what_follows_it(text: str, id_: str, argument: str) -> None:
    command = parse(text)
    assert isinstance(command, Command)
    assert (command.action.id, command.argument) == (id_, argument)


@pytest.mark.parametrize("text", ["hello", " /help", "/usr/bin/env python", "/a/b", "/", "/1", "//help", "/é"])
def test_everything_else_is_a_prompt(text: str) -> None:
    assert parse(text) is None


@pytest.mark.parametrize("text", ["/nosuch", "/helpp", "/learn", "/learn   ", "/forget"])
def test_a_command_that_is_none_or_needs_more_says_so(text: str) -> None:
    with pytest.raises(CommandError):
        parse(text)


@pytest.mark.parametrize(
    ("text", "meant"),
    [("/helpp", "/help"), ("/escalte now", "/escalate"), ("/sesions", "/sessions"), ("/compac", "did you mean")],
)
def test_a_mistyped_command_says_which_ones_are_near(text: str, meant: str) -> None:
    with pytest.raises(CommandError) as caught:
        parse(text)
    assert meant in f"{caught.value.what} {caught.value.hint}" or meant == "did you mean"


TYPED = """
clear compact model resume memory cost help quit exit undo init config status add diff export permissions theme agents
tokens reset usage context copy mcp review rename editor new sessions models themes redo share details drop ls run git
commit test ask architect code save load paste web voice settings doctor hooks login logout rewind vim todos tasks bug
feedback approvals plan stats keybindings add-dir terminal-setup retry fork branch
"""


def test_commands_of_other_programs_do_the_natural_thing_or_say_what_replaces_it() -> None:
    """Those of Claude Code, opencode, aider and others that a hand types by itself."""
    typed = TYPED.split()
    later = {"model", "models", "config", "settings"} - set(BY_COMMAND)  # those that the settings bring
    unknown = [name for name in typed if name not in BY_COMMAND and name not in REPLACED and name not in later]
    assert unknown == []


def test_what_replaces_a_command_names_only_what_there_is() -> None:
    assert not set(REPLACED) & set(BY_COMMAND), "an alias does it: nothing has to be said"
    for name, text in REPLACED.items():
        assert text and not text.endswith("."), name
        for command in re.findall(r"(?<![\w/.])/([a-z-]+)", text):
            assert command in BY_COMMAND, f"/{name} speaks of /{command}"
        with pytest.raises(CommandError) as caught:
            parse(f"/{name} with words")
        assert text in caught.value.what


@given(st.text(max_size=60))
def test_no_text_does_harm(text: str) -> None:
    try:
        command = parse(text)
    except CommandError as error:
        assert error.what
    else:
        assert command is None or command.action in BY_COMMAND.values()


@given(st.lists(st.text(max_size=30), max_size=8), st.lists(st.sampled_from(["older", "newer"]), max_size=30))
def test_going_through_history_always_leads_back_to_the_draft(prompts: list[str], steps: list[str]) -> None:
    history = History(prompts)
    shown = "the draft"
    for step in steps:
        moved = getattr(history, step)(shown)
        shown = shown if moved is None else moved
    for _ in range(len(prompts) + 1):
        newer = history.newer(shown)
        if newer is None:
            break
        shown = newer
    assert shown == "the draft"


@given(st.lists(st.text(max_size=10), max_size=3), st.text(max_size=20))
def test_folded_texts_come_back_whole(pieces: list[str], between: str) -> None:
    pasted = [(piece + "x") * FOLD_CHARS + "x" for piece in pieces]
    folds = Folds()
    shown = between.join(folds.fold(text) for text in pasted)
    assert folds.expand(shown) == between.join(pasted) or "⟦" in between
    assert len(shown) < 400


def test_a_small_text_is_not_folded() -> None:
    assert Folds().fold("small\ntext") == "small\ntext"


def test_a_word_that_only_looks_like_a_folded_text_stays() -> None:
    folds = Folds()
    folds.fold("x" * 20_000)
    fake = "⟦pasted #9 · 1 lines · 5 characters⟧"
    assert folds.expand(fake) == fake
