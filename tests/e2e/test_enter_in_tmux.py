"""Enter sends and its companions make a new line in a real tmux, however that is set up (``textual-notes.md`` §1)."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.e2e.conftest import Place, program
from tests.support.terminal import Terminal

pytestmark = [pytest.mark.e2e, pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")]


@contextmanager
def in_tmux(place: Place, extended_keys: str) -> Iterator[Terminal]:
    """The program in a tmux of its own; the terminal around it sends what kitty and xterm send."""
    socket = str(place.root / "tmux.sock")
    settings = place.root / "tmux.conf"
    settings.write_text(
        f"set -s extended-keys {extended_keys}\nset -as terminal-features 'xterm*:extkeys'\nset -g status off\n"
        "set -s escape-time 0\n"
    )
    command = shlex.join([*program(), *place.agents])
    try:
        with Terminal.spawn(
            ["tmux", "-S", socket, "-f", str(settings), "new-session", command],
            cols=100,
            rows=30,
            env=place.environment(),
            cwd=place.project,
        ) as screen:
            screen.wait_for("to ● fast")
            yield screen
            screen.press("ctrl+q")
            screen.wait_exit()
    finally:
        subprocess.run(["tmux", "-S", socket, "kill-server"], capture_output=True, check=False)


NEW_LINES = {"ctrl+j": b"\n", "alt+enter": b"\x1b\r"}
SHIFT_ENTER = {"shift+enter of kitty": b"\x1b[13;2u", "shift+enter of xterm": b"\x1b[27;2;13~"}


@pytest.mark.parametrize(
    ("extended_keys", "newlines"),
    [("off", NEW_LINES), ("on", {**NEW_LINES, **SHIFT_ENTER}), ("always", {**NEW_LINES, **SHIFT_ENTER})],
)
def test_every_new_line_is_one_and_enter_sends(place: Place, extended_keys: str, newlines: dict[str, bytes]) -> None:
    with in_tmux(place, extended_keys) as screen:
        for number, (name, key) in enumerate(newlines.items()):
            screen.send(f"line{number}".encode() + key)
            screen.send(f"after{number}")
            screen.wait_for(lambda _, n=number: screen.row_of(f"after{n}") == screen.row_of(f"line{n}") + 1 > 0)
            assert "you · " not in screen.text, name
        screen.press("enter")
        screen.wait_for("you · ")
        screen.wait_for("Ask, or / for commands")
