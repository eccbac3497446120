"""A disk that fills, pages that are damaged, a database that somebody holds: told in one line, nothing overwritten, no
traceback, and whole again when the fault ends (``quality.md``)."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

import pytest

from tests.e2e.conftest import Place, program
from tests.e2e.looking import ask, leave, plain, prompt, wait_in

pytestmark = pytest.mark.e2e

PAGE = 4096
SEED = 20_260_901


@pytest.fixture(scope="module")
def used(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A machine whose database has a session with facts, everything in the one file."""
    root = tmp_path_factory.mktemp("used")
    (root / "project").mkdir()
    place = Place(root)
    ran = place.ask("-p", "SCN:tag percept Ports are odd SCN:say Noted. SCN:count 300 some_text_")
    assert ran.code == 0
    with closing(sqlite3.connect(place.database)) as conn:
        conn.execute("pragma wal_checkpoint(truncate)")
    return place


def rootpages(file: Path) -> dict[str, int]:
    with closing(sqlite3.connect(file)) as conn:
        return dict(conn.execute("select name, rootpage from sqlite_schema where rootpage > 0").fetchall())


def without_logs(place: Place) -> None:
    for suffix in ("-wal", "-shm"):
        place.database.with_name(place.database.name + suffix).unlink(missing_ok=True)


COMMANDS = (
    ("sessions", "list"),
    ("memory", "search", "ports"),
    ("doctor", "--database"),
)
PARTS = ("schema", "turns", "legs", "legs_by_session", "percepts", "percepts_fts_data", "messages_fts_data")


@pytest.mark.parametrize("part", PARTS)
def test_a_damaged_page_is_told_in_one_line_and_left_alone(used: Place, part: str, record_property: object) -> None:
    record_property("seed", SEED)  # type: ignore[operator]
    good = used.database.read_bytes()
    noise = random.Random(f"{SEED} {part}").randbytes(PAGE - 100)
    at = 100 if part == "schema" else (rootpages(used.database)[part] - 1) * PAGE
    bad = good[:at] + noise + good[at + len(noise) :]
    try:
        used.database.write_bytes(bad)
        for command in COMMANDS:
            ran = used.run(*command)
            assert "Traceback" not in ran.err and "Unexpected" not in ran.err, (command, ran.err)
            assert ran.code in (0, 1) and len(ran.err.splitlines()) <= 2, (command, ran.err)
            assert (
                (ran.code == 0 and command[0] != "doctor")
                or "damaged" in ran.err + ran.out
                or "malformed" in ran.err + ran.out
            )
        assert used.database.read_bytes()[at : at + len(noise)] == noise, "nothing is put over it"
        ran = used.ask("-p", "SCN:say hi")
        assert "Traceback" not in ran.err and (ran.code == 0 or "damaged" in ran.err), ran.err
    finally:
        without_logs(used)
        used.database.write_bytes(good)
    assert used.run("doctor", "--database").code == 0


