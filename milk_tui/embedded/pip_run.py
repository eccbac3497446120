"""``python -m milk_tui.embedded.pip_run ARGS``: pip that ends with the program that started it.

The parent holds the other end of standard input; when it closes, even by kill −9, this process ends.
"""

from __future__ import annotations

import os
import runpy
import sys
import threading


def _end_with_parent() -> None:
    while os.read(0, 1):
        pass
    os._exit(75)


def main() -> None:
    threading.Thread(target=_end_with_parent, daemon=True).start()
    sys.argv = ["pip", *sys.argv[1:]]
    runpy.run_module("pip", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
