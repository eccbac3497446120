"""Every item of the report, in the order of the table in ``quality.md``."""

from __future__ import annotations

from tests.reliability.row import Maker, of_tests

ITEMS: dict[str, Maker] = {
    "kill": of_tests("kill −9 of the program at random points", "tests/e2e/test_kill.py"),
}
"""By the name that ``--only`` takes."""
