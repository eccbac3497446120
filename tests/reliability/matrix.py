"""Every item of the report, in the order of the table in ``quality.md``."""

from __future__ import annotations

from tests.reliability import audit, fuzz, soak
from tests.reliability.row import Maker, of_tests

ITEMS: dict[str, Maker] = {
    "kill": of_tests("kill −9 of the program at random points", "tests/e2e/test_kill.py"),
    "any-order": of_tests(
        "anything a person does, in any order, with one program or two", "tests/engine/test_state_machine.py"
    ),
    "round-trips": of_tests("whatever bytes a parser is given", "tests/reliability/test_fuzz.py"),
    "fuzz": fuzz.rows,
    "pages": of_tests(
        "the screen in a browser: wrong keys, names and origins, pages and servers that go away",
        "tests/serve/test_access.py",
        "tests/serve/test_websocket.py",
    ),
    "hostile": of_tests(
        "hostile text, by every way in and out",
        "tests/hostile",
        "tests/ui/test_guarded_app.py",
    ),
    "secrets": of_tests(
        "forty kinds of keys, planted everywhere and looked for everywhere",
        "tests/secrets",
        "tests/core/test_secret_scan.py",
        "tests/cli/test_file_checks.py",
    ),
    "supply": of_tests("malicious releases, imports that reach out", "tests/test_supply.py"),
    "audit": audit.rows,
    "soak": soak.rows,
}
"""By the name that ``--only`` takes."""
