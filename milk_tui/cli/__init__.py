"""The ``milk-tui`` command: one module per noun; everything heavy is imported inside the functions."""

from __future__ import annotations


def main() -> None:
    """Entry point of the installed command."""
    from milk_tui.cli.root import run

    run()
