"""What holds for every test: nothing that happens to be installed on this machine is taken by itself."""

from __future__ import annotations

import os

from milk_tui.engine.discovery import PROGRAMS_VARIABLE

os.environ[PROGRAMS_VARIABLE] = "none"
