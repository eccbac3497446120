from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from pathlib import Path

import pytest

from milk_tui.store import Store
from tests.store.makers import make_session

NOBODY = 65534


@pytest.fixture(scope="session")
def empty_database(tmp_path_factory):
    """A new database, made once: tests that are not about the making copy it."""
    path = tmp_path_factory.mktemp("empty") / "milk.db"
    Store.open(path).close()
    return path


@pytest.fixture
def store(tmp_path, empty_database):
    shutil.copy(empty_database, tmp_path / "milk.db")
    opened = Store.open(tmp_path / "milk.db")
    yield opened
    opened.close()


@pytest.fixture
def session(store):
    return make_session(store)


@pytest.fixture
def ordinary_folder():
    """A folder of a user for whom modes hold, and that user's identity while the test runs."""
    folder = Path(tempfile.mkdtemp(prefix="milk-store-"))
    if os.geteuid() == 0:
        os.chown(folder, NOBODY, NOBODY)
    with _ordinary_user():
        yield folder
    for part in [folder, *folder.rglob("*")]:
        part.chmod(0o700)
    shutil.rmtree(folder)


@contextlib.contextmanager
def _ordinary_user():
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)
