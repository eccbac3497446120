"""What holds for every test: nothing that happens to be installed on this machine is taken by itself, and nobody's
clipboard is touched.

``--deep`` asks for the long form of the tests that have one: every kill point, more examples, fuzzing by coverage.
"""

from __future__ import annotations

import gc
import os

import pytest
from textual import _wait

from milk_tui.engine.discovery import PROGRAMS_VARIABLE

os.environ[PROGRAMS_VARIABLE] = "none"
os.environ["MILK_TUI_CLIPBOARD"] = "terminal"

gc.freeze = lambda: None
"""The program freezes what its start made, once in a process; here many start in one, and what the ones before left is
to be let go."""

_wait.SLEEP_GRANULARITY = 1 / 250
_wait.SLEEP_IDLE = _wait.SLEEP_GRANULARITY / 10
"""Textual's pilot sleeps 20 ms at least twice for each key, which was half of the time that all tests take; what needs
longer than to be quiet for 4 ms is waited for by what it shows (``Desk.until``)."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--deep", action="store_true", default=False, help="every kill point, more examples, fuzzing")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--deep"):
        from hypothesis import settings

        settings.register_profile("deep", max_examples=10_000, deadline=None)
        settings.load_profile("deep")


@pytest.fixture(scope="session")
def deep(pytestconfig: pytest.Config) -> bool:
    """True when the long form was asked for."""
    return bool(pytestconfig.getoption("--deep"))
