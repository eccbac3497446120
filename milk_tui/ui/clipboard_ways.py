"""Which ways to the clipboard there are in these surroundings, the surest first; nothing is run here."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from milk_tui.core.osc52 import Between

Wish = Literal["auto", "programs", "terminal", "inside"]
WISHES: tuple[Wish, ...] = ("auto", "programs", "terminal", "inside")
VARIABLE = "MILK_TUI_CLIPBOARD"
"""Says what ``ui.clipboard`` says, for one run."""
MUTE = frozenset({"", "dumb", "linux", "unknown"})
"""Terminals that have no clipboard, or would show the sequence."""


@dataclass(frozen=True, slots=True)
class Program:
    """A program that takes the text on its standard input, and one that gives it back."""

    name: str
    write: tuple[str, ...]
    read: tuple[str, ...] = ()
    encoding: str = "utf-8"
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Terminal:
    """OSC 52: nobody answers whether it was taken."""

    between: tuple[Between, ...]
    """How it is sent; more than one where it can't be known which one arrives."""
    name: str = "OSC 52"


@dataclass(frozen=True, slots=True)
class Page:
    """The browser that shows the screen; it answers."""

    name: str = "browser"


Way = Program | Terminal | Page

WAYLAND = Program("wl-copy", ("wl-copy", "--type", "text/plain;charset=utf-8"), ("wl-paste", "--no-newline"))
XCLIP = Program("xclip", ("xclip", "-selection", "clipboard"), ("xclip", "-selection", "clipboard", "-out"))
XSEL = Program("xsel", ("xsel", "--clipboard", "--input"), ("xsel", "--clipboard", "--output"))
MAC = Program("pbcopy", ("pbcopy",), ("pbpaste",), environment={"LC_CTYPE": "UTF-8"})
WINDOWS = Program("clip.exe", ("clip.exe",), encoding="utf-16")
TMUX = Program("tmux", ("tmux", "load-buffer", "-w", "-"), ("tmux", "show-buffer"))
PROGRAMS = (WAYLAND, XCLIP, XSEL, MAC, WINDOWS, TMUX)


def ways(
    environ: Mapping[str, str],
    found: Callable[[str], object],
    *,
    wish: Wish = "auto",
    page: bool = False,
    platform: str = sys.platform,
) -> tuple[Way, ...]:
    """What to try, in this order; empty when only this program's own memory is left.

    ``found``: whether a program is there (``shutil.which``). Over ssh the person sits elsewhere: the terminal comes
    first, and programs of this machine only where they lead back to the person (a forwarded display). On the person's
    own machine the programs come first: they say whether it worked.
    """
    if wish == "inside":
        return ()
    if page:
        return (Page(),)
    terminal = _terminal(environ)
    programs = [program for program in _programs(environ, platform) if found(program.write[0])]
    tmux = [TMUX] if environ.get("TMUX") and found("tmux") else []
    if wish == "programs":
        return (*programs, *tmux)
    if wish == "terminal":
        return tuple(terminal)
    if _is_far(environ):
        return (*tmux, *terminal, *programs)
    return (*programs, *tmux, *terminal)


def _is_far(environ: Mapping[str, str]) -> bool:
    return any(environ.get(name) for name in ("SSH_CONNECTION", "SSH_TTY", "SSH_CLIENT"))


def _programs(environ: Mapping[str, str], platform: str) -> list[Program]:
    """The programs that reach the clipboard of the display that is here."""
    if platform == "darwin":
        return [] if _is_far(environ) else [MAC]
    programs = []
    if environ.get("WSL_DISTRO_NAME") or environ.get("WSL_INTEROP"):
        programs.append(WINDOWS)
    if environ.get("WAYLAND_DISPLAY"):
        programs.append(WAYLAND)
    if environ.get("DISPLAY"):
        programs += [XCLIP, XSEL]
    return programs


def _terminal(environ: Mapping[str, str]) -> list[Terminal]:
    kind = environ.get("TERM", "")
    if kind in MUTE:
        return []
    if environ.get("TMUX"):
        return [Terminal((Between.TMUX,))]
    if environ.get("STY"):
        return [Terminal((Between.SCREEN,))]
    if kind.startswith("tmux"):
        return [Terminal((Between.NOTHING, Between.TMUX))]
    return [Terminal((Between.NOTHING,))]
