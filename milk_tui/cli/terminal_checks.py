"""What the doctor finds out about a terminal without the person: asked, measured, judged."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence

from milk_tui.cli.check import Check, check
from milk_tui.cli.terminal_line import Line
from milk_tui.core.terminal_replies import Answers

PASTE, FOCUS, MOUSE, SYNCHRONIZED = 2004, 1004, 1006, 2026
QUESTIONS = (
    b"\x1b[>q\x1b]11;?\x1b\\\x1b[?u\x1b[?2004$p\x1b[?1004$p\x1b[?1006$p\x1b[?2026$p"
    b"\x1b[48;2;1;2;3m\x1bP$qm\x1b\\\x1b[0m\x1b[48;5;200m\x1bP$qm\x1b\\\x1b[0m"
)
"""Its name, its background, its keyboard, its modes, and which colours it keeps when it is given them."""
SAMPLES = (
    (
        "marks of milk-tui",
        "●◆★◌▰",
        "They stand in every row; choose a font or setting with narrow ambiguous characters.",
    ),
    ("Chinese, Japanese", "漢字", "Tables and frames break at such text; try another terminal or font."),
    ("accents of two parts", "e\u0301", "Words with accents shift what is right of them."),
    ("emoji", "🙂", "Rows with emoji shift; try another terminal."),
    ("emoji made of several", "👩\u200d🚀", "milk-tui draws them in a plain form, so this does no harm."),
    ("emoji made by a selector", "❤\ufe0f", "milk-tui draws them in a plain form, so this does no harm."),
)
"""What is measured, and what to do when it is not as wide as reckoned."""
HARMLESS = frozenset({"emoji made of several", "emoji made by a selector"})
TMUX_S = 3.0


def look(line: Line, environ: Mapping[str, str] = os.environ) -> Iterator[Check]:
    """Everything that needs nobody; at most some seconds, also where nothing is answered."""
    answers = line.ask(QUESTIONS)
    line.write("\r\x1b[K")
    yield from kind(answers, environ)
    if answers.attributes is None:
        return
    yield from colours(answers, environ)
    yield from modes(answers)
    yield from widths(line)
    if environ.get("TMUX"):
        yield from tmux(environ)


def kind(answers: Answers, environ: Mapping[str, str]) -> Iterator[Check]:
    name = environ.get("TERM", "") or "TERM is not set"
    where = " in tmux" if environ.get("TMUX") else " in screen" if environ.get("STY") else ""
    where += " over ssh" if environ.get("SSH_CONNECTION") else ""
    if answers.attributes is None:
        yield check(
            "terminal",
            "answers",
            "warning",
            f"{name}{where} answers no question",
            "The rest is left out. Is something between that keeps answers (screen, a very slow line)?",
        )
    else:
        yield check("terminal", "answers", "ok", f"{answers.version or name}{where}")


def colours(answers: Answers, environ: Mapping[str, str]) -> Iterator[Check]:
    full, indexed = (*answers.styles, "", "")[:2]
    shows_full = _has(full, "2", "1", "2", "3")
    says_full = environ.get("COLORTERM") in ("truecolor", "24bit")
    used = "24 bit" if says_full else "256" if "256" in environ.get("TERM", "") else "16"
    if environ.get("NO_COLOR"):
        yield check("colours", "used", "info", "none: NO_COLOR is set")
    elif shows_full and not says_full:
        yield check("colours", "used", "warning", f"{used}, where 24 bit would do", "Run: export COLORTERM=truecolor")
    elif says_full and answers.styles and full and not shows_full:
        yield check(
            "colours",
            "used",
            "warning",
            "24 bit, which this terminal does not keep",
            "Run: unset COLORTERM" if not environ.get("TMUX") else "In tmux.conf: set -as terminal-features ',*:RGB'",
        )
    else:
        yield check("colours", "used", "ok", used + ("" if shows_full or used != "24 bit" else " (it says so itself)"))
    if indexed and not shows_full and not _has(indexed, "5", "200"):
        yield check("colours", "256", "info", "not kept: 16 colours are shown")
    from milk_tui.ui.background import is_dark

    dark = is_dark(answers.background)
    if dark is None:
        hint = "Name a theme in the config ([ui] theme), or set COLORFGBG."
        yield check("colours", "background", "info", "not told (OSC 11): taken for dark", hint)
    else:
        yield check("colours", "background", "ok", f"{'dark' if dark else 'light'} ({answers.background})")


def _has(style: str, *parameters: str) -> bool:
    """Whether a style (``0;48:2::1:2:3``) holds a background of these parameters, however they are parted."""
    parts = re.findall(r"\d+", style)
    return "48" in parts and parts[parts.index("48") + 1 :][: len(parameters)] == list(parameters)


def modes(answers: Answers) -> Iterator[Check]:
    if answers.kitty is not None:
        yield check("keys", "protocol", "ok", "kitty: every key with every modifier arrives")
    else:
        yield check(
            "keys",
            "protocol",
            "info",
            "not kitty's: some keys with modifiers arrive as others, or not at all",
            "ctrl+j and alt+enter make a new line everywhere.",
        )
    for mode, name, hint in (
        (PASTE, "bracketed paste", "Text that is pasted may be sent line by line."),
        (FOCUS, "focus", "milk-tui can't know when nobody looks, and rings after every long answer."),
        (MOUSE, "mouse", "Everything can be done with keys."),
        (SYNCHRONIZED, "whole frames", "It may flicker a little."),
    ):
        if answers.knows(mode):
            yield check("keys" if mode != SYNCHRONIZED else "terminal", name, "ok", "known")
        elif mode in answers.modes:
            yield check("keys" if mode != SYNCHRONIZED else "terminal", name, "info", "not known there", hint)


def widths(line: Line) -> Iterator[Check]:
    """How many cells the terminal gives to what the program counts in cells."""
    from rich.cells import cell_len

    questions = "".join(f"\r{sample}\x1b[6n" for _, sample, _ in SAMPLES) + "\r\x1b[K"
    found = line.ask(questions.encode()).columns
    line.write("\r\x1b[K")
    if len(found) != len(SAMPLES):
        yield check("widths", "characters", "info", "the cursor's place is not told")
        return
    for (name, sample, hint), column in zip(SAMPLES, found, strict=True):
        wanted, drawn = cell_len(sample), column - 1
        shown = f"{sample}  {drawn} cells"
        if drawn == wanted:
            yield check("widths", name, "ok", shown)
        else:
            state = "info" if name in HARMLESS else "warning"
            yield check("widths", name, state, f"{shown}, reckoned {wanted}", hint)


TMUX_WISHES: tuple[tuple[str, Sequence[str], str, str], ...] = (
    ("extended-keys", ("always",), "shift+enter arrives as enter", "set -s extended-keys always"),
    ("focus-events", ("on",), "milk-tui can't know when nobody looks", "set -g focus-events on"),
    ("set-clipboard", ("on", "external"), "nothing reaches the terminal's clipboard", "set -s set-clipboard on"),
    ("allow-passthrough", ("on", "all"), "desktop messages (OSC 9) stay in tmux", "set -g allow-passthrough on"),
)
SLOW_ESCAPE_MS = 100


def tmux(environ: Mapping[str, str]) -> Iterator[Check]:
    """What tmux is set to, as far as it is in the way."""
    program = shutil.which("tmux", path=environ.get("PATH"))
    if program is None:
        yield check("tmux", "settings", "info", "tmux itself is not on the PATH: not looked at")
        return
    for name, good, harm, cure in TMUX_WISHES:
        value = _option(program, name)
        if value is None:
            yield check("tmux", name, "info", "not known to this tmux")
        elif value in good:
            yield check("tmux", name, "ok", value)
        else:
            yield check("tmux", name, "warning", f"{value or 'unset'}: {harm}", f"In ~/.tmux.conf: {cure}")
    delay = _option(program, "escape-time")
    if delay and delay.isdecimal() and int(delay) > SLOW_ESCAPE_MS:
        yield check(
            "tmux", "escape-time", "warning", f"{delay} ms: escape comes late", "In ~/.tmux.conf: set -s escape-time 10"
        )


def _option(program: str, name: str) -> str | None:
    """The value in this pane; ``None`` when tmux doesn't know the option."""
    try:
        ran = subprocess.run(
            [program, "show", "-Av", name], capture_output=True, text=True, timeout=TMUX_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    if ran.returncode == 0 and ran.stdout.strip():
        return ran.stdout.strip()
    for scope in ("-gv", "-sv", "-gwv"):
        try:
            ran = subprocess.run(
                [program, "show", scope, name], capture_output=True, text=True, timeout=TMUX_S, check=False
            )
        except (OSError, subprocess.TimeoutExpired):
            return None
        if ran.returncode == 0 and ran.stdout.strip():
            return ran.stdout.strip()
    return None