@pytest.mark.parametrize("how", ["cut off", "noise", "gone with its index", "index gone"])
def test_a_log_that_was_damaged_costs_at_most_what_stood_in_it(used: Place, how: str) -> None:
    file = used.database
    wal, shm = (file.with_name(file.name + suffix) for suffix in ("-wal", "-shm"))
    good = file.read_bytes()
    try:
        with closing(sqlite3.connect(file, isolation_level=None)) as conn:
            conn.execute("pragma wal_autocheckpoint = 0")
            for number in range(20):
                conn.execute("update sessions set title = ?", (f"title {number}",))
            log = wal.read_bytes()
        without_logs(used)
        file.write_bytes(good)
        match how:
            case "cut off":
                wal.write_bytes(log[: len(log) // 2 + 17])
            case "noise":
                wal.write_bytes(log[: len(log) // 2] + random.Random(SEED).randbytes(len(log) // 2))
            case "gone with its index":
                shm.write_bytes(b"\xff" * 32_768)
            case "index gone":
                wal.write_bytes(log)
        for part in (wal, shm):
            with suppress(FileNotFoundError):
                part.chmod(0o600)
        ran = used.run("sessions", "list", "--json")
        assert (ran.code, ran.err) == (0, "")
        titles = {row["title"] for row in ran.json}
        if how == "index gone":
            assert titles == {"title 19"}
        assert used.run("doctor", "--database").code == 0
    finally:
        without_logs(used)
        file.write_bytes(good)


def test_a_database_that_another_program_holds_for_long_is_told_and_works_afterwards(place: Place) -> None:
    assert place.ask("-p", "SCN:say hello").code == 0
    holder = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sqlite3, sys; c = sqlite3.connect(sys.argv[1], isolation_level=None); c.execute('begin exclusive');"
            "print('held', flush=True); sys.stdin.read()",
            str(place.database),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdout is not None and holder.stdout.readline() == "held\n"
    try:
        assert place.run("sessions", "list").code == 0, "who only reads need not wait"
        quick = [sys.executable, "-c", QUICK, *program(), "memory", "learn", "Ports are odd"]
        done = subprocess.run(
            quick,
            env={**os.environ, **{k: v for k, v in place.environment().items() if v}},
            cwd=place.project,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert (done.returncode, len(done.stderr.splitlines())) == (1, 1), done.stderr
        assert "locked by another program" in done.stderr and "Close the program" in done.stderr
    finally:
        holder.communicate()
    assert place.run("memory", "learn", "Ports are odd").code == 0


QUICK = """
import runpy, sys
import milk_tui.store.connections as connections, milk_tui.store.writer as writer
connections.BUSY_TIMEOUT_S = 0.1
again = connections.again_while_busy
connections.again_while_busy = writer.again_while_busy = lambda fn: again(fn, 0.1)
import milk_tui.store.database as database
database.again_while_busy = connections.again_while_busy
sys.argv = ["milk-tui", *sys.argv[sys.argv.index("memory"):]]
runpy.run_module("milk_tui", run_name="__main__")
"""
"""The command, with less patience for another program's lock than half a minute."""


NO_LOCKS = """
import errno, fcntl, runpy, sys
def flock(fd, operation):
    raise OSError(errno.ENOLCK, "No locks available")
fcntl.flock = flock
sys.argv = ["milk-tui", *sys.argv[1:]]
runpy.run_module("milk_tui", run_name="__main__")
"""
"""The command on a disk that knows no locks, as a home over NFS may be."""


def test_a_disk_without_locks_is_refused_with_what_to_do(place: Place) -> None:
    done = subprocess.run(
        [sys.executable, "-c", NO_LOCKS, *place.agents, "-p", "SCN:say hi"],
        env={**os.environ, **{k: v for k, v in place.environment().items() if v}},
        cwd=place.project,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert "No lock can be kept" in done.stderr and "local disk" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Place]:
    """A machine whose home is on a disk of 4 MB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = shutil.which("mount") and subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(disk)], capture_output=True, check=False
    )
    if not mounted or mounted.returncode:
        pytest.skip("a small disk can only be made where mounting is allowed")
    (disk / "project").mkdir()
    try:
        yield Place(disk)
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=False)


def fill(place: Place) -> Path:
    filler = place.root / "filler"
    with filler.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(b"x" * PAGE)
    return filler


def test_a_disk_that_is_full_in_the_middle_of_a_turn_loses_nothing(small: Place, tmp_path: Path) -> None:
    go = tmp_path / "go"
    with small.open() as screen:
        screen.wait_for("to ● fast")
        ask(screen, rf"one: SCN:say beg\x75n. SCN:until {go} SCN:repeat 900 abcdefghi_ SCN:say the e\x6ed")
        wait_in(screen, "conversation", "begun")
        filler = fill(small)
        go.touch()
        screen.wait_for("not saved yet")
        filler.unlink()
        wait_in(screen, "conversation", "the end", " out")
        filler = fill(small)
        ask(screen, "two: is this kept?")
        screen.wait_for(lambda _: "the disk is full" in plain(prompt(screen)))
        assert prompt(screen).startswith("two: is this kept?")
        filler.unlink()
        screen.press("enter")
        wait_in(screen, "conversation", "You said: two: is this kept?", " out")
        leave(screen)
    with small.store() as store:
        legs = store.read_sync(lambda conn: conn.execute("select status, length(text) from legs").fetchall())
    assert tuple(legs[0]) == ("done", len("begun.") + 9_000 + len("the end"))
    assert small.run("doctor", "--database").code == 0


def test_a_full_disk_is_told_by_every_command_that_writes(small: Place) -> None:
    assert small.ask("-p", "SCN:say hello SCN:count 1500 abcdefghi_").code == 0
    filler = fill(small)
    for command in (
        ("sessions", "export", "--output", str(small.root / "out.md")),
        ("memory", "export", "--output", str(small.root / "memory.json")),
        ("memory", "learn", "x" * 3_000),
    ):
        ran = small.run(*command)
        assert "Traceback" not in ran.err and "Unexpected" not in ran.err, (command, ran.err)
        assert ran.code == 0 or len(ran.err.splitlines()) <= 2, (command, ran.err)
    assert small.run("sessions", "list").code == 0, "reading works"
    filler.unlink()
    for left in ("out.md", "memory.json"):
        assert not (small.root / left).exists() or (small.root / left).stat().st_size > 0, "no half file"
    assert small.ask("-p", "SCN:say again").out == "again\n"


def test_a_file_size_limit_is_no_reason_to_lose_what_is_there(place: Place) -> None:
    assert place.ask("-p", "SCN:say hello").code == 0
    bounded = replace(place, before=(sys.executable, "-c", BOUNDED))
    ran = bounded.ask("-p", "SCN:say more SCN:count 5000 abcdefghi_")
    assert "Traceback" not in ran.err and ran.code in (0, 1)
    assert place.run("doctor", "--database").code == 0
    assert place.ask("-p", "SCN:say again").out == "again\n"


BOUNDED = """
import os, resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))
os.execv(sys.argv[1], sys.argv[1:])
"""
