"""Changing the config file: what a person wrote into it stays, and nothing is written over unseen."""

from __future__ import annotations

import stat
import threading
import tomllib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from milk_tui import config_edit, config_file
from milk_tui.config_edit import ChangedMeanwhileError, changed
from milk_tui.core.errors import ConfigError

FILE = """\
# The head of the file.

[ui]  # how it looks
sidebar = false   # no room here
# between two settings
theme = "milk-light"

# before the agents
[agents.qwen]
# a remark inside
model = "ollama_chat/qwen2.5-coder"   # the fast one
role = "primary"

[agents."own.server"]
model = "openai/mine"
api_base = "http://127.0.0.1:9999/v1"

[context]
cap = 12_000  # written with a line
# The end of the file.
"""
REMARKS = [line[line.index("#") :] for line in FILE.splitlines() if "#" in line]

_names = st.sampled_from(["qwen", "own.server", "third", "a b".replace(" ", "-")])
_texts = st.text(st.characters(exclude_categories=("Cc", "Cs")), max_size=30)
CHANGES = st.one_of(
    st.tuples(st.just(("ui", "sidebar")), st.none() | st.booleans()),
    st.tuples(st.sampled_from([("ui", "theme"), ("helper", "records")]), st.none() | _texts),
    st.tuples(st.sampled_from([("context", "cap"), ("memory", "max_items")]), st.none() | st.integers(0, 10**6)),
    st.tuples(st.sampled_from([("timeouts", "probe"), ("routing", "threshold")]), st.floats(0.1, 900)),
    st.tuples(st.just(("routing", "escalate")), st.none() | st.lists(_texts, max_size=4)),
    st.tuples(st.just(("routing", "signals")), st.dictionaries(_texts, st.floats(-9, 9), max_size=3)),
    st.tuples(st.tuples(st.just("agents"), _names, st.sampled_from(["api_base", "api_key_env"])), _texts),
    st.tuples(st.just(("agents", "own.server")), st.none()),
    st.tuples(st.just(("keys", "escalate")), st.none() | st.lists(st.just("ctrl+e"), min_size=1, max_size=2)),
)


def apply(table: dict, path: tuple[str, ...], value: object) -> None:
    """What a change means, without a file."""
    *tables, last = path
    for name in tables:
        if value is None and name not in table:
            return
        table = table.setdefault(name, {})
    if value is None:
        table.pop(last, None)
    else:
        table[last] = value


def remarks(text: str) -> list[str]:
    return [line[line.index("#") :] for line in text.splitlines() if "# " in line]


@settings(max_examples=150, deadline=None)
@given(st.lists(CHANGES, max_size=6))
def test_a_change_is_that_change_and_every_remark_stays(made: list[tuple[tuple[str, ...], object]]) -> None:
    wanted, text = tomllib.loads(FILE), FILE
    for path, value in made:
        apply(wanted, path, value)
        text = changed(text, {path: value})
    assert tomllib.loads(text) == wanted
    taken_out = {("ui", "sidebar"), ("context", "cap")} & {path for path, value in made if value is None}
    own_server = any(path == ("agents", "own.server") for path, _ in made)
    kept = REMARKS if not taken_out and not own_server else [r for r in REMARKS if r.startswith(("# The head", "# b"))]
    assert [remark for remark in kept if remark not in text] == []


def test_setting_a_value_to_what_it_is_changes_no_byte() -> None:
    assert changed(FILE, {("ui", "sidebar"): False, ("agents", "qwen", "role"): "primary"}) == FILE


@pytest.mark.parametrize(
    ("text", "path", "value"),
    [
        ("ui.sidebar = false\n", ("ui", "theme"), "x"),
        ("agents = { q = { model = 'm/q' } } # short\n", ("agents", "q", "api_base"), "http://127.0.0.1"),
        ("agents = { q = { model = 'm/q' } }\n", ("agents", "r", "model"), "m/r"),
        ("[agents.q]\nmodel = 'm/q'\n[ui]\nsidebar = true\n[agents.r]\nmodel = 'm/r'\n", ("agents", "s", "model"), "m"),
        ("[ui]\nsidebar = false", ("context", "cap"), 1),
        ("[ui]\r\nsidebar = false\r\n", ("ui", "theme"), "x"),
        ("", ("agents", "q", "model"), "m/q"),
        ("# alone", ("ui", "theme"), "x"),
    ],
)
def test_every_way_to_write_a_table_is_understood_or_left_alone(
    text: str, path: tuple[str, ...], value: object
) -> None:
    wanted = tomllib.loads(text)
    apply(wanted, path, value)
    try:
        result = changed(text, {path: value})
    except ConfigError as error:
        assert "by hand" in error.hint
    else:
        assert tomllib.loads(result) == wanted
        assert all(remark in result for remark in remarks(text))


def test_a_file_that_was_changed_meanwhile_is_not_written_over(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    text = config_edit.write(file, {("ui", "theme"): "a"}, seen=None)
    file.write_text("# somebody else\n")
    with pytest.raises(ChangedMeanwhileError):
        config_edit.write(file, {("ui", "theme"): "b"}, seen=text)
    with pytest.raises(ChangedMeanwhileError):
        config_edit.write(file, {("ui", "theme"): "b"}, seen=None)
    with pytest.raises(ChangedMeanwhileError):
        config_edit.put(file, text, seen=text)
    assert file.read_text() == "# somebody else\n"


def test_what_was_written_can_be_taken_back(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    text = config_edit.write(file, {("ui", "theme"): "a"}, seen=None)
    config_edit.put(file, None, seen=text)
    assert not file.exists()
    config_edit.put(file, FILE, seen=None)
    assert (file.read_text(), stat.S_IMODE(file.stat().st_mode)) == (FILE, 0o600)


def test_two_programs_at_once_lose_no_change(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"

    def work(name: str) -> None:
        for number in range(10):
            config_edit.write(file, {("agents", f"{name}{number}", "model"): "m/x"})

    workers = [threading.Thread(target=work, args=(name,)) for name in "ab"]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(tomllib.loads(file.read_text())["agents"]) == 20


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    real, link = tmp_path / "real.toml", tmp_path / "config.toml"
    real.write_text("# mine\n")
    real.chmod(0o600)
    link.symlink_to(real)
    config_edit.write(link, {("ui", "theme"): "a"})
    assert link.is_symlink()
    assert real.read_text().startswith("# mine\n")


def test_a_broken_file_is_never_written_over(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text("[ui\n")
    file.chmod(0o600)
    with pytest.raises(ConfigError, match="line 1"):
        config_edit.write(file, {("ui", "theme"): "a"})
    assert file.read_text() == "[ui\n"
    assert config_file.read_text(file) == "[ui\n"
