"""The screen starts with the transcript on it, so importing it loads nothing that only a text needs."""

from __future__ import annotations

import subprocess
import sys


def test_importing_the_transcript_loads_no_markdown_and_no_lexer():
    code = "import sys, milk_tui.ui.transcript; print(*sorted({n.split('.')[0] for n in sys.modules}))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "textual" in loaded
    assert not {"markdown_it", "pygments", "litellm", "sqlite_utils", "linkify_it"} & set(loaded)
