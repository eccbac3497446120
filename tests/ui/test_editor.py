"""Writing the prompt elsewhere (F5)."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest

from milk_tui.ui import editor


def _use(monkeypatch: pytest.MonkeyPatch, program: str) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", f"{shlex.quote(sys.executable)} -c {shlex.quote(program)}")


def test_the_editor_gets_the_text_and_gives_it_back(monkeypatch: pytest.MonkeyPatch) -> None:
    _use(monkeypatch, "import sys; p = sys.argv[1]; t = open(p).read(); open(p, 'w').write(t.upper() + '\\n')")
    assert editor.edit("one\ntwo — três") == "ONE\nTWO — TRÊS"


def test_the_file_is_private_and_goes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    _use(
        monkeypatch,
        f"import os, sys; p = sys.argv[1]; "
        f"open({str(seen)!r}, 'w').write(p + ' ' + oct(os.stat(os.path.dirname(p)).st_mode))",
    )
    editor.edit("secret")
    path, mode = seen.read_text().split()
    assert mode.endswith("700")
    assert not Path(path).exists()


@pytest.mark.parametrize(
    ("editor_command", "said"),
    [
        ("/no/such/editor", "can't be run"),
        ("'unclosed", "can't be read"),
        ("false", "ended with an error"),
    ],
)
def test_what_goes_wrong_is_said(monkeypatch: pytest.MonkeyPatch, editor_command: str, said: str) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", editor_command)
    with pytest.raises(editor.EditorError, match=said):
        editor.edit("text")
