"""The ``milk-tui`` command: one module per noun; everything heavy is imported inside the functions."""

from __future__ import annotations


def main() -> None:
    """Entry point of the installed command."""
    import sys

    from milk_tui.cli import quick

    if (asked := quick.plain(sys.argv[1:])) is not None:
        quick.hook(*asked)
    if (options := quick.screen(sys.argv[1:])) is not None:
        try:
            sys.exit(quick.open_screen(options))
        except (Exception, KeyboardInterrupt) as problem:
            from milk_tui.cli.root import leave_after

            leave_after(problem)
    from milk_tui.cli.root import run

    try:
        run()
    except SystemExit as left:
        if left.code and quick.is_hook(sys.argv[1:]):
            quick.say("{}")
            return
        raise
