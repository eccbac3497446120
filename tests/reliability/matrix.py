"""Every item of the report, in the order of the table in ``quality.md``."""

from __future__ import annotations

from tests.reliability import audit, fuzz, soak
from tests.reliability.row import Maker, of_tests

ITEMS: dict[str, Maker] = {
    "kill": of_tests(
        "kill −9 of the program at random points of every phase",
        "tests/e2e/test_kill.py::test_nothing_is_lost_or_done_twice_wherever_it_is_killed",
    ),
    "kill-host": of_tests(
        "kill −9 of the model host alone", "tests/e2e/test_kill_beside.py::test_the_model_host_alone"
    ),
    "kill-child": of_tests(
        "kill −9 of a child agent or its keeper alone", "tests/e2e/test_kill_beside.py::test_a_child_agent_alone"
    ),
    "kill-embedded": of_tests(
        "kill −9 of the embedded server alone", "tests/e2e/test_kill_beside.py::test_the_embedded_server_alone"
    ),
    "signals": of_tests("SIGTERM, SIGHUP, a terminal that is closed or breaks", "tests/e2e/test_leaving.py"),
    "suspended": of_tests("stopped, continued, closed and killed while stopped", "tests/e2e/test_suspended.py"),
    "clock": of_tests("the machine's clock jumps, forward and back", "tests/e2e/test_clock.py"),
    "damage": of_tests(
        "what a database says, damaged in every way; named, mended or explained, and started with",
        "tests/cli/test_doctor_damage.py",
    ),
    "two-programs": of_tests(
        "mixed writes of two programs, with two screens, a hook and an MCP server",
        "tests/e2e/test_two_programs.py",
    ),
    "providers": of_tests(
        "providers that misbehave: both protocols, both roles, with and without tools, streaming or not",
        "tests/modelhost/test_fault_matrix.py",
        "tests/modelhost/test_providers.py",
    ),
    "type-ahead": of_tests("keys that were under way when a permission is asked for", "tests/e2e/test_type_ahead.py"),
    "permissions": of_tests(
        "permissions attacked: swapped paths, crafted commands, forged answers, changed arguments, addresses",
        "tests/tools/test_attacks.py",
        "tests/tools/test_grant_classes.py",
        "tests/engine/test_permissions.py",
    ),
    "children": of_tests(
        "child programs that hide, hang, flood or die; nothing outlives its session",
        "tests/agents/test_child.py",
        "tests/e2e/test_children.py",
    ),
    "storage": of_tests(
        "full disk, damaged pages and logs, locks held or missing, in every phase",
        "tests/e2e/test_storage.py",
        "tests/engine/test_storage_faults.py",
        "tests/store/test_opening.py",
    ),
    "odd-disk": of_tests(
        "a disk that is slow, that hangs, or whose locks don't hold, below the real program",
        "tests/e2e/test_odd_disk.py",
    ),
    "rescue": of_tests(
        "what can be read of a file with damaged pages, saved in a new one", "tests/store/test_rescue.py"
    ),
    "versions": of_tests("a database of every format that was released", "tests/store/test_old_versions.py"),
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
