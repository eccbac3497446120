"""Only the screen writes to the terminal (``style.md``: "nothing else may write to the terminal")."""

from __future__ import annotations

from pathlib import Path

from tests.support.terminal import Terminal

NOISY = """
import os, subprocess, sys
from pathlib import Path
from milk_tui.ui.guard import only_the_screen
print("before")
with only_the_screen(Path(sys.argv[1])) as terminal:
    os.write(1, b"from descriptor 1\\n")
    os.write(2, b"from descriptor 2\\n")
    print("from print")
    print("from stderr", file=sys.stderr)
    subprocess.run([sys.executable, "-c", "import os; os.write(2, b'from a child')"], check=True)
    print("from the screen", file=sys.__stderr__, flush=True)
    os.write(terminal, b"from the editor\\r\\n")
print("after")
"""


def test_what_others_write_goes_to_the_log(tmp_path: Path) -> None:
    log = tmp_path / "logs" / "screen.log"
    with Terminal.python("-c", NOISY, str(log), rows=12) as terminal:
        assert terminal.wait_exit() == 0
        assert terminal.text.split() == ["before", "from", "the", "screen", "from", "the", "editor", "after"]
    written = log.read_text()
    for words in ("descriptor 1", "descriptor 2", "print", "stderr", "a child"):
        assert f"from {words}" in written
    assert log.stat().st_mode & 0o777 == 0o600


def test_a_log_that_cannot_be_written_is_done_without(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    with Terminal.python("-c", NOISY, str(blocked / "screen.log"), rows=12) as terminal:
        assert terminal.wait_exit() == 0
        assert "descriptor" not in terminal.text


def test_a_log_that_grew_too_long_is_begun_anew(tmp_path: Path) -> None:
    log = tmp_path / "screen.log"
    log.write_bytes(b"x" * 1_000_001)
    with Terminal.python("-c", NOISY, str(log), rows=12) as terminal:
        assert terminal.wait_exit() == 0
    assert log.stat().st_size < 1_000
