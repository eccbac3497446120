"""``python -m tests.support.readme``: write the table of keys and commands into the README, from the registry."""

from __future__ import annotations

import re
from pathlib import Path

from milk_tui.ui.actions import readme_table

README = Path(__file__).parents[2] / "README.md"
_BETWEEN = re.compile(r"(<!-- keys -->\n).*?(<!-- /keys -->)", re.DOTALL)


def with_table(text: str) -> str:
    """The README's text with the table as it is now."""
    return _BETWEEN.sub(lambda match: match[1] + readme_table() + match[2], text)


if __name__ == "__main__":
    README.write_text(with_table(README.read_text(encoding="utf-8")), encoding="utf-8")
