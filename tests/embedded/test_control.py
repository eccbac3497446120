"""The shared server's control socket: leases, grace, news, retirement."""

from __future__ import annotations

import os
import socket
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from milk_tui.embedded import control
from milk_tui.embedded.catalogue import MODELS
from milk_tui.embedded.control import PROTOCOL, ServerError
from milk_tui.embedded.server import ControlServer

DEADLINE_S = 20.0
READY = {"state": "ready", "base_url": "http://127.0.0.1:1/v1", "api_key": "k", "model": "tiny", "pid": 1}


class Running:
    """A control server in a thread."""

    def __init__(self, folder: Path, grace_s: float) -> None:
        self.path = folder / "c.sock"
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(str(self.path))
        self._listener.listen()
        self.retired = threading.Event()
        self.server = ControlServer(self._listener, grace_s=grace_s, retire=self._retire)
        self.thread = threading.Thread(target=self.server.run, daemon=True)
        self.thread.start()

    def _retire(self) -> None:
        self._listener.close()
        self.retired.set()

    def join(self, protocol: object = PROTOCOL) -> Program:
        program = Program(self.path)
        program.say({"protocol": protocol, "pid": os.getpid()})
        return program

    def ended(self) -> bool:
        self.thread.join(DEADLINE_S)
        return not self.thread.is_alive()


class Program:
    """A program on the control socket."""

    def __init__(self, path: Path) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(DEADLINE_S)
        self.sock.connect(str(path))
        self._lines = self.sock.makefile("rb")

    def say(self, message: dict[str, object]) -> None:
        self.sock.sendall(control.encode(message))

    def hears(self) -> dict[str, object]:
        return control.decode(self._lines.readline())

    def is_dropped_after(self, data: bytes) -> bool:
        try:
            self.sock.sendall(data)
            return self.sock.recv(1) == b""
        except (BrokenPipeError, ConnectionResetError):
            return True

    def close(self) -> None:
        self._lines.close()
        self.sock.close()


@pytest.fixture
def start(tmp_path: Path) -> Iterator[object]:
    made: list[Running] = []

    def one(grace_s: float = 0.0) -> Running:
        made.append(Running(tmp_path, grace_s))
        return made[-1]

    yield one


def test_a_program_hears_that_it_loads_and_then_where_it_answers(start) -> None:
    running = start()
    program = running.join()
    assert program.hears() == {"protocol": PROTOCOL, "state": "loading"}
    running.server.announce(READY)
    assert program.hears() == {"protocol": PROTOCOL, **READY}


def test_a_later_program_hears_at_once_that_it_is_ready(start) -> None:
    running = start()
    first = running.join()
    assert first.hears()["state"] == "loading"
    running.server.announce(READY)
    assert first.hears()["state"] == "ready"
    assert running.join().hears()["state"] == "ready"


def test_it_ends_when_the_last_lease_is_gone_and_not_before(start) -> None:
    running = start()
    first, second = running.join(), running.join()
    assert [p.hears()["state"] for p in (first, second)] == ["loading", "loading"]
    first.close()
    running.server.announce(READY)
    assert second.hears()["state"] == "ready"
    assert running.thread.is_alive()
    second.close()
    assert running.ended()


def test_within_the_grace_a_new_program_keeps_it(start) -> None:
    running = start(grace_s=600.0)
    first = running.join()
    first.hears()
    first.close()
    again = running.join()
    assert again.hears()["state"] == "loading"
    running.server.announce(READY)
    assert again.hears()["state"] == "ready"


def test_a_connection_without_a_hello_is_no_lease(start) -> None:
    running = start()
    silent = Program(running.path)
    lease = running.join()
    lease.hears()
    lease.close()
    assert running.ended()
    silent.close()


@pytest.mark.parametrize(
    "rubbish",
    [b"\n", b"[]\n", b'{"protocol": "one"}\n', b"\xff\xfe\n", b"x" * 100_000],
    ids=["empty", "list", "wrong type", "no text", "endless"],
)
def test_rubbish_on_the_socket_is_dropped_and_harms_nobody(start, rubbish: bytes) -> None:
    running = start()
    lease = running.join()
    lease.hears()
    rude = Program(running.path)
    assert rude.is_dropped_after(rubbish)
    running.server.announce(READY)
    assert lease.hears()["state"] == "ready"


def test_a_failure_is_told_to_everyone_and_ends_it(start) -> None:
    running = start(grace_s=600.0)
    programs = [running.join(), running.join()]
    assert [p.hears()["state"] for p in programs] == ["loading", "loading"]
    running.server.announce({"state": "failed", "what": "no memory", "hint": ""})
    assert [p.hears()["what"] for p in programs] == ["no memory", "no memory"]
    assert running.ended()


def test_a_newer_program_makes_it_retire_without_breaking_older_ones(start) -> None:
    running = start(grace_s=600.0)
    old = running.join()
    old.hears()
    newer = running.join(protocol=PROTOCOL + 1)
    assert newer.hears()["state"] == "outdated"
    assert newer.hears() == {}
    assert running.retired.wait(DEADLINE_S)
    running.server.announce(READY)
    assert old.hears()["state"] == "ready"
    old.close()
    assert running.ended()


class TestRendezvous:
    def test_the_folder_is_the_users_alone(self, tmp_path: Path) -> None:
        folder = tmp_path / "run"
        folder.mkdir(mode=0o755)
        where = control.rendezvous(MODELS["tiny"], folder)
        assert where.socket.parent == folder
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700

    def test_models_do_not_share_a_socket(self, tmp_path: Path) -> None:
        assert len({control.rendezvous(m, tmp_path).socket for m in MODELS.values()}) == len(MODELS)

    def test_a_path_too_long_for_a_socket_is_replaced_by_a_private_folder(self, tmp_path: Path) -> None:
        where = control.rendezvous(MODELS["tiny"], tmp_path / ("x" * 120))
        try:
            assert len(os.fsencode(where.socket)) <= 100
            assert stat.S_IMODE(where.socket.parent.stat().st_mode) == 0o700
            assert where == control.rendezvous(MODELS["tiny"], tmp_path / ("x" * 120))
        finally:
            where.socket.parent.rmdir()

    def test_somebody_elses_folder_is_refused(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        own = os.geteuid()
        monkeypatch.setattr(os, "geteuid", lambda: own + 1)
        with pytest.raises(ServerError, match="another user"):
            control.rendezvous(MODELS["tiny"], tmp_path)


@given(st.binary(max_size=200))
def test_any_bytes_decode_to_an_object(line: bytes) -> None:
    assert isinstance(control.decode(line), dict)
