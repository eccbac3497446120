"""What holds for every test: nothing that happens to be installed on this machine is taken by itself, and nobody's
clipboard is touched.

``--deep`` asks for the long form of the tests that have one: every kill point, more examples, fuzzing by coverage.
``-m chromium`` asks for those in a real browser.
"""

from __future__ import annotations

import asyncio
import gc
import os
import time

import pytest
import textual.app
from hypothesis import settings
from textual._styles_cache import StylesCache

from milk_tui.engine.discovery import PROGRAMS_VARIABLE

os.environ[PROGRAMS_VARIABLE] = "none"
os.environ["MILK_TUI_CLIPBOARD"] = "terminal"

_freeze, gc.freeze = gc.freeze, lambda: None
"""The program freezes what its start made, once in a process; here many start in one, and what the ones before left is
to be let go."""


async def _quiet(_least: float = 0.0, most: float = 1.0) -> None:
    """Until a key is dealt with: the process is at rest for 4 ms. Textual's pilot sleeps 20 ms twice for each key, and
    that was half of the time of all tests; between steps ``pilot.pause`` waits as long as ever."""
    deadline = time.monotonic() + most
    while time.monotonic() < deadline:
        worked = time.process_time()
        await asyncio.sleep(0.004)
        if time.process_time() - worked < 0.0004:
            return


textual.app.wait_for_idle = _quiet


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--deep", action="store_true", default=False, help="every kill point, more examples, fuzzing")


def pytest_configure(config: pytest.Config) -> None:
    """No example has a deadline: a test never asserts on a clock (``quality.md``)."""
    settings.register_profile("usual", deadline=None)
    settings.register_profile("deep", max_examples=10_000, deadline=None)
    settings.load_profile("deep" if config.getoption("--deep") else "usual")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """A browser that happens to be here is not taken by itself either: the same tests run on every machine."""
    if "chromium" in str(config.getoption("markexpr")):
        return
    for item in items:
        if item.get_closest_marker("chromium"):
            item.add_marker(pytest.mark.skip(reason="in a real browser; run by hand: -m chromium"))


def pytest_collection_finish() -> None:
    """All tests and modules stay: the garbage collector need not look through them again and again."""
    gc.collect()
    _freeze()


def pytest_runtest_teardown() -> None:
    """A cache of Textual's for all widgets keeps a thousand of those that are gone, with all they drew."""
    StylesCache.get_inner_outer.cache_clear()


@pytest.fixture(scope="session")
def deep(pytestconfig: pytest.Config) -> bool:
    """True when the long form was asked for."""
    return bool(pytestconfig.getoption("--deep"))
