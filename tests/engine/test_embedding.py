"""The embedded model's settings: one answer for a run, for ``doctor`` and for ``models fetch``."""

from __future__ import annotations

from pathlib import Path

from milk_tui import config_file
from milk_tui.engine.embedding import embedded_settings


def settings(text: str = "", *, may_fetch: bool | None = None, **environ: str):
    config, _ = config_file.parse(text, "c.toml")
    return embedded_settings(config, {"MILK_TUI_HOME": "/home/x", **environ}, may_fetch=may_fetch)


def test_weights_and_locks_are_in_the_programs_own_folders() -> None:
    found = settings()
    assert (found.models_dir, found.runtime_dir) == (Path("/home/x/cache/models"), Path("/home/x/cache/run"))
    assert found.paths == {}


def test_the_config_names_another_folder_and_the_environment_wins() -> None:
    text = '[embedded]\nmodels_dir = "/big/disk"\n'
    assert settings(text).models_dir == Path("/big/disk")
    assert settings(text, MILK_TUI_MODELS="/m", MILK_TUI_RUNTIME="/r").models_dir == Path("/m")
    assert settings(text, MILK_TUI_RUNTIME="/r").runtime_dir == Path("/r")


def test_a_file_of_ones_own_stands_for_the_size_that_is_named() -> None:
    assert settings('[embedded]\nsize = "tiny"\npath = "/w.gguf"\n').paths == {"tiny": Path("/w.gguf")}


def test_fetching_can_be_switched_off_and_asked_for_all_the_same() -> None:
    text = "[privacy]\nfetch_weights = false\n"
    assert not (settings(text).publisher or settings(text).carriers)
    assert settings(text, may_fetch=True).carriers
    assert settings().carriers


def test_grace_and_threads_are_handed_on() -> None:
    found = settings("[embedded]\ngrace = 3\nthreads = 2\n")
    assert (found.grace_s, found.threads) == (3.0, 2)
