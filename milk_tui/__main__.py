"""``python -m milk_tui`` is the same as the ``milk-tui`` command."""

from milk_tui.cli import main

if __name__ == "__main__":
    main()
