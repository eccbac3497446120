"""``milk-tui doctor`` finds what others can read, and ``--repair`` closes it (``quality.md``, secrets)."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from milk_tui.core.records import Session
from tests.cli.conftest import Milk
from tests.cli.test_doctor import checks

OPEN = {
    "data/milk.db": 0o644,
    "data/milk.db-wal": 0o666,
    "data/milk.db.bak-v3": 0o604,
    "config/config.toml": 0o640,
    "log/screen.log": 0o644,
    "cache/run/embedded.sock.lock": 0o666,
}


@pytest.fixture
def opened(home: Path, stored: Session) -> Path:
    for name, mode in OPEN.items():
        file = home / name
        file.parent.mkdir(parents=True, exist_ok=True)
        if not file.exists():
            file.write_text("")
        file.chmod(mode)
    (home / "log").chmod(0o755)
    return home


def modes(home: Path) -> dict[str, str]:
    found = {".": home, **{str(path.relative_to(home)): path for path in home.rglob("*")}}
    return {name: f"{stat.S_IMODE(path.lstat().st_mode):04o}" for name, path in found.items() if not path.is_symlink()}


def test_what_others_can_read_is_named_with_the_way_to_close_it(milk: Milk, opened: Path) -> None:
    told = checks(milk("doctor", "--json"), "files", "private")
    text = " ".join(check["detail"] for check in told)
    assert all(check["state"] == "warning" for check in told)
    assert {check["hint"] for check in told} == {"Run: milk-tui doctor --repair"}
    for name in ("log/screen.log", "config/config.toml", "milk.db.bak-v3", "embedded.sock.lock"):
        assert name in text
    assert "(0604)" in text


def test_repair_closes_all_of_it_and_nothing_else(milk: Milk, opened: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("")
    outside.chmod(0o644)
    (opened / "data" / "link").symlink_to(outside)
    (said,) = (c for c in checks(milk("doctor", "--repair", "--json"), "files", "repair") if "private" in c["detail"])
    assert said["state"] == "ok"
    below = {name: mode for name, mode in modes(opened).items() if name.partition("/")[2]}
    assert set(below.values()) <= {"0600", "0700"}
    assert stat.S_IMODE(outside.stat().st_mode) == 0o644
    (told,) = checks(milk("doctor", "--json"), "files", "private")
    assert told["state"] == "ok"


def test_without_files_there_is_nothing_to_close(milk: Milk, home: Path) -> None:
    (told,) = checks(milk("doctor", "--json"), "files", "private")
    assert told["state"] == "ok"
    assert not home.exists()
